//! A run's findings in sentences.

use nicteam_record::{Connection, Finding, Run, Side};

use super::rules::Rule;
use super::words::lower_first;
use crate::units::{list, names};

/// Why a run delivered what it delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One plain sentence; one for each limit, the costliest first, where there are several.
    pub sentence: String,
    /// Where the limit was set.
    pub side: Side,
    /// The hash policy, or the mode where it does not hash, that set it.
    pub policy: Option<String>,
    /// What the sentence rests on, and what else a reader should know: a
    /// sentence each, the most important first.
    pub facts: Vec<String>,
}

/// The findings in the words of their rules; nothing if a finding is none of these rules'.
pub(super) fn explanation(rules: &[&dyn Rule], run: &Run, findings: &[Finding]) -> Option<Explanation> {
    let parts: Vec<Explanation> = findings.iter().map(|finding| one(rules, finding)).collect::<Option<_>>()?;
    match parts.as_slice() {
        [] => Some(nothing_sent(run)),
        [part] => Some(part.clone()),
        parts => Some(several(run, findings, parts)),
    }
}

/// A run without connections.
fn nothing_sent(run: &Run) -> Explanation {
    match run.probes.is_empty() {
        true => unknown("Nothing to explain: no connection is recorded."),
        false => unknown("Probes alone went by these links, which hold none of them back."),
    }
}

/// Where rules have no words for what they find themselves.
pub(super) fn nothing_known() -> Explanation {
    unknown("The counters do not say what held it back.")
}

fn unknown(sentence: &str) -> Explanation {
    Explanation { sentence: sentence.to_owned(), side: Side::Unknown, policy: None, facts: Vec::new() }
}

/// A finding's sentence, and what would be as narrow without it.
fn one(rules: &[&dyn Rule], finding: &Finding) -> Option<Explanation> {
    let rule = |finding: &Finding| rules.iter().find(|rule| rule.cause() == finding.cause);
    let mut sentence = rule(finding)?.sentence(finding)?;
    let mut facts = rule(finding)?.facts(finding);
    for other in &finding.as_narrow {
        sentence += &format!(" As narrow, {}", lower_first(&rule(other)?.sentence(other)?));
        facts.extend(rule(other)?.facts(other));
    }
    Some(Explanation { sentence, side: finding.side, policy: finding.policy.clone(), facts })
}

/// Each finding's sentence after the other.
fn several(run: &Run, findings: &[Finding], parts: &[Explanation]) -> Explanation {
    let sentences: Vec<String> = alike(findings).iter().map(|places| told(run, findings, parts, places)).collect();
    let sentence = sentences.join(" ");
    // Where nothing held connections back no limit was set.
    let set: Vec<&Explanation> = parts.iter().filter(|part| part.side != Side::Nowhere).collect();
    let first = set.first().copied().unwrap_or(&parts[0]);
    Explanation {
        sentence,
        side: if set.iter().all(|part| part.side == first.side) { first.side } else { Side::Both },
        policy: if set.iter().all(|part| part.policy == first.policy) { first.policy.clone() } else { None },
        facts: parts.iter().flat_map(|part| part.facts.clone()).collect(),
    }
}

/// From so many findings of a kind on the first one is told alone.
const MANY: usize = 5;

/// The places of the findings, those of one kind together where they are many: the same cause at the same side by the
/// same policy.
fn alike(findings: &[Finding]) -> Vec<Vec<usize>> {
    let kind = |place: usize| {
        let Finding { cause, side, policy, as_narrow, .. } = &findings[place];
        let causes: Vec<&String> = as_narrow.iter().map(|other| &other.cause).collect();
        (cause, *side, policy, causes)
    };
    let mut kinds: Vec<Vec<usize>> = Vec::new();
    for place in 0..findings.len() {
        match kinds.iter_mut().find(|known| kind(known[0]) == kind(place)) {
            Some(known) => known.push(place),
            None => kinds.push(vec![place]),
        }
    }
    let one_by_one = |kind: Vec<usize>| match kind.len() {
        MANY.. => vec![kind],
        _ => kind.into_iter().map(|place| vec![place]).collect(),
    };
    let mut told: Vec<Vec<usize>> = kinds.into_iter().flat_map(one_by_one).collect();
    told.sort_by_key(|places| places[0]);
    told
}

