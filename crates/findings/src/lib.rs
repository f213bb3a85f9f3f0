//! Why a run delivered what it delivered.
//!
//! The payload's ways become hops with the load of every link ([`Picture`]). For
//! each connection [`limits`] finds the link on its way that was really at its
//! limit and whose choice put the traffic there, and the first rule of [`rules`]
//! that recognises a limit makes it a finding. [`prose`] puts findings into
//! sentences, whether they were found just now or stand in the record.
//!
//! Nothing here measures anything, and no name of an experiment or run is looked at.
#![forbid(unsafe_code)]

mod aggregation;
pub mod bars;
mod chance;
mod facts;
mod hop;
mod limits;
mod moves;
mod mtu;
mod needs;
mod notes;
mod one_sided;
mod path;
mod policy;
mod predict;
mod prose;
mod rules;
mod shares;
mod slow;
mod storage;
mod team;
pub mod units;
pub mod view;
mod way;
mod words;

use nicteam_record::{Finding, Record, Run};

pub use facts::faults;
pub use needs::needs;
pub use shares::shares;

pub use hop::{Choice, Chooser, Hop, HopLink, Prediction, Spreading, is_full, is_idle};
pub use limits::{FilledBy, Limit};
pub use path::Picture;
pub use prose::Explanation;
pub use rules::{RULES, Rule};
pub use team::{Team, TeamMode};

/// Says what set a run's limit, in the words of the findings that its record
/// carries. Where it carries none, or some that this version has no words for,
/// they are found anew.
pub fn explain(run: &Run) -> Explanation {
    explain_by(RULES, run)
}

/// The same by other rules.
pub fn explain_by(rules: &[&dyn Rule], run: &Run) -> Explanation {
    let picture = Picture::of(run);
    let recorded = if run.findings.is_empty() { None } else { prose::explanation(rules, run, &run.findings) };
    let mut explanation = recorded
        .or_else(|| prose::explanation(rules, run, &rules::findings(rules, &picture)))
        .unwrap_or_else(prose::nothing_known);
    let left_out = aggregation::of_run(run).into_iter().map(|left_out| left_out.words());
    let left_out: Vec<String> = left_out.filter(|words| !explanation.sentence.contains(words)).collect();
    explanation.facts.extend(left_out.iter().map(|words| words::upper_first(words)));
    explanation.facts.extend(facts::of_hops(&picture));
    explanation.facts.extend(facts::of_run(&picture));
    explanation
}

/// Finds what set a run's limit, the costliest first, from its counters, its
/// topology and the hash; never from its name.
pub fn findings(run: &Run) -> Vec<Finding> {
    findings_by(RULES, run)
}

/// The same by other rules.
pub fn findings_by(rules: &[&dyn Rule], run: &Run) -> Vec<Finding> {
    rules::findings(rules, &Picture::of(run))
}

/// Gives those runs of a record their findings, cures and missing shares that have none, as in older records.
pub fn add_findings(record: &mut Record) {
    for run in record.runs.iter_mut().filter(|run| run.findings.is_empty() || run.missing.is_none()) {
        if run.findings.is_empty() {
            run.findings = findings(run);
        }
        nicteam_cures::add(run);
    }
}
