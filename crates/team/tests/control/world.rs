//! A host without cables, whose team is told what its links say, and checked after every change.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use nicteam_simnet::Host;
use nicteam_team::replay::Recorded;
use nicteam_team::{
    Config, Duplex, Effect, LinkState, MemberId, MemberLink, MemberStatus, Mode, Plan, Team, TeamError, Time,
};
use nicteam_wire::Mac;

use crate::control::checks;
use crate::control::shell::Shell;

/// What the team's stack sends from.
pub const MAC: Mac = Mac([2, 0, 0, 0, 0, 0xaa]);

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
        let has_one = mode.uses_primary() && !mode.traits().bonds_by_buckets();
        self.members.iter().find(|member| has_one && member.active).map(|member| member.id)
    }
}

/// A team on a host, and the clock.
#[derive(Clone)]
pub struct World {
    world: nicteam_simnet::World<Shell>,
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
        let mut world = nicteam_simnet::World::new(0);
        world.add(Shell::new(Team::new(config, MAC, Time::ZERO).unwrap(), MAC));
        World { world }
    }

    /// The same, and what the team is told is recorded.
    pub fn recorded(config: Config, limit: usize) -> World {
        let mut world = nicteam_simnet::World::new(0);
        world.add(Shell::new(Recorded::begin(config, MAC, Time::ZERO, limit).unwrap(), MAC));
        World { world }
    }

    /// Members `m0`, `m1`, ... with these carriers.
    pub fn with_members(config: Config, carriers: &[bool]) -> World {
        let mut world = World::new(config);
        for (place, &carrier) in carriers.iter().enumerate() {
            world.join(&format!("m{place}"), link(carrier));
        }
        world
    }

    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Since when a member's link has been as the team was told, each time.
    pub fn told(&self, id: MemberId) -> &[(Time, bool)] {
        &self.world.node(0).told[&id]
    }

    pub fn join(&mut self, name: &str, link: MemberLink) -> MemberId {
        self.world.change(0, |shell, now| shell.join(name, link, now))
    }

    pub fn leave(&mut self, id: MemberId) {
        self.world.change(0, |shell, now| shell.leave(id, now));
    }

    /// Sets another configuration.
    pub fn set(&mut self, config: Config) -> Result<(), TeamError> {
        self.change(Cause::Change, |team, now| team.set_config(config, now))
    }

    /// Changes the team in another way.
    pub fn team_change<R>(&mut self, change: impl FnOnce(&mut Recorded, Time) -> R) -> R {
        self.change(Cause::Change, change)
    }

    /// Makes a member the active one.
    pub fn activate(&mut self, id: MemberId) -> Result<(), TeamError> {
        self.change(Cause::Change, |team, now| team.activate(id, now))
    }

    /// Pulls or plugs in a cable; the team is not told.
    pub fn wire(&mut self, id: MemberId, carrier: bool) {
        self.members.get_mut(&id).unwrap().link.carrier = carrier;
    }

    /// The same, and the team is told at once.
    pub fn hint(&mut self, id: MemberId, carrier: bool) {
        self.wire(id, carrier);
        self.world.change(0, |shell, now| shell.tell(id, now));
    }

    /// A link says something else, and the team is told at once.
    pub fn link(&mut self, id: MemberId, link: MemberLink) {
        self.members.get_mut(&id).unwrap().link = link;
        self.world.change(0, |shell, now| shell.tell(id, now));
    }

    /// Lets time pass and serves every deadline on it.
    pub fn run(&mut self, duration: Duration) {
        self.world.run(duration);
        checks::delays_end(self.world.node(0), self.now());
    }

    /// Lets time pass and serves the deadlines once, late.
    pub fn stall(&mut self, duration: Duration) {
        self.world.node_mut(0).is_stalled = true;
        self.world.run(duration);
        self.world.node_mut(0).is_stalled = false;
        self.timeout();
    }

    pub fn timeout(&mut self) {
        self.world.change(0, Shell::timeout);
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
        self.change(Cause::Frame, |team, now| team.handle_punted(frame, now));
    }

    /// A member hears this.
    pub fn hear(&mut self, id: MemberId, frame: &[u8]) {
        self.change(Cause::Frame, |team, now| team.handle_frame(id, frame, now));
    }

    /// The frames sent since the last call.
    pub fn sent(&mut self) -> Vec<(MemberId, Vec<u8>)> {
        let frame = |(_, effect)| match effect {
            Effect::Transmit { member, frame } => Some((member, frame)),
            _ => None,
        };
        std::mem::take(&mut self.log).into_iter().filter_map(frame).collect()
    }

    fn change<R>(&mut self, cause: Cause, change: impl FnOnce(&mut Recorded, Time) -> R) -> R {
        self.world.change(0, |shell, now| shell.change(cause, now, |team| change(team, now)))
    }
}

/// What is to be seen in this world is its one host.
impl Deref for World {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.world.node(0).host
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Host {
        &mut self.world.node_mut(0).host
    }
}
