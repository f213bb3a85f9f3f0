//! How the eBPF dataplane of a team begins: anew, or with what an ended process left.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use libbpf_rs::MapHandle;
use nicteam_sys::netns;
use nicteam_team::MemberId;
use nicteam_team::lacp::Answer;

use super::abi::LAYOUT;
use super::carrier::Carrier;
use super::dataplane::BpfDataplane;
use super::inject::Injector;
use super::layout::Control;
use super::lease;
use super::maps::{self, Maps};
use super::object::Object;
use super::predecessor::{self, Predecessor, Readable};
use super::slots::Slots;
use crate::{Error, Port, Programs, Remembered, TeamDevice};

/// What a trial loaded, for the first team that needs it.
static SPARE: Mutex<Option<Object>> = Mutex::new(None);

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

impl BpfDataplane {
    /// Loads the programs for a team device, or takes over from the process
    /// that did so before: plan, members and counters go on. `programs`: what the first plan
    /// of a team that is new will need.
    ///
    /// # Errors
    /// The kernel refuses the programs, or another program sits where they belong.
    pub fn open(device: &TeamDevice, programs: Programs) -> Result<BpfDataplane, Error> {
        match predecessor::find(device)? {
            Predecessor::None => {
                let mut own = BpfDataplane::fresh(device, programs)?;
                own.attach_team()?;
                Ok(own)
            }
            Predecessor::Same(maps, programs) => {
                let slots = Slots::taken_over(&maps)?;
                let object = Object::load(programs, Some(&maps))?;
                let (ports, answers) = (ports_of(&object.maps)?, answers_of(&object.maps)?);
                let own = BpfDataplane::new(device, object, slots)?;
                let mut own = BpfDataplane { ports, answers, was_silent: true, ..own };
                own.attach_team()?;
                Ok(own)
            }
            Predecessor::Other(Readable { counters, answers }) => {
                let recalled = answers.map_or(Ok(Vec::new()), |(places, answers)| recalled(&places, &answers))?;
                let own = BpfDataplane { deferred: true, recalled, ..BpfDataplane::fresh(device, programs)? };
                if let Some(counters) = counters {
                    for place in 0..nicteam_team::MAX_MEMBERS as u32 {
                        own.object.maps.set_counters(place, &maps::counters_of(&counters, place)?)?;
                    }
                }
                Ok(own)
            }
        }
    }

    /// With new maps, and on no device yet.
    fn fresh(device: &TeamDevice, programs: Programs) -> Result<BpfDataplane, Error> {
        let is_wanted = |spare: &mut Object| spare.programs == programs;
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).take_if(is_wanted);
        let object = spare.map_or_else(|| Object::load(programs, None), Ok)?;
        let control = Control { layout: LAYOUT, active: 0, behind_ifindex: device.peer_index, own_clsact: 0 };
        object.maps.set_control(&control)?;
        BpfDataplane::new(device, object, Slots::new())
    }

    /// Without members.
    fn new(device: &TeamDevice, object: Object, slots: Slots) -> Result<BpfDataplane, Error> {
        Ok(BpfDataplane {
            home: netns::id()?,
            device: device.clone(),
            lease: object.maps.lease()?,
            notes: object.maps.notes(object.programs)?,
            plain: object.maps.plain(object.programs)?,
            carrier: Carrier::default(),
            failover: object.maps.failover()?,
            object,
            slots,
            answers: BTreeMap::new(),
            was_silent: false,
            ports: BTreeMap::new(),
            injector: Injector::open()?,
            punts: None,
            written: 0,
            deferred: false,
            recalled: Vec::new(),
        })
    }
}

