//! Hosts with teams on virtual segments, and a virtual clock.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use nicteam_team::stripe::Notes;
use nicteam_team::{
    Action, Choose, Config, Duplex, Effect, Identity, MemberId, MemberLink, Mode, Plan, PlanState, Stripe,
};
use nicteam_team::{Team, Time, Verdict};
use nicteam_wire::{Frame, Hello, Mac};

/// How long a frame is under way.
pub const LATENCY: Duration = Duration::from_micros(50);

/// All hosts, and what is under way between them.
pub struct Lan {
    pub now: Time,
    pub hosts: Vec<Host>,
    /// In order of arrival.
    flying: BTreeMap<(Time, u64), Flight>,
    sent: u64,
    /// When which host wants to be called back.
    timers: BTreeSet<(Time, usize)>,
    /// What was sent on which segment, if it is recorded.
    pub tape: Option<Vec<(usize, Vec<u8>)>>,
    /// Members that have or had an address.
    ports: BTreeMap<Mac, BTreeSet<(usize, usize)>>,
    /// Addresses that are no host's, from which probes come back all the same.
    pub phantoms: BTreeSet<Mac>,
    /// Numbers of systems so far.
    systems: u64,
    /// Up to so much longer than [`LATENCY`] a frame is under way, by chance: processors are late.
    pub jitter: Duration,
    random: u64,
}

/// One host with its team.
pub struct Host {
    pub team: Team,
    pub plan: Plan,
    pub state: PlanState,
    pub mac: Mac,
    members: Vec<Cable>,
    /// What its dataplane noted.
    notes: Notes,
    /// Its process does not run; its dataplane does.
    stalled: bool,
    /// What stands of it among the timers.
    due: Option<Time>,
    /// What its members heard meanwhile.
    waiting: Vec<(usize, Vec<u8>)>,
    /// Frames it sent, by member.
    pub hellos: BTreeMap<usize, u64>,
}

/// Where a member is plugged in.
struct Cable {
    mac: Mac,
    segment: usize,
    up: bool,
    /// Nothing passes out, or in, and nobody says so.
    mute: bool,
    deaf: bool,
    /// What this cable adds to a frame's way out.
    delay: Duration,
}

struct Flight {
    host: usize,
    member: usize,
    frame: Rc<[u8]>,
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

impl Lan {
    pub fn new() -> Lan {
        Lan {
            now: Time::from_millis(1),
            hosts: Vec::new(),
            flying: BTreeMap::new(),
            sent: 0,
            timers: BTreeSet::new(),
            tape: None,
            ports: BTreeMap::new(),
            phantoms: BTreeSet::new(),
            systems: 0,
            jitter: Duration::ZERO,
            random: 1,
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
        let team = self.team(mac, key, "");
        let plan = team.plan().clone();
        let (state, hellos, notes) = (PlanState::new(0), BTreeMap::new(), Notes::default());
        let (stalled, due, waiting) = (false, None, Vec::new());
        self.hosts.push(Host { team, plan, state, mac, members: Vec::new(), notes, stalled, due, waiting, hellos });
        let host = self.hosts.len() - 1;
        for (place, (&segment, &rate)) in segments.iter().zip(rates_mbps).enumerate() {
            let own = Mac([2, 0, high, low, 0, place as u8]);
            self.ports.entry(own).or_default().insert((host, place));
            self.hosts[host].members.push(Cable {
                mac: own,
                segment,
                up: true,
                mute: false,
                deaf: false,
                delay: Duration::ZERO,
            });
            let link = MemberLink { carrier: true, speed_mbps: Some(rate), duplex: Some(Duplex::Full) };
            self.hosts[host].team.add_member(&format!("eth{place}"), link, self.now).unwrap();
            self.drain(host);
            self.hosts[host].team.handle_member_mac(id(place), own);
            self.drain(host);
        }
        host
    }

    /// Lets so much time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        loop {
            let timer = self.timers.first().copied().filter(|(at, _)| *at <= end);
            let arrival = self.flying.first_key_value().map(|(key, _)| *key).filter(|(at, _)| *at <= end);
            match (timer, arrival) {
                (Some((at, host)), arrival) if arrival.is_none_or(|(arrives, _)| at < arrives) => {
                    self.now = self.now.max(at);
                    self.hosts[host].team.handle_timeout(self.now);
                    self.drain(host);
                }
                (_, Some(key)) => {
                    self.now = self.now.max(key.0);
                    let flight = self.flying.remove(&key).unwrap();
                    self.arrive(flight);
                }
                (_, None) => break,
            }
        }
        self.now = end;
    }

