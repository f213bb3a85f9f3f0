//! A real switch of which nothing is known: what it may choose a link by, from what arrived by which.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use nicteam_record::Finding;
use nicteam_statistics::{odds, part_by_chance};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop, is_idle};
use crate::limits::Limit;
use crate::units::plural;
use crate::{way, words};

/// Full links beside others that had room, where nobody knows how a switch chooses.
pub(super) struct UnknownSwitch;

/// Below this a choice of so few links is no chance.
const CHANCE: f64 = 0.05;
/// What a switch may look at, from little to much.
const KEYS: [&str; 4] = ["the receiver's address alone, without a group", "MAC addresses", "IP addresses", "ports"];

#[derive(Serialize, Deserialize)]
struct Details {
    /// Links that carried something.
    used: usize,
    /// Of each of [`KEYS`], how many of them the connections have.
    kinds: [usize; KEYS.len()],
    /// How often such a choice uses no more links than were used, and as many.
    chances: [f64; KEYS.len()],
}

impl Rule for UnknownSwitch {
    fn cause(&self) -> &'static str {
        "unknown-switch"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let unknown =
            |hop: &&&Hop<'_>| limit.chooser(hop).by == Choice::Unknown && hop.links.len() > 1 && !hop.all_full();
        let hop = limit.hops.iter().find(unknown)?;
        let used = hop.links.iter().filter(|link| !is_idle(link.load())).count();
        let kinds = kinds(limit, hop);
        // So many kinds of frames cannot be on more links.
        let chance = |kinds: usize| if kinds < used { 0.0 } else { part_by_chance(hop.links.len(), used, kinds) };
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { used, kinds, chances: kinds.map(chance) }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (hop, details) = (finding.hops.first()?, finding.details::<Details>()?);
        let (node, peer) = (&hop.node, &hop.peer);
        let Details { used, kinds, chances } = details;
        // Where all are unlikely, one of those that are possible.
        let least = if chances.iter().any(|chance| *chance >= CHANCE) { CHANCE } else { f64::MIN_POSITIVE };
        let fits: Vec<&str> =
            KEYS.iter().zip(chances).filter(|(_, chance)| *chance >= least).map(|(key, _)| *key).collect();
        let so = match (fits.is_empty(), chances[KEYS.len() - 1] >= least) {
            (true, _) => format!("{node} puts frames of one connection on several links"),
            (false, true) => format!("{node} chooses by {}", fits.join(", or by ")),
            (false, false) => format!(
                "{node} chooses by {}. Let it hash IP addresses and ports, with these links in one group",
                fits.join(", or by ")
            ),
        };
        Some(format!(
            "{}: how {node} chooses a link is not known. {} reached {peer} by {used} of {} links, so {so}.",
            words::side(finding),
            plural(kinds[KEYS.len() - 1], "connection"),
            hop.links.len(),
        ))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let (Some(hop), Some(details)) = (finding.hops.first(), finding.details::<Details>()) else {
            return Vec::new();
        };
        let Details { used, kinds, chances } = details;
        let of = |at: usize| {
            let (key, kinds, chance) = (KEYS[at], kinds[at], chances[at]);
            match chance {
                _ if chance >= CHANCE => None,
                _ if kinds < used => {
                    Some(format!("By {key} these connections would use {} at most.", plural(kinds, "link")))
                }
                _ => Some(format!(
                    "A hash of {key} uses so few of {} links by chance in {}.",
                    hop.links.len(),
                    odds(chance)
                )),
            }
        };
        (0..KEYS.len()).filter_map(of).collect()
    }
}

/// How many of each of [`KEYS`] the connections of a hop have.
fn kinds(limit: &Limit<'_, '_>, hop: &Hop<'_>) -> [usize; KEYS.len()] {
    let (run, [mut to, mut macs, mut addresses]) = (limit.picture.run, [(); 3].map(|()| BTreeSet::new()));
    for connection in &hop.connections {
        let [from_mac, to_mac] = way::addressed(run, [hop.node, hop.peer], connection);
        let ip = |end: &str| end.parse::<SocketAddr>().map_or_else(|_| end.to_owned(), |end| end.ip().to_string());
        to.insert(format!("{to_mac:?}"));
        macs.insert(format!("{from_mac:?} {to_mac:?}"));
        addresses.insert(format!("{} {}", ip(&connection.src), ip(&connection.dst)));
    }
    [to.len(), macs.len(), addresses.len(), hop.connections.len()]
}
