//! The rules, each in a file of its own.
//!
//! A rule looks for one fault, and makes findings of it. A new rule is a file and a line in [`RULES`].

mod active_backup;
mod cut_packets;
mod down;
mod duplicate_address;
mod far_hash;
mod full;
mod idle_sender;
mod lacp_missing;
mod lossy;
mod mtu;
mod not_aggregating;
mod one_flow;
mod own_hash;
mod polarised;
mod rule;
mod send_buffer;
mod shaped;
mod slow_host;
mod unlike_speeds;

use crate::finding::{Change, Finding, Side, Weight};
use crate::view::View;

pub use rule::Rule;

/// The rules. Findings of equal weight keep this order.
pub const RULES: &[&dyn Rule] = &[
    &down::Down,
    &lacp_missing::LacpMissing,
    &not_aggregating::NotAggregating,
    &duplicate_address::DuplicateAddress,
    &far_hash::FarHash,
    &own_hash::OwnHash,
    &polarised::Polarised,
    &one_flow::OneFlow,
    &unlike_speeds::UnlikeSpeeds,
    &mtu::Mtu,
    &cut_packets::CutPackets,
    &lossy::Lossy,
    &shaped::Shaped,
    &slow_host::SlowHost,
    &send_buffer::SendBuffer,
    &idle_sender::IdleSender,
    &active_backup::ActiveBackup,
    &full::Full,
];

/// What the rules find, the worst first.
pub(crate) fn findings(rules: &[&dyn Rule], view: &View<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules.iter().flat_map(|rule| rule.find(view)).collect();
    findings.sort_by_key(|finding| finding.weight);
    findings
}

/// What the program that runs the bundle says is wrong.
pub(crate) fn of_its_program(view: &View<'_>) -> Vec<Finding> {
    let problem = |problem: &nicteam_bundles::Problem| {
        let finding = Finding::new("problem", Weight::Fault, Side::Host, problem.text.clone());
        match problem.hint.as_str() {
            "" => finding,
            hint => finding.change(Change::here(hint, Vec::new())),
        }
    };
    view.bundle().problems.iter().map(problem).collect()
}
