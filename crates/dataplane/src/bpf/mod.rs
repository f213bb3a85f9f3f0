//! eBPF at tc.
//!
//! `bpf/team.bpf.c` holds the programs: one on the team device's egress that
//! executes the plan, one on each member's ingress. They share the maps of
//! `bpf/maps.h`, one set a team. Filters and maps outlive the process; the next
//! one finds the maps behind the team device's filter and goes on with them.

mod carrier;
mod failover;
mod inject;
mod layout;
mod lease;
mod memory;
mod notes;
mod object;
mod peers;
mod punted;
mod run;
mod slots;
mod speech;
mod streams;
mod tc;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;
use nicteam_sys::netns;
use nicteam_team::lacp::Answer;
use nicteam_team::stripe::Note;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::{Choose, Loads, MemberId, Plan};
use nicteam_wire::Mac;

use crate::{Counters, Dataplane, Error, Kind, Port, Remembered, TeamDevice};
use carrier::Carrier;
use failover::Failover;
use inject::Injector;
use layout::{Control, LAYOUT_VERSION, Place};
use lease::Lease;
use notes::Notes;
use object::{Object, Predecessor, Programs};
use peers::Peers;
use punted::Punted;
use slots::Slots;
use tc::Point;

pub use run::DryRun;

/// The eBPF dataplane of one team.
///
/// Its methods must be called in the network namespace it was opened in.
pub struct BpfDataplane {
    /// The network namespace that it was opened in.
    home: String,
    device: TeamDevice,
    object: Object,
    slots: Slots,
    lease: Lease,
    /// None without stripe.
    notes: Option<Notes>,
    carrier: Carrier,
    failover: Failover,
    /// What the programs answer, as it was written last.
    answers: BTreeMap<MemberId, Answer>,
    /// The programs may have noted something of a silence beside the answers.
    was_silent: bool,
    ports: BTreeMap<MemberId, Port>,
    injector: Injector,
    /// Behind the team device, once a plan punts.
    punted: Option<Punted>,
    /// Peers and addresses of peers that the last plan wrote or removed.
    written: usize,
    /// The filters are a predecessor's of another layout: they stay until there
    /// is a plan to execute, so that no frame is lost.
    deferred: bool,
}

/// What a trial loaded, for the first team that needs it.
static SPARE: Mutex<Option<Object>> = Mutex::new(None);

/// See [`crate::loaded_programs`].
pub(crate) fn loaded_programs() -> Vec<String> {
    const NAMES: [&str; 4] = ["team_egress", "member_ingress", "member_egress", "punted_ingress"];
    let loaded = ProgInfoIter::default().map(|program| (program.id, program.name.to_string_lossy().into_owned()));
    // The kernel keeps the first fifteen characters of a name.
    loaded
        .filter(|(_, name)| NAMES.iter().any(|ours| ours.starts_with(name.as_str()) && !name.is_empty()))
        .map(|(id, name)| format!("{id} {name}"))
        .collect()
}

/// Whether the programs can be loaded here: nothing, or why not.
pub(crate) fn available() -> Result<(), String> {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    let attempt = || match Object::load(Programs::WithoutStripe, None) {
        Ok(object) => {
            *SPARE.lock().unwrap_or_else(PoisonError::into_inner) = Some(object);
            Ok(())
        }
        Err(error) if !nicteam_sys::netns::is_network_root() => {
            Err(format!("{error}; hint: run as root, or use the packet dataplane"))
        }
        Err(error) => Err(error.to_string()),
    };
    TRIED.get_or_init(attempt).clone()
}

/// Removes what an eBPF dataplane left on this device, so that another kind can have it.
pub(crate) fn clear(device: &TeamDevice) -> Result<(), Error> {
    match tc::program_at(device.index, Point::Egress) {
        Some(_) => Box::new(BpfDataplane::open(device)?).remove(),
        None => Ok(()),
    }
}