/// The sentence of the first of these findings, and which others are like it.
fn told(run: &Run, findings: &[Finding], parts: &[Explanation], places: &[usize]) -> String {
    let Some((first, others)) = places.split_first() else { return String::new() };
    let own = format!("{}: {}", whose(run, &findings[*first], findings), lower_first(&parts[*first].sentence));
    if others.is_empty() {
        return own;
    }
    let both = |end: End| {
        let mut ends: Vec<&str> = Vec::new();
        for name in others.iter().flat_map(|place| self::ends(run, &findings[*place], end)) {
            if !ends.contains(&name) {
                ends.push(name);
            }
        }
        in_order(run, ends)
    };
    let (from, to) = (names(&both(FROM)), names(&both(TO)));
    format!("{own} {} more findings are of this kind: connections from {from}, towards {to}.", others.len())
}

/// Hosts in the order of the topology, so that consecutive names stand together.
fn in_order<'a>(run: &Run, mut names: Vec<&'a str>) -> Vec<&'a str> {
    names.sort_by_key(|name| run.topology.hosts.iter().position(|host| host.name == **name));
    names
}

/// Whose finding of several it is: `Towards b`, `From a`, `From a to b`, `2 of 4 connections`.
fn whose(run: &Run, finding: &Finding, findings: &[Finding]) -> String {
    let others = || findings.iter().filter(|other| other.connections != finding.connections);
    let own_alone = |end: End| {
        let own = ends(run, finding, end);
        others().flat_map(|other| ends(run, other, end)).all(|name| !own.contains(&name))
    };
    let pair_alone = || {
        let own = pairs(run, finding);
        others().flat_map(|other| pairs(run, other)).all(|pair| !own.contains(&pair))
    };
    // A host that is at one end of all of them, and of no other.
    let of_one_host = || {
        let at_an_end = |it: &Connection, name: &str| it.from == name || it.to == name;
        let first = connections(run, finding).next()?;
        [first.from.as_str(), first.to.as_str()].into_iter().find(|name| {
            connections(run, finding).all(|it| at_an_end(it, name))
                && others().flat_map(|other| connections(run, other)).all(|it| !at_an_end(it, name))
        })
    };
    match () {
        () if own_alone(TO) => format!("Towards {}", names(&ends(run, finding, TO))),
        () if own_alone(FROM) => format!("From {}", names(&ends(run, finding, FROM))),
        () if of_one_host().is_some() => format!("To and from {}", of_one_host().unwrap_or_default()),
        () if pair_alone() => {
            let pairs: Vec<String> = pairs(run, finding).iter().map(|(from, to)| format!("{from} to {to}")).collect();
            if pairs.len() < MANY {
                format!("From {}", list(&pairs))
            } else {
                format!("{} pairs of hosts", pairs.len())
            }
        }
        () => format!("{} of {} connections", finding.connections.len(), run.connections.len()),
    }
}

/// One of a connection's hosts.
type End = fn(&Connection) -> &str;
const FROM: End = |connection| &connection.from;
const TO: End = |connection| &connection.to;

/// A finding's connections; a record from elsewhere may name connections that do not exist.
fn connections<'a>(run: &'a Run, finding: &Finding) -> impl Iterator<Item = &'a Connection> {
    finding.connections.iter().filter_map(|place| run.connections.get(*place as usize))
}

/// The hosts at one end of a finding's connections, each once.
fn ends<'a>(run: &'a Run, finding: &Finding, end: End) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for connection in connections(run, finding) {
        let name = end(connection);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    in_order(run, names)
}

/// The pairs of hosts of a finding's connections, each once.
fn pairs<'a>(run: &'a Run, finding: &Finding) -> Vec<(&'a str, &'a str)> {
    let ends = |connection: &'a Connection| (connection.from.as_str(), connection.to.as_str());
    let mut pairs: Vec<_> = connections(run, finding).map(ends).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
