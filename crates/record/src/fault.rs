//! What a fault of a run did to the traffic.

use serde::{Deserialize, Serialize};

/// Something that the lab did to the network, and what became of the traffic meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// When it began, milliseconds since the run's measured window began.
    pub t_ms: f64,
    /// When the lab repaired it; none: not in this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_ms: Option<f64>,
    /// Until when its effect was looked for: the next fault, or the end of the window.
    pub until_ms: f64,
    /// Kind of the event: `cable`.
    pub kind: String,
    /// Host or switch that it happened to.
    pub node: String,
    /// Device of the team that it happened to, if it happened to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The device, if it happened to one link alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// What happened, in words.
    pub text: String,
    /// Payload that arrived before it, bit/s; none: no time was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_bps: Option<f64>,
    /// The same while it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during_bps: Option<f64>,
    /// The same when it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bps: Option<f64>,
    /// Time from its beginning until as much arrived again as before; 0: it never was less; none: it remained less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_share_ms: Option<f64>,
    /// Of the last fault alone: time from its beginning until as much arrived, over two seconds, as before the first one (of
    /// datagrams, if there are any); none: it did not, or there was nothing before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_ms: Option<f64>,
    /// The longest time in which no datagram arrived, or no probe came back; none: there were neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_ms: Option<f64>,
    /// Datagrams and probes that were lost; none: there were neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
}

impl Fault {
    /// Time until as much arrived again as before; if it remained less, the time for which it was looked for. None: nothing
    /// arrived before.
    pub fn full_share_at_least_ms(&self) -> Option<f64> {
        let before = self.before_bps.is_some_and(|bps| bps > 0.0);
        before.then(|| self.full_share_ms.unwrap_or(self.until_ms - self.t_ms))
    }
}

/// What the processes of a node used when the measured window began, and when it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Host or switch.
    pub node: String,
    /// Open descriptors, eBPF maps and programs among them.
    pub descriptors: [u64; 2],
    /// Resident memory, bytes.
    pub memory_bytes: [u64; 2],
}