    /// Pulls a cable, or plugs it in; its host sees it at once.
    pub fn plug(&mut self, host: usize, member: usize, up: bool) {
        self.hosts[host].members[member].up = up;
        let link = MemberLink { carrier: up, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        self.hosts[host].team.handle_link(id(member), link, self.now).unwrap();
        self.drain(host);
    }

    /// Lets nothing pass by a member, and nobody sees it.
    pub fn silence(&mut self, host: usize, member: usize, silent: bool) {
        let cable = &mut self.hosts[host].members[member];
        (cable.mute, cable.deaf) = (silent, silent);
    }

    /// Lets nothing that a member sends arrive, and nobody sees it.
    pub fn mute(&mut self, host: usize, member: usize, mute: bool) {
        self.hosts[host].members[member].mute = mute;
    }

    /// Lets a member's frames be so much longer under way.
    pub fn delay(&mut self, host: usize, member: usize, delay: Duration) {
        self.hosts[host].members[member].delay = delay;
    }

    /// Stops a host's process, or lets it run on: what its members heard waits, its dataplane goes on.
    pub fn stall(&mut self, host: usize, stalled: bool) {
        self.hosts[host].stalled = stalled;
        self.note_timer(host);
        if !stalled {
            for (member, frame) in std::mem::take(&mut self.hosts[host].waiting) {
                self.hosts[host].team.handle_frame(id(member), &frame, self.now);
                self.drain(host);
            }
            self.hosts[host].team.handle_timeout(self.now);
            self.drain(host);
        }
    }

    /// Lets a host's team change something.
    pub fn change(&mut self, host: usize, change: impl FnOnce(&mut Team)) {
        change(&mut self.hosts[host].team);
        self.drain(host);
    }

    /// A team that starts anew on the same host.
    pub fn restart(&mut self, host: usize) {
        let cables: Vec<(usize, Mac)> =
            self.hosts[host].members.iter().map(|cable| (cable.segment, cable.mac)).collect();
        let keys = ["stripe_key", "stripe_key_old"].map(|name| {
            let options = self.hosts[host].team.config().options();
            options.into_iter().find(|(option, _)| *option == name).unwrap().1
        });
        self.hosts[host].team = self.team(self.hosts[host].mac, &keys[0], &keys[1]);
        let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        for (place, (_, mac)) in cables.into_iter().enumerate() {
            self.hosts[host].team.add_member(&format!("eth{place}"), link, self.now).unwrap();
            self.drain(host);
            self.hosts[host].team.handle_member_mac(id(place), mac);
            self.drain(host);
        }
    }

    /// The same, one host sending to another a frame each millisecond, until `done`
    /// or for so long; how long it took.
    pub fn run_busy(&mut self, (from, to): (usize, usize), most: Duration, done: impl Fn(&Lan) -> bool) -> Duration {
        let start = self.now;
        while self.now.since(start) < most && !done(self) {
            self.run(Duration::from_millis(1));
            if !self.hosts[from].paths_to(self.hosts[to].mac).is_empty() {
                self.traffic(from, to, 1);
            }
        }
        self.now.since(start)
    }

    /// Frames from one host's stack to another's, by sending and receiving member.
    pub fn traffic(&mut self, from: usize, to: usize, frames: usize) -> BTreeMap<(usize, usize), usize> {
        let bytes = frame(self.hosts[to].mac, self.hosts[from].mac, 1514);
        let mut counted = BTreeMap::new();
        for _ in 0..frames {
            let Host { plan, state, .. } = &mut self.hosts[from];
            state.now = self.now;
            let action = plan.choose(&Frame::parse(&bytes).unwrap(), state);
            let Action::Stripe { member, dst, .. } = action else { panic!("{action:?}") };
            let place = self.hosts[to].members.iter().position(|cable| cable.mac == dst).unwrap();
            *counted.entry((member.index(), place)).or_default() += 1;
            self.hosts[from].notes.sent(dst);
            let cable = &self.hosts[from].members[member.index()];
            if !cable.mute && !self.hosts[to].members[place].deaf {
                let src = cable.mac;
                self.hosts[to].notes.heard(id(place), src);
            }
        }
        counted
    }

    /// A data frame that a member received from this address, a peer's member's, as its dataplane notes it.
    pub fn note_data(&mut self, host: usize, member: usize, src: Mac) {
        self.hosts[host].notes.heard(id(member), src);
    }

    /// Puts a frame on a segment: all members there receive it, if it is for them.
    pub fn inject(&mut self, segment: usize, frame: &[u8]) {
        self.flood(segment, frame, None, Duration::ZERO);
    }

    fn team(&mut self, mac: Mac, key: &str, old: &str) -> Team {
        let mut config = Config { mode: Mode::Stripe, ..Config::default() };
        config.set("stripe_key", key).unwrap();
        config.set("stripe_key_old", old).unwrap();
        let mut team = Team::new(config, mac, self.now).unwrap();
        self.systems += 1;
        let (number, secret) = (0x5157_0000 + self.systems, [self.systems as u8; 32]);
        team.set_identity(Identity { number, secret }, self.now);
        team
    }

    /// A group-addressed frame from a host's stack: how often which other host's
    /// stack gets it, and how many copies which segment.
    pub fn broadcast(&self, from: usize) -> (BTreeMap<usize, usize>, BTreeMap<usize, usize>) {
        let host = &self.hosts[from];
        let bytes = frame(Mac::BROADCAST, host.mac, 100);
        let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut PlanState::new(0));
        let Action::Send(members) = action else { panic!("{action:?}") };
        let (mut hosts, mut segments) = (BTreeMap::new(), BTreeMap::new());
        for member in members.iter() {
            let cable = &host.members[member.index()];
            if !cable.up || cable.mute {
                continue;
            }
            let mut bytes = bytes.clone();
            let rewrite = host.plan.member(member).unwrap().rewrite;
            bytes[6..12].copy_from_slice(&rewrite.src.unwrap_or(host.mac).0);
            *segments.entry(cable.segment).or_default() += 1;
            for (to, got) in self.hear(cable.segment, Some((from, member.index())), &bytes) {
                *hosts.entry(to).or_default() += got;
            }
        }
        (hosts, segments)
    }

