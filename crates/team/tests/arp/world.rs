//! A team whose members lead to one switch, behind which targets answer.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};

use nicteam_simnet::{Bytes, Host, Node, OneOf, Way};
use nicteam_team::{ArpMonitoring, Config, Effect, Event, LinkState, MemberId, MemberLink, Mode, Subnet, Team, Time};
use nicteam_wire::{Arp, Frame, Mac, Ndisc, NdiscKind, ethertype};

/// What the team's stack sends from.
pub const MAC: Mac = Mac([2, 0, 0, 0, 0, 0xaa]);
/// What every target sends from.
pub const TARGET_MAC: Mac = Mac([2, 0, 0, 0, 0, 0xbb]);
/// Between two rounds of probes, milliseconds.
pub const INTERVAL: u64 = 100;

/// The nodes of this world.
const HOST: usize = 0;
const SWITCH: usize = 1;

pub struct World {
    world: nicteam_simnet::World<Station>,
}

enum Station {
    Host(Box<Host>),
    Switch(Switch),
}

/// A switch, and behind it the targets: each answers where it was asked.
pub struct Switch {
    /// It floods from member to member.
    pub floods: bool,
    /// Who answers.
    pub targets: Vec<IpAddr>,
    ports: usize,
    leaving: VecDeque<(usize, Bytes)>,
}

pub fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

/// The monitor with these targets.
pub fn monitor(targets: &[&str]) -> ArpMonitoring {
    let mut arp = ArpMonitoring { interval_ms: INTERVAL as u32, ..ArpMonitoring::default() };
    for target in targets {
        match target.parse().unwrap() {
            IpAddr::V4(target) => arp.ip_targets.push(target),
            IpAddr::V6(target) => arp.ip6_targets.push(target),
        }
    }
    arp
}

impl World {
    /// A team of two, with addresses, whose targets all answer.
    pub fn new(mode: Mode, arp: ArpMonitoring) -> World {
        let ip = arp.ip_targets.iter().map(|&target| IpAddr::from(target));
        let targets = ip.chain(arp.ip6_targets.iter().map(|&target| IpAddr::from(target))).collect();
        let config = Config { mode, miimon_ms: 0, arp, ..Config::default() };
        let mut host = Host::new(Team::new(config, MAC, Time::ZERO).unwrap(), MAC);
        host.is_logged = true;
        let mut world = World { world: nicteam_simnet::World::new(0) };
        world.world.add(Station::Host(Box::new(host)));
        world.world.add(Station::Switch(Switch { floods: true, targets, ports: 0, leaving: VecDeque::new() }));
        let subnet =
            |address: &str, prefix_len| Subnet { tags: Vec::new(), address: address.parse().unwrap(), prefix_len };
        world.team.handle_subnets(vec![subnet("10.0.0.1", 24), subnet("fe80::1", 64)]);
        world.join("m0", true);
        world.join("m1", true);
        world
    }

    /// The host goes on with another team, without members.
    pub fn replace(&mut self, team: Team) {
        self.team = team.into();
        self.members.clear();
    }

    pub fn now(&self) -> Time {
        self.world.now()
    }

    pub fn switch(&mut self) -> &mut Switch {
        let Station::Switch(switch) = self.world.node_mut(SWITCH) else { unreachable!() };
        switch
    }

    pub fn join(&mut self, name: &str, carrier: bool) {
        let place = self.members.len();
        self.switch().ports = place + 1;
        self.world.connect((HOST, place), (SWITCH, place), Way::default());
        self.world.set_carrier((HOST, place), carrier);
        let link = MemberLink { carrier, speed_mbps: None, duplex: None };
        self.change(|host, now| {
            host.join(name, link, None, now).unwrap();
        });
    }

    /// Goes on with another configuration.
    pub fn set(&mut self, config: Config) {
        self.change(|host, now| host.change(now, |team| team.set_config(config, now).unwrap()));
    }

    /// Makes frames pass or vanish on a member's cable; its carrier stays.
    pub fn pass(&mut self, place: usize, passes: bool) {
        let link = self.world.link_mut((HOST, place)).unwrap();
        link.ways_mut().iter_mut().for_each(|way| way.blocked = !passes);
    }

