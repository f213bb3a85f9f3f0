//! balance-rr: equal numbers of frames, unequal bytes.

use super::because;
use crate::explain::Explanation;
use crate::explain::hop::Hop;
use crate::explain::limits::Limit;
use crate::units::ratio;

/// Full and not full links that took turns.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let uneven = |hop: &&&Hop<'_>| hop.mode() == "balance-rr" && hop.some_full() && !hop.all_full();
    let hop = limit.hops.iter().find(uneven)?;
    let lowest = hop.links.iter().map(|link| link.load()).fold(f64::INFINITY, f64::min);
    let sentence = format!(
        "{}: {} gives its links turns, not bytes (mode balance-rr): the busiest was full, the least used at {}.",
        hop.side_words(),
        hop.node,
        ratio(lowest),
    );
    because(hop.side, Some("balance-rr"), sentence)
}
