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
mod experiment;
mod network;
mod rates;
mod summary;

use std::net::IpAddr;

pub use evenness::{busiest, jain, roomiest_busiest};
pub use experiment::{Experiment, Fault, PAYLOAD, PORT, Second, Subject};
use experiment::{STEP_MS, STEPS, TEAM};
use network::Network;
use rates::Rates;
pub use summary::Summary;

/// The team's address; its network has 24 bits.
pub const ADDRESS: IpAddr = IpAddr::V4(TEAM);
/// Length of the network's prefix.
pub const PREFIX: u8 = 24;
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
