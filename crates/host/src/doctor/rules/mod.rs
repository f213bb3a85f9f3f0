//! The rules: each a file and a line in [`RULES`].

mod bundles;
mod carrier;
mod drivers;
mod kernel;
mod managers;
mod mtu;
mod negotiation;
mod offloads;
mod queues;
mod speeds;
mod switch_group;
mod switch_port;
mod sysctls;

use super::facts::{Bundle, Device, HostFacts};
use super::{Finding, Weight};

/// A rule.
pub(super) trait Rule: Sync {
    /// What it finds.
    fn look(&self, facts: &HostFacts) -> Vec<Finding>;
}

/// Every rule, in the order in which findings are told.
pub(super) static RULES: &[&dyn Rule] = &[
    &bundles::Bundles,
    &carrier::Carrier,
    &negotiation::Negotiation,
    &speeds::Speeds,
    &mtu::Mtu,
    &switch_group::SwitchGroup,
    &switch_port::SwitchPort,
    &drivers::Drivers,
    &offloads::Offloads,
    &queues::Queues,
    &managers::Managers,
    &sysctls::Sysctls,
    &kernel::KernelRule,
];

/// What findings that are not of one device are about.
const THIS_HOST: &str = "this host";

fn finding(rule: &'static str, about: &str, weight: Weight, text: String, cure: String) -> Finding {
    Finding { rule, about: about.to_owned(), text, cure, place: None, weight }
}

/// Devices that are members, each with its bundle.
fn members(facts: &HostFacts) -> impl Iterator<Item = (&Device, &Bundle)> {
    facts.devices.iter().filter_map(|device| Some((device, facts.bundle_of(device)?)))
}

/// `eth1 and eth2`, `eth1, eth2 and eth3`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
