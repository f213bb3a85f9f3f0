//! The eBPF dataplane at work.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use nicteam_sys::netns;
use nicteam_team::lacp::Answer;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Note, PlainReport};
use nicteam_team::{Choose, Loads, MemberId, Plan};
use nicteam_wire::Mac;

use super::carrier::Carrier;
use super::failover::Failover;
use super::filters::{self, Filter};
use super::inject::Injector;
use super::layout::{self, Control, Place};
use super::lease::{self, Lease};
use super::notes::Notes;
use super::object::{BEHIND, CARRIER, EGRESS, INGRESS, Object};
use super::peers::Peers;
use super::plain::PlainSeen;
use super::predecessor;
use super::punts::Punts;
use super::run::{self, DryRun};
use super::slots::Slots;
use super::tc::{self, Point};
use crate::{Counters, Dataplane, Error, Kind, Missing, Port, Programs, Remembered, TeamDevice};

/// The eBPF dataplane of one team.
///
/// Its methods must be called in the network namespace it was opened in.
pub struct BpfDataplane {
    /// The network namespace that it was opened in.
    pub(super) home: String,
    pub(super) device: TeamDevice,
    pub(super) object: Object,
    pub(super) slots: Slots,
    pub(super) lease: Lease,
    /// None without stripe.
    pub(super) notes: Option<Notes>,
    pub(super) plain: Option<PlainSeen>,
    pub(super) carrier: Carrier,
    pub(super) failover: Failover,
    /// What the programs answer, as it was written last.
    pub(super) answers: BTreeMap<MemberId, Answer>,
    /// The programs may have noted something of a silence beside the answers.
    pub(super) was_silent: bool,
    pub(super) ports: BTreeMap<MemberId, Port>,
    pub(super) injector: Injector,
    /// Once a plan punts.
    pub(super) punts: Option<Punts>,
    /// Peers and addresses of peers that the last plan wrote or removed.
    pub(super) written: usize,
    /// The filters are a predecessor's of another layout: they stay until there
    /// is a plan to execute, so that no frame is lost.
    pub(super) deferred: bool,
    /// What a predecessor of another version had said to its partners.
    pub(super) recalled: Vec<Remembered>,
}

impl BpfDataplane {
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

    /// Makes everything that is known of sources so much older, as if time had passed.
    ///
    /// # Errors
    /// The kernel refuses the map.
    pub fn age_sources(&self, by: Duration) -> Result<(), Error> {
        self.object.maps.age_sources(by)
    }

    /// Runs the program at the end behind the team device on a frame from the stack, `repeat` times
    /// (0 counts as 1), on the calling CPU. Counters count each run. Copies of
    /// a frame that goes to all members are really sent; nothing else is.
    ///
    /// # Errors
    /// The kernel takes frames of 14 bytes to a little less than a page.
    pub fn dry_run_behind(&self, frame: &[u8], repeat: u32) -> Result<DryRun, Error> {
        run::dry_run(self.object.behind.as_fd(), frame, run::NO_DEVICE, repeat)
    }

    /// Runs a member's program on a frame that the member received.
    ///
    /// # Errors
    /// As above; the member's device must be in the caller's network namespace.
    pub fn dry_run_ingress(&self, port: &Port, frame: &[u8], repeat: u32) -> Result<DryRun, Error> {
        run::dry_run(self.object.ingress.as_fd(), frame, port.index, repeat)
    }

    /// Refuses to work in another network namespace: an index is another device's there, a stranger's.
    fn stay_at_home(&self) -> Result<(), Error> {
        if netns::id()? == self.home {
            return Ok(());
        }
        let message = "the calling thread is in another network namespace".to_owned();
        Err(Error::Bpf { operation: format!("run team `{}`", self.device.name), message })
    }

    /// Puts the program on the end behind the team device; on the team device itself, an earlier version's may be.
    pub(super) fn attach_team(&mut self) -> Result<(), Error> {
        tc::add_clsact(self.device.peer_index)?;
        tc::set_filter(self.device.peer_index, Point::Behind, self.object.behind.as_fd())?;
        self.mark_queues(self.slots.current().has_queues())
    }

    /// Carries the queues of frames over the team device, while a plan has some.
    fn mark_queues(&mut self, on: bool) -> Result<(), Error> {
        if !on {
            // Others may have filters on the clsact meanwhile: it stays.
            tc::remove_filter(self.device.index, Point::Egress)?;
            return self.device.mark_queues(false);
        }
        if tc::add_clsact(self.device.index)? {
            let control = Control { own_clsact: 1, ..self.object.maps.control()? };
            self.object.maps.set_control(&control)?;
        }
        tc::set_filter(self.device.index, Point::Egress, self.object.egress.as_fd())?;
        self.device.mark_queues(true)
    }

    fn attach_port(&self, index: u32) -> Result<(), Error> {
        tc::set_filter(index, Point::Ingress, self.object.ingress.as_fd())?;
        predecessor::remove_former(index)
    }

