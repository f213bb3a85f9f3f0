//! A team's control side and its plan, driven through an experiment: the shell,
//! the dataplane and the stack of a host without a host.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_oracle::shares::{Experiment, PAYLOAD, Subject};
use nicteam_team::{
    Action, Config, Duplex, Effect, MemberId, MemberLink, MemberSet, Plan, PlanState, Team, Time, Verdict,
};
use nicteam_wire::{Arp, Frame, Mac, ethertype};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The team's address, and the first member's.
const TEAM: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// Ours.
pub struct Ours {
    team: Team,
    plan: Plan,
    state: PlanState,
    links: Vec<MemberLink>,
    now: Time,
    /// The stack's neighbours, and those it asked for, each with the datagrams that wait.
    neighbours: BTreeMap<Ipv4Addr, Mac>,
    asked: BTreeMap<Ipv4Addr, usize>,
    departed: Vec<(usize, Vec<u8>)>,
    delivered: u64,
}

impl Ours {
    /// A team of these options.
    pub fn new(experiment: &Experiment, options: &[(&str, &str)]) -> Ours {
        let mut config = Config::default();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        let link =
            |&speed_mbps: &u32| MemberLink { carrier: true, speed_mbps: Some(speed_mbps), duplex: Some(Duplex::Full) };
        let mut ours = Ours {
            team: Team::new(config, TEAM, Time::ZERO).unwrap(),
            plan: Plan::nobody(),
            state: PlanState::new(experiment.seed),
            links: experiment.speeds_mbps.iter().map(link).collect(),
            now: Time::ZERO,
            neighbours: BTreeMap::new(),
            asked: BTreeMap::new(),
            departed: Vec::new(),
            delivered: 0,
        };
        ours.drain();
        for (place, link) in ours.links.clone().into_iter().enumerate() {
            let id = ours.team.add_member(&format!("t{place}"), link, ours.now).unwrap();
            ours.drain();
            ours.team.handle_member_mac(id, Mac([2, 0, 0, 0, 0, 1 + place as u8]));
            ours.drain();
        }
        ours.team.handle_addresses(vec![(0, ADDRESS.into())]);
        ours.drain();
        ours
    }

    /// Does what the team wants, and then tells it what it asked for.
    fn drain(&mut self) {
        let (mut links, mut loads) = (false, false);
        while let Some(effect) = self.team.poll_effect() {
            match effect {
                Effect::Apply(plan) => self.plan = *plan,
                Effect::Transmit { member, frame } => self.departed.push((member.index(), frame)),
                Effect::ReadLinks => links = true,
                Effect::ReadLoads => loads = true,
                _ => {}
            }
        }
        if loads {
            self.team.handle_loads(&self.state.loads, self.now);
            self.drain();
        }
        for (place, link) in self.links.clone().into_iter().enumerate().filter(|_| links) {
            self.team.handle_link(MemberId::new(place).unwrap(), link, self.now).unwrap();
            self.drain();
        }
    }

    /// The stack sends a frame by the team.
    fn transmit(&mut self, bytes: &[u8]) {
        let frame = Frame::parse(bytes).unwrap();
        match self.plan.choose(&frame, &mut self.state) {
            Action::Send(members) => self.send_by(members, bytes),
            Action::Punt => {
                self.team.handle_punted(bytes, self.now);
                self.drain();
            }
            // Stripe is not among the modes compared.
            Action::Stripe { .. } | Action::Redundant { .. } | Action::Withhold | Action::Drop => {}
        }
    }

    fn send_by(&mut self, members: MemberSet, bytes: &[u8]) {
        for id in members.iter() {
            let mut frame = bytes.to_vec();
            if let Some(src) = self.plan.member(id).and_then(|line| line.rewrite.src) {
                frame[6..12].copy_from_slice(&src.0);
            }
            self.departed.push((id.index(), frame));
        }
    }

