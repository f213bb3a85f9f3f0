//! The switch in front of the team and the hosts on it, without a clock.
//!
//! The switch learns addresses, floods what it does not know, and forgets a port whose cable is pulled. A host does
//! with ARP what Linux 6.1 does (net/ipv4/arp.c, `arp_process`; net/core/neighbour.c). A host that is asked learns the
//! address of the one that asks. A host that knows the team learns from the team's broadcasts. An address holds for a
//! second. Every half minute the host asks the team at its address whether it is still there; if the team does not
//! answer, the host asks by broadcast.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use nicteam_wire::{Arp, Frame, Mac, ethertype};

use super::experiment::{Experiment, PORT, STEPS, Second, Subject, TEAM};

/// The last byte of the first host's address.
const FIRST_HOST: u8 = 10;
/// Datagrams of a host a second.
const ASKS: u64 = 5;
/// Payload of a host's datagrams, bytes.
const ASK: usize = 64;
/// Steps until an address may be replaced (`LOCKTIME`).
const LOCKED: u64 = STEPS;
/// Steps from one question whether the team is still there to the next.
const RENEWAL: u64 = 30 * STEPS;
/// Steps until such a question counts as not answered, and until one to everybody does.
const UNANSWERED: [u64; 2] = [3 * STEPS, STEPS];

/// Switch and hosts.
#[derive(Debug)]
pub(super) struct Network {
    /// Where the switch saw each of the team's addresses.
    learned: BTreeMap<Mac, usize>,
    /// Cables that are plugged in, by member.
    carriers: Vec<bool>,
    hosts: Vec<Host>,
    now: u64,
    /// Frames on their way to members.
    queue: Vec<(usize, Vec<u8>)>,
    second: Second,
}

/// A host.
#[derive(Debug)]
struct Host {
    ip: Ipv4Addr,
    mac: Mac,
    /// The team's address, as it knows it, and since when.
    held: Option<(Mac, u64)>,
    /// A question that was not answered yet, and since when.
    asked: Option<u64>,
    /// Until then it waits for the team to speak first.
    silent_until: u64,
    /// The member that its last datagram came by.
    member: Option<usize>,
}

impl Network {
    pub(super) fn new(experiment: &Experiment) -> Network {
        let members = experiment.speeds_mbps.len();
        Network {
            learned: BTreeMap::new(),
            carriers: vec![true; members],
            hosts: (0..experiment.hosts).map(Host::new).collect(),
            now: 0,
            queue: Vec::new(),
            second: empty_second(members),
        }
    }

    /// A cable is pulled or plugged in: the switch forgets who was there.
    pub(super) fn set_carrier(&mut self, member: usize, up: bool) {
        self.carriers[member] = up;
        self.learned.retain(|_, port| *port != member);
    }

    /// The team's stack has a datagram for a host.
    pub(super) fn offered<S: Subject>(&mut self, subject: &mut S, host: usize) -> Result<(), S::Error> {
        self.second.offered += 1;
        subject.send(self.hosts[host].ip)
    }

    /// What the hosts say by themselves in a step.
    pub(super) fn speak<S: Subject>(&mut self, step: u64, subject: &mut S) -> Result<(), S::Error> {
        self.now = step;
        let count = self.hosts.len() as u64;
        for place in 0..self.hosts.len() {
            let host = &mut self.hosts[place];
            let question = host.question(step, place as u64 * RENEWAL / count);
            let datagram = host.datagram(step, place as u64);
            self.second.asked += u64::from(datagram.is_some());
            for frame in [question, datagram].into_iter().flatten() {
                self.switch(None, &frame);
            }
        }
        self.settle(subject)
    }

    /// Lets frames pass until none is under way.
    pub(super) fn settle<S: Subject>(&mut self, subject: &mut S) -> Result<(), S::Error> {
        loop {
            for (member, frame) in std::mem::take(&mut self.queue) {
                subject.arrive(member, &frame)?;
            }
            let departed = subject.departed()?;
            if departed.is_empty() && self.queue.is_empty() {
                self.second.delivered += subject.delivered()?;
                return Ok(());
            }
            for (member, frame) in departed {
                // A frame by a pulled cable goes nowhere.
                if self.carriers[member] {
                    self.switch(Some(member), &frame);
                }
            }
        }
    }

    /// What was seen since the last call.
    pub(super) fn take_second(&mut self) -> Second {
        let mut second = std::mem::replace(&mut self.second, empty_second(self.carriers.len()));
        for (mac, _) in self.hosts.iter().filter_map(|host| host.held) {
            if let Some(&member) = self.learned.get(&mac) {
                second.held[member] += 1;
            }
        }
        second
    }

    /// A frame comes to the switch, from a member or from a host.
    fn switch(&mut self, from: Option<usize>, bytes: &[u8]) {
        let Ok(frame) = Frame::parse(bytes) else { return };
        if let Some(member) = from {
            self.learned.insert(frame.src(), member);
        }
        if let Some(place) = self.host(frame.dst()) {
            return self.host_hears(place, from, &frame, bytes.len());
        }
        let known = self.learned.get(&frame.dst()).copied();
        for port in (0..self.carriers.len()).filter(|port| self.carriers[*port] && Some(*port) != from) {
            if known.is_none_or(|known| known == port) {
                if frame.ethertype() == ethertype::IPV4 {
                    self.second.received[port] += 1;
                }
                self.queue.push((port, bytes.to_vec()));
            }
        }
        if frame.dst().is_multicast() {
            (0..self.hosts.len()).for_each(|place| self.host_hears(place, from, &frame, bytes.len()));
        }
    }

