//! Raw samples.

use serde::{Deserialize, Serialize};

/// What one host or switch counted at one moment; a line of `samples/RUN.jsonl`.
/// Counters only grow, from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Directions of impaired links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relayed: Vec<Relayed>,
    /// A switch's: addresses that it learned at another port than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_moves: Option<MacMoveSample>,
}

/// How often a switch learned a known address at another port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MacMoveSample {
    /// So far.
    pub moves: u64,
    /// How often more was learned at once than could be counted.
    pub overruns: u64,
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

/// What became of the frames that one end of an impaired link sent, by what stands between its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relayed {
    /// Host or switch that sent them.
    pub node: String,
    /// Its device.
    pub device: String,
    /// Frames taken in.
    pub frames: u64,
    /// Lost as declared.
    pub lost: u64,
    /// Doubled as declared.
    pub duplicated: u64,
    /// Not delayed, as declared, so that they overtook others.
    pub reordered: u64,
    /// With a bit changed, as declared; 0 in older records.
    #[serde(default)]
    pub corrupted: u64,
    /// Dropped because the link was cut at either end, or because a fault drops them.
    pub cut: u64,
    /// Dropped for no declared reason: there was no room for them, or no time to take them in.
    pub dropped: u64,
    /// Passed on more than a millisecond later than declared.
    pub late: u64,
    /// The greatest delay beyond the declared one: in a sample since the one before, in a run in its window,
    /// microseconds.
    pub latest_us: u64,
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
    /// Subflows (sending end of multipath TCP).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subflows: Option<u32>,
    /// Datagrams so far; `sent` at the sending end, the others at the receiving end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
}

/// What became of a connection's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// Arrived, each once.
    pub received: u64,
    /// Not arrived, though a later one has.
    pub lost: u64,
    /// Arrived after a later one.
    pub reordered: u64,
    /// Arrived once more.
    pub duplicated: u64,
    /// The longest time in which none arrived, once one had: in a sample since the one before, in a run in its window,
    /// microseconds.
    #[serde(default)]
    pub longest_silence_us: u64,
}
