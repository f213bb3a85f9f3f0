//! A hash put the connections on some links and none on others.

use std::collections::BTreeMap;

use nicteam_record::{Finding, LinkLoads};
use nicteam_team::HashPolicy;
use nicteam_team::hash::drawn::Drawn;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::chance;
use crate::hop::{Hop, is_idle};
use crate::limits::Limit;
use crate::policy::{Key, key, looks_at_macs_alone};
use crate::units::{self, list, plural};
use crate::{way, words};

/// Full links beside others that had room, where a hash chooses.
pub(super) struct Hashed;

#[derive(Serialize, Deserialize)]
struct Details {
    /// What the hash predicts for each hop that the finding shows.
    predictions: Vec<Predicted>,
}

#[derive(Serialize, Deserialize)]
struct Predicted {
    /// Where it puts the connections that pass; none if the record lacks what it looks at.
    placed: Option<Vec<Placed>>,
    /// Whether the links counted that.
    agrees: bool,
    /// In how many cases of random addresses the connections use one link, two, ...; none if the record lacks what that
    /// takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    with_random_addresses: Option<Vec<u32>>,
    /// The gateway whose one MAC address all its frames have here at one end, where the policy looks at MAC addresses alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gateway: Option<String>,
}

/// Connections between the same hosts on the same link.
#[derive(Serialize, Deserialize)]
struct Placed {
    place: u32,
    from: String,
    to: String,
    connections: usize,
}

impl Rule for Hashed {
    fn cause(&self) -> &'static str {
        "hash"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let limited = |hop: &&Hop<'_>| hop.hashes() && hop.some_full() && !hop.all_full();
        let hops: Vec<&Hop<'_>> = limit.hops.iter().copied().filter(limited).collect();
        let first = hops.first()?;
        let finding = Finding {
            side: first.side,
            node: Some(first.node.to_owned()),
            policy: first.team.map(|team| team.policy_name.to_owned()),
            hops: hops.iter().map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { predictions: hops.iter().map(|hop| Predicted::of(limit, hop)).collect() }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (details, policy): (Details, &str) = (finding.details()?, finding.policy.as_deref()?);
        let hops = || finding.hops.iter().zip(&details.predictions);
        let known: Option<HashPolicy> = policy.parse().ok();
        let plain = match (known, &hops().next()?.1.placed) {
            (Some(known), Some(_)) => format!("{} ({policy})", key(known).1),
            _ => policy.to_owned(),
        };
        let clauses: Vec<String> = hops().map(|(hop, predicted)| clause(hop, predicted, known)).collect();
        Some(format!("{}: {} spreads by {plain} {}.", words::side(finding), words::node(finding), joined(&clauses)))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let predictions = finding.details().map_or_else(Vec::new, |details: Details| details.predictions);
        let policy = finding.policy.as_deref().unwrap_or_default();
        let hops = || finding.hops.iter().zip(&predictions);
        let evidence = hops().map(|(hop, predicted)| evidence(hop, predicted, policy));
        evidence.chain(hops().filter_map(|(hop, predicted)| by_chance(hop, predicted))).collect()
    }
}

impl Predicted {
    fn of(limit: &Limit<'_, '_>, hop: &Hop<'_>) -> Predicted {
        let Some(prediction) = &hop.prediction else {
            return Predicted { placed: None, agrees: false, with_random_addresses: None, gateway: None };
        };
        let mut placed: Vec<Placed> = Vec::new();
        for (connection, place) in hop.connections.iter().zip(&prediction.places) {
            let (place, from, to) = (*place as u32, &connection.from, &connection.to);
            match placed.iter_mut().find(|known| (known.place, &known.from, &known.to) == (place, from, to)) {
                Some(known) => known.connections += 1,
                None => placed.push(Placed { place, from: from.clone(), to: to.clone(), connections: 1 }),
            }
        }
        let with_random_addresses = chance::of(limit.picture.run, hop).map(|drawn| drawn.cases);
        let gateway = gateway(limit, hop, prediction.policy, &placed);
        Predicted { placed: Some(placed), agrees: prediction.agrees, with_random_addresses, gateway }
    }
}

