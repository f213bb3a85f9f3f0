//! What was put back on a team's devices after others took it away.

use nicteam_bundles::Problem;
use serde::{Deserialize, Serialize};

/// Something of a team's that others took away from a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairState {
    /// The device.
    pub device: String,
    /// What: `tc filter`, `nftables chain`, `MAC address`, `MTU`, `allmulticast`, `promiscuous mode`, `IPv6 address mode`,
    /// `administrative state`.
    pub what: String,
    /// How often it was put back since the process began.
    pub times: u64,
    /// How long ago the last time was, milliseconds.
    pub last_ms: u64,
    /// True while it is taken away again and again.
    pub conflict: bool,
}

impl RepairState {
    /// What is wrong while another program takes it away again and again.
    pub fn problem(&self) -> Option<Problem> {
        let RepairState { device, what, times, .. } = self;
        self.conflict.then(|| Problem {
            text: format!("another program takes the team's {what} away from `{device}` again and again ({times} times)"),
            hint: format!(
                "find it, and have it leave `{device}` alone: `tc monitor`, `ip monitor link` and `nft monitor` show changes as they happen"
            ),
        })
    }
}