/// The members that a predecessor attached, as far as their devices are still there.
fn ports_of(maps: &Maps) -> Result<BTreeMap<MemberId, Port>, Error> {
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
fn answers_of(maps: &Maps) -> Result<BTreeMap<MemberId, Answer>, Error> {
    let mut answers = BTreeMap::new();
    for id in (0..nicteam_team::MAX_MEMBERS).filter_map(MemberId::new) {
        if let Some(answer) = maps.answer(id.index() as u32)?.of(id) {
            answers.insert(id, answer);
        }
    }
    Ok(answers)
}

/// What a predecessor of another version had said to those partners that have said the same since.
fn recalled(places: &MapHandle, answers: &MapHandle) -> Result<Vec<Remembered>, Error> {
    let now_ns = lease::now_ns();
    let mut recalled = Vec::new();
    for (index, place) in maps::places_of(places)? {
        let answer = maps::answer_of(answers, place.place)?;
        let silence = Duration::from_nanos(now_ns.saturating_sub(answer.heard_ns));
        let answer = MemberId::new(place.place as usize).filter(|_| answer.heard_ns != 0).and_then(|id| answer.of(id));
        recalled.extend(answer.map(|answer| Remembered { index, answer, silence }));
    }
    Ok(recalled)
}

/// They load programs, and make devices in namespaces of their own.
#[cfg(test)]
mod live {
    use super::*;
    use crate::Dataplane;
    use crate::bpf::object::LOADS;
    use crate::bpf::tc::{self, Point};
    use nicteam_netlink::Netlink;
    use nicteam_sys::netns::{NetNs, is_network_root};
    use nicteam_team::balance::{Eligible, Number};
    use nicteam_team::stripe::Plain;
    use nicteam_team::stripe::redundant::Classes;
    use nicteam_team::{Balance, Choose, MemberSet, Mode, Plan, PlanMember, Receive, Rewrite, Stripe};
    use nicteam_wire::{Mac, PortInfo};

    #[test]
    fn a_predecessor_of_another_layout_works_on_until_there_is_a_plan() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: a_predecessor_of_another_layout_works_on_until_there_is_a_plan: no root");
            return;
        }
        // The second is one of those that were counted by hand.
        for layout in [LAYOUT ^ 1, 18] {
            NetNs::new().unwrap().run(|| upgrade(layout)).unwrap();
        }
    }

    #[test]
    fn maps_of_the_same_layout_are_taken_over() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: maps_of_the_same_layout_are_taken_over: no root");
            return;
        }
        NetNs::new().unwrap().run(succession).unwrap();
    }

    fn succession() {
        let mut netlink = Netlink::open().unwrap();
        let (device, _) = TeamDevice::create_or_adopt(&mut netlink, "team", Mac([2, 0, 0, 0, 0, 1]), 1500).unwrap();
        let plan = Plan { generation: 7, ..Plan::nobody() };
        let mut old = BpfDataplane::open(&device, Programs::WithoutStripe).unwrap();
        old.apply(&plan).unwrap();
        old.dry_run_behind(&[0; 64], 5).unwrap();
        let new = BpfDataplane::open(&device, Programs::WithoutStripe).unwrap();
        assert_eq!(tc::program_at(device.peer_index, Point::Behind), Some(new.object.behind.id()));
        assert_eq!((new.slots.current().generation, new.unsent().unwrap()), (7, 5));
        Box::new(new).remove().unwrap();
    }

    #[test]
    fn a_team_that_stripes_loads_its_programs_once() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: a_team_that_stripes_loads_its_programs_once: no root");
            return;
        }
        let loads = |first: Programs, then: &[Choose]| {
            let mut netlink = Netlink::open().unwrap();
            let (device, _) = TeamDevice::create_or_adopt(&mut netlink, "team", TEAM, 1500).unwrap();
            let before = LOADS.get();
            let mut dataplane = BpfDataplane::open(&device, first).unwrap();
            for choose in then {
                dataplane.apply(&Plan { choose: choose.clone(), ..Plan::nobody() }).unwrap();
            }
            Box::new(dataplane).remove().unwrap();
            LOADS.get() - before
        };
        let loads = |first, then: &[Choose]| NetNs::new().unwrap().run(|| loads(first, then)).unwrap();
        let plans = [Choose::Nobody, stripes()];
        assert_eq!(loads(Programs::of(Mode::Stripe), &plans[1..]), 1);
        assert_eq!(loads(Programs::of(Mode::Stripe), &plans), 1, "without stripe it needs no others");
        // A trial on another thread may have loaded those that it begins with.
        let later = loads(Programs::of(Mode::ActiveBackup), &plans);
        assert!((1..=2).contains(&later), "a plan that needs others gets them: {later}");
    }

    const TEAM: Mac = Mac([2, 0, 0, 0, 0, 1]);

    /// By the paths to no peer.
    fn stripes() -> Choose {
        let (id, sack_delay) = (MemberId::new(0).unwrap(), Duration::ZERO);
        let (eligible, number) = (Eligible::Alb, Number::Destination);
        let other = Balance { eligible, number, table: vec![id], active: id, counted: false, punt: None };
        let (senders, peers, group) = (Vec::new(), Vec::new().into(), MemberSet::EMPTY);
        let (redundant, plain) = (Classes::default(), Plain::default());
        Choose::Stripe(Stripe { team: TEAM, senders, peers, group, redundant, sack_delay, plain, other })
    }

    fn upgrade(layout: u32) {
        let mut netlink = Netlink::open().unwrap();
        let (device, _) = TeamDevice::create_or_adopt(&mut netlink, "team", Mac([2, 0, 0, 0, 0, 1]), 1500).unwrap();
        let (cable, _) = TeamDevice::create_or_adopt(&mut netlink, "cable", Mac([2, 0, 0, 0, 0, 2]), 1500).unwrap();
        let id = MemberId::new(3).unwrap();
        let port = Port { id, name: cable.name, index: cable.index };
        let line = PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default(), queue_id: 0 };
        let plan = Plan {
            generation: 1,
            choose: Choose::One(id),
            members: vec![line],
            lease: None,
            failover: None,
            notes_sources: false,
        };

        let mut old = BpfDataplane::open(&device, Programs::WithoutStripe).unwrap();
        old.attach(&port).unwrap();
        old.apply(&plan).unwrap();
        old.dry_run_behind(&[0; 64], 5).unwrap();
        let frame = vec![0; crate::bpf::constants::LACPDU_FRAME_LEN];
        let answer = Answer { member: id, frame, partner: PortInfo::from_bytes(&[7; PortInfo::LEN]) };
        old.renew(std::slice::from_ref(&answer)).unwrap();
        let control = Control { layout, ..old.object.maps.control().unwrap() };
        old.object.maps.set_control(&control).unwrap();

        let mut new = BpfDataplane::open(&device, Programs::WithoutStripe).unwrap();
        // What was said to the partner goes on, too: else LACP would begin anew, and frames would be lost meanwhile.
        let [remembered] = &new.remembered().unwrap()[..] else { panic!("{:?}", new.remembered()) };
        assert_eq!((remembered.index, &remembered.answer), (port.index, &answer));
        new.attach(&port).unwrap();
        let filters = || {
            let team = tc::program_at(device.peer_index, Point::Behind);
            (team, tc::program_at(port.index, Point::Ingress))
        };
        assert_eq!(filters(), (Some(old.object.behind.id()), Some(old.object.ingress.id())));
        new.apply(&plan).unwrap();
        assert_eq!(filters(), (Some(new.object.behind.id()), Some(new.object.ingress.id())));
        assert_eq!(new.counters().unwrap()[0].1.tx_frames, 5);
        Box::new(new).remove().unwrap();
        assert_eq!(filters(), (None, None));
    }
}