impl BpfDataplane {
    /// Loads the programs for a team device, or takes over from the process
    /// that did so before: plan, members and counters go on.
    ///
    /// # Errors
    /// The kernel refuses the programs, or another program sits where they belong.
    pub fn open(device: &TeamDevice) -> Result<BpfDataplane, Error> {
        let injector = Injector::open()?;
        match object::predecessor(&device.name, device.index)? {
            Predecessor::None => BpfDataplane::fresh(device, injector, false),
            Predecessor::Same(maps, programs) => {
                let slots = Slots::taken_over(&maps)?;
                let object = Object::load(programs, Some(&maps))?;
                let ports = ports_of(&object.maps)?;
                let mut own = BpfDataplane {
                    home: netns::id()?,
                    slots,
                    lease: object.maps.lease()?,
                    notes: object.maps.notes(object.programs)?,
                    carrier: Carrier::default(),
                    failover: object.maps.failover()?,
                    answers: answers_of(&object.maps)?,
                    was_silent: true,
                    ports,
                    device: device.clone(),
                    object,
                    injector,
                    punted: None,
                    written: 0,
                    deferred: false,
                };
                own.attach_team()?;
                Ok(own)
            }
            Predecessor::Other(counters) => {
                let own = BpfDataplane::fresh(device, injector, true)?;
                if let Some(counters) = counters {
                    for place in 0..nicteam_team::MAX_MEMBERS as u32 {
                        own.object.maps.set_counters(place, &object::counters_of(&counters, place)?)?;
                    }
                }
                Ok(own)
            }
        }
    }

    fn fresh(device: &TeamDevice, injector: Injector, deferred: bool) -> Result<BpfDataplane, Error> {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).take();
        let object = spare.map_or_else(|| Object::load(Programs::WithoutStripe, None), Ok)?;
        let control = Control { layout: LAYOUT_VERSION, active: 0, team_ifindex: device.index, own_clsact: 0 };
        object.maps.set_control(&control)?;
        let mut own = BpfDataplane {
            home: netns::id()?,
            device: device.clone(),
            lease: object.maps.lease()?,
            notes: object.maps.notes(object.programs)?,
            carrier: Carrier::default(),
            failover: object.maps.failover()?,
            object,
            slots: Slots::new(),
            answers: BTreeMap::new(),
            was_silent: false,
            ports: BTreeMap::new(),
            injector,
            punted: None,
            written: 0,
            deferred,
        };
        if !deferred {
            own.attach_team()?;
        }
        Ok(own)
    }

    /// What the kernel sets aside for the team's maps, bytes.
    ///
    /// # Errors
    /// `/proc` is not there.
    pub fn map_bytes(&self) -> Result<u64, Error> {
        self.object.maps.bytes()
    }

    /// How many peers, and addresses of peers, the last plan wrote into the maps or removed from them: those that differ
    /// from what the maps held.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Refuses to work in another network namespace: an index is another device's there, a stranger's.
    fn stay_at_home(&self) -> Result<(), Error> {
        if netns::id()? == self.home {
            return Ok(());
        }
        let message = "the calling thread is in another network namespace".to_owned();
        Err(Error::Bpf { operation: format!("run team `{}`", self.device.name), message })
    }

    fn attach_team(&mut self) -> Result<(), Error> {
        if tc::add_clsact(self.device.index)? {
            let control = Control { own_clsact: 1, ..self.object.maps.control()? };
            self.object.maps.set_control(&control)?;
        }
        tc::set_filter(self.device.index, Point::Egress, self.object.egress.as_fd())
    }

    fn attach_port(&self, index: u32) -> Result<(), Error> {
        tc::set_filter(index, Point::Ingress, self.object.ingress.as_fd())
    }

    /// Exchanges the programs for ones that can do what a plan asks for.
    fn extend(&mut self, programs: Programs) -> Result<(), Error> {
        if programs <= self.object.programs {
            return Ok(());
        }
        // What belongs to stripe is new, and no program has it yet.
        self.object = Object::load(programs, Some(&self.object.maps))?;
        self.notes = self.object.maps.notes(programs)?;
        self.slots.forget_peers();
        if self.punted.is_some() {
            tc::set_filter(self.device.peer_index, Point::Ingress, self.object.punted.as_fd())?;
        }
        if self.deferred {
            return Ok(());
        }
        self.ports.values().try_for_each(|port| self.attach_port(port.index))?;
        tc::set_filter(self.device.index, Point::Egress, self.object.egress.as_fd())
    }

    /// Says in the plan in force which device has a place; `None`: nobody.
    fn set_index(&mut self, id: MemberId, index: Option<u32>) -> Result<(), Error> {
        let mut plan = *self.slots.current();
        plan.members[id.index()].ifindex = index.unwrap_or(0);
        if plan == *self.slots.current() {
            return Ok(());
        }
        self.slots.install(&self.object.maps, &self.failover, plan)
    }

    /// Says what is answered at a place. When the partner said what is
    /// answered is known to the program, unless it is new.
    fn set_answer(&self, id: MemberId, answer: Option<&Answer>) -> Result<(), Error> {
        let place = id.index() as u32;
        let before = self.object.maps.answer(place)?;
        let now = answer.and_then(|answer| layout::Answer::new(answer, lease::now_ns())).unwrap_or_default();
        let same = before.used == now.used && before.partner == now.partner;
        let heard_ns = if same { before.heard_ns } else { now.heard_ns };
        self.object.maps.set_answer(place, &layout::Answer { heard_ns, ..now })
    }

    /// The place this device had before, if it had one.
    fn place_of(&self, index: u32) -> Result<Option<Place>, Error> {
        let places = self.object.maps.places()?;
        Ok(places.into_iter().find(|&(other, _)| other == index).map(|(_, place)| place))
    }
}

