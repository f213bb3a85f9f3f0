//! The rules, each in a file of its own.
//!
//! A rule looks at one direction of a run and either recognises what set the
//! limit or passes. The first that recognises it has the word.

mod active_backup;
mod broadcast;
mod down;
mod full;
mod hashed;
mod machine;
mod reordering;
mod unequal_turns;
mod unexplained;

use super::Explanation;
use super::path::Flow;
use super::{Side, facts};

/// A rule: an explanation, or nothing if it does not apply.
type Rule = fn(&Flow<'_>) -> Option<Explanation>;

/// The rules in the order in which they are asked: what explains full links
/// first, what explains idle ones next, what needs no link at all last.
const RULES: &[Rule] = &[
    broadcast::rule,
    full::rule,
    hashed::rule,
    active_backup::rule,
    down::rule,
    unequal_turns::rule,
    machine::rule,
    reordering::rule,
];

/// The first rule's explanation, with the facts of its hops behind its own.
pub(super) fn first(flow: &Flow<'_>) -> Explanation {
    let found = RULES.iter().find_map(|rule| rule(flow));
    let mut explanation = found.unwrap_or_else(|| unexplained::explain(flow));
    explanation.facts.extend(facts::of_flow(flow));
    explanation
}

/// An explanation without facts of its own.
fn because(side: Side, policy: Option<&str>, sentence: String) -> Option<Explanation> {
    Some(Explanation { sentence, side, policy: policy.map(str::to_owned), facts: Vec::new() })
}
