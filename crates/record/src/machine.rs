//! What the machine did in the measured window.

use serde::{Deserialize, Serialize};

/// Processor time in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Busy share of all processors, 0 to 1.
    pub busy: f64,
    /// Share that a hypervisor took away, 0 to 1.
    pub stolen: f64,
    /// Processor seconds of each host's or switch's processes; approximate,
    /// since the kernel charges soft interrupts to the process that is running.
    pub seconds: Vec<HostCpu>,
    /// Busy share of each processor, 0 to 1, in the kernel's order; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<f64>,
}

/// Memory of the machine in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The most that was in use (`MemTotal - MemAvailable`), bytes.
    pub used_bytes: u64,
    /// The most that was swapped out (`SwapTotal - SwapFree`), bytes.
    pub swapped_bytes: u64,
}

/// One host's processor time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCpu {
    /// Host or switch.
    pub host: String,
    /// User and system time, seconds.
    pub seconds: f64,
}
