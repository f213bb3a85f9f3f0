//! A disk's state in lines.

use std::fmt::Write;

use nicteam_storage::{CacheCounts, Status};

/// What the paths did, in ESXi's words where it has them, a line a path; then what the cache did, if there is one.
pub(super) fn lines(status: &Status, cache: Option<CacheCounts>) -> String {
    let mut text = String::new();
    let multipath = &status.multipath;
    let _ = writeln!(text, "Path Selection Policy: {}", multipath.policy);
    let _ = writeln!(text, "Path Selection Policy Device Config: {}", multipath.device_config);
    for (number, (path, session)) in multipath.paths.iter().zip(&status.paths).enumerate() {
        let device = session.device.as_deref().unwrap_or("-");
        let _ = write!(text, "path {number} {device} {}: {}", session.portal, path.state);
        let _ = write!(text, ", {} I/Os, {} MiB, {} outstanding", path.ios, path.bytes >> 20, path.outstanding);
        let _ = write!(text, ", {} logins", session.logins);
        if !session.carrier {
            text.push_str(", no carrier");
        }
        if let Some(error) = &session.last_error {
            let _ = write!(text, ", last error: {error}");
        }
        text.push('\n');
    }
    if let Some(cache) = cache {
        let mib = |bytes: u64| bytes >> 20;
        let _ = writeln!(
            text,
            "write-back cache: {} MiB written, {} MiB sent, {} of memory in use, {} writes waited, {} bytes lost",
            mib(cache.written_bytes),
            mib(cache.sent_bytes),
            format_args!("{} MiB", mib(cache.used_bytes)),
            cache.waits,
            cache.lost_bytes
        );
    }
    text
}