    /// The stack gets a frame.
    fn deliver(&mut self, frame: &Frame<'_>) {
        match frame.ethertype() {
            ethertype::IPV4 if frame.dst() == TEAM => self.delivered += 1,
            ethertype::ARP => self.resolve(&Arp::decode(frame.payload()).unwrap()),
            _ => {}
        }
    }

    /// As `arp_process`: who asks or is known is learned, who asks is answered,
    /// and what waits for him is sent.
    fn resolve(&mut self, arp: &Arp) {
        if arp.target_ip != ADDRESS {
            return;
        }
        self.neighbours.insert(arp.sender_ip, arp.sender_mac);
        if arp.operation == Arp::REQUEST {
            let answer = Arp {
                operation: Arp::REPLY,
                sender_mac: TEAM,
                sender_ip: ADDRESS,
                target_mac: arp.sender_mac,
                target_ip: arp.sender_ip,
            };
            self.transmit(&answer.frame(arp.sender_mac, TEAM, None));
        }
        for _ in 0..self.asked.remove(&arp.sender_ip).unwrap_or(0) {
            self.transmit(&datagram(arp.sender_mac, arp.sender_ip));
        }
    }
}

impl Subject for Ours {
    type Error = Infallible;

    fn pass(&mut self, ms: u64) -> Result<(), Infallible> {
        let end = self.now + Duration::from_millis(ms);
        while let Some((at, _)) = self.team.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.team.handle_timeout(self.now);
            self.drain();
        }
        self.now = end;
        Ok(())
    }

    fn send(&mut self, to: Ipv4Addr) -> Result<(), Infallible> {
        if let Some(&mac) = self.neighbours.get(&to) {
            self.transmit(&datagram(mac, to));
            return Ok(());
        }
        let waiting = self.asked.entry(to).or_default();
        *waiting += 1;
        if *waiting == 1 {
            let (operation, target_mac) = (Arp::REQUEST, Mac::default());
            let arp = Arp { operation, sender_mac: TEAM, sender_ip: ADDRESS, target_mac, target_ip: to };
            self.transmit(&arp.frame(Mac::BROADCAST, TEAM, None));
        }
        Ok(())
    }

    /// The control side hears a frame before the dataplane takes it.
    fn arrive(&mut self, member: usize, bytes: &[u8]) -> Result<(), Infallible> {
        let (id, frame) = (MemberId::new(member).unwrap(), Frame::parse(bytes).unwrap());
        if frame.ethertype() == ethertype::ARP {
            self.team.handle_frame(id, bytes, self.now);
            self.drain();
        }
        match self.plan.receive(id, &frame) {
            Verdict::ToTeam => self.deliver(&frame),
            Verdict::ToTeamAs { dst: team, .. } => {
                let bytes = [&team.0[..], &bytes[6..]].concat();
                self.deliver(&Frame::parse(&bytes).unwrap());
            }
            Verdict::Untagged { .. } | Verdict::Duplicate | Verdict::ToMember | Verdict::Echo | Verdict::Drop => {}
        }
        Ok(())
    }

    fn departed(&mut self) -> Result<Vec<(usize, Vec<u8>)>, Infallible> {
        Ok(std::mem::take(&mut self.departed))
    }

    fn delivered(&mut self) -> Result<u64, Infallible> {
        Ok(std::mem::take(&mut self.delivered))
    }

    fn set_carrier(&mut self, member: usize, up: bool) -> Result<(), Infallible> {
        self.links[member].carrier = up;
        self.team.handle_link(MemberId::new(member).unwrap(), self.links[member], self.now).unwrap();
        self.drain();
        Ok(())
    }
}

/// A datagram of the stack, of which nobody reads more than the addresses.
fn datagram(mac: Mac, ip: Ipv4Addr) -> Vec<u8> {
    let mut header = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header[12..16].copy_from_slice(&ADDRESS.octets());
    header[16..20].copy_from_slice(&ip.octets());
    [&mac.0[..], &TEAM.0, &ethertype::IPV4.to_be_bytes(), &header, &[0; 8 + PAYLOAD]].concat()
}
