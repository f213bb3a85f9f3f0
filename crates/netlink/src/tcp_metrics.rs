//! What the kernel remembers of TCP connections to each address.

use nicteam_sys::Result;

use crate::generic::Family;

/// Forgets what earlier connections of the calling thread's namespace taught
/// (`ip tcp_metrics flush`): round-trip times, thresholds, reordering.
pub fn flush() -> Result<()> {
    let operation = || "flush the TCP metrics".to_owned();
    Family::open("tcp_metrics", operation)?.request(TCP_METRICS_CMD_DEL, &[], operation)
}

/// Linux 6.1 include/uapi/linux/tcp_metrics.h.
const TCP_METRICS_CMD_DEL: u8 = 2;
