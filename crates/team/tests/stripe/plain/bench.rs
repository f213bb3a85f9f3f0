//! A team that stripes, a switch, and hosts that know nothing of it.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_simnet::{Bytes, Host, Node, OneOf, Switch, Way, World};
use nicteam_team::replay::Recorded;
use nicteam_team::stripe::{PlainHost, PlainMember, PlainReport};
use nicteam_team::{
    Config, Duplex, Effect, Event, Identity, MemberId, MemberLink, Mode, PlainEvent, PlainState, PlainStatus, Stripe,
    StripePlain, Time,
};
use nicteam_wire::{Arp, Frame, Mac, Vlan, ethertype};

use crate::replays;

pub const TEAM: Mac = Mac([2, 0, 0, 1, 0, 0]);
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// One team at node 0, the switch at node 1, hosts from node 2 on.
pub struct Bench {
    pub world: World<Station>,
    members: usize,
    hosts: usize,
}

pub enum Station {
    Team(Box<Host>),
    Switch(Switch),
    Plain(Plain),
}

/// Answers ARP for its address, as every host does.
pub struct Plain {
    pub mac: Mac,
    pub ip: Ipv4Addr,
    /// Questions at one moment that it answers.
    pub answers: usize,
    /// The member to whose address all answers go, as those of a host that stripes and of which that is not known.
    pub to: Option<usize>,
    answered: (Time, usize),
    leaving: VecDeque<(usize, Bytes)>,
}

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

/// What this host has for addresses.
pub fn plain_mac(number: usize) -> Mac {
    Mac([2, 0, 0, 9, 0, number as u8])
}

pub fn plain_ip(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 100 + number as u8)
}

/// What a member had for an address before it joined; the first has the team's.
pub fn own(place: usize) -> Mac {
    Mac([2, 0, 0, 1, 0, place as u8])
}

/// What the dataplane says of a host that it stripes to.
pub fn striped(number: usize) -> PlainHost {
    PlainHost { mac: plain_mac(number), width: 4, delivered_mbps: 3900 - number as u32, striped: true, held_ms: 0 }
}

impl Bench {
    /// A team of so many members, and so many hosts that its stack has spoken to by IPv4.
    pub fn new(members: usize, hosts: usize) -> Bench {
        Bench::with("tcp", members, hosts)
    }

    /// The same with this `stripe_plain`.
    pub fn with(kind: &str, members: usize, hosts: usize) -> Bench {
        let mut world = World::new(7);
        world.add(Station::Team(Box::new(Host::new(team(kind, 1, Time::ZERO), TEAM))));
        world.add(Station::Switch(Switch::new(members + hosts)));
        let way = Way { delay: Duration::from_micros(50), ..Way::default() };
        let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        for place in 0..members {
            world.connect((0, place), (1, place), way);
            let (name, mac) = (format!("eth{place}"), Some(own(place)));
            world.change(0, |it, now| it.team_mut().join(&name, link, mac, now)).unwrap();
        }
        for number in 0..hosts {
            let (mac, ip, answered) = (plain_mac(number), plain_ip(number), (Time::ZERO, 0));
            let node =
                world.add(Station::Plain(Plain { mac, ip, answers: 99, to: None, answered, leaving: VecDeque::new() }));
            world.connect((node, 0), (1, members + number), way);
        }
        let mut bench = Bench { world, members, hosts };
        bench.host_mut().is_logged = true;
        (0..hosts).for_each(|number| bench.speak(number, None));
        bench.run(ms(1500));
        bench
    }

    /// The team's stack answers a question of this host: so the team knows where it is.
    pub fn speak(&mut self, number: usize, vlan: Option<Vlan>) {
        let (target_mac, target_ip) = (plain_mac(number), plain_ip(number));
        let arp = Arp { operation: Arp::REPLY, sender_mac: TEAM, sender_ip: OURS, target_mac, target_ip };
        let frame = arp.frame(target_mac, TEAM, vlan);
        let punt = |host: &mut Host, now| host.change(now, |team| team.handle_punted(&frame, now));
        self.world.change(0, |it, now| punt(it.team_mut(), now));
    }