impl Dataplane for BpfDataplane {
    fn kind(&self) -> Kind {
        Kind::Bpf
    }

    fn sees_carriers(&self) -> bool {
        self.object.note_device.is_some()
    }

    fn attach(&mut self, port: &Port) -> Result<(), Error> {
        self.stay_at_home()?;
        let ours = object::member_is_ours(&port.name, port.index)?;
        let before = self.place_of(port.index)?;
        let place = port.id.index() as u32;
        if self.ports.get(&port.id).is_some_and(|other| other.index != port.index) {
            self.detach(port.id)?;
        }
        if let Some(old) = before.and_then(|before| MemberId::new(before.place as usize)).filter(|&old| old != port.id)
        {
            self.ports.remove(&old);
            self.set_index(old, None)?;
            self.failover.forget(old);
        }
        if before.is_none_or(|before| before.place != place) && !self.deferred {
            self.object.maps.set_counters(place, &layout::Counters::default())?;
            self.set_answer(port.id, None)?;
            self.answers.remove(&port.id);
        }
        let made = tc::add_clsact(port.index)?;
        let own_clsact = u32::from(made || before.is_some_and(|before| before.own_clsact != 0));
        self.object.maps.set_place(port.index, &Place { place, own_clsact })?;
        if let Some(program) = &self.object.note_device {
            self.failover.note(program, port)?;
        }
        if !(self.deferred && ours) {
            self.attach_port(port.index)?;
        }
        self.ports.insert(port.id, port.clone());
        self.set_index(port.id, Some(port.index))
    }

