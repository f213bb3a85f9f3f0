//! What sentences about findings have in common.

use nicteam_record::{Finding, LinkLoad, LinkLoads, Side};

use super::hop::is_full;
use crate::units::{list, ratio};

/// `Receiving side`, or what fits.
pub(super) fn side(finding: &Finding) -> String {
    match (finding.side, finding.hops.first()) {
        (Side::Receiving, _) => "Receiving side".to_owned(),
        (Side::Between, Some(hop)) => format!("Between {} and {}", hop.node, hop.peer),
        _ => "Sending side".to_owned(),
    }
}

/// The host or switch that chose.
pub(super) fn node(finding: &Finding) -> &str {
    finding.node.as_deref().unwrap_or_default()
}

/// Links' numbers as people count: `link 3`, `links 2 and 4`.
pub(super) fn numbers<'l>(links: impl Iterator<Item = &'l LinkLoad>) -> String {
    let numbers: Vec<String> = links.map(|link| (u64::from(link.place) + 1).to_string()).collect();
    let noun = if numbers.len() == 1 { "link" } else { "links" };
    format!("{noun} {}", list(&numbers))
}

/// The links that were full.
pub(super) fn full(hop: &LinkLoads) -> impl Iterator<Item = &LinkLoad> {
    hop.links.iter().filter(|link| is_full(link.load))
}

/// How full the least used link was.
pub(super) fn least(hop: &LinkLoads) -> String {
    ratio(hop.links.iter().map(|link| link.load).fold(f64::INFINITY, f64::min))
}

/// The device by which a node uses a link of a hop at one of whose ends it is.
pub(super) fn device<'l>(hop: &LinkLoads, link: &'l LinkLoad, node: &str) -> &'l str {
    if node == hop.node { &link.device } else { &link.far_device }
}

/// The sentence as it stands behind a colon.
pub(super) fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The words as a sentence of their own.
pub(super) fn upper_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
