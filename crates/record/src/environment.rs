//! Where an experiment ran.

use serde::{Deserialize, Serialize};

/// Where an experiment ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Kernel name and release.
    pub kernel: String,
    /// CPU model.
    pub cpu_model: String,
    /// Processors in use.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Kind of testbed: `netns` or `ssh`.
    pub testbed: String,
    /// Dataplane that ran the teams: `bpf` or `packet`; `none`: there were none, or real machines chose their own.
    pub dataplane: String,
    /// `root` or `user namespace`.
    pub privileges: String,
    /// The kernel's default congestion control; connections name their own.
    pub congestion_default: String,
    /// `packets`: every frame was an MTU-sized packet; `super-frames`: the stack's
    /// offloads joined several, because the machine cannot carry packets at this rate.
    pub granularity: String,
    /// The most packets that one frame joined, 1 to 65,534; none: 64 KB was the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets_per_frame: Option<u32>,
    /// Share of all processors that was busy before the first run, 0 to 1: the machine's noise.
    pub busy_before: f64,
}

impl Environment {
    /// What the frames were, in words: `MTU-sized packets`, `GSO frames of up to 4 packets`.
    pub fn frames(&self) -> String {
        match (self.granularity.as_str(), self.max_packets_per_frame) {
            ("packets", _) => "MTU-sized packets".to_owned(),
            ("super-frames", Some(most)) => format!("GSO frames of up to {most} packets"),
            ("super-frames", None) => "GSO frames of up to 64 KB".to_owned(),
            (other, _) => other.to_owned(),
        }
    }
}

/// A real machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The host that it was.
    pub host: String,
    /// Where `ssh` went.
    pub ssh: String,
    /// Kernel name and release.
    pub kernel: String,
    /// Architecture: `x86_64`.
    pub architecture: String,
    /// By how much times of its events and samples may be wrong beside those of others, microseconds.
    pub clock_error_us: f64,
}
