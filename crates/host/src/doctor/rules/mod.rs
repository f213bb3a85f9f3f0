//! The rules: each a file and a line in [`RULES`].

mod bundles;
mod carrier;
mod drivers;
mod filters;
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

use super::rule::Rule;

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
    &filters::Filters,
    &managers::Managers,
    &sysctls::Sysctls,
    &kernel::KernelRule,
];
