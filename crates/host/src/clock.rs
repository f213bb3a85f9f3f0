//! The clock by which the time between two commands is measured.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Milliseconds since the machine started, suspended ones too: the time of day may be set meanwhile.
pub(crate) fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
