//! Nothing held it back: every connection passes links that were all full.

use super::because;
use crate::explain::path::{Flow, Hop};
use crate::explain::{Explanation, Side};
use crate::units::{list, number, ratio};

/// Below this part of the limit full links did not carry payload alone, and another rule must say what else.
const USEFUL: f64 = 0.85;

/// Full links on every connection's way.
pub(super) fn rule(flow: &Flow<'_>) -> Option<Explanation> {
    let of_limit = flow.run.of_limit;
    if !flow.two_way && of_limit > 0.0 && of_limit < USEFUL {
        return None;
    }
    let full = narrowest(flow)?;
    let counted = full.iter().map(|hop| hop.load()).sum::<f64>() / full.len() as f64;
    let carried = if flow.two_way || of_limit <= 0.0 { counted } else { of_limit };
    let mut hosts: Vec<&str> = full.iter().map(|hop| hop.host()).collect();
    hosts.dedup();
    let sentence = format!(
        "Nothing held it back: {} of {} carried {} of what {} can.",
        what(&full),
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
        _ => format!("all {} links{each}", number(links)),
    }
}

/// The fewest hops with full links alone that every connection passes.
fn narrowest<'f, 'a>(flow: &'f Flow<'a>) -> Option<Vec<&'f Hop<'a>>> {
    [Side::Sending, Side::Between, Side::Receiving]
        .iter()
        .map(|side| flow.hops.iter().filter(|hop| hop.side == *side && hop.all_full()).collect::<Vec<_>>())
        .filter(|hops| {
            let passing: usize = hops.iter().map(|hop| hop.connections.len()).sum();
            !hops.is_empty() && passing >= flow.connections.len()
        })
        .min_by_key(|hops| (hops.len(), hops.iter().map(|hop| hop.links.len()).sum::<usize>()))
}
