//! Which members are enabled and which one is active as links come and go, delays run and commands come: a bond of `ovs-vswitchd` against
//! a team in the mode of the same name.
//!
//! Two members: of more, Open vSwitch takes the next active one in the order of a hash table. `NICTEAM_SOAK=1` takes thirty
//! times as many traces; `NICTEAM_SEED` others.

use std::time::Duration;

use nicteam_oracle::frames::Random;
use nicteam_oracle::{is_soak, seed};
use nicteam_simnet::{Host, Node, World};
use nicteam_team::replay::Recorded;
use nicteam_team::{Config, Duplex, MemberId, MemberLink, Team, TeamError, Time};
use nicteam_testnet::OpenVSwitch;
use nicteam_wire::Mac;

use super::theirs::{Theirs, place};

const SAMPLE: u64 = 3;
const SOAK: u64 = 100;
const MEMBERS: usize = 2;
/// What happens in a trace.
const EVENTS: usize = 25;
const MODES: [&str; 2] = ["active-backup", "balance-slb"];

/// Something that happens to a bond.
#[derive(Clone, Debug)]
enum Event {
    Carrier {
        member: usize,
        carrier: bool,
    },
    /// `bond/set-active-member`.
    Activate(usize),
    /// `bond/enable-member`, `bond/disable-member`.
    Enable {
        member: usize,
        enable: bool,
    },
    /// `bond_updelay` and `bond_downdelay`, milliseconds.
    Delays {
        up: u64,
        down: u64,
    },
    /// `bond-primary`.
    Primary(Option<usize>),
    /// So much time passes, milliseconds.
    Time(u64),
}

/// A delay that runs keeps its end in Open vSwitch when delays are set, and gets another one here; so none runs then.
const REST: Event = Event::Time(2000);
/// Time between two events, milliseconds: of delays that end at the same moment the order of a hash table takes one.
const BETWEEN: u64 = 10;

/// Of each member whether it is enabled and may be; and the active one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    members: [(bool, bool); MEMBERS],
    active: Option<usize>,
}

#[test]
fn the_same_events_enable_and_activate_the_same_members() {
    let Some(switch) = OpenVSwitch::start_dummy_or_skip() else { return };
    let mut theirs = Theirs::new(&switch);
    let traces = if is_soak() { SOAK } else { SAMPLE };
    let mut refused = 0;
    for number in 0..traces {
        let mut random = Random(seed().wrapping_mul(1000) + number);
        let mode = random.pick(&MODES);
        theirs.add_bond(MEMBERS, &format!("bond_mode={mode}"));
        theirs.commands.run("bond/set-active-member", &["bond0", "p0"]);
        let mut ours = Ours::new(mode);
        let mut history = Vec::new();
        for _ in 0..EVENTS {
            let event = Event::any(&mut random);
            if matches!(event, Event::Delays { .. }) {
                history.push(REST);
                assert!(theirs.happens(&REST) && ours.happens(&REST));
            }
            history.push(event.clone());
            let (taken, expected) = (theirs.happens(&event), ours.happens(&event));
            assert_eq!(taken, expected, "taken, trace {number}, {mode}: {history:?}");
            refused += usize::from(!taken);
            let expected = ours.seen();
            let seen = theirs.seen();
            assert_eq!(seen, expected, "trace {number}, {mode}: {history:?}, which shows\n{}", theirs.show());
        }
        theirs.delete_bond();
    }
    eprintln!("{traces} traces of {EVENTS} events, {refused} commands refused: the same");
}

impl Event {
    fn any(random: &mut Random) -> Event {
        let member = random.below(MEMBERS);
        match random.below(10) {
            0..3 => Event::Carrier { member, carrier: random.one_in(2) },
            3 => Event::Activate(member),
            4 => Event::Enable { member, enable: random.one_in(2) },
            5 => Event::Delays { up: random.pick(&[0, 500, 1000, 2000]), down: random.pick(&[0, 500, 1000]) },
            6 => Event::Primary((!random.one_in(3)).then_some(member)),
            _ => Event::Time(random.pick(&[100, 400, 500, 900, 1000, 2000])),
        }
    }
}