    fn detach(&mut self, id: MemberId) -> Result<(), Error> {
        self.stay_at_home()?;
        let Some(port) = self.ports.remove(&id) else { return Ok(()) };
        self.set_index(id, None)?;
        self.failover.forget(id);
        let place = self.place_of(port.index)?;
        if place.is_some() {
            self.object.maps.remove_place(port.index)?;
        }
        tc::remove_filter(port.index, Point::Ingress)?;
        self.carrier.leave(&port)?;
        match place {
            Some(place) if place.own_clsact != 0 => tc::remove_clsact(port.index),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, plan: &Plan) -> Result<(), Error> {
        self.stay_at_home()?;
        let watches = matches!(plan.choose, Choose::Stripe(_)) && plan.failover.is_some();
        let punts = plan.punts();
        let peers = match &plan.choose {
            Choose::Stripe(stripe) => Peers::after(self.slots.peers(), stripe),
            _ => Peers::default(),
        };
        let peers = Arc::new(peers);
        let plan = layout::Plan::new(plan, self.ports.values())?;
        self.extend(plan.programs())?;
        if punts && self.punted.is_none() {
            self.punted = Some(Punted::open(self.device.peer_index, self.object.punted.as_fd())?);
        }
        self.was_silent |= self.lease.renew();
        if let Some(notes) = &mut self.notes {
            notes.leave(self.slots.active(), self.slots.peers());
        }
        self.written = self.slots.install_with(&self.object.maps, &self.failover, plan, peers)?;
        if self.deferred {
            self.attach_team()?;
            self.ports.values().try_for_each(|port| self.attach_port(port.index))?;
            self.deferred = false;
        }
        self.carrier.watch(watches, self.ports.values(), &self.object.maps)
    }

    fn transmit(&mut self, id: MemberId, frame: &[u8]) -> Result<(), Error> {
        match self.ports.get(&id) {
            Some(port) => self.injector.send(port, frame),
            None => Err(Error::Bpf {
                operation: format!("send by member {id}"),
                message: "nobody has this place".to_owned(),
            }),
        }
    }

    fn take_notes(&mut self) -> Result<Vec<Note>, Error> {
        let (slot, peers) = (self.slots.active(), self.slots.peers());
        Ok(self.notes.as_mut().map(|notes| notes.take(slot, peers)).unwrap_or_default())
    }

    fn renew(&mut self, answers: &[Answer]) -> Result<(), Error> {
        // First: the programs read no answers of a process that lives.
        self.was_silent |= self.lease.renew();
        if self.answers.values().eq(answers) && !self.was_silent {
            return Ok(());
        }
        let wanted: BTreeMap<MemberId, Answer> = answers.iter().map(|answer| (answer.member, answer.clone())).collect();
        let ids = self.answers.keys().chain(wanted.keys()).copied();
        let is_new = |id: &MemberId| self.was_silent || self.answers.get(id) != wanted.get(id);
        let changed: BTreeSet<MemberId> = ids.filter(is_new).collect();
        changed.into_iter().try_for_each(|id| self.set_answer(id, wanted.get(&id)))?;
        self.answers = wanted;
        self.was_silent = false;
        Ok(())
    }

    fn remembered(&self) -> Result<Vec<Remembered>, Error> {
        let now_ns = lease::now_ns();
        let remembered = |(id, answer): (&MemberId, &Answer)| {
            let heard_ns = self.object.maps.answer(id.index() as u32)?.heard_ns;
            let index = self.ports.get(id).map(|port| port.index).filter(|_| heard_ns != 0);
            let silence = Duration::from_nanos(now_ns.saturating_sub(heard_ns));
            Ok(index.map(|index| Remembered { index, answer: answer.clone(), silence }))
        };
        self.answers.iter().map(remembered).filter_map(Result::transpose).collect()
    }

    fn answered(&self) -> Result<u64, Error> {
        self.object.maps.answered()
    }

    fn withheld(&self) -> Result<u64, Error> {
        self.object.maps.withheld()
    }

    fn counters(&self) -> Result<Vec<(MemberId, Counters)>, Error> {
        let counters = |&id: &MemberId| Ok((id, Counters::from(self.object.maps.counters(id.index() as u32)?)));
        self.ports.keys().map(counters).collect()
    }

    fn unsent(&self) -> Result<u64, Error> {
        self.object.maps.unsent()
    }

    fn loads(&self) -> Result<Loads, Error> {
        self.object.maps.loads()
    }

    fn stream(&self, peer: Mac) -> Result<StreamCounters, Error> {
        self.object.maps.stream(peer)
    }

    fn punts(&self) -> Option<BorrowedFd<'_>> {
        self.punted.as_ref().map(AsFd::as_fd)
    }

    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        self.punted.as_mut().map_or(Ok(Vec::new()), Punted::take)
    }

    fn remove(mut self: Box<Self>) -> Result<(), Error> {
        self.stay_at_home()?;
        let ids: Vec<MemberId> = self.ports.keys().copied().collect();
        ids.into_iter().try_for_each(|id| self.detach(id))?;
        tc::remove_filter(self.device.index, Point::Egress)?;
        punted::clear(self.device.peer_index)?;
        if self.object.maps.control()?.own_clsact != 0 {
            tc::remove_clsact(self.device.index)?;
        }
        Ok(())
    }
}

/// True if a team's program is on this device; false where that cannot be seen.
pub(crate) fn is_member(device: &str, index: u32) -> bool {
    object::member_is_ours(device, index).unwrap_or(false)
}

/// The members that a predecessor attached, as far as their devices are still there.
fn ports_of(maps: &object::Maps) -> Result<BTreeMap<MemberId, Port>, Error> {
    let mut ports = BTreeMap::new();
    for (index, place) in maps.places()? {
        let Some(id) = MemberId::new(place.place as usize) else { continue };
        let name = nix::net::if_::if_indextoname(index).ok().and_then(|name| name.into_string().ok());
        let name = name.unwrap_or_else(|| format!("interface {index}"));
        ports.insert(id, Port { id, name, index });
    }
    Ok(ports)
}

/// What a predecessor had said to its partners.
fn answers_of(maps: &object::Maps) -> Result<BTreeMap<MemberId, Answer>, Error> {
    let mut answers = BTreeMap::new();
    for id in (0..nicteam_team::MAX_MEMBERS).filter_map(MemberId::new) {
        if let Some(answer) = maps.answer(id.index() as u32)?.of(id) {
            answers.insert(id, answer);
        }
    }
    Ok(answers)
}

impl From<layout::Counters> for Counters {
    fn from(own: layout::Counters) -> Counters {
        Counters {
            tx_frames: own.tx_frames,
            tx_bytes: own.tx_bytes,
            tx_drops: own.tx_drops,
            rx_frames: own.rx_frames,
            rx_bytes: own.rx_bytes,
            rx_drops: own.rx_drops,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_sys::netlink::Netlink;
    use nicteam_sys::netns::{NetNs, is_network_root};
    use nicteam_team::{Choose, PlanMember, Receive, Rewrite};
    use nicteam_wire::Mac;

    #[test]
    fn a_predecessor_of_another_layout_works_on_until_there_is_a_plan() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: a_predecessor_of_another_layout_works_on_until_there_is_a_plan: no root");
            return;
        }
        NetNs::new().unwrap().run(upgrade).unwrap();
    }

