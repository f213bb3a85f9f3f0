//! The clock that all processes of a machine share, and who shares it.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, nanoseconds.
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; the call cannot fail.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Names what the clock counts from: the boot of the machine. Empty where the kernel does not say.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim_end().to_owned()
}
