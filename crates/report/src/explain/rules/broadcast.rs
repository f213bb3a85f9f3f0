//! broadcast: every link carries the same frames.

use super::because;
use crate::explain::Explanation;
use crate::explain::path::Flow;
use crate::units::number;

/// Links that are full of copies.
pub(super) fn rule(flow: &Flow<'_>) -> Option<Explanation> {
    let hop = flow.hops.iter().find(|hop| hop.mode() == "broadcast" && hop.links.len() > 1 && hop.some_full())?;
    let sentence = format!(
        "{}: {} sends every frame by every member (mode broadcast), so its {} links carry what one can.",
        hop.side_words(),
        hop.node,
        number(hop.links.len()),
    );
    because(hop.side, Some("broadcast"), sentence)
}