    pub fn host(&self) -> &Host {
        self.world.node(0).team()
    }

    pub fn host_mut(&mut self) -> &mut Host {
        self.world.node_mut(0).team_mut()
    }

    pub fn plain_mut(&mut self, number: usize) -> &mut Plain {
        let Station::Plain(plain) = self.world.node_mut(2 + number) else { panic!("a host") };
        plain
    }

    /// The process of the team ends, and another begins.
    pub fn restart(&mut self) {
        let new = team("tcp", 2, self.world.now());
        self.world.change(0, |it, now| it.team_mut().restart(new, now)).unwrap();
    }

    /// The dataplane says from now on that these hosts are in use.
    pub fn use_hosts(&mut self, hosts: &[PlainHost]) {
        self.host_mut().plain.hosts = hosts.to_vec();
    }

    /// And that members have sent, and sent again, so much more.
    pub fn count(&mut self, counts: &[(u64, u64)]) {
        let members = &mut self.host_mut().plain.members;
        for (place, (sent, resent)) in counts.iter().enumerate() {
            if members.len() == place {
                members.push(PlainMember { id: id(place), sent: 0, resent: 0 });
            }
            members[place].sent += sent;
            members[place].resent += resent;
        }
    }

    /// Forgets what members have sent, as a dataplane that begins anew.
    pub fn count_anew(&mut self) {
        self.host_mut().plain.members.clear();
    }

    pub fn report(&self) -> &PlainReport {
        &self.host().plain
    }

    /// Nothing passes from a member to the switch, or from there to it, and both keep carrier.
    pub fn block(&mut self, place: usize, [out, back]: [bool; 2]) {
        let link = self.world.link_mut((0, place)).unwrap();
        link.way_mut((0, place)).blocked = out;
        link.way_mut((1, place)).blocked = back;
    }

    pub fn set_carrier(&mut self, place: usize, carrier: bool) {
        self.world.set_carrier((0, place), carrier);
    }

    pub fn run(&mut self, duration: Duration) {
        self.world.run(duration);
        self.check();
    }

    /// How long it takes until this is true; at most 5 s.
    pub fn until(&mut self, is: impl Fn(&Bench) -> bool) -> Duration {
        let begin = self.world.now();
        while !is(self) {
            let took = self.world.now().since(begin);
            assert!(took < ms(5000), "not within {took:?}: {:?}", self.status());
            self.run(ms(5));
        }
        self.world.now().since(begin)
    }

    /// What holds at any time.
    fn check(&self) {
        let stripe = self.stripe();
        let senders = || stripe.senders.iter().map(|sender| sender.id);
        assert!(stripe.plain.members.iter().all(|id| senders().any(|of| of == id)), "{stripe:?}");
        let is_off = stripe.plain.kind == StripePlain::Off;
        assert_eq!(stripe.plain.members.is_empty(), stripe.senders.is_empty() || is_off, "{stripe:?}");
        assert!(stripe.other.table.iter().all(|id| senders().any(|of| of == *id)), "{stripe:?}");
        assert!(!stripe.other.table.is_empty() || stripe.senders.is_empty(), "{stripe:?}");
        assert!(self.host().team.active().is_some() || stripe.senders.is_empty(), "{stripe:?}");
    }

    pub fn stripe(&self) -> &Stripe {
        self.host().stripe().unwrap()
    }

    pub fn status(&self) -> PlainStatus {
        self.host().team.plain_status(self.world.now()).unwrap()
    }

    /// The places that are used towards these hosts.
    pub fn used(&self) -> Vec<usize> {
        self.stripe().plain.members.iter().map(MemberId::index).collect()
    }

    /// The places among the buckets of balance-alb.
    pub fn balanced(&self) -> Vec<usize> {
        (0..self.members).filter(|place| self.stripe().other.table.contains(&id(*place))).collect()
    }