/// The gateway between whose MAC address and one other all frames of a hop go, though they belong to several pairs of hosts.
fn gateway(limit: &Limit<'_, '_>, hop: &Hop<'_>, policy: HashPolicy, placed: &[Placed]) -> Option<String> {
    let run = limit.picture.run;
    let mut ends = hop.connections.iter().map(|connection| way::addressed(run, [hop.node, hop.peer], connection));
    let first = ends.next().filter(|_| looks_at_macs_alone(policy) && placed.len() > 1)?;
    let forwards = |name: &str| run.topology.hosts.iter().any(|host| host.forwards && host.name == name);
    let gateway = first.iter().map(|(name, _)| *name).find(|name| forwards(name))?;
    (ends.all(|other| other == first) && placed.iter().all(|it| it.place == placed[0].place))
        .then(|| gateway.to_owned())
}

/// Clauses behind each other; a reason that all of them begin with stands once.
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

/// What the hash did on one hop: `and ...`.
fn clause(hop: &LinkLoads, predicted: &Predicted, policy: Option<HashPolicy>) -> String {
    match (&predicted.placed, policy) {
        (Some(placed), Some(_)) if predicted.agrees && predicted.gateway.is_some() => {
            let (place, gateway) =
                (placed.first().map_or(0, |it| it.place), predicted.gateway.as_deref().unwrap_or_default());
            format!(
                "and all frames of hosts behind the router {gateway} have the router's one address, so all {} connections use link {} of \
                 {} towards {}. Cure: layer3+4 or layer2+3, which look at the hosts' IP addresses",
                count(placed),
                u64::from(place) + 1,
                hop.links.len(),
                hop.peer
            )
        }
        (Some(placed), Some(policy)) if predicted.agrees => as_predicted(hop, placed, key(policy).0),
        (Some(placed), _) => {
            format!("{} (counted, not predicted: by the hash it would be {})", counted(hop), used(hop, placed))
        }
        (None, _) => format!("{} (counted, not predicted)", counted(hop)),
    }
}

/// The links in use, where the hash predicts other links or nothing.
fn counted(hop: &LinkLoads) -> String {
    let used = words::numbers(hop.links.iter().filter(|link| !is_idle(link.load)));
    format!("and used {used} of {} towards {}{}", hop.links.len(), hop.peer, idle(hop))
}

/// Which connections the hash put where, and why where that is short.
fn as_predicted(hop: &LinkLoads, placed: &[Placed], key: Key) -> String {
    let one = |end: fn(&Placed) -> &String| placed.windows(2).all(|pair| end(&pair[0]) == end(&pair[1]));
    let (one_from, one_to) = (one(|placed| &placed.from), one(|placed| &placed.to));
    let reason = match (key, placed.first()) {
        (Key::Ends, Some(_)) if one_from && one_to => Some("both ends have one".to_owned()),
        (Key::Source, Some(placed)) if one_from => Some(format!("{} has one", placed.from)),
        (Key::Destination, Some(placed)) if one_to => Some(format!("{} has one", placed.to)),
        _ => None,
    };
    match (reason, placed.first()) {
        (Some(reason), Some(first)) => {
            let who = match count(placed) {
                1 => "the connection uses".to_owned(),
                2 => "both connections use".to_owned(),
                count => format!("all {count} connections use"),
            };
            let place = u64::from(first.place) + 1;
            format!("and {reason}, so {who} link {place} of {} towards {}", hop.links.len(), hop.peer)
        }
        _ => {
            let few = if key == Key::Connection { too_few(hop, placed) } else { "" };
            format!("and puts {}{}{few}", groups(hop, placed, key, [one_to, one_from]), idle(hop))
        }
    }
}

