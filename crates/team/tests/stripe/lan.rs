//! Hosts with teams that stripe, on virtual segments.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use nicteam_simnet::{Bytes, Host, Node, OneOf, Port, Switch, Way, World};
use nicteam_team::replay::Recorded;
use nicteam_team::{Action, Config, Duplex, Identity, MemberId, MemberLink, Mode, PlanState, Stripe};
use nicteam_team::{Team, Time, Verdict};
use nicteam_wire::{Frame, Hello, Mac};

/// How long a frame is under way.
pub const LATENCY: Duration = Duration::from_micros(50);
/// Plugged into a segment's first port.
const STRANGERS: usize = 0;

/// All hosts, and the switches between them.
pub struct Lan {
    pub world: World<Station>,
    /// Each host's number in the world.
    hosts: Vec<usize>,
    segments: Vec<Segment>,
    /// Up to so much longer than [`LATENCY`] a frame is under way, by chance: processors are late.
    pub jitter: Duration,
    /// Bytes of what each team of a host that is added from now on was told, at most; none: nothing is recorded.
    pub recorded: Option<usize>,
    /// Numbers of systems so far.
    systems: u64,
    /// The addresses of each host's members, by its number in the world, as the switches know them.
    assigned: BTreeMap<usize, Vec<Option<Mac>>>,
}

/// A switch, and somebody there who is no host.
struct Segment {
    switch: usize,
    stranger: usize,
}

/// What can be on a segment.
pub enum Station {
    Host(Box<Host>),
    Switch(Switch),
    Stranger(Stranger),
}

/// Says what the test lets it say, and sends back the probes to addresses that are no host's.
#[derive(Default)]
pub struct Stranger {
    phantoms: BTreeSet<Mac>,
    leaving: VecDeque<Bytes>,
}

pub fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

/// A frame of this length from a host's stack.
pub fn frame(dst: Mac, src: Mac, length: usize) -> Vec<u8> {
    let mut frame = [dst.0, src.0].concat();
    frame.extend_from_slice(&[0x08, 0x00, 0x45]);
    frame.resize(length, 0);
    frame
}

fn link(carrier: bool, rate_mbps: u32) -> MemberLink {
    MemberLink { carrier, speed_mbps: Some(rate_mbps), duplex: Some(Duplex::Full) }
}

/// Hosts, and what is between them.
impl Lan {
    pub fn new() -> Lan {
        let mut world = World::new(1);
        world.run(Duration::from_millis(1));
        Lan {
            world,
            hosts: Vec::new(),
            segments: Vec::new(),
            jitter: Duration::ZERO,
            recorded: None,
            systems: 0,
            assigned: BTreeMap::new(),
        }
    }

    /// A host whose members are plugged into these segments, with these rates (Mbit/s).
    pub fn add(&mut self, segments: &[usize], rates_mbps: &[u32]) -> usize {
        self.add_with_key(segments, rates_mbps, "")
    }

    /// The same with a key.
    pub fn add_with_key(&mut self, segments: &[usize], rates_mbps: &[u32], key: &str) -> usize {
        let [high, low] = (self.hosts.len() as u16 + 1).to_be_bytes();
        let mac = Mac([2, 0, high, low, 0, 0]);
        let host = Box::new(Host::new(self.team(mac, key, ""), mac));
        let node = self.world.add(Station::Host(host));
        self.hosts.push(node);
        for (place, (&segment, &rate)) in segments.iter().zip(rates_mbps).enumerate() {
            let (own, name) = (Mac([2, 0, high, low, 0, place as u8]), format!("eth{place}"));
            let port = self.free_port(segment);
            self.world.connect((node, place), port, Way::default());
            *self.world.link_mut(port).unwrap().way_mut(port) = self.way();
            self.world.change(node, |it, now| it.host_mut().join(&name, link(true, rate), Some(own), now)).unwrap();
            self.assign(node);
        }
        self.hosts.len() - 1
    }

    pub fn host(&self, host: usize) -> &Host {
        self.world.node(self.hosts[host]).host()
    }