    /// How often which host's stack gets a frame that is on a segment.
    pub fn hear(&self, segment: usize, from: Option<(usize, usize)>, bytes: &[u8]) -> BTreeMap<usize, usize> {
        let mut got = BTreeMap::new();
        for (to, host) in self.hosts.iter().enumerate() {
            for (place, cable) in host.members.iter().enumerate() {
                let reaches = cable.segment == segment && cable.up && !cable.deaf && from != Some((to, place));
                let verdict = host.plan.receive(id(place), &Frame::parse(bytes).unwrap());
                if reaches && matches!(verdict, Verdict::ToTeam | Verdict::ToTeamAs { .. }) {
                    *got.entry(to).or_default() += 1;
                }
            }
        }
        got
    }

    /// The member of a host that lies on this segment.
    pub fn place_on(&self, host: usize, segment: usize) -> usize {
        self.hosts[host].members.iter().position(|cable| cable.segment == segment).unwrap()
    }

    /// Plugs this member of every host into another segment, silently.
    pub fn bridge(&mut self, member: usize, segment: usize) {
        self.hosts.iter_mut().for_each(|host| host.members[member].segment = segment);
    }

    fn arrive(&mut self, Flight { host, member, frame }: Flight) {
        let Host { members, plan, stalled, waiting, team, .. } = &mut self.hosts[host];
        let cable = &members[member];
        let view = Frame::parse(&frame).unwrap();
        if !cable.up || cable.deaf || !(view.dst().is_multicast() || view.dst() == cable.mac) {
            return;
        }
        if plan.receive(id(member), &view) == Verdict::Echo {
            let mut echo = frame.to_vec();
            assert!(Hello::reflect(&mut echo));
            self.fly(host, member, echo);
        } else if *stalled {
            waiting.push((member, frame.to_vec()));
        } else {
            team.handle_frame(id(member), &frame, self.now);
            self.drain(host);
        }
    }

