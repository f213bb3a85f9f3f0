//! 802.3ad: members that do not aggregate, so that the others carry all.

use nicteam_record::Port;

use super::because;
use crate::explain::Explanation;
use crate::explain::aggregation;
use crate::explain::hop::{Hop, HopLink};
use crate::explain::limits::Limit;

/// Full links that aggregate, beside others that LACP leaves out at one end or the other.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let narrowed = |hop: &&Hop<'_>| {
        let (idle, used): (Vec<&HopLink<'_>>, Vec<&HopLink<'_>>) = hop.links.iter().partition(|link| link.stands_by());
        !idle.is_empty() && !used.is_empty() && used.iter().all(|link| link.is_full())
    };
    let hop = limit.hops.iter().copied().find(narrowed)?;
    // The choosing end has the first word; the other has it where that one speaks no LACP.
    let words = [0, 1].into_iter().find_map(|end| {
        let ports: Vec<&Port> = hop.links.iter().filter_map(|link| link.ports[end]).collect();
        aggregation::words(&ports)
    })?;
    because(hop.side, Some("802.3ad"), format!("{}: {words}", hop.side_words()))
}
