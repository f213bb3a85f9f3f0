//! Raw samples.

use serde::{Deserialize, Serialize};

/// What one host or switch counted at one moment; a line of `samples/RUN.jsonl`.
/// Counters only grow, from the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Milliseconds since the run's measured window began; negative in the warm-up.
    pub t_ms: f64,
    /// Host or switch.
    pub host: String,
    /// Processor time of its processes so far, milliseconds.
    pub cpu_ms: f64,
    /// Its teams' members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberSample>,
    /// The connections that end here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionSample>,
}

/// A member's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSample {
    /// Its team's device.
    pub team: String,
    /// Its device.
    pub member: String,
    /// Frames sent.
    pub tx_frames: u64,
    /// Bytes sent, from the destination address to the end of the payload.
    pub tx_bytes: u64,
    /// Frames dropped on the way out.
    pub tx_drops: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Frames dropped on the way in.
    pub rx_drops: u64,
}

/// A connection's counters at one of its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionSample {
    /// Its number in the run.
    pub index: u32,
    /// Payload received here so far, bytes (receiving end).
    #[serde(default)]
    pub received_bytes: u64,
    /// Segments with payload sent (sending end).
    #[serde(default)]
    pub segments: u64,
    /// Segments sent again (sending end).
    #[serde(default)]
    pub retransmits: u64,
    /// Smoothed round-trip time, microseconds (sending end).
    #[serde(default)]
    pub rtt_us: u32,
}
