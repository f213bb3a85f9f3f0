//! Cures and missing shares in sentences.

use nicteam_record::{Change, Cure, Finding, Missing, MissingPart, names};

/// Below this part of the limit nothing is missing.
const NOTABLE: f64 = 0.015;
/// Parts that would print as 0.00.
const NOTHING: f64 = 0.005;

/// `Missing share of the limit 0.75: 0.75 by hash (sw, src-dst-mac); 0.00 unexplained. Predicted for this network: 0.25.` Nothing
/// where nothing is missing.
pub fn missing_in_words(missing: &Missing) -> Option<String> {
    let Missing { predicted_of_limit, not_predicted, parts, unexplained } = missing;
    let all = parts.iter().map(|part| part.lost).sum::<f64>() + unexplained;
    if all < NOTABLE {
        return None;
    }
    // One cause at many hosts is one part.
    let mut causes: Vec<(&str, Option<&str>, Vec<&str>, f64)> = Vec::new();
    for MissingPart { cause, node, policy, lost } in parts {
        let (cause, policy) = (cause.as_str(), policy.as_deref());
        let place = causes.iter().position(|known| (known.0, known.1) == (cause, policy)).unwrap_or_else(|| {
            causes.push((cause, policy, Vec::new(), 0.0));
            causes.len() - 1
        });
        causes[place].2.extend(node.as_deref());
        causes[place].3 += lost;
    }
    let parts = causes.into_iter().filter(|(.., lost)| *lost >= NOTHING).map(|(cause, policy, mut nodes, lost)| {
        nodes.sort_by_key(|node| (node.len(), *node));
        nodes.dedup();
        let nodes = (!nodes.is_empty()).then(|| names(&nodes));
        let place: Vec<&str> = [nodes.as_deref(), policy].into_iter().flatten().collect();
        let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
        format!("{lost:.2} by {cause}{place}")
    });
    let parts: Vec<String> = parts.chain([format!("{unexplained:.2} unexplained")]).collect();
    let predicted = match (predicted_of_limit, not_predicted) {
        (Some(share), _) => format!(" Predicted for this network: {share:.2}."),
        (None, Some(reason)) => format!(" Not predicted: {reason}."),
        (None, None) => String::new(),
    };
    Some(format!("Missing share of the limit {all:.2}: {}.{predicted}", parts.join("; ")))
}

/// `With spread=src-dst-port at sw these 4 connections would use 3 of 4 links: share of the limit 0.72 (predicted).`
pub fn cure_in_words(finding: &Finding, cure: &Cure) -> String {
    let whose = match finding.connections.len() {
        1 => "this connection".to_owned(),
        count => format!("these {count} connections"),
    };
    let links = match cure.links {
        Some(links) if links.of > 1 => format!("use {} of {} links", links.used, links.of),
        _ => "get more".to_owned(),
    };
    format!(
        "With {} {whose} would {links}: share of the limit {:.2} (predicted).",
        changes_in_words(&cure.changes),
        cure.of_limit
    )
}

/// `mode=stripe at a and b`.
pub fn changes_in_words(changes: &[Change]) -> String {
    let mut alike: Vec<(String, Vec<String>)> = Vec::new();
    for change in changes {
        let (what, node) = match change.what.as_str() {
            "without" => (format!("{} taken out", change.value), change.node.clone()),
            what => (format!("{what}={}", change.value), change.node.clone()),
        };
        match alike.iter_mut().find(|(known, _)| *known == what) {
            Some((_, nodes)) => nodes.push(node),
            None => alike.push((what, vec![node])),
        }
    }
    // What several nodes have in common stands once.
    let mut joined: Vec<(String, String)> = Vec::new();
    for (what, nodes) in alike {
        let nodes = nicteam_record::names(&nodes);
        match joined.iter_mut().find(|(_, known)| *known == nodes) {
            Some((whats, _)) => *whats = format!("{whats} and {what}"),
            None => joined.push((what, nodes)),
        }
    }
    let parts: Vec<String> = joined.into_iter().map(|(what, nodes)| format!("{what} at {nodes}")).collect();
    parts.join(", ")
}
