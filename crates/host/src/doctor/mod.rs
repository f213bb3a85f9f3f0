//! What will disappoint on this host, and the cure.
//!
//! [`gather`](gather::gather) looks at the host; [`findings`] is a pure function of what it saw. A rule is a file and a line in
//! the registry of `rules`.

pub mod facts;
pub mod gather;
mod hear;
mod rules;

use nicteam_formats::Place;

pub use facts::HostFacts;

/// Something about a host that is not as one would expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it: `speeds`.
    pub rule: &'static str,
    /// What it is about: a device, a team, `this host`.
    pub about: String,
    /// What disappoints, as a sentence without its full stop.
    pub text: String,
    /// What to do about it: a command, or a sentence without its full stop; empty where nothing can be done.
    pub cure: String,
    /// The line of a file that it follows from.
    pub place: Option<Place>,
    /// How much it matters.
    pub weight: Weight,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// To be known: it disappoints somebody who expects otherwise.
    Note,
    /// It will disappoint.
    Disappoints,
}

/// All that the rules find, in the order of the registry.
pub fn findings(facts: &HostFacts) -> Vec<Finding> {
    rules::RULES.iter().flat_map(|rule| rule.look(facts)).collect()
}
