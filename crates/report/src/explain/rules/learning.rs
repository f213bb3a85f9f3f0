//! Several plain ports to one host: a switch sends to the one on which it saw the address last.

use super::because;
use crate::explain::Explanation;
use crate::explain::limits::Limit;

/// A full link among several that no team spreads over.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let hop = limit.hops.iter().find(|hop| hop.chooser().1.is_empty() && hop.links.len() > 1 && !hop.all_full())?;
    let sentence = format!(
        "{}: {} has no group towards {}: of its {} links it uses the one on which it saw {}'s address last.",
        hop.side_words(),
        hop.node,
        hop.peer,
        hop.links.len(),
        hop.peer,
    );
    because(hop.side, None, sentence)
}