impl Theirs<'_> {
    /// False if a command was refused.
    fn happens(&mut self, event: &Event) -> bool {
        let taken = self.carry_out(event);
        self.act();
        self.warp(BETWEEN);
        self.act();
        taken
    }

    fn carry_out(&mut self, event: &Event) -> bool {
        let name = |member: &usize| format!("p{member}");
        let mut command = |command: &str, arguments: &[&str]| self.commands.call(command, arguments).is_ok();
        match event {
            Event::Carrier { member, carrier } => {
                command("netdev-dummy/set-admin-state", &[&name(member), if *carrier { "up" } else { "down" }])
            }
            Event::Activate(member) => command("bond/set-active-member", &["bond0", &name(member)]),
            Event::Enable { member, enable: true } => command("bond/enable-member", &["bond0", &name(member)]),
            Event::Enable { member, enable: false } => command("bond/disable-member", &["bond0", &name(member)]),
            Event::Time(ms) => command("time/warp", &[&ms.to_string()]),
            Event::Delays { up, down } => {
                self.switch.vsctl(&format!("set port bond0 bond_updelay={up} bond_downdelay={down}"));
                true
            }
            Event::Primary(Some(member)) => {
                self.switch.vsctl(&format!("set port bond0 other_config:bond-primary={}", name(member)));
                true
            }
            Event::Primary(None) => {
                self.switch.vsctl("remove port bond0 other_config bond-primary");
                true
            }
        }
    }

    fn seen(&mut self) -> Seen {
        let mut seen = Seen::default();
        let mut member = 0;
        for line in self.show().lines() {
            if let Some((name, state)) = line.strip_prefix("member ").and_then(|rest| rest.split_once(": ")) {
                member = place(name);
                seen.members[member].0 = state == "enabled";
            }
            match line.trim() {
                "active member" => seen.active = Some(member),
                "may_enable: true" => seen.members[member].1 = true,
                _ => {}
            }
        }
        seen
    }
}

/// A team under virtual time.
struct Ours(World<Host>);

impl Ours {
    fn new(mode: &str) -> Ours {
        let mut config = Config::default();
        config.set("mode", &format!("ovs-{mode}")).unwrap();
        let mac = Mac([2, 0, 0, 0, 0, 0xa]);
        let mut world = World::new(0);
        world.add(Host::new(Team::new(config, mac, Time::ZERO).unwrap(), mac));
        for member in 0..MEMBERS {
            let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
            world.change(0, |host, now| host.join(&format!("p{member}"), link, None, now)).unwrap();
        }
        world.run(Duration::from_millis(100));
        Ours(world)
    }

    /// False if a command was refused.
    fn happens(&mut self, event: &Event) -> bool {
        let taken = self.carry_out(event);
        self.0.run(Duration::from_millis(BETWEEN));
        taken
    }

    fn carry_out(&mut self, event: &Event) -> bool {
        match event.clone() {
            Event::Carrier { member, carrier } => {
                self.0.change(0, |host, now| host.handle_carrier(member, carrier, now));
                true
            }
            Event::Activate(member) => self.change(|team, now| team.activate(id(member), now)),
            Event::Enable { member, enable } => self.change(|team, now| team.enable_member(id(member), enable, now)),
            Event::Time(ms) => {
                self.0.run(Duration::from_millis(ms));
                true
            }
            Event::Delays { up, down } => {
                self.set(&[("bond_updelay", up.to_string()), ("bond_downdelay", down.to_string())])
            }
            Event::Primary(primary) => {
                self.set(&[("bond-primary", primary.map_or(String::new(), |member| format!("p{member}")))])
            }
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Recorded, Time) -> Result<(), TeamError>) -> bool {
        self.0.change(0, |host, now| host.change(now, |team| change(team, now))).is_ok()
    }

    fn set(&mut self, options: &[(&str, String)]) -> bool {
        let mut config = self.0.node(0).team.config().clone();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        self.change(|team, now| team.set_config(config, now))
    }

    fn seen(&self) -> Seen {
        let bond = self.0.node(0).team.bond(self.0.now()).unwrap();
        let mut seen = Seen::default();
        for member in bond.members {
            seen.members[member.id.index()] = (member.enabled, member.may_enable);
            if member.active {
                seen.active = Some(member.id.index());
            }
        }
        seen
    }
}

fn id(member: usize) -> MemberId {
    MemberId::new(member).unwrap()
}
