//! balance-tlb and balance-alb: one member for a flow, or for a neighbour.

use super::because;
use crate::explain::Explanation;
use crate::explain::Side;
use crate::explain::hop::Hop;
use crate::explain::limits::Limit;
use crate::units::ratio;

/// Full and not full links of a team that gives each flow, or each neighbour, one of them.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let uneven = |hop: &&&Hop<'_>| {
        matches!(hop.chooser().1, "balance-tlb" | "balance-alb")
            && hop.links.len() > 1
            && hop.some_full()
            && !hop.all_full()
    };
    let hop = limit.hops.iter().find(uneven)?;
    let (host, mode) = hop.chooser();
    let does = match (mode, hop.side) {
        ("balance-tlb", Side::Receiving) => "receives by its active member alone",
        (_, Side::Receiving) => "tells each neighbour the address of one member",
        ("balance-tlb", _) => "sends each flow by one member",
        _ => "sends to each neighbour by one member",
    };
    let lowest = hop.links.iter().map(|link| link.load()).fold(f64::INFINITY, f64::min);
    let sentence = format!(
        "{}: {host} {does} (mode {mode}): the busiest was full, the least used at {}.",
        hop.side_words(),
        ratio(lowest)
    );
    because(hop.side, Some(mode), sentence)
}
