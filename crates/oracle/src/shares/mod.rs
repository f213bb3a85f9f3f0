//! One experiment for the kernel's driver and for ours: who sends what by which
//! member, and which member's address each neighbour holds.
//!
//! A team speaks to many hosts on one switch. Each host has a flow from the team,
//! of unlike rates, and one to it, of like rates. Cables are pulled and plugged in
//! again, and rates change. All of it follows from the [`Experiment`] alone, so
//! that whatever is driven through it ([`Subject`]) meets the same: the switch, the
//! hosts' ARP and the order of all frames are made here ([`network`]), without any
//! clock, and only the team differs.

mod evenness;
mod network;
mod rates;
mod summary;

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

pub use evenness::{busiest, jain, roomiest_busiest};
use network::Network;
use rates::Rates;
pub use summary::Summary;

/// The team's address; its network has 24 bits.
pub const ADDRESS: IpAddr = IpAddr::V4(TEAM);
/// Length of the network's prefix.
pub const PREFIX: u8 = 24;
/// The UDP port of the team and of every host.
pub const PORT: u16 = 7000;
/// Payload of the team's datagrams, bytes.
pub const PAYLOAD: usize = 1400;

const TEAM: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Milliseconds of one step.
const STEP_MS: u64 = 40;
/// Steps of a second.
const STEPS: u64 = 1000 / STEP_MS;

/// What a team goes through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// Decides the rates and who speaks when.
    pub seed: u64,
    /// What each member's device says, Mbit/s.
    pub speeds_mbps: Vec<u32>,
    /// Hosts on the switch, 1 to 200.
    pub hosts: u8,
    /// What the team sends, percent of its members' speeds together.
    pub load_percent: u32,
    /// How long it is, seconds.
    pub seconds: u32,
    /// When the flows get other rates, seconds.
    pub shifts_s: Vec<u32>,
    /// What becomes of cables.
    pub faults: Vec<Fault>,
}

/// A cable is pulled or plugged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When, seconds.
    pub at_s: u32,
    /// Whose, by place.
    pub member: usize,
    /// Plugged in.
    pub up: bool,
}

/// A team under test, with the stack above it and a cable at each member.
pub trait Subject {
    /// What can go wrong with it.
    type Error;

    /// Lets time pass.
    fn pass(&mut self, ms: u64) -> Result<(), Self::Error>;

    /// The stack sends a datagram of [`PAYLOAD`] bytes to a host.
    fn send(&mut self, to: Ipv4Addr) -> Result<(), Self::Error>;

    /// A member receives a frame.
    fn arrive(&mut self, member: usize, frame: &[u8]) -> Result<(), Self::Error>;

    /// The frames that left since the last call, each with its member's place.
    fn departed(&mut self) -> Result<Vec<(usize, Vec<u8>)>, Self::Error>;

    /// How many datagrams the stack got since the last call.
    fn delivered(&mut self) -> Result<u64, Self::Error>;

    /// Plugs a cable in, or pulls it.
    fn set_carrier(&mut self, member: usize, up: bool) -> Result<(), Self::Error>;
}

/// What was seen in a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// Bytes of the datagrams that left by each member.
    pub sent: Vec<u64>,
    /// Datagrams of hosts that the switch gave to each member.
    pub received: Vec<u64>,
    /// Hosts by the member that their team's address leads to, at the end.
    pub held: Vec<u32>,
    /// Datagrams that the team's stack sent, and those that reached their hosts.
    pub offered: u64,
    /// The latter.
    pub arrived: u64,
    /// Datagrams that hosts sent.
    pub asked: u64,
    /// Those of them that the team's stack got.
    pub delivered: u64,
    /// Hosts whose datagrams came by another member than before.
    pub moved: u32,
    /// Hosts that hold another address than before.
    pub retold: u32,
}

impl Experiment {
    /// Runs it.
    pub fn run<S: Subject>(&self, subject: &mut S) -> Result<Vec<Second>, S::Error> {
        let mut network = Network::new(self);
        let mut rates = Rates::new(self);
        let mut seconds = Vec::new();
        for second in 0..self.seconds {
            for fault in self.faults.iter().filter(|fault| fault.at_s == second) {
                subject.set_carrier(fault.member, fault.up)?;
                network.set_carrier(fault.member, fault.up);
            }
            if self.shifts_s.contains(&second) {
                rates.draw();
            }
            for step in 0..STEPS {
                for host in rates.step() {
                    network.offered(subject, host)?;
                }
                network.speak(u64::from(second) * STEPS + step, subject)?;
                subject.pass(STEP_MS)?;
                network.settle(subject)?;
            }
            seconds.push(network.take_second());
        }
        Ok(seconds)
    }

    /// Seconds in which all cables are in and nothing is under way any more: since
    /// the latest start, fault or shift loads were measured and buckets assigned.
    pub fn settled(&self) -> impl Iterator<Item = usize> + '_ {
        /// Until the next assignment.
        const ASSIGNMENT_S: u32 = 11;
        /// Until an assignment by loads that were measured since.
        const MEASURED_ASSIGNMENT_S: u32 = 21;
        let is_settled = move |&second: &u32| {
            let long_ago = |at: u32, after: u32| !(at..at + after).contains(&second);
            long_ago(0, ASSIGNMENT_S)
                && self.faults.iter().all(|fault| long_ago(fault.at_s, ASSIGNMENT_S))
                && self.shifts_s.iter().all(|&at| long_ago(at, MEASURED_ASSIGNMENT_S))
                && (0..self.speeds_mbps.len()).all(|member| self.is_up(member, second))
        };
        (0..self.seconds).filter(is_settled).map(|second| second as usize)
    }

    /// True if a member's cable is in at this second.
    fn is_up(&self, member: usize, second: u32) -> bool {
        let faults = self.faults.iter().filter(|fault| fault.member == member && fault.at_s <= second);
        faults.max_by_key(|fault| fault.at_s).is_none_or(|latest| latest.up)
    }
}
