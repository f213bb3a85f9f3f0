//! Hosts with teams on virtual segments, and a virtual clock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_team::{Action, Choose, Config, Duplex, Effect, MemberId, MemberLink, Mode, Plan, PlanState, Stripe};
use nicteam_team::{Team, Time};
use nicteam_wire::{Frame, Mac};

/// How long a frame is under way.
pub const LATENCY: Duration = Duration::from_micros(50);

/// All hosts, and what is under way between them.
pub struct Lan {
    pub now: Time,
    pub hosts: Vec<Host>,
    /// In order of arrival.
    flying: BTreeMap<(Time, u64), Flight>,
    sent: u64,
}

/// One host with its team.
pub struct Host {
    pub team: Team,
    pub plan: Plan,
    pub state: PlanState,
    pub mac: Mac,
    members: Vec<Cable>,
    /// Frames it sent, by member.
    pub hellos: BTreeMap<usize, u64>,
}

/// Where a member is plugged in.
struct Cable {
    mac: Mac,
    segment: usize,
    up: bool,
    /// Nothing passes, and nobody says so.
    silent: bool,
}

struct Flight {
    host: usize,
    member: usize,
    frame: Vec<u8>,
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
        Lan { now: Time::from_millis(1), hosts: Vec::new(), flying: BTreeMap::new(), sent: 0 }
    }

    /// A host whose members are plugged into these segments, with these rates (Mbit/s).
    pub fn add(&mut self, segments: &[usize], rates_mbps: &[u32]) -> usize {
        let number = self.hosts.len() as u8 + 1;
        let mac = Mac([2, 0, 0, number, 0, 0]);
        let config = Config { mode: Mode::Stripe, ..Config::default() };
        let team = Team::new(config, mac, self.now).unwrap();
        let plan = team.plan().clone();
        let (state, hellos) = (PlanState::new(0), BTreeMap::new());
        self.hosts.push(Host { team, plan, state, mac, members: Vec::new(), hellos });
        let host = self.hosts.len() - 1;
        for (place, (&segment, &rate)) in segments.iter().zip(rates_mbps).enumerate() {
            let own = Mac([2, 0, 0, number, 0, place as u8]);
            self.hosts[host].members.push(Cable { mac: own, segment, up: true, silent: false });
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
            let timer = (0..self.hosts.len()).filter_map(|host| Some((self.hosts[host].team.poll_timeout()?.0, host)));
            let timer = timer.min().filter(|(at, _)| *at <= end);
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
        self.hosts[host].members[member].silent = silent;
    }

    /// A team that starts anew on the same host.
    pub fn restart(&mut self, host: usize) {
        let cables: Vec<(usize, Mac)> =
            self.hosts[host].members.iter().map(|cable| (cable.segment, cable.mac)).collect();
        let config = Config { mode: Mode::Stripe, ..Config::default() };
        self.hosts[host].team = Team::new(config, self.hosts[host].mac, self.now).unwrap();
        let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        for (place, (_, mac)) in cables.into_iter().enumerate() {
            self.hosts[host].team.add_member(&format!("eth{place}"), link, self.now).unwrap();
            self.drain(host);
            self.hosts[host].team.handle_member_mac(id(place), mac);
            self.drain(host);
        }
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
        }
        counted
    }

    fn arrive(&mut self, Flight { host, member, frame }: Flight) {
        let cable = &self.hosts[host].members[member];
        if !cable.up || cable.silent {
            return;
        }
        let dst = Frame::parse(&frame).unwrap().dst();
        if dst.is_multicast() || dst == cable.mac {
            self.hosts[host].team.handle_frame(id(member), &frame, self.now);
            self.drain(host);
        }
    }

    fn drain(&mut self, host: usize) {
        while let Some(effect) = self.hosts[host].team.poll_effect() {
            match effect {
                Effect::Apply(plan) => self.hosts[host].plan = plan,
                Effect::SetMac { member: Some(member), mac } => {
                    self.hosts[host].members[member.index()].mac = mac;
                }
                Effect::Transmit { member, frame } => self.send(host, member.index(), frame),
                _ => {}
            }
        }
    }

    fn send(&mut self, host: usize, member: usize, frame: Vec<u8>) {
        *self.hosts[host].hellos.entry(member).or_default() += 1;
        let from = &self.hosts[host].members[member];
        if !from.up || from.silent {
            return;
        }
        let segment = from.segment;
        let dst = Frame::parse(&frame).unwrap().dst();
        for (to, other) in self.hosts.iter().enumerate() {
            for (place, cable) in other.members.iter().enumerate() {
                let is_for = dst.is_multicast() || dst == cable.mac;
                if is_for && cable.segment == segment && (to, place) != (host, member) {
                    self.sent += 1;
                    let flight = Flight { host: to, member: place, frame: frame.clone() };
                    self.flying.insert((self.now + LATENCY, self.sent), flight);
                }
            }
        }
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