/// `b and c on link 1 of 4 towards a, d and e on link 3`.
fn groups(hop: &LinkLoads, placed: &[Placed], key: Key, [one_to, one_from]: [bool; 2]) -> String {
    let mut by_place: BTreeMap<u32, (usize, Vec<String>)> = BTreeMap::new();
    for Placed { place, from, to, connections } in placed {
        let name = match () {
            () if one_to => from.clone(),
            () if one_from => to.clone(),
            () => format!("{from} to {to}"),
        };
        let (count, names) = by_place.entry(*place).or_default();
        *count = count.saturating_add(*connections);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let all_on_one = by_place.len() == 1;
    let groups = by_place.iter().enumerate().map(|(index, (place, (count, names)))| {
        let who = match (key, count) {
            (Key::Connection, 1) if all_on_one => "the connection".to_owned(),
            (Key::Connection, 2) if all_on_one => "both connections".to_owned(),
            (Key::Connection, _) if all_on_one => format!("all {}", plural(*count, "connection")),
            (Key::Connection, _) => plural(*count, "connection"),
            _ if all_on_one => format!("all of {}", units::hosts(names)),
            _ => units::hosts(names),
        };
        let of = if index == 0 { format!(" of {} towards {}", hop.links.len(), hop.peer) } else { String::new() };
        format!("{who} on link {}{of}", u64::from(*place) + 1)
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// The links on which a hash put connections.
fn used(hop: &LinkLoads, placed: &[Placed]) -> String {
    words::numbers(hop.links.iter().filter(|link| placed.iter().any(|placed| placed.place == link.place)))
}

/// Connections that a hash placed.
fn count(placed: &[Placed]) -> usize {
    placed.iter().fold(0, |sum, placed| sum.saturating_add(placed.connections))
}

/// `; links 2 and 4 stayed idle`.
fn idle(hop: &LinkLoads) -> String {
    let mut idle = hop.links.iter().filter(|link| is_idle(link.load)).peekable();
    if idle.peek().is_none() {
        return String::new();
    }
    format!("; {} stayed idle", words::numbers(idle))
}

/// Why more links would not help.
fn too_few(hop: &LinkLoads, placed: &[Placed]) -> &'static str {
    match count(placed) {
        1 => " (a connection never uses two)",
        count if count < hop.links.len() => " (fewer connections than links)",
        _ => "",
    }
}

/// How often other addresses would use as many links: `With random addresses ...`.
fn by_chance(hop: &LinkLoads, predicted: &Predicted) -> Option<String> {
    let (drawn, placed) = (Drawn { cases: predicted.with_random_addresses.clone()? }, predicted.placed.as_ref()?);
    // Where all cases use as many, addresses play no part.
    if drawn.cases.iter().filter(|cases| **cases > 0).count() < 2 {
        return None;
    }
    let links: Vec<String> = (1..=drawn.cases.len()).map(|links| links.to_string()).collect();
    let shares: Vec<String> =
        (1..=drawn.cases.len()).map(|links| format!("{:.0}", drawn.share(links) * 100.0)).collect();
    let mut here: Vec<u32> = placed.iter().map(|placed| placed.place).collect();
    here.sort_unstable();
    here.dedup();
    Some(format!(
        "With random addresses ({} cases) the hash of {} towards {} uses {} links in {} % of the cases, {:.2} on average; \
         with those of this run {}.",
        drawn.seeds(),
        hop.node,
        hop.peer,
        list(&links),
        list(&shares),
        drawn.mean(),
        here.len()
    ))
}

/// How prediction and counters compare.
fn evidence(hop: &LinkLoads, predicted: &Predicted, policy: &str) -> String {
    let (node, peer) = (&hop.node, &hop.peer);
    let Some(placed) = &predicted.placed else {
        return format!("The record lacks what the hash of {node} towards {peer} looks at.");
    };
    let verdict = if predicted.agrees { "the counters agree" } else { "the counters do not agree" };
    let who = match count(placed) {
        1 => "the connection".to_owned(),
        count => format!("the {count} connections"),
    };
    let links = used(hop, placed);
    format!("Towards {peer} the hash of {node} ({policy}) puts {who} on {links}; {verdict}.")
}