    /// The places that the status says not to be used.
    pub fn left(&self) -> Vec<usize> {
        let members = self.status().members.into_iter();
        members.filter(|member| member.state != PlainState::Used).map(|member| member.id.index()).collect()
    }

    /// What happened to members since the last call.
    pub fn events(&mut self) -> Vec<PlainEvent> {
        let event = |(_, effect)| match effect {
            Effect::Event(Event::Plain(event)) => Some(event),
            _ => None,
        };
        std::mem::take(&mut self.host_mut().log).into_iter().filter_map(event).collect()
    }

    /// The probes that the team sent since the last call, by whom, and to whom.
    pub fn probes(&mut self) -> Vec<(Time, usize, Vec<u8>)> {
        let probe = |(at, effect)| match effect {
            Effect::Transmit { member, frame } => Some((at, member.index(), frame)),
            _ => None,
        };
        let sent = std::mem::take(&mut self.host_mut().log).into_iter().filter_map(probe);
        sent.filter(|(_, _, frame)| is_probe(frame)).collect()
    }

    /// When the dataplane was asked since the last call.
    pub fn asked(&mut self) -> Vec<Time> {
        let log = std::mem::take(&mut self.host_mut().log);
        log.into_iter().filter(|(_, effect)| *effect == Effect::ReadPlain).map(|(at, _)| at).collect()
    }

    /// The member by which a host is told to send to us.
    pub fn told(&mut self, number: usize) -> usize {
        self.host_mut().log.clear();
        self.speak(number, None);
        let said = std::mem::take(&mut self.host_mut().log).into_iter().find_map(|(_, effect)| match effect {
            Effect::Transmit { member, .. } => Some(member.index()),
            _ => None,
        });
        said.unwrap()
    }

    pub fn hosts(&self) -> usize {
        self.hosts
    }
}

fn is_probe(frame: &[u8]) -> bool {
    let frame = Frame::parse_untagged(frame).unwrap();
    frame.ethertype() == ethertype::ARP && Arp::decode(frame.payload()).unwrap().sender_ip.is_unspecified()
}

fn team(kind: &str, run: u8, now: Time) -> Recorded {
    let mut config = Config { mode: Mode::Stripe, ..Config::default() };
    config.set("stripe_plain", kind).unwrap();
    let mut team = Recorded::begin(config, TEAM, now, replays::LIMIT).unwrap();
    team.set_identity(Identity { number: 0x77 + u64::from(run), secret: [run; 32] }, now);
    team
}

impl Station {
    /// Lets the team's process run on.
    pub fn resume(&mut self, now: Time) {
        self.team_mut().resume(now);
    }

    fn team(&self) -> &Host {
        let Station::Team(host) = self else { panic!("a team") };
        host
    }

    fn team_mut(&mut self) -> &mut Host {
        let Station::Team(host) = self else { panic!("a team") };
        host
    }
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Team(host) => &**host,
            Station::Switch(switch) => switch,
            Station::Plain(plain) => plain,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Team(host) => &mut **host,
            Station::Switch(switch) => switch,
            Station::Plain(plain) => plain,
        }
    }
}

impl Node for Plain {
    /// Linux `arp_process`: a probe is answered to who sent it, and nothing is remembered of it.
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        let frame = Frame::parse_untagged(frame).unwrap();
        let Ok(arp) = Arp::decode(frame.payload()) else { return };
        if frame.dst() != self.mac || arp.operation != Arp::REQUEST || arp.target_ip != self.ip {
            return;
        }
        let before = if self.answered.0 == now { self.answered.1 } else { 0 };
        self.answered = (now, before + 1);
        if before >= self.answers {
            return;
        }
        let (sender_mac, sender_ip) = (self.mac, self.ip);
        let (target_mac, target_ip) = (arp.sender_mac, arp.sender_ip);
        let answer = Arp { operation: Arp::REPLY, sender_mac, sender_ip, target_mac, target_ip };
        let dst = self.to.map_or(target_mac, own);
        self.leaving.push_back((port, answer.frame(dst, self.mac, frame.vlan()).into()));
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.leaving.pop_front()
    }
}
