//! A hash put the connections on some links and none on others.

use std::collections::BTreeMap;

use super::because;
use crate::explain::Explanation;
use crate::explain::hop::Hop;
use crate::explain::hop::Prediction;
use crate::explain::limits::Limit;
use crate::explain::policy::{Key, key};
use crate::units::{list, plural};

/// Full links beside others that had room, where a hash chooses.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let limited = |hop: &&Hop<'_>| hop.hashes() && hop.some_full() && !hop.all_full();
    let hops: Vec<&Hop<'_>> = limit.hops.iter().copied().filter(limited).collect();
    let first = hops.first()?;
    let clauses: Vec<String> = hops.iter().map(|hop| clause(hop)).collect();
    let words = match &first.prediction {
        Some(prediction) => format!("{} ({})", key(prediction.policy).1, policy_name(first)),
        None => policy_name(first).to_owned(),
    };
    let sentence = format!("{}: {} spreads by {words} {}.", first.side_words(), first.node, joined(&clauses));
    let mut explanation = because(first.side, Some(policy_name(first)), sentence)?;
    explanation.facts.extend(hops.iter().map(|hop| evidence(hop)));
    Some(explanation)
}

/// Clauses behind each other; what all of them say first is said once.
fn joined(clauses: &[String]) -> String {
    const SO: &str = ", so ";
    let [first, rest @ ..] = clauses else { return String::new() };
    let reason = first.find(SO).map_or("", |end| &first[..end + SO.len()]);
    let rest = rest.iter().map(|clause| match clause.strip_prefix(reason) {
        Some(outcome) if !reason.is_empty() => format!(", and {outcome}"),
        _ => format!("; {clause}"),
    });
    first.clone() + &rest.collect::<String>()
}

fn policy_name<'a>(hop: &Hop<'a>) -> &'a str {
    hop.team.map_or("", |team| &team.xmit_hash_policy)
}

/// What the hash did on one hop: `and ...`.
fn clause(hop: &Hop<'_>) -> String {
    match &hop.prediction {
        Some(prediction) if prediction.agrees => predicted(hop, prediction),
        Some(prediction) => {
            let links = hop.links.iter().filter(|link| prediction.places.contains(&link.place));
            format!("{} (counted, not predicted: by the hash it would be {})", counted(hop), Hop::numbers(links))
        }
        None => format!("{} (counted, not predicted)", counted(hop)),
    }
}

/// The links in use, where the hash says something else or nothing.
fn counted(hop: &Hop<'_>) -> String {
    let used = Hop::numbers(hop.links.iter().filter(|link| !link.is_idle()));
    format!("and used {used} of {} towards {}{}", hop.links.len(), hop.peer, idle(hop))
}

/// Which connections the hash put where, and why where that is short.
fn predicted(hop: &Hop<'_>, prediction: &Prediction) -> String {
    let (key, _) = key(prediction.policy);
    let one = |end: fn(&nicteam_record::Connection) -> &String| {
        hop.connections.windows(2).all(|pair| end(pair[0]) == end(pair[1]))
    };
    let (one_from, one_to) = (one(|connection| &connection.from), one(|connection| &connection.to));
    let reason = match (key, hop.connections.first()) {
        (Key::Ends, Some(_)) if one_from && one_to => Some("both ends have one".to_owned()),
        (Key::Source, Some(connection)) if one_from => Some(format!("{} has one", connection.from)),
        (Key::Destination, Some(connection)) if one_to => Some(format!("{} has one", connection.to)),
        _ => None,
    };
    match (reason, prediction.places.first()) {
        (Some(reason), Some(place)) => {
            let who = match hop.connections.len() {
                1 => "the connection uses".to_owned(),
                2 => "both connections use".to_owned(),
                count => format!("all {count} connections use"),
            };
            format!("and {reason}, so {who} link {} of {} towards {}", place + 1, hop.links.len(), hop.peer)
        }
        _ => {
            let few = if key == Key::Connection { too_few(hop) } else { "" };
            format!("and puts {}{}{few}", placed(hop, prediction, key, one_to, one_from), idle(hop))
        }
    }
}

/// `b and c on link 1 of 4 towards a, d and e on link 3`.
fn placed(hop: &Hop<'_>, prediction: &Prediction, key: Key, one_to: bool, one_from: bool) -> String {
    let mut by_place: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (connection, place) in hop.connections.iter().zip(&prediction.places) {
        let name = match key {
            Key::Connection => String::new(),
            _ if one_to => connection.from.clone(),
            _ if one_from => connection.to.clone(),
            _ => format!("{} to {}", connection.from, connection.to),
        };
        let names = by_place.entry(*place).or_default();
        if key == Key::Connection || !names.contains(&name) {
            names.push(name);
        }
    }
    let all_on_one = by_place.len() == 1;
    let groups = by_place.iter().enumerate().map(|(index, (place, names))| {
        let who = match key {
            Key::Connection if all_on_one && names.len() == 1 => "the connection".to_owned(),
            Key::Connection if all_on_one && names.len() == 2 => "both connections".to_owned(),
            Key::Connection if all_on_one => format!("all {}", plural(names.len(), "connection")),
            Key::Connection => plural(names.len(), "connection"),
            _ if all_on_one => format!("all of {}", list(names)),
            _ => list(names),
        };
        let of = if index == 0 { format!(" of {} towards {}", hop.links.len(), hop.peer) } else { String::new() };
        format!("{who} on link {}{of}", place + 1)
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// `; links 2 and 4 stayed idle`.
fn idle(hop: &Hop<'_>) -> String {
    if hop.links.iter().all(|link| !link.is_idle()) {
        return String::new();
    }
    format!("; {} stayed idle", Hop::numbers(hop.links.iter().filter(|link| link.is_idle())))
}

/// Why more links would not help.
fn too_few(hop: &Hop<'_>) -> &'static str {
    match hop.connections.len() {
        1 => " (a connection never uses two)",
        count if count < hop.links.len() => " (fewer connections than links)",
        _ => "",
    }
}

/// How prediction and counters compare.
fn evidence(hop: &Hop<'_>) -> String {
    let (node, peer) = (hop.node, hop.peer);
    let Some(prediction) = &hop.prediction else {
        return format!("The record lacks what the hash of {node} towards {peer} looks at.");
    };
    let mut places = prediction.places.clone();
    places.sort_unstable();
    places.dedup();
    let on = |place: usize| hop.links.iter().filter(move |link| link.place == place);
    let links = Hop::numbers(places.iter().flat_map(|place| on(*place)));
    let verdict = if prediction.agrees { "the counters agree" } else { "the counters do not agree" };
    format!(
        "Towards {peer} the hash of {node} ({}) puts {} on {links}; {verdict}.",
        policy_name(hop),
        if hop.connections.len() == 1 {
            "the connection".to_owned()
        } else {
            format!("the {} connections", hop.connections.len())
        },
    )
}