    pub fn host_mut(&mut self, host: usize) -> &mut Host {
        self.world.node_mut(self.hosts[host]).host_mut()
    }

    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().map(|&node| self.world.node(node).host())
    }

    /// Forgets how much the hosts said so far.
    pub fn count_anew(&mut self) {
        (0..self.hosts.len()).for_each(|host| self.host_mut(host).sent.clear());
    }

    fn team(&mut self, mac: Mac, key: &str, old: &str) -> Recorded {
        let mut config = Config { mode: Mode::Stripe, ..Config::default() };
        config.set("stripe_key", key).unwrap();
        config.set("stripe_key_old", old).unwrap();
        let mut team = match self.recorded {
            Some(limit) => Recorded::begin(config, mac, self.now(), limit).unwrap(),
            None => Team::new(config, mac, self.now()).unwrap().into(),
        };
        self.systems += 1;
        let (number, secret) = (0x5157_0000 + self.systems, [self.systems as u8; 32]);
        team.set_identity(Identity { number, secret }, self.now());
        team
    }

    /// A team that starts anew on the same host.
    pub fn restart(&mut self, host: usize) {
        let keys = ["stripe_key", "stripe_key_old"].map(|name| {
            let options = self.host(host).team.config().options();
            options.into_iter().find(|(option, _)| *option == name).unwrap().1
        });
        let team = self.team(self.host(host).mac, &keys[0], &keys[1]);
        self.change_host(host, |host, now| host.restart(team, now).unwrap());
    }

    /// Teams that are no host's, and answer probes on segment 0 all the same.
    pub fn add_phantoms(&mut self, macs: impl IntoIterator<Item = Mac>) {
        let Segment { switch, stranger } = *self.segment(0);
        for mac in macs {
            let Station::Stranger(strangers) = self.world.node_mut(stranger) else { unreachable!() };
            strangers.phantoms.insert(mac);
            self.world.node_mut(switch).switch_mut().assign(mac, STRANGERS);
        }
    }

    /// The member of a host that lies on this segment.
    pub fn place_on(&self, host: usize, segment: usize) -> usize {
        self.members(host).find(|&(_, on)| on == segment).unwrap().0.1
    }

    /// Plugs this member of every host into another segment, silently.
    pub fn bridge(&mut self, member: usize, segment: usize) {
        for host in 0..self.hosts.len() {
            let (node, port) = (self.hosts[host], self.free_port(segment));
            self.world.rewire((node, member), port);
            self.assigned.remove(&node);
            self.assign(node);
        }
    }

    /// The ports of a host, and the segments that they are plugged into.
    fn members(&self, host: usize) -> impl Iterator<Item = (Port, usize)> {
        let node = self.hosts[host];
        let ports = self.host(host).members.keys().map(move |id| (node, id.index()));
        ports.filter_map(|port| Some((port, self.number_of(self.world.far(port)?.0)?)))
    }

    fn number_of(&self, switch: usize) -> Option<usize> {
        self.segments.iter().position(|segment| segment.switch == switch)
    }

    fn segment(&mut self, segment: usize) -> &Segment {
        while self.segments.len() <= segment {
            let switch = self.world.add(Station::Switch(Switch::fixed(1)));
            let stranger = self.world.add(Station::Stranger(Stranger::default()));
            self.world.connect((stranger, 0), (switch, STRANGERS), Way::default());
            let out = (switch, STRANGERS);
            *self.world.link_mut(out).unwrap().way_mut(out) = self.way();
            self.segments.push(Segment { switch, stranger });
        }
        &self.segments[segment]
    }

    fn free_port(&mut self, segment: usize) -> Port {
        let switch = self.segment(segment).switch;
        (switch, self.world.node_mut(switch).switch_mut().add_port())
    }

    /// The way from a switch to the station at its port: it has all of the latency.
    fn way(&self) -> Way {
        Way { delay: LATENCY, jitter: self.jitter, ..Way::default() }
    }

    /// Lets the switches know where a host's addresses are.
    fn assign(&mut self, node: usize) {
        let Station::Host(host) = self.world.node(node) else { return };
        let macs = host.members.values().map(|member| member.mac);
        if self.assigned.get(&node).is_some_and(|assigned| assigned.iter().copied().eq(macs.clone())) {
            return;
        }
        let macs: Vec<Option<Mac>> = macs.collect();
        for (place, mac) in macs.iter().enumerate().filter_map(|(place, mac)| Some((place, (*mac)?))) {
            let (switch, port) = self.world.far((node, place)).expect("each member is plugged in");
            self.world.node_mut(switch).switch_mut().assign(mac, port);
        }
        self.assigned.insert(node, macs);
    }
}

