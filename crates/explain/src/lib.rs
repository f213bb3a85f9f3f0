//! Explains a live bundle.
//!
//! [`Facts`] go in: the bundle, what its links carried for some seconds, TCP connections, sampled headers. [`explain`] gives an
//! [`Explanation`]: findings, each with its side, its evidence, how sure it is, what to change and what that would give. A rule is
//! a file and a line in the list of [`rules`].
//!
//! No I/O, no clock: crate `observe` reads a host into facts, and the same facts have the same explanation.
#![forbid(unsafe_code)]

mod facts;
mod finding;
mod hashing;
mod predicted;
mod rules;
mod text;
mod units;
mod view;

pub use facts::{Explanation, Facts, Path};
pub use finding::{Change, Finding, Place, Side, Sure, Weight};
pub use rules::{RULES, Rule};
pub use view::{Direction, Placed, View};

/// Explains a bundle.
pub fn explain(facts: &Facts<'_>) -> Explanation {
    let view = View::of(facts);
    let mut findings = rules::findings(RULES, &view);
    // Programs that send little hide nothing.
    if findings.iter().all(|finding| finding.cause == "idle-sender") {
        findings.splice(0..0, rules::of_its_program(&view));
    }
    let is_good = findings.iter().all(|finding| finding.weight == Weight::Notice);
    Explanation {
        bundle: facts.bundle.name.clone(),
        verdict: text::verdict(&view, &findings),
        is_good,
        unknown: text::unknown(&view),
        findings,
    }
}

impl Explanation {
    /// For people, with what was measured.
    pub fn text(&self, facts: &Facts<'_>) -> String {
        text::explanation(self, &View::of(facts))
    }
}
