//! A shell for a team: wires that can be pulled, a clock that is set.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_team::{
    Config, Duplex, Effect, Event, LinkState, Loads, MemberId, MemberLink, MemberStatus, Mode, Plan, Team, TeamError,
    Time,
};
use nicteam_wire::Mac;

use crate::control::checks;

/// What the team's stack sends from.
pub const MAC: Mac = Mac([2, 0, 0, 0, 0, 0xaa]);
/// More effects than any one change may have.
const ENDLESS: usize = 1000;

/// Why the team was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Join,
    Leave,
    Link,
    Timeout,
    Change,
    Frame,
}

/// What was to be seen of a team at one moment.
#[derive(Clone, Debug)]
pub struct Seen {
    pub members: Vec<MemberStatus>,
    pub plan: Plan,
    pub carrier: bool,
}

impl Seen {
    pub fn of(team: &Team) -> Seen {
        Seen { members: team.members(), plan: team.plan().clone(), carrier: team.carrier() }
    }

    pub fn state(&self, id: MemberId) -> Option<LinkState> {
        self.members.iter().find(|member| member.id == id).map(|member| member.state)
    }

    /// The active member of a mode that has one.
    pub fn active(&self, mode: Mode) -> Option<MemberId> {
        self.members.iter().find(|member| mode.uses_primary() && member.active).map(|member| member.id)
    }
}

/// A team and the world around it.
#[derive(Clone)]
pub struct World {
    pub team: Team,
    pub now: Time,
    /// The truth about each link, which the team learns when it is told.
    pub wires: BTreeMap<MemberId, MemberLink>,
    /// What the team was told: since when each link has been as it is.
    pub told: BTreeMap<MemberId, Vec<(Time, bool)>>,
    /// What the shell executes.
    pub plan: Plan,
    /// What the shell shows.
    pub carrier: bool,
    /// Everything the team wanted, for the tests to read.
    pub log: Vec<(Time, Effect)>,
    /// What the members' devices were given.
    pub macs: BTreeMap<MemberId, Mac>,
    /// What the dataplane counted.
    pub loads: Loads,
    /// Rounds of announcements since the active member changed.
    pub transmitted: usize,
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// What the device at a place had before it joined; the first has the team's.
pub fn member_mac(place: usize) -> Mac {
    Mac([2, 0, 0, 0, 0, 0xaa + place as u8])
}

/// A gigabit link with or without carrier.
pub fn link(carrier: bool) -> MemberLink {
    MemberLink { carrier, speed_mbps: Some(1000), duplex: Some(Duplex::Full) }
}

pub fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

impl World {
    pub fn new(config: Config) -> World {
        World {
            team: Team::new(config, MAC, Time::ZERO).unwrap(),
            now: Time::ZERO,
            wires: BTreeMap::new(),
            told: BTreeMap::new(),
            plan: Plan::nobody(),
            carrier: false,
            log: Vec::new(),
            macs: BTreeMap::new(),
            loads: Loads::default(),
            transmitted: 0,
        }
    }

    /// Members `m0`, `m1`, ... with these carriers.
    pub fn with_members(config: Config, carriers: &[bool]) -> World {
        let mut world = World::new(config);
        for (place, &carrier) in carriers.iter().enumerate() {
            world.join(&format!("m{place}"), link(carrier));
        }
        world
    }

    pub fn join(&mut self, name: &str, link: MemberLink) -> MemberId {
        let before = Seen::of(&self.team);
        let id = self.team.add_member(name, link, self.now).unwrap();
        self.wires.insert(id, link);
        self.told.insert(id, vec![(self.now, link.carrier)]);
        self.drain(Cause::Join, &before);
        if self.team.config().mode.balances_load() {
            let before = Seen::of(&self.team);
            self.team.handle_member_mac(id, member_mac(id.index()));
            self.drain(Cause::Join, &before);
        }
        id
    }

    pub fn leave(&mut self, id: MemberId) {
        let before = Seen::of(&self.team);
        self.team.remove_member(id, self.now).unwrap();
        self.wires.remove(&id);
        self.macs.remove(&id);
        self.told.remove(&id);
        self.drain(Cause::Leave, &before);
    }

    /// Sets another configuration.
    pub fn set(&mut self, config: Config) -> Result<(), TeamError> {
        let before = Seen::of(&self.team);
        let set = self.team.set_config(config, self.now);
        self.drain(Cause::Change, &before);
        set
    }

    /// Makes a member the active one.
    pub fn activate(&mut self, id: MemberId) -> Result<(), TeamError> {
        let before = Seen::of(&self.team);
        let activated = self.team.activate(id, self.now);
        self.drain(Cause::Change, &before);
        activated
    }

    /// Pulls or plugs in a cable; the team is not told.
    pub fn wire(&mut self, id: MemberId, carrier: bool) {
        self.wires.get_mut(&id).unwrap().carrier = carrier;
    }

