//! What a rule finds.

use nicteam_formats::Place;

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
