//! What each path of a disk carried, and how often the paths took turns.

use nicteam_record::{Disk, Run};

use crate::storage;
use crate::units::{list, percent, plural, share, thousands};

pub(super) fn of(run: &Run) -> Vec<String> {
    run.disks.iter().filter(|disk| disk.paths.len() > 1).flat_map(of_disk).collect()
}

fn of_disk(disk: &Disk) -> Vec<String> {
    let all: u64 = disk.paths.iter().map(|path| path.ios).sum();
    let shares: Vec<String> = disk.paths.iter().map(|path| percent(share(path.ios as f64, all as f64))).collect();
    let mut notes = vec![format!(
        "{} of {}: its {} answered {} of {} requests, and the path changed {} times ({}).",
        disk.target,
        disk.host,
        plural(disk.paths.len(), "path"),
        list(&shares),
        thousands(all),
        thousands(disk.switches),
        if disk.esxi.is_empty() { &disk.policy } else { &disk.esxi },
    )];
    let failed = disk.paths.iter().filter(|path| path.failures > 0 || !storage::is_alive(path));
    notes.extend(failed.map(|path| {
        format!(
            "The path by {} to {} was found dead {} and logged in {}; at the end it was {}.",
            path.device,
            path.portal,
            plural(path.failures as usize, "time"),
            plural(path.logins as usize, "time"),
            path.state,
        )
    }));
    notes
}
