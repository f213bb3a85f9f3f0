//! active-backup: one member works, the others wait.

use super::because;
use crate::explain::Explanation;
use crate::explain::path::{Flow, Hop};

/// One full link of a team that uses one at a time.
pub(super) fn rule(flow: &Flow<'_>) -> Option<Explanation> {
    let standby = |hop: &&Hop<'_>| hop.mode() == "active-backup" && hop.links.len() > 1 && hop.some_full();
    let hop = flow.hops.iter().find(standby)?;
    let active = hop.links.iter().find(|link| link.is_full())?;
    let sentence = format!(
        "{}: {} uses one member at a time (mode active-backup): {} carried all, the others stood by.",
        hop.side_words(),
        hop.node,
        active.device,
    );
    because(hop.side, Some("active-backup"), sentence)
}
