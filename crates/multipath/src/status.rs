//! What can be seen of the paths.

use std::time::Duration;

use crate::PathState;

/// The state of [`crate::Multipath`].
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// `Path Selection Policy` in ESXi's words; Linux' words where ESXi has none.
    pub policy: &'static str,
    /// `Path Selection Policy Device Config`, with its braces.
    pub device_config: String,
    /// The paths, in their order.
    pub paths: Vec<PathStatus>,
    /// How often a command went by another path than the one before.
    pub switches: u64,
    /// Requests that no path has.
    pub waiting: usize,
    /// How often a command was sent again.
    pub resent: u64,
}

/// One path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Its state.
    pub state: PathState,
    /// Commands of requests that were answered.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Commands that are outstanding.
    pub outstanding: usize,
    /// Their bytes.
    pub outstanding_bytes: u64,
    /// The least latency of late, without the time that the data take; none before the first answer.
    pub latency: Option<Duration>,
    /// Delivery rate while busy, in bytes a second: of reads; none before the first.
    pub read_rate: Option<f64>,
    /// The same of writes.
    pub write_rate: Option<f64>,
    /// How often the path died.
    pub deaths: u32,
    /// Writes of a lost session that is not fenced yet.
    pub unfenced: usize,
}
