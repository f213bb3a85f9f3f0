//! Targets, in words.

use crate::units::show_bytes;
use nicteam_elements::resolved::Topology;
use nicteam_elements::target::Target;

/// `disk: iscsi on storage, 1gib in memory, MaxRecvDataSegmentLength 8kib, ...`
pub(super) fn text(target: &Target) -> String {
    let Target { name, host, kind, size_bytes, medium, words, .. } = target;
    format!("{name}: {kind} on {host}, {} in {}, {words}", show_bytes(*size_bytes), medium.name())
}

/// The targets that a topology has otherwise than the first.
pub(super) fn changes(topology: &Topology, base: &Topology) -> Vec<String> {
    let changed = topology.targets.iter().filter(|target| !base.targets.contains(target)).map(text);
    let is_gone = |before: &&Target| topology.targets.iter().all(|target| target.name != before.name);
    let gone = base.targets.iter().filter(is_gone).map(|target| format!("no target {}", target.name));
    changed.chain(gone).collect()
}
