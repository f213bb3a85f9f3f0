//! What an experiment is, what it is driven through, and what is seen of it.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// The UDP port of the team and of every host.
pub const PORT: u16 = 7000;
/// Payload of the team's datagrams, bytes.
pub const PAYLOAD: usize = 1400;

pub(super) const TEAM: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Milliseconds of one step.
pub(super) const STEP_MS: u64 = 40;
/// Steps of a second.
pub(super) const STEPS: u64 = 1000 / STEP_MS;

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