/// What happens.
impl Lan {
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Lets so much time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.now() + duration;
        while let Some(node) = self.world.step_until(end) {
            self.assign(node);
        }
    }

    /// The same, one host sending to another a frame each millisecond, until `done`
    /// or for so long; how long it took.
    pub fn run_busy(&mut self, (from, to): (usize, usize), most: Duration, done: impl Fn(&Lan) -> bool) -> Duration {
        let start = self.now();
        while self.now().since(start) < most && !done(self) {
            self.run(Duration::from_millis(1));
            if !self.paths_to(from, self.host(to).mac).is_empty() {
                self.traffic(from, to, 1);
            }
        }
        self.now().since(start)
    }

    /// Pulls a cable, or plugs it in; its host sees it at once.
    pub fn plug(&mut self, host: usize, member: usize, up: bool) {
        self.world.set_carrier((self.hosts[host], member), up);
        self.assign(self.hosts[host]);
    }

    /// Lets nothing pass by a member, and nobody sees it.
    pub fn silence(&mut self, host: usize, member: usize, silent: bool) {
        let link = self.world.link_mut((self.hosts[host], member)).unwrap();
        link.ways_mut().iter_mut().for_each(|way| way.blocked = silent);
    }

    fn way_out(&mut self, host: usize, member: usize) -> &mut Way {
        let port = (self.hosts[host], member);
        self.world.link_mut(port).unwrap().way_mut(port)
    }

    /// Lets nothing that a member sends arrive, and nobody sees it.
    pub fn mute(&mut self, host: usize, member: usize, mute: bool) {
        self.way_out(host, member).blocked = mute;
    }

    /// Lets a member's frames be so much longer under way.
    pub fn delay(&mut self, host: usize, member: usize, delay: Duration) {
        self.way_out(host, member).delay = delay;
    }

    /// Stops a host's process, or lets it run on: what its members heard waits, its dataplane goes on.
    pub fn stall(&mut self, host: usize, stalled: bool) {
        self.change_host(host, |host, now| if stalled { host.stall() } else { host.resume(now) });
    }

    /// Lets a host's team change something.
    pub fn change(&mut self, host: usize, change: impl FnOnce(&mut Recorded)) {
        self.change_host(host, |host, now| host.change(now, change));
    }

    fn change_host(&mut self, host: usize, change: impl FnOnce(&mut Host, Time)) {
        let node = self.hosts[host];
        self.world.change(node, |it, now| change(it.host_mut(), now));
        self.assign(node);
    }

    /// Puts a frame on a segment: all members there receive it, if it is for them.
    pub fn inject(&mut self, segment: usize, frame: &[u8]) {
        let stranger = self.segment(segment).stranger;
        self.world.send((stranger, 0), frame);
    }

    /// Records from now on what is sent.
    pub fn record(&mut self) {
        self.world.captured = Some(Vec::new());
    }

    /// What was sent on which segment since.
    pub fn tape(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let captured = self.world.captured.iter().flatten();
        captured.filter_map(|frame| Some((self.number_of(frame.to.0)?, &frame.frame[..])))
    }

    /// The same, and records no more.
    pub fn take_tape(&mut self) -> Vec<(usize, Vec<u8>)> {
        let tape = self.tape().map(|(segment, frame)| (segment, frame.to_vec())).collect();
        self.world.captured = None;
        tape
    }
}