    /// The host with this address.
    fn host(&self, mac: Mac) -> Option<usize> {
        let place = usize::from(mac.0[5].checked_sub(FIRST_HOST)?);
        self.hosts.get(place).filter(|host| host.mac == mac).map(|_| place)
    }

    fn host_hears(&mut self, place: usize, from: Option<usize>, frame: &Frame<'_>, len: usize) {
        let host = &mut self.hosts[place];
        match (frame.ethertype(), from) {
            (ethertype::IPV4, Some(member)) => {
                self.second.sent[member] += len as u64;
                self.second.arrived += 1;
                self.second.moved += u32::from(host.member.replace(member).is_some_and(|before| before != member));
            }
            (ethertype::ARP, _) => {
                let Ok(arp) = Arp::decode(frame.payload()) else { return };
                self.second.retold += u32::from(host.learn(&arp, self.now));
                if let Some(answer) = host.answer(&arp) {
                    self.switch(None, &answer);
                }
            }
            _ => {}
        }
    }
}

impl Host {
    fn new(place: u8) -> Host {
        let last = FIRST_HOST + place;
        Host {
            ip: Ipv4Addr::new(10, 0, 0, last),
            mac: Mac([2, 0, 0, 1, 0, last]),
            held: None,
            asked: None,
            // Every other one asks for the team first; the others are asked.
            silent_until: if place.is_multiple_of(2) { 0 } else { 5 * STEPS },
            member: None,
        }
    }

    /// Takes in what is said of the team's address; true if it was another before.
    fn learn(&mut self, arp: &Arp, now: u64) -> bool {
        let concerns_it = self.held.is_some() || arp.target_ip == self.ip;
        if arp.sender_ip != TEAM || !concerns_it {
            return false;
        }
        if arp.operation == Arp::REPLY {
            self.asked = None;
        }
        match self.held {
            Some((mac, since)) if mac == arp.sender_mac || now < since + LOCKED => false,
            before => {
                self.held = Some((arp.sender_mac, now));
                before.is_some()
            }
        }
    }

    fn answer(&self, arp: &Arp) -> Option<Vec<u8>> {
        let is_asked = arp.operation == Arp::REQUEST && arp.target_ip == self.ip && arp.sender_ip != self.ip;
        let answer = Arp {
            operation: Arp::REPLY,
            sender_mac: self.mac,
            sender_ip: self.ip,
            target_mac: arp.sender_mac,
            target_ip: arp.sender_ip,
        };
        is_asked.then(|| answer.frame(arp.sender_mac, self.mac, None))
    }

    /// Its question for the team, if it has one in this step.
    fn question(&mut self, step: u64, phase: u64) -> Option<Vec<u8>> {
        let [renewal, first] = UNANSWERED;
        let patience = if self.held.is_some() { renewal } else { first };
        if self.asked.is_some_and(|since| step >= since + patience) {
            self.asked = None;
            self.held = None;
        }
        let to = match self.held {
            Some((mac, _)) if (step + phase) % RENEWAL == RENEWAL - 1 => mac,
            None if self.asked.is_none() && step >= self.silent_until => Mac::BROADCAST,
            _ => return None,
        };
        self.asked = Some(step);
        let (operation, target_mac) = (Arp::REQUEST, Mac::default());
        let arp = Arp { operation, sender_mac: self.mac, sender_ip: self.ip, target_mac, target_ip: TEAM };
        Some(arp.frame(to, self.mac, None))
    }

    /// Its datagram for the team, if it has one in this step and knows where to.
    fn datagram(&self, step: u64, phase: u64) -> Option<Vec<u8>> {
        let (team, _) = self.held?;
        (step + phase).is_multiple_of(STEPS / ASKS).then(|| datagram((self.mac, self.ip), team))
    }
}

/// A UDP datagram to the team.
fn datagram((mac, ip): (Mac, Ipv4Addr), team: Mac) -> Vec<u8> {
    const UDP: u8 = 17;
    let (udp, total) = (8 + ASK as u16, 28 + ASK as u16);
    let mut header = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, UDP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header[12..16].copy_from_slice(&ip.octets());
    header[16..20].copy_from_slice(&TEAM.octets());
    let sum: u32 = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    // Ten words carry over twice at most (RFC 1071).
    let folded = (0..2).fold(sum, |sum, _| (sum & 0xffff) + (sum >> 16));
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    let ports = [PORT.to_be_bytes(), PORT.to_be_bytes()].concat();
    // No checksum of its own: it is optional in IPv4 (RFC 768).
    let rest = [&ports[..], &udp.to_be_bytes(), &[0, 0], &[0; ASK]].concat();
    [&team.0[..], &mac.0, &ethertype::IPV4.to_be_bytes(), &header, &rest].concat()
}

fn empty_second(members: usize) -> Second {
    Second { sent: vec![0; members], received: vec![0; members], held: vec![0; members], ..Second::default() }
}
