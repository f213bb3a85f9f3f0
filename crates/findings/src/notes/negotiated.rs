//! What sessions negotiated that a target's defaults leave untuned.

use nicteam_record::{Disk, Run};

use crate::storage::{self, SHORT_BYTES};
use crate::units::bytes;

pub(super) fn of(run: &Run) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in run.disks.iter().filter_map(|disk| short_segments(run, disk)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Writes to a target that takes short PDUs alone.
fn short_segments(run: &Run, disk: &Disk) -> Option<String> {
    let negotiated = disk.paths.iter().filter_map(|path| path.negotiated.as_ref());
    let most = negotiated.map(|of| of.max_recv_data_bytes).min().filter(|most| (1..=SHORT_BYTES).contains(most))?;
    let writes = disk.paths.iter().any(|path| path.written_bytes > 0);
    let program = storage::target_of(run, disk).map_or("the target", |target| target.program.as_str());
    writes.then(|| {
        format!(
            "{program} takes {} in a PDU at most (MaxRecvDataSegmentLength of {}): larger writes go in several, each handled by \
             itself.",
            bytes(u64::from(most)),
            disk.target,
        )
    })
}