    /// Serves every deadline up to this time, milliseconds.
    pub fn run_to(&mut self, ms: u64) {
        self.world.run(Time::from_millis(ms) - self.now());
    }

    /// A member receives a frame from somebody else.
    pub fn receive(&mut self, place: usize, frame: &[u8]) {
        self.world.deliver((HOST, place), frame);
    }

    pub fn states(&self) -> Vec<LinkState> {
        self.team.members().iter().map(|member| member.state).collect()
    }

    /// The active member of active-backup.
    pub fn active(&self) -> Option<usize> {
        self.team.members().iter().find(|member| member.active).map(|member| member.id.index())
    }

    /// Probes, by whom and when.
    pub fn probes(&self) -> Vec<(u64, usize)> {
        let probe = |(at, effect): &(Time, Effect)| match effect {
            Effect::Transmit { member, .. } => Some((at.as_nanos() / 1_000_000, member.index())),
            _ => None,
        };
        self.log.iter().filter_map(probe).collect()
    }

    pub fn events(&self) -> Vec<&Event> {
        let events = self.log.iter().filter_map(|(_, effect)| match effect {
            Effect::Event(event) => Some(event),
            _ => None,
        });
        events.collect()
    }

    fn change(&mut self, change: impl FnOnce(&mut Host, Time)) {
        self.world.change(HOST, |station, now| change(station.host_mut(), now));
    }
}

/// What is to be seen in this world is its one host.
impl Deref for World {
    type Target = Host;

    fn deref(&self) -> &Host {
        let Station::Host(host) = self.world.node(HOST) else { unreachable!() };
        host
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Host {
        self.world.node_mut(HOST).host_mut()
    }
}

impl Station {
    fn host_mut(&mut self) -> &mut Host {
        let Station::Host(host) = self else { panic!("no host") };
        host
    }
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Host(host) => &**host,
            Station::Switch(switch) => switch,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Host(host) => &mut **host,
            Station::Switch(switch) => switch,
        }
    }
}

impl Node for Switch {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, _now: Time) {
        let others = (0..self.ports).filter(|&other| self.floods && other != port);
        self.leaving.extend(others.map(|other| (other, frame.clone())));
        let answer = answer(frame, &self.targets);
        self.leaving.extend(answer.map(|answer| (port, answer.into())));
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.leaving.pop_front()
    }
}

/// What the target of a question says, behind the same tags.
fn answer(question: &[u8], targets: &[IpAddr]) -> Option<Vec<u8>> {
    let (frame, ids) = Frame::parse(question).unwrap().without_tags();
    assert_eq!(frame.src(), MAC);
    let mut answer = if frame.ethertype() == ethertype::ARP {
        let arp = Arp::decode(frame.payload()).unwrap();
        targets.contains(&arp.target_ip.into()).then(|| arp_reply(arp.target_ip.into(), arp.sender_ip.into()))
    } else {
        let asked = Ndisc::decode(frame.payload()).unwrap();
        let kind = NdiscKind::Advertisement { router: false, solicited: true, overrides: true };
        let (src, dst, target) = (asked.target, asked.src, asked.target);
        let answer = Ndisc { src, dst, target, link_layer: Some(TARGET_MAC), kind };
        targets.contains(&asked.target.into()).then(|| answer.frame(MAC, TARGET_MAC, None))
    }?;
    let tags = question[12..12 + 4 * ids.len()].iter().copied();
    answer.splice(12..12, tags);
    Some(answer)
}

/// "`from` is at [`TARGET_MAC`]."
pub fn arp_reply(from: IpAddr, to: IpAddr) -> Vec<u8> {
    let (IpAddr::V4(sender_ip), IpAddr::V4(target_ip)) = (from, to) else { panic!("{from} {to}") };
    let arp = Arp { operation: Arp::REPLY, sender_mac: TARGET_MAC, sender_ip, target_mac: MAC, target_ip };
    arp.frame(MAC, TARGET_MAC, None)
}
