//! Nothing held it back: every connection passes links that were all full.

use super::because;
use crate::explain::hop::Hop;
use crate::explain::limits::{Cause, Limit};
use crate::explain::{Explanation, Side};
use crate::units::{list, number, ratio, share};

/// Below this part of the limit full links were not the best that could be had of them.
pub(super) const WHOLE: f64 = 0.85;

/// Full links on every connection's way.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    if limit.cause != Cause::Links {
        return None;
    }
    let full = &limit.hops;
    let counted = full.iter().map(|hop| hop.load()).sum::<f64>() / full.len() as f64;
    let payload: f64 = full.iter().map(|hop| hop.payload_bps()).sum();
    let capacity: f64 = full.iter().map(|hop| hop.capacity_bps()).sum();
    let of_limit = limit.picture.run.of_limit;
    let is_whole = limit.is_whole() && !limit.picture.two_way && of_limit > 0.0;
    let carried = match () {
        () if is_whole && of_limit >= WHOLE => of_limit,
        () if limit.picture.two_way => counted,
        () => share(payload, capacity),
    };
    let mut hosts: Vec<&str> = full.iter().map(|hop| hop.host()).collect();
    hosts.dedup();
    let more = if is_whole && of_limit < WHOLE {
        "; the limit is what another split of the same links among the connections would give"
    } else {
        ""
    };
    let sentence = format!(
        "Nothing held it back: {} of {} carried {} of what {} can{more}.",
        what(full),
        list(&hosts),
        ratio(carried),
        if full.iter().all(|hop| hop.links.len() == 1) && full.len() == 1 { "it" } else { "they" },
    );
    because(Side::Nowhere, None, sentence)
}

/// `all four links`, `the one link each`.
fn what(full: &[&Hop<'_>]) -> String {
    let links = full.first().map_or(0, |hop| hop.links.len());
    let each = if full.len() > 1 { " each" } else { "" };
    match links {
        _ if full.iter().any(|hop| hop.links.len() != links) => "all links".to_owned(),
        1 => format!("the one link{each}"),
        2 => format!("both links{each}"),
        _ => format!("all {} links{each}", number(links)),
    }
}
