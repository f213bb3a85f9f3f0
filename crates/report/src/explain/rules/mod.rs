//! The rules, each in a file of its own.
//!
//! A rule looks at a limit of a run and either recognises it or passes. The
//! first that recognises it has the word.

mod active_backup;
mod broadcast;
mod down;
mod full;
mod hashed;
mod learning;
mod load_balancing;
mod lossy;
mod machine;
mod not_aggregating;
mod reordering;
mod unequal_turns;
mod unexplained;
mod waste;

use super::Explanation;
use super::Side;
use super::limits::Limit;

/// A rule: an explanation, or nothing if it does not apply.
type Rule = fn(&Limit<'_, '_>) -> Option<Explanation>;

/// The rules in the order in which they are asked: what explains full links
/// first, what explains idle ones next, what needs no link at all last.
const RULES: &[Rule] = &[
    broadcast::rule,
    not_aggregating::rule,
    full::rule,
    waste::rule,
    hashed::rule,
    active_backup::rule,
    load_balancing::rule,
    learning::rule,
    down::rule,
    unequal_turns::rule,
    machine::rule,
    lossy::rule,
    reordering::rule,
];

/// The first rule's explanation.
pub(super) fn first(limit: &Limit<'_, '_>) -> Explanation {
    RULES.iter().find_map(|rule| rule(limit)).unwrap_or_else(|| unexplained::explain(limit))
}

/// An explanation without facts of its own.
fn because(side: Side, policy: Option<&str>, sentence: String) -> Option<Explanation> {
    Some(Explanation { sentence, side, policy: policy.map(str::to_owned), facts: Vec::new() })
}