    /// Exchanges the programs for ones that can do what a plan asks for.
    fn extend(&mut self, programs: Programs) -> Result<(), Error> {
        if programs <= self.object.programs {
            return Ok(());
        }
        // What belongs to stripe is new, and no program has it yet.
        self.object = Object::load(programs, Some(&self.object.maps))?;
        self.notes = self.object.maps.notes(programs)?;
        self.plain = self.object.maps.plain(programs)?;
        self.slots.forget_peers();
        if self.deferred {
            return Ok(());
        }
        self.ports.values().try_for_each(|port| self.attach_port(port.index))?;
        self.attach_team()
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

    /// Which program belongs where. While a predecessor's of another layout do, nothing is said.
    fn filters(&self) -> Vec<Filter<'_>> {
        if self.deferred {
            return Vec::new();
        }
        let (device, object) = (&self.device, &self.object);
        let filter = |device, index, point, name, program| Filter { device, index, point, name, program };
        let mut filters = vec![filter(&device.peer_name, device.peer_index, Point::Behind, BEHIND, &object.behind)];
        if self.slots.current().has_queues() {
            filters.push(filter(&device.name, device.index, Point::Egress, EGRESS, &object.egress));
        }
        for Port { name, index, .. } in self.ports.values() {
            filters.push(filter(name, *index, Point::Ingress, INGRESS, &object.ingress));
            let carrier = self.carrier.at(*index);
            filters.extend(carrier.map(|program| filter(name, *index, Point::Egress, CARRIER, program)));
        }
        filters
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
        let ours = predecessor::member_is_ours(&port.name, port.index)?;
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
        predecessor::remove_former(port.index)?;
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
        if punts && self.punts.is_none() {
            self.punts = Some(self.object.maps.punts()?);
        }
        self.was_silent |= self.lease.renew();
        if let Some(notes) = &mut self.notes {
            notes.leave(self.slots.active(), self.slots.peers());
        }
        let queued = plan.has_queues();
        if queued != self.slots.current().has_queues() && !self.deferred {
            self.mark_queues(queued)?;
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
        let recalled = self.recalled.iter().cloned().map(Ok);
        self.answers.iter().map(remembered).filter_map(Result::transpose).chain(recalled).collect()
    }

    fn answered(&self) -> Result<u64, Error> {
        self.object.maps.answered()
    }

    fn withheld(&self) -> Result<u64, Error> {
        self.object.maps.withheld()
    }

    fn plain(&self) -> Result<PlainReport, Error> {
        Ok(self.plain.as_ref().map(PlainSeen::report).unwrap_or_default())
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

    fn sources(&self) -> Result<Vec<(Mac, u16)>, Error> {
        self.object.maps.sources()
    }

    fn stream(&self, peer: Mac) -> Result<StreamCounters, Error> {
        self.object.maps.stream(peer)
    }

    fn punts(&self) -> Option<BorrowedFd<'_>> {
        self.punts.as_ref().map(AsFd::as_fd)
    }

    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        self.punts.as_mut().map_or(Ok(Vec::new()), Punts::take)
    }

    fn missing(&mut self) -> Result<Vec<Missing>, Error> {
        self.stay_at_home()?;
        Ok(filters::missing(self.filters()))
    }

    fn restore(&mut self, missing: &Missing) -> Result<(), Error> {
        self.stay_at_home()?;
        filters::restore(self.filters(), missing)
    }

    fn alarm(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn remove(mut self: Box<Self>) -> Result<(), Error> {
        self.stay_at_home()?;
        let ids: Vec<MemberId> = self.ports.keys().copied().collect();
        ids.into_iter().try_for_each(|id| self.detach(id))?;
        tc::remove_clsact(self.device.peer_index)?;
        self.mark_queues(false)?;
        if self.object.maps.control()?.own_clsact != 0 {
            tc::remove_clsact(self.device.index)?;
        }
        Ok(())
    }
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

/// They load programs, and make devices in namespaces of their own.
#[cfg(test)]
mod live {
    use super::*;
    use crate::bpf::available;
    use nicteam_netlink::Netlink;
    use nicteam_sys::netns::{NetNs, is_network_root};

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
        let mut dataplane = home.run(|| BpfDataplane::open(&device, Programs::WithoutStripe).unwrap()).unwrap();
        let id = MemberId::new(0).unwrap();
        let punt = Some(nicteam_team::balance::Punt { from: Mac([2, 0, 0, 0, 0, 1]), neighbours: true });
        let (eligible, number) = (nicteam_team::balance::Eligible::Alb, nicteam_team::balance::Number::Destination);
        let balance = nicteam_team::Balance { eligible, number, table: vec![id], active: id, counted: true, punt };
        let plan = Plan {
            generation: 1,
            choose: Choose::Balance(balance),
            members: Vec::new(),
            lease: None,
            failover: None,
            notes_sources: false,
        };
        let error = elsewhere.run(|| dataplane.apply(&plan).unwrap_err().to_string()).unwrap();
        assert!(error.contains("another network namespace"), "{error}");
        assert_eq!(elsewhere.run(|| tc::program_at(other.peer_index, Point::Behind)).unwrap(), None);
        home.run(|| dataplane.apply(&plan).unwrap()).unwrap();
        assert!(home.run(|| tc::program_at(device.peer_index, Point::Behind)).unwrap().is_some());
        home.run(|| Box::new(dataplane).remove().unwrap()).unwrap();
    }
}
