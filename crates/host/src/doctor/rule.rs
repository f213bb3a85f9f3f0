//! What a rule is, and what several of them need.

use super::facts::{Bundle, Device, HostFacts};
use super::finding::{Finding, Weight};

/// A rule.
pub(super) trait Rule: Sync {
    /// What it finds.
    fn look(&self, facts: &HostFacts) -> Vec<Finding>;
}

/// What findings that are not of one device are about.
pub(super) const THIS_HOST: &str = "this host";

/// A finding that no line of a file leads to.
pub(super) fn finding(rule: &'static str, about: &str, weight: Weight, text: String, cure: String) -> Finding {
    Finding { rule, about: about.to_owned(), text, cure, place: None, weight }
}

/// Devices that are members, each with its bundle.
pub(super) fn members(facts: &HostFacts) -> impl Iterator<Item = (&Device, &Bundle)> {
    facts.devices.iter().filter_map(|device| Some((device, facts.bundle_of(device)?)))
}

/// `eth1 and eth2`, `eth1, eth2 and eth3`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
