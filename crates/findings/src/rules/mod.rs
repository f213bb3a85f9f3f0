//! The rules, each in a file of its own.
//!
//! A rule recognises one cause of a limit and makes a finding of it, or passes. The first rule that
//! recognises a limit explains it. A new rule is a file and a line in [`RULES`].

mod acknowledgements;
mod active_backup;
mod broadcast;
mod buckets;
mod closed_loop;
mod cut_paths;
mod dead_path;
mod disks_cap;
mod down;
mod down_in_part;
mod few_subflows;
mod full;
mod hashed;
mod interrupted;
mod lacp_missing;
mod learning;
mod load_balancing;
mod lossy;
mod machine;
mod mtu;
mod not_aggregating;
mod one_processor;
mod one_session;
mod one_sided;
mod pagp;
mod path_turns;
mod peer_does_not_stripe;
mod read_share;
mod reordering;
mod rule;
mod segments;
mod silent;
mod slow_host;
mod slow_path;
mod target;
mod unequal_turns;
mod uneven;
mod unexplained;
mod unknown_switch;
mod waste;
mod write_back;

use nicteam_record::Finding;

use super::limits::{FilledBy, Limit, limits};
use super::path::Picture;

pub use rule::Rule;

/// The rules in the order in which they are tried: causes of full links first, of idle links next,
/// causes outside the links last.
pub const RULES: &[&dyn Rule] = &[
    &mtu::Mtu,
    &write_back::WriteBack { rules: all },
    &broadcast::Broadcast,
    &not_aggregating::NotAggregating,
    &cut_paths::CutPaths,
    &full::Full,
    &waste::Waste,
    &dead_path::DeadPath,
    &path_turns::PathTurns,
    &slow_path::SlowPath,
    &one_session::OneSession,
    &read_share::ReadShare,
    &disks_cap::DisksCap,
    &down_in_part::DownInPart,
    &hashed::Hashed,
    &buckets::Buckets,
    &active_backup::ActiveBackup,
    &load_balancing::LoadBalancing,
    &one_sided::OneSided,
    &peer_does_not_stripe::PeerDoesNotStripe,
    &few_subflows::FewSubflows,
    &lacp_missing::LacpMissing,
    &pagp::Pagp,
    &learning::Learning,
    &unknown_switch::UnknownSwitch,
    &slow_host::SlowHost,
    &down::Down,
    &unequal_turns::UnequalTurns,
    &silent::Silent,
    &interrupted::Interrupted,
    &machine::Machine,
    &acknowledgements::Acknowledgements,
    &uneven::Uneven,
    &lossy::Lossy,
    &reordering::Reordering,
    &segments::Segments,
    &target::Target,
    &closed_loop::ClosedLoop,
    &one_processor::OneProcessor,
    &unexplained::Unexplained,
];

/// The rules, for the rule that tries all others.
fn all() -> &'static [&'static dyn Rule] {
    RULES
}

/// What the rules find in a run, the costliest first.
pub(super) fn findings(rules: &[&dyn Rule], picture: &Picture<'_>) -> Vec<Finding> {
    limits(picture).iter().map(|limit| of_limit(rules, limit)).collect()
}

/// A limit's finding, with what would be as narrow without it.
fn of_limit(rules: &[&dyn Rule], limit: &Limit<'_, '_>) -> Finding {
    let as_narrow = limit.as_narrow.iter().map(|hop| {
        let filled_by = FilledBy::Choice { chooser: limit.chooser(hop), side: hop.side };
        first(rules, &Limit { filled_by, hops: vec![hop], as_narrow: Vec::new(), ..limit.clone() })
    });
    Finding { as_narrow: as_narrow.collect(), ..first(rules, limit) }
}

/// What the first rule that applies finds.
fn first(rules: &[&dyn Rule], limit: &Limit<'_, '_>) -> Finding {
    rules.iter().find_map(|rule| rule.find(limit)).unwrap_or_else(|| limit.finding("unknown"))
}
