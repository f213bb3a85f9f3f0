//! What the processes of a node use.

use std::fs;

use nicteam_node::Failure;
use nicteam_node::protocol::Used;

/// Of these processes together; one that is gone uses nothing.
pub(super) fn of(processes: &[u32]) -> Result<Used, Failure> {
    let mut used = Used::default();
    for process in processes {
        let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { continue };
        used.descriptors += open.count() as u64;
        // The second field is the resident memory, pages of 4 KiB.
        let pages = fs::read_to_string(format!("/proc/{process}/statm"))?;
        let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
        used.memory_bytes += pages * 4096;
    }
    Ok(used)
}
