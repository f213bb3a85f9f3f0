//! A team whose members lead to one switch, behind which targets answer.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use nicteam_team::{
    ArpMonitoring, Config, Effect, Event, LinkState, MemberId, MemberLink, Mode, Subnet, Team, Time, Traffic,
};
use nicteam_wire::{Arp, Frame, Mac, Ndisc, NdiscKind, ethertype};

/// What the team's stack sends from.
pub const MAC: Mac = Mac([2, 0, 0, 0, 0, 0xaa]);
/// What every target sends from.
pub const TARGET_MAC: Mac = Mac([2, 0, 0, 0, 0, 0xbb]);
/// Between two rounds of probes, milliseconds.
pub const INTERVAL: u64 = 100;

/// A member's way to the switch.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    pub carrier: bool,
    /// Frames pass, if there is carrier.
    pub passes: bool,
    traffic: Traffic,
}

pub struct World {
    pub team: Team,
    pub now: Time,
    pub cables: BTreeMap<MemberId, Cable>,
    /// The switch floods from member to member.
    pub floods: bool,
    /// Who answers.
    pub targets: Vec<IpAddr>,
    /// Probes, by whom and when.
    pub probes: Vec<(u64, usize)>,
    pub events: Vec<Event>,
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
        let team = Team::new(config, MAC, Time::ZERO).unwrap();
        let cables = BTreeMap::new();
        let mut world =
            World { team, now: Time::ZERO, cables, floods: true, targets, probes: Vec::new(), events: Vec::new() };
        let subnet =
            |address: &str, prefix_len| Subnet { tags: Vec::new(), address: address.parse().unwrap(), prefix_len };
        world.team.handle_subnets(vec![subnet("10.0.0.1", 24), subnet("fe80::1", 64)]);
        world.join("m0", true);
        world.join("m1", true);
        world
    }

    pub fn join(&mut self, name: &str, carrier: bool) {
        let link = MemberLink { carrier, speed_mbps: None, duplex: None };
        let id = self.team.add_member(name, link, self.now).unwrap();
        self.cables.insert(id, Cable { carrier, passes: true, traffic: Traffic::default() });
        self.drain();
    }

    /// Goes on with another configuration.
    pub fn set(&mut self, config: Config) {
        self.team.set_config(config, self.now).unwrap();
        self.drain();
    }

    /// Makes frames pass or vanish on a member's cable; its carrier stays.
    pub fn pass(&mut self, place: usize, passes: bool) {
        self.cables.get_mut(&id(place)).unwrap().passes = passes;
    }

    /// Serves every deadline up to this time, milliseconds.
    pub fn run_to(&mut self, ms: u64) {
        let end = Time::from_millis(ms);
        while let Some((at, _)) = self.team.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.team.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
    }

    /// A member receives a frame from somebody else.
    pub fn receive(&mut self, place: usize, frame: &[u8]) {
        self.cables.get_mut(&id(place)).unwrap().traffic.rx_frames += 1;
        let listens = self.team.listens();
        let heard = match Frame::parse(frame).unwrap().without_tags().0.ethertype() {
            ethertype::ARP => listens.arp,
            ethertype::IPV6 => listens.neighbours,
            _ => false,
        };
        if heard {
            self.team.handle_frame(id(place), frame, self.now);
            self.drain();
        }
    }

    pub fn states(&self) -> Vec<LinkState> {
        self.team.members().iter().map(|member| member.state).collect()
    }

    /// The active member of active-backup.
    pub fn active(&self) -> Option<usize> {
        self.team.members().iter().find(|member| member.active).map(|member| member.id.index())
    }

    /// Does what the team wants, and what follows from it, until all is quiet.
    fn drain(&mut self) {
        let mut frames = VecDeque::new();
        loop {
            let (mut reads, mut reads_links) = (false, false);
            while let Some(effect) = self.team.poll_effect() {
                match effect {
                    Effect::Transmit { member, frame } => self.send(member, &frame, &mut frames),
                    Effect::ReadTraffic => reads = true,
                    Effect::ReadLinks => reads_links = true,
                    Effect::Event(event) => self.events.push(event),
                    Effect::Apply(_)
                    | Effect::SetCarrier(_)
                    | Effect::SetMac { .. }
                    | Effect::TakeAll { .. }
                    | Effect::ReadGroups
                    | Effect::ReadLoads
                    | Effect::ReadNotes => {}
                }
            }
            if reads_links {
                self.read_links();
            }
            if reads {
                let traffic: Vec<_> = self.cables.iter().map(|(&id, cable)| (id, cable.traffic)).collect();
                self.team.handle_traffic(&traffic, self.now);
            } else if let Some((member, frame)) = frames.pop_front() {
                self.receive(member, &frame);
            } else {
                return;
            }
        }
    }

    fn read_links(&mut self) {
        let carriers: Vec<_> = self.cables.iter().map(|(&id, cable)| (id, cable.carrier)).collect();
        for (id, carrier) in carriers {
            let link = MemberLink { carrier, speed_mbps: None, duplex: None };
            self.team.handle_link(id, link, self.now).unwrap();
            self.drain();
        }
    }

    /// Carries a probe to the other members and to the targets.
    fn send(&mut self, by: MemberId, frame: &[u8], frames: &mut VecDeque<(usize, Vec<u8>)>) {
        let passes = |cable: &Cable| cable.carrier && cable.passes;
        self.probes.push((self.now.as_nanos() / 1_000_000, by.index()));
        if !passes(&self.cables[&by]) {
            return;
        }
        let others = self.cables.iter().filter(|&(&id, cable)| self.floods && id != by && passes(cable));
        frames.extend(others.map(|(id, _)| (id.index(), frame.to_vec())));
        let answer = answer(frame, &self.targets);
        frames.extend(answer.map(|answer| (by.index(), answer)));
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
