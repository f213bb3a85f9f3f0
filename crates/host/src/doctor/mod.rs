//! What will disappoint on this host, and the cure.
//!
//! [`gather`](gather::gather) looks at the host; [`findings`] is a pure function of what it saw. A rule is a file and a line in
//! the registry of `rules`.

pub mod facts;
mod finding;
pub mod gather;
mod hear;
mod rule;
mod rules;

pub use facts::HostFacts;
pub use finding::{Finding, Weight};

/// All that the rules find, in the order of the registry.
pub fn findings(facts: &HostFacts) -> Vec<Finding> {
    rules::RULES.iter().flat_map(|rule| rule.look(facts)).collect()
}
