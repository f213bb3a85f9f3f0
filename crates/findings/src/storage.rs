//! Disks over the network, as the rules see them.

use nicteam_record::{Connection, Disk, Operations, Run, StoragePath, Target, Transfer};

use crate::units::list;

/// How the record calls the path policy that gives each path its turn.
pub(super) const ROUND_ROBIN: &str = "round-robin";

/// A target that takes PDUs of no more bytes than this is not tuned: tgt's default (RFC 7143's, too).
pub(super) const SHORT_BYTES: u32 = 8192;

/// A program saw another rate than the wire if it was so many times as high.
const FASTER: f64 = 1.2;

/// The disk, and the path to it, that a connection is.
pub(super) fn path_of<'a>(run: &'a Run, connection: &Connection) -> Option<(&'a Disk, &'a StoragePath)> {
    let is = |path: &&StoragePath| path.connections.contains(&connection.index);
    run.disks.iter().find_map(|disk| Some((disk, disk.paths.iter().find(is)?)))
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

/// Whether a program saw a higher rate than the wire.
pub(super) fn is_ahead(transfer: &Transfer) -> bool {
    let rates = transfer.program_bps().zip(transfer.wire_bps());
    !transfer.cache.is_empty() && rates.is_some_and(|(program, wire)| program >= FASTER * wire)
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