    fn drain(&mut self, host: usize) {
        let mut read_notes = false;
        while let Some(effect) = self.hosts[host].team.poll_effect() {
            match effect {
                Effect::Apply(plan) => self.hosts[host].plan = *plan,
                Effect::SetMac { member: Some(member), mac } => {
                    self.hosts[host].members[member.index()].mac = mac;
                    self.ports.entry(mac).or_default().insert((host, member.index()));
                }
                Effect::Transmit { member, frame } => self.send(host, member.index(), frame),
                Effect::ReadNotes => read_notes = true,
                _ => {}
            }
        }
        if read_notes {
            let notes = self.hosts[host].notes.take();
            self.hosts[host].team.handle_notes(&notes, self.now);
            self.drain(host);
        }
        self.note_timer(host);
    }

    fn note_timer(&mut self, host: usize) {
        let Host { team, stalled, due, .. } = &mut self.hosts[host];
        let next = team.poll_timeout().map(|(at, _)| at).filter(|_| !*stalled);
        if let Some(before) = due.take() {
            self.timers.remove(&(before, host));
        }
        *due = next;
        self.timers.extend(next.map(|at| (at, host)));
    }

    fn send(&mut self, host: usize, member: usize, frame: Vec<u8>) {
        *self.hosts[host].hellos.entry(member).or_default() += 1;
        self.fly(host, member, frame);
    }

    fn fly(&mut self, host: usize, member: usize, frame: Vec<u8>) {
        let from = &self.hosts[host].members[member];
        if !from.up || from.mute {
            return;
        }
        let (segment, delay) = (from.segment, from.delay);
        self.flood(segment, &frame, Some((host, member)), delay);
    }

    /// To all members on a segment but the one that sent it.
    fn flood(&mut self, segment: usize, frame: &[u8], from: Option<(usize, usize)>, delay: Duration) {
        if let Some(tape) = &mut self.tape {
            tape.push((segment, frame.to_vec()));
        }
        let (dst, frame): (Mac, Rc<[u8]>) = (Frame::parse(frame).unwrap().dst(), Rc::from(frame));
        if let Some((host, member)) = from.filter(|_| self.phantoms.contains(&dst)) {
            let mut echo = frame.to_vec();
            if Hello::reflect(&mut echo) {
                self.take_off(host, member, &Rc::from(echo), delay + LATENCY);
            }
        } else if !dst.is_multicast() {
            for (to, place) in self.ports.get(&dst).cloned().unwrap_or_default() {
                let cable = &self.hosts[to].members[place];
                if cable.mac == dst && cable.segment == segment && Some((to, place)) != from {
                    self.take_off(to, place, &frame, delay);
                }
            }
            return;
        }
        for to in 0..self.hosts.len() {
            for place in 0..self.hosts[to].members.len() {
                if self.hosts[to].members[place].segment == segment && Some((to, place)) != from {
                    self.take_off(to, place, &frame, delay);
                }
            }
        }
    }

    fn take_off(&mut self, host: usize, member: usize, frame: &Rc<[u8]>, delay: Duration) {
        self.sent += 1;
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let late = self.jitter * (self.random >> 40) as u32 / (1 << 24);
        let flight = Flight { host, member, frame: Rc::clone(frame) };
        self.flying.insert((self.now + LATENCY + delay + late, self.sent), flight);
    }
}

impl Host {
    /// How it chooses now.
    pub fn stripe(&self) -> &Stripe {
        match &self.plan.choose {
            Choose::Stripe(stripe) => stripe,
            other => panic!("{other:?}"),
        }
    }

    /// The paths to the peer with this address, by places: none if it is no peer.
    pub fn paths_to(&self, team: Mac) -> BTreeSet<(usize, u8)> {
        let Some(peer) = self.stripe().peer(team) else { return BTreeSet::new() };
        let place = |mac: Mac| mac.0[5];
        let ends = |path: &nicteam_team::stripe::Path| {
            (self.stripe().senders[path.sender].id.index(), place(peer.receivers[path.receiver].mac))
        };
        peer.paths.iter().map(ends).collect()
    }
}