    /// The same, and the team is told at once.
    pub fn hint(&mut self, id: MemberId, carrier: bool) {
        self.wire(id, carrier);
        self.tell(&[id]);
    }

    /// A link says something else, and the team is told at once.
    pub fn link(&mut self, id: MemberId, link: MemberLink) {
        self.wires.insert(id, link);
        self.tell(&[id]);
    }

    /// Lets time pass and serves every deadline on it.
    pub fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, _)) = self.team.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.timeout();
        }
        self.now = end;
        checks::delays_end(self);
    }

    /// Lets time pass and serves the deadlines once, late.
    pub fn stall(&mut self, duration: Duration) {
        self.now = self.now + duration;
        self.timeout();
    }

    pub fn timeout(&mut self) {
        let before = Seen::of(&self.team);
        self.team.handle_timeout(self.now);
        checks::deadlines_are_ahead(self);
        self.drain(Cause::Timeout, &before);
    }

    pub fn state(&self, place: usize) -> LinkState {
        Seen::of(&self.team).state(id(place)).unwrap()
    }

    pub fn active(&self) -> Option<usize> {
        Seen::of(&self.team).active(self.team.config().mode).map(MemberId::index)
    }

    /// When frames were sent, by whom, and how many at once.
    pub fn transmissions(&self) -> Vec<(Time, MemberId, usize)> {
        let mut rounds: Vec<(Time, MemberId, usize)> = Vec::new();
        for (at, effect) in &self.log {
            let Effect::Transmit { member, .. } = effect else { continue };
            match rounds.last_mut() {
                Some((time, by, frames)) if (*time, *by) == (*at, *member) => *frames += 1,
                _ => rounds.push((*at, *member, 1)),
            }
        }
        rounds
    }

    /// The stack says this to the control side.
    pub fn punt(&mut self, frame: &[u8]) {
        let before = Seen::of(&self.team);
        self.team.handle_punted(frame, self.now);
        self.drain(Cause::Frame, &before);
    }

    /// A member hears this.
    pub fn hear(&mut self, id: MemberId, frame: &[u8]) {
        let before = Seen::of(&self.team);
        self.team.handle_frame(id, frame, self.now);
        self.drain(Cause::Frame, &before);
    }

    /// The frames sent since the last call.
    pub fn sent(&mut self) -> Vec<(MemberId, Vec<u8>)> {
        let frame = |(_, effect)| match effect {
            Effect::Transmit { member, frame } => Some((member, frame)),
            _ => None,
        };
        std::mem::take(&mut self.log).into_iter().filter_map(frame).collect()
    }

    fn tell(&mut self, ids: &[MemberId]) {
        let before = Seen::of(&self.team);
        let links: Vec<_> = ids.iter().map(|id| (*id, self.wires[id])).collect();
        for (id, link) in &links {
            self.told.get_mut(id).unwrap().push((self.now, link.carrier));
        }
        self.team.handle_links(&links, self.now).unwrap();
        self.drain(Cause::Link, &before);
    }

    /// Does what the team wants, checks everything, and answers a reading.
    fn drain(&mut self, cause: Cause, before: &Seen) {
        let mut effects = Vec::new();
        while let Some(effect) = self.team.poll_effect() {
            effects.push(effect);
            assert!(effects.len() < ENDLESS, "the drain does not end: {:?}", &effects[ENDLESS - 9..]);
        }
        for effect in &effects {
            self.execute(effect);
        }
        checks::all(self, cause, before, &effects);
        let reads = effects.contains(&Effect::ReadLinks);
        let reads_loads = effects.contains(&Effect::ReadLoads);
        self.log.extend(effects.into_iter().map(|effect| (self.now, effect)));
        if reads_loads {
            let before = Seen::of(&self.team);
            self.team.handle_loads(&self.loads, self.now);
            self.drain(Cause::Timeout, &before);
        }
        if reads {
            let members: Vec<MemberId> = self.wires.keys().copied().collect();
            self.tell(&members);
        }
    }

    fn execute(&mut self, effect: &Effect) {
        match effect {
            Effect::Apply(plan) => {
                checks::plan_follows(&self.plan, plan);
                self.plan = (**plan).clone();
            }
            Effect::SetCarrier(carrier) => {
                assert_ne!(*carrier, self.carrier, "a carrier that was shown already");
                self.carrier = *carrier;
            }
            Effect::Transmit { member, .. } => {
                checks::sent_by_one_who_may(self, *member);
                self.transmitted += 1;
            }
            Effect::Event(Event::Active { .. }) => self.transmitted = 0,
            Effect::SetMac { member: Some(member), mac } => drop(self.macs.insert(*member, *mac)),
            Effect::SetMac { member: None, .. } | Effect::TakeAll { .. } | Effect::ReadGroups | Effect::ReadLinks => {}
            Effect::ReadTraffic | Effect::ReadLoads | Effect::ReadNotes | Effect::Event(_) => {}
        }
    }
}
