//! A member that should have carried its turn and carried nothing.

use super::because;
use crate::explain::Explanation;
use crate::explain::hop::{Hop, HopLink};
use crate::explain::limits::Limit;
use crate::units::list;

/// A silent member in a mode that uses every member that is up.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let down = |hop: &&Hop<'_>| {
        hop.mode() == "balance-rr"
            && hop.links.iter().any(|link| link.silent)
            && hop.links.iter().any(|link| !link.is_idle())
    };
    let hop = limit.suspects().into_iter().find(down)?;
    let silent: Vec<&HopLink<'_>> = hop.links.iter().filter(|link| link.silent).collect();
    let names: Vec<&str> = silent.iter().map(|link| link.device).collect();
    let sentence = format!(
        "{}: {} uses every member that is up (mode balance-rr), and {} of {} sent not a frame, so {} down.",
        hop.side_words(),
        hop.node,
        list(&names),
        hop.node,
        if names.len() == 1 { "it was" } else { "they were" },
    );
    because(hop.side, Some("balance-rr"), sentence)
}