    #[test]
    fn a_plan_that_is_applied_elsewhere_touches_no_device_there() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: a_plan_that_is_applied_elsewhere_touches_no_device_there: no root");
            return;
        }
        let pair = || {
            let mut netlink = Netlink::open().unwrap();
            TeamDevice::create_or_adopt(&mut netlink, "team", Mac([2, 0, 0, 0, 0, 1]), 1500).unwrap().0
        };
        let (home, elsewhere) = (NetNs::new().unwrap(), NetNs::new().unwrap());
        let (device, other) = (home.run(pair).unwrap(), elsewhere.run(pair).unwrap());
        assert_eq!(device, other, "both have the same indexes");
        let mut dataplane = home.run(|| BpfDataplane::open(&device).unwrap()).unwrap();
        let id = MemberId::new(0).unwrap();
        let punt = Some(nicteam_team::balance::Punt { from: Mac([2, 0, 0, 0, 0, 1]), neighbours: true });
        let (eligible, number) = (nicteam_team::balance::Eligible::Alb, nicteam_team::balance::Number::Destination);
        let balance = nicteam_team::Balance { eligible, number, table: vec![id], active: id, counted: true, punt };
        let plan =
            Plan { generation: 1, choose: Choose::Balance(balance), members: Vec::new(), lease: None, failover: None };
        let error = elsewhere.run(|| dataplane.apply(&plan).unwrap_err().to_string()).unwrap();
        assert!(error.contains("another network namespace"), "{error}");
        assert_eq!(elsewhere.run(|| tc::program_at(other.peer_index, Point::Ingress)).unwrap(), None);
        home.run(|| dataplane.apply(&plan).unwrap()).unwrap();
        assert!(home.run(|| tc::program_at(device.peer_index, Point::Ingress)).unwrap().is_some());
        home.run(|| Box::new(dataplane).remove().unwrap()).unwrap();
    }

    fn upgrade() {
        let mut netlink = Netlink::open().unwrap();
        let (device, _) = TeamDevice::create_or_adopt(&mut netlink, "team", Mac([2, 0, 0, 0, 0, 1]), 1500).unwrap();
        let (cable, _) = TeamDevice::create_or_adopt(&mut netlink, "cable", Mac([2, 0, 0, 0, 0, 2]), 1500).unwrap();
        let id = MemberId::new(3).unwrap();
        let port = Port { id, name: cable.name, index: cable.index };
        let line = PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default(), queue_id: 0 };
        let plan = Plan { generation: 1, choose: Choose::One(id), members: vec![line], lease: None, failover: None };

        let mut old = BpfDataplane::open(&device).unwrap();
        old.attach(&port).unwrap();
        old.apply(&plan).unwrap();
        old.dry_run_egress(&[0; 64], 5).unwrap();
        let control = Control { layout: LAYOUT_VERSION + 1, ..old.object.maps.control().unwrap() };
        old.object.maps.set_control(&control).unwrap();

        let mut new = BpfDataplane::open(&device).unwrap();
        new.attach(&port).unwrap();
        let filters = || {
            let team = tc::program_at(device.index, Point::Egress);
            (team, tc::program_at(port.index, Point::Ingress))
        };
        assert_eq!(filters(), (Some(old.object.egress.id()), Some(old.object.ingress.id())));
        new.apply(&plan).unwrap();
        assert_eq!(filters(), (Some(new.object.egress.id()), Some(new.object.ingress.id())));
        assert_eq!(new.counters().unwrap()[0].1.tx_frames, 5);
        Box::new(new).remove().unwrap();
        assert_eq!(filters(), (None, None));
    }

    #[test]
    fn plans_beyond_the_slots_follow_each_other() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: plans_beyond_the_slots_follow_each_other: no root");
            return;
        }
        let object = Object::load(Programs::WithoutStripe, None).unwrap();
        let (mut slots, failover) = (Slots::new(), object.maps.failover().unwrap());
        for generation in 1..=u64::from(layout::PLAN_SLOTS) * 2 {
            let before = object.maps.control().unwrap().active;
            slots.install(&object.maps, &failover, layout::Plan { generation, ..layout::Plan::default() }).unwrap();
            let active = object.maps.control().unwrap().active;
            assert_ne!(active, before);
            assert_eq!(object.maps.plan(active).unwrap().generation, generation);
        }
    }
}
