//! What is left when no rule applies.

use crate::explain::path::Flow;
use crate::explain::{Explanation, Side};
use crate::units::ratio;

/// Says that the counters do not say, and what they do.
pub(super) fn explain(flow: &Flow<'_>) -> Explanation {
    let links = flow.hops.iter().flat_map(|hop| hop.links.iter().map(move |link| (hop, link)));
    let fullest = links.max_by(|(_, one), (_, other)| one.load().total_cmp(&other.load()));
    let sentence = match fullest {
        Some((hop, link)) => format!(
            "The counters do not say what held it back: the fullest link, {} of {} towards {}, carried {} of what it can.",
            link.device,
            hop.node,
            hop.peer,
            ratio(link.load()),
        ),
        None => "The counters do not say what held it back: no link between the hosts is recorded.".to_owned(),
    };
    Explanation { sentence, side: Side::Unknown, policy: None, facts: Vec::new() }
}
