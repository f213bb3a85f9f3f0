//! broadcast: every link carries the same frames.

use super::because;
use crate::explain::Explanation;
use crate::explain::hop::{Hop, HopLink};
use crate::explain::limits::{Cause, Limit};
use crate::units::{list, number, ratio, share};

/// Links that are full of copies: the team's own, or those where the copies meet again.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let Cause::Copies { node } = limit.cause else { return None };
    let sender = limit.passed().find(|hop| hop.node == node && hop.copies_made > 1.0)?;
    let what = match limit.hops.iter().any(|hop| hop.node == node) {
        true => format!("its {} links carry what one can", number(sender.links.len())),
        false => {
            let count = number(sender.copies_made as usize);
            let links: Vec<String> = limit.hops.iter().map(|hop| full_links(hop)).collect();
            let carried: f64 = limit.hops.iter().map(|hop| hop.carried_bps()).sum();
            let payload: f64 = limit.hops.iter().map(|hop| hop.payload_bps()).sum();
            let payload = ratio(share(payload, carried));
            format!("{count} copies of each fill {}, of whose traffic {payload} is payload", list(&links))
        }
    };
    let sentence =
        format!("{}: {node} sends every frame by every member (mode broadcast), so {what}.", sender.side_words());
    because(sender.side, Some("broadcast"), sentence)
}

/// `link 1 of 2 towards b`, `the link towards b`.
fn full_links(hop: &Hop<'_>) -> String {
    let full = || hop.links.iter().filter(|link: &&HopLink<'_>| link.is_full());
    match hop.links.len() {
        1 => format!("the link towards {}", hop.peer),
        count if full().count() == count => format!("all {count} links towards {}", hop.peer),
        count => format!("{} of {count} towards {}", Hop::numbers(full()), hop.peer),
    }
}
