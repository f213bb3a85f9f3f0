//! Disks over the network, as the rules see them.

use nicteam_record::{Connection, Disk, Operations, Run, Side, StoragePath, Target, Transfer};

use super::limits::Limit;
use crate::units::list;

/// How the record calls the path policy that gives each path its turn.
pub(super) const ROUND_ROBIN: &str = "round-robin";

/// The disk, and the path to it, that a connection is.
pub(super) fn path_of<'a>(run: &'a Run, connection: &Connection) -> Option<(&'a Disk, &'a StoragePath)> {
    let is = |path: &&StoragePath| path.connections.contains(&connection.index);
    run.disks.iter().find_map(|disk| Some((disk, disk.paths.iter().find(is)?)))
}

/// The disk whose paths a limit's connections are; none if one of them is no path, or another disk's.
pub(super) fn disk_of<'a>(limit: &Limit<'_, 'a>) -> Option<&'a Disk> {
    let run = limit.picture.run;
    let mut disks = limit.connections().map(|connection| path_of(run, connection).map(|(disk, _)| disk));
    let first = disks.next()??;
    disks.all(|disk| disk.is_some_and(|disk| std::ptr::eq(disk, first))).then_some(first)
}

/// The target that serves a disk.
pub(super) fn target_of<'a>(run: &'a Run, disk: &Disk) -> Option<&'a Target> {
    run.targets.iter().find(|target| target.name == disk.target)
}

/// The operations that were done on a disk.
pub(super) fn operations_of<'a>(run: &'a Run, disk: &Disk) -> Option<&'a Operations> {
    run.operations.iter().find(|task| (&task.workload, task.index) == (&disk.workload, disk.index))
}

/// The transfer that used a disk.
pub(super) fn transfer_of<'a>(run: &'a Run, disk: &Disk) -> Option<&'a Transfer> {
    run.transfers.iter().find(|task| (&task.workload, task.index) == (&disk.workload, disk.index))
}

/// At which end of a limit's payload the disk's initiator is.
pub(super) fn side_of(limit: &Limit<'_, '_>, disk: &Disk) -> Side {
    let is_read = limit.connections().any(|connection| connection.to == disk.host);
    if is_read { Side::Receiving } else { Side::Sending }
}

/// Whether a path was usable at the end of the run.
pub(super) fn is_alive(path: &StoragePath) -> bool {
    path.state != "dead"
}

/// A time in microseconds in milliseconds: `2.1 ms`.
pub(super) fn milliseconds(us: f64) -> String {
    if us < 9_950.0 { format!("{:.1} ms", us / 1e3) } else { format!("{:.0} ms", us / 1e3) }
}

/// Loads of links in words: `0.26, 0.25, 0.27 and 0.26`.
pub(super) fn loads(loads: impl Iterator<Item = f64>) -> String {
    list(&loads.map(crate::units::ratio).collect::<Vec<_>>())
}