/// Frames of the hosts' stacks.
impl Lan {
    /// Frames from one host's stack to another's, by sending and receiving member.
    pub fn traffic(&mut self, from: usize, to: usize, frames: usize) -> BTreeMap<(usize, usize), usize> {
        let bytes = frame(self.host(to).mac, self.host(from).mac, 1514);
        let mut counted = BTreeMap::new();
        for _ in 0..frames {
            let now = self.now();
            let host = self.host_mut(from);
            host.state.now = now;
            let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut host.state);
            let Action::Stripe { member, dst, .. } = action else { panic!("{action:?}") };
            host.notes.sent(dst);
            let src = host.members[&member].mac.unwrap();
            let receiver = self.host(to).member_of(dst).unwrap();
            *counted.entry((member.index(), receiver.index())).or_default() += 1;
            if self.passes(from, member.index(), true) && self.passes(to, receiver.index(), false) {
                self.note_data(to, receiver.index(), src);
            }
        }
        counted
    }

    /// Nobody keeps back what a member sends, or is to receive.
    fn passes(&self, host: usize, member: usize, out: bool) -> bool {
        let port = (self.hosts[host], member);
        let link = self.world.link(port).unwrap();
        !link.way(if out { port } else { link.far(port) }).blocked
    }

    /// A data frame that a member received from this address, a peer's member's, as its dataplane notes it.
    pub fn note_data(&mut self, host: usize, member: usize, src: Mac) {
        self.host_mut(host).notes.heard(id(member), src);
    }

    /// A group-addressed frame from a host's stack: how often which other host's
    /// stack gets it, and how many copies which segment.
    pub fn broadcast(&self, from: usize) -> (BTreeMap<usize, usize>, BTreeMap<usize, usize>) {
        let host = self.host(from);
        let bytes = frame(Mac::BROADCAST, host.mac, 100);
        let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut PlanState::new(0));
        let Action::Send(members) = action else { panic!("{action:?}") };
        let (mut hosts, mut segments) = (BTreeMap::new(), BTreeMap::new());
        for (port, segment) in self.members(from).filter(|(port, _)| members.contains(id(port.1))) {
            if !self.world.link(port).unwrap().carries(port) {
                continue;
            }
            let mut bytes = bytes.clone();
            let rewrite = host.plan.member(id(port.1)).unwrap().rewrite;
            bytes[6..12].copy_from_slice(&rewrite.src.unwrap_or(host.mac).0);
            *segments.entry(segment).or_default() += 1;
            for (to, got) in self.hear(segment, Some((from, port.1)), &bytes) {
                *hosts.entry(to).or_default() += got;
            }
        }
        (hosts, segments)
    }

    /// How often which host's stack gets a frame that is on a segment.
    pub fn hear(&self, segment: usize, from: Option<(usize, usize)>, bytes: &[u8]) -> BTreeMap<usize, usize> {
        let mut got = BTreeMap::new();
        for to in 0..self.hosts.len() {
            for (port, _) in self.members(to).filter(|&(_, on)| on == segment) {
                let link = self.world.link(port).unwrap();
                let reaches = link.carries(link.far(port)) && from != Some((to, port.1));
                let verdict = self.host(to).plan.receive(id(port.1), &Frame::parse(bytes).unwrap());
                if reaches && matches!(verdict, Verdict::ToTeam | Verdict::ToTeamAs { .. }) {
                    *got.entry(to).or_default() += 1;
                }
            }
        }
        got
    }

    /// How a host chooses now.
    pub fn stripe(&self, host: usize) -> &Stripe {
        self.host(host).stripe().unwrap_or_else(|| panic!("{:?}", self.host(host).plan))
    }

    /// A host's paths to the peer with this address, by places: none if it is no peer.
    pub fn paths_to(&self, host: usize, team: Mac) -> BTreeSet<(usize, u8)> {
        let stripe = self.stripe(host);
        let Some(peer) = stripe.peer(team) else { return BTreeSet::new() };
        let place = |mac: Mac| mac.0[5];
        let ends = |path: &nicteam_team::stripe::Path| {
            (stripe.senders[path.sender].id.index(), place(peer.receivers[path.receiver].mac))
        };
        peer.paths.iter().map(ends).collect()
    }
}

impl Station {
    fn host(&self) -> &Host {
        let Station::Host(host) = self else { panic!("no host") };
        host
    }

    fn host_mut(&mut self) -> &mut Host {
        let Station::Host(host) = self else { panic!("no host") };
        host
    }

    fn switch_mut(&mut self) -> &mut Switch {
        let Station::Switch(switch) = self else { panic!("no switch") };
        switch
    }
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Host(host) => &**host,
            Station::Switch(switch) => switch,
            Station::Stranger(stranger) => stranger,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Host(host) => &mut **host,
            Station::Switch(switch) => switch,
            Station::Stranger(stranger) => stranger,
        }
    }
}

impl Node for Stranger {
    fn handle_frame(&mut self, _port: usize, frame: &Bytes, _now: Time) {
        let is_mine = self.phantoms.contains(&Frame::parse(frame).unwrap().dst());
        let mut echo = frame.to_vec();
        if is_mine && Hello::reflect(&mut echo) {
            self.leaving.push_back(echo.into());
        }
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        Some((0, self.leaving.pop_front()?))
    }
}
