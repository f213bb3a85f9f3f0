//! What a manager of networks says of a device.

use nicteam_formats::Place;
use serde::{Deserialize, Serialize};

use super::device::Device;
use super::host::Host;

/// Somebody who manages a device, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who: `systemd-networkd`.
    pub manager: &'static str,
    /// The line that makes it so, where one does.
    pub place: Option<Place>,
    /// What it does with the device, as a sentence without its full stop.
    pub why: String,
    /// What ends it: lines that can be pasted into a shell, or what to change in the place.
    pub cure: String,
    /// How much it matters.
    pub severity: Severity,
}

/// How much a claim matters to a device that is to be a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does now, or at the next start of its program, what a member does not need: worth a word.
    Warn,
    /// Two owners would build the same device.
    Refuse,
}

/// Somebody who may manage devices.
pub(crate) trait Manager: Sync {
    /// Its claims on a device.
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim>;
}
