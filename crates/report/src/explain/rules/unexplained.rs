//! What is left when no rule applies.

use crate::explain::limits::{Cause, Limit};
use crate::explain::{Explanation, Side};
use crate::units::{percent, plural, ratio};

/// Says that the counters do not say, and what they do.
pub(super) fn explain(limit: &Limit<'_, '_>) -> Explanation {
    let links = limit.passed().flat_map(|hop| hop.links.iter().map(move |link| (hop, link)));
    let fullest = links.max_by(|(_, one), (_, other)| one.load().total_cmp(&other.load()));
    let sentence = match fullest {
        Some((hop, link)) => {
            let most = format!(
                "{} of {} towards {}, carried {} of what it can",
                link.device,
                hop.node,
                hop.peer,
                ratio(link.load())
            );
            match limit.cause {
                Cause::Nothing => format!(
                    "No link was full (the fullest, {most}) and the processors were {} busy: {} did not send more.",
                    percent(limit.picture.run.cpu.busy),
                    match limit.connections.len() {
                        1 => "the connection".to_owned(),
                        count => format!("the {}", plural(count, "connection")),
                    },
                ),
                _ => format!("The counters do not say what held it back: the fullest link, {most}."),
            }
        }
        None => "The counters do not say what held it back: no link between the hosts is recorded.".to_owned(),
    };
    Explanation { sentence, side: Side::Unknown, policy: None, facts: Vec::new() }
}
