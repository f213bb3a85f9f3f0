//! Why a run delivered what it delivered.
//!
//! The payload's ways become hops with the load of every link
//! ([`path::Picture`]). For each connection [`limits`] finds the link on its way
//! that was really at its limit and whose choice put the traffic there, and
//! the first rule of [`rules`] that recognises a limit writes its sentence. A
//! rule is a function in a file of its own; a new one is a file and a line there.

mod aggregation;
mod facts;
mod hop;
mod limits;
mod path;
mod policy;
mod predict;
mod rules;

use nicteam_record::{Connection, Run};

use limits::{Cause, Limit};
use path::Picture;

use crate::units::list;

/// Where a run's limit was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Nowhere: the links were full.
    Nowhere,
    /// How the sending host chose its members.
    Sending,
    /// How the last switch chose its links to the receiving host.
    Receiving,
    /// How one switch chose its links to another.
    Between,
    /// In several places: directions or pairs of hosts have each their own reason.
    Both,
    /// What links were declared to do to frames.
    Links,
    /// The machine that ran the lab.
    Machine,
    /// The counters do not say.
    Unknown,
}

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

/// Says what set a run's limit, from its counters, its topology and the hash;
/// never from its name.
pub fn explain(run: &Run) -> Explanation {
    let picture = Picture::of(run);
    let limits = limits::limits(&picture);
    let mut explanation = match limits.as_slice() {
        [] => nothing_sent(),
        [limit] => one(limit),
        limits => several(limits),
    };
    let mut left_out = aggregation::of_run(run);
    left_out.retain(|words| !explanation.sentence.contains(words));
    explanation.facts.extend(left_out.iter().map(|words| upper_first(words)));
    explanation.facts.extend(facts::of_hops(&picture));
    explanation.facts.extend(facts::of_run(run));
    explanation
}

/// A run without connections.
fn nothing_sent() -> Explanation {
    Explanation {
        sentence: "Nothing to explain: no connection is recorded.".to_owned(),
        side: Side::Unknown,
        policy: None,
        facts: Vec::new(),
    }
}

/// A limit's sentence, and what would be as narrow without it.
fn one(limit: &Limit<'_, '_>) -> Explanation {
    let mut explanation = rules::first(limit);
    for hop in &limit.as_narrow {
        let (node, policy) = hop.chooser();
        let cause = Cause::Choice { node, policy, side: hop.side };
        let other = rules::first(&Limit { cause, hops: vec![hop], as_narrow: Vec::new(), ..limit.clone() });
        explanation.sentence += &format!(" As narrow, {}", lower_first(&other.sentence));
        explanation.facts.extend(other.facts);
    }
    explanation
}

/// Each limit's sentence after the other.
fn several(limits: &[Limit<'_, '_>]) -> Explanation {
    let parts: Vec<Explanation> = limits.iter().map(one).collect();
    let sentences = limits.iter().zip(&parts);
    let sentences = sentences.map(|(limit, part)| format!("{}: {}", whose(limit, limits), lower_first(&part.sentence)));
    let sentence = sentences.collect::<Vec<_>>().join(" ");
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

/// Whose limit of several it is: `Towards b`, `From a`, `From a to b`, `2 of 4 connections`.
fn whose(limit: &Limit<'_, '_>, limits: &[Limit<'_, '_>]) -> String {
    let own_alone = |end: End| {
        let own = ends(limit, end);
        let others = limits.iter().filter(|other| other.connections != limit.connections);
        others.flat_map(|other| ends(other, end)).all(|name| !own.contains(&name))
    };
    match () {
        () if own_alone(TO) => format!("Towards {}", list(&ends(limit, TO))),
        () if own_alone(FROM) => format!("From {}", list(&ends(limit, FROM))),
        () if is_pair_alone(limit, limits) => {
            let pairs: Vec<String> = pairs(limit).iter().map(|(from, to)| format!("{from} to {to}")).collect();
            format!("From {}", list(&pairs))
        }
        () => format!("{} of {} connections", limit.connections.len(), limit.picture.run.connections.len()),
    }
}

/// One of a connection's hosts.
type End = fn(&Connection) -> &str;
const FROM: End = |connection| &connection.from;
const TO: End = |connection| &connection.to;

/// The hosts at one end of a limit's connections, each once.
fn ends<'a>(limit: &Limit<'_, 'a>, end: End) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for index in &limit.connections {
        let name = end(&limit.picture.run.connections[*index]);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether no other limit has connections between the same hosts.
fn is_pair_alone(limit: &Limit<'_, '_>, limits: &[Limit<'_, '_>]) -> bool {
    let own = pairs(limit);
    let others = limits.iter().filter(|other| other.connections != limit.connections);
    others.flat_map(pairs).all(|pair| !own.contains(&pair))
}

/// The pairs of hosts of a limit's connections, each once.
fn pairs<'a>(limit: &Limit<'_, 'a>) -> Vec<(&'a str, &'a str)> {
    let run = limit.picture.run;
    let ends = |index: &usize| (run.connections[*index].from.as_str(), run.connections[*index].to.as_str());
    let mut pairs: Vec<_> = limit.connections.iter().map(ends).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The sentence as it stands behind a colon.
fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The words as a sentence of their own.
fn upper_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
