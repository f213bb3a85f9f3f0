//! A host with a team, driven through an experiment, and its stack.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_oracle::shares::{Experiment, PAYLOAD, Subject};
use nicteam_simnet::{Host, Node};
use nicteam_team::{Config, Duplex, MemberId, MemberLink, PlanState, Team, Time, Verdict};
use nicteam_wire::{Arp, Frame, Mac, ethertype};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The team's address, and the first member's.
const TEAM: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// Ours.
pub struct Ours {
    host: Host,
    now: Time,
    /// The stack's neighbours, and those it asked for, each with the datagrams that wait.
    neighbours: BTreeMap<Ipv4Addr, Mac>,
    asked: BTreeMap<Ipv4Addr, usize>,
    delivered: u64,
}

impl Ours {
    /// A team of these options.
    pub fn new(experiment: &Experiment, options: &[(&str, &str)]) -> Ours {
        let mut config = Config::default();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        let (now, neighbours, asked) = (Time::ZERO, BTreeMap::new(), BTreeMap::new());
        let mut host = Host::new(Team::new(config, TEAM, now).unwrap(), TEAM);
        host.state = PlanState::new(experiment.seed);
        for (place, &speed_mbps) in experiment.speeds_mbps.iter().enumerate() {
            let link = MemberLink { carrier: true, speed_mbps: Some(speed_mbps), duplex: Some(Duplex::Full) };
            let mac = Mac([2, 0, 0, 0, 0, 1 + place as u8]);
            host.join(&format!("t{place}"), link, Some(mac), now).unwrap();
        }
        host.change(now, |team| team.handle_addresses(vec![(0, ADDRESS.into())]));
        Ours { host, now, neighbours, asked, delivered: 0 }
    }

    /// The stack sends a frame by the team.
    fn transmit(&mut self, bytes: &[u8]) {
        self.host.transmit(bytes, self.now);
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
        while let Some(at) = self.host.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.host.handle_timeout(self.now);
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
            self.host.change(self.now, |team| team.handle_frame(id, bytes, self.now));
        }
        match self.host.plan.receive(id, &frame) {
            Verdict::ToTeam => self.deliver(&frame),
            Verdict::ToTeamAs { dst: team, .. } => {
                let bytes = [&team.0[..], &bytes[6..]].concat();
                self.deliver(&Frame::parse(&bytes).unwrap());
            }
            // Those of the last line are receive_once()'s.
            Verdict::Untagged { .. } | Verdict::Duplicate | Verdict::ToMember | Verdict::Echo | Verdict::Drop => {}
            Verdict::WithoutGap { .. } | Verdict::Withhold => {}
        }
        Ok(())
    }

    fn departed(&mut self) -> Result<Vec<(usize, Vec<u8>)>, Infallible> {
        let departed = std::iter::from_fn(|| self.host.poll_transmit());
        Ok(departed.map(|(member, frame)| (member, frame.to_vec())).collect())
    }

    fn delivered(&mut self) -> Result<u64, Infallible> {
        Ok(std::mem::take(&mut self.delivered))
    }

    fn set_carrier(&mut self, member: usize, up: bool) -> Result<(), Infallible> {
        self.host.handle_carrier(member, up, self.now);
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
