//! `nicteam lab run --verify`: what findings propose, carried out.

use std::fmt::Write as _;
use std::io::IsTerminal;

use nicteam_cures::changes_in_words;
use nicteam_experiment::{self as experiment, Experiment};
use nicteam_lab::{Options, Outcome};
use nicteam_record::{Bundle, Change, Record};
use serde_json::{Value, json};

use super::bundle::write_page;
use super::progress::Live;
use crate::failure::Failure;
use crate::say;

/// Folder of the changed runs' bundle, in that of the experiment.
const FOLDER: &str = "verified";

/// A change of a run, what it was predicted to deliver, and what it delivered.
pub(super) struct Verified {
    run: String,
    changes: Vec<Change>,
    /// Shares of the run's own limit: without the change, predicted with it, and measured.
    before: f64,
    predicted: f64,
    measured: Option<f64>,
    /// Why it was not carried out.
    refused: Option<String>,
}

/// Carries out each run of a record again, with each change that a finding of it proposes.
pub(super) fn verify(experiment: &Experiment, bundle: &Bundle, options: &Options) -> Result<Vec<Verified>, Failure> {
    let mut all = proposed(&bundle.record);
    let mut runs = Vec::new();
    for (number, one) in all.iter_mut().enumerate() {
        let Some(run) = experiment.runs.iter().find(|run| run.name == one.run) else { continue };
        match experiment::changed(run, &one.changes) {
            Ok(changed) => runs.push(experiment::Run { name: name(&one.run, number), repetition: None, ..changed }),
            Err(reason) => one.refused = Some(reason),
        }
    }
    if runs.is_empty() {
        return Ok(all);
    }
    let overrides = experiment.overrides.iter().cloned().chain(["verify".to_owned()]).collect();
    let changed = Experiment { runs, overrides, expect: Vec::new(), repeat: 1, ..experiment.clone() };
    let options = Options { output: bundle.dir.join(FOLDER), ..options.clone() };
    let mut live = Live::new(std::io::stderr().is_terminal());
    let outcome = nicteam_lab::run(&changed, &options, &mut live, write_page);
    drop(live);
    let Outcome { bundle: verified, stopped_by } = outcome?;
    for (number, one) in all.iter_mut().enumerate() {
        let before = bundle.record.runs.iter().find(|run| run.name == one.run);
        let after = verified.record.runs.iter().find(|run| run.name == name(&one.run, number));
        // Of the same limit: a member less is a lower limit of the changed run.
        one.measured = before.zip(after).map(|(before, after)| after.delivered_bps / before.limit_bps);
    }
    match stopped_by {
        Some(error) => Err(error.into()),
        None => Ok(all),
    }
}

/// The changes that a record's findings propose, each once for a run.
fn proposed(record: &Record) -> Vec<Verified> {
    let mut all: Vec<Verified> = Vec::new();
    for run in &record.runs {
        for cure in run.findings.iter().flat_map(|finding| &finding.cures) {
            if all.iter().any(|known| known.run == run.name && known.changes == cure.changes) {
                continue;
            }
            all.push(Verified {
                run: run.name.clone(),
                changes: cure.changes.clone(),
                before: run.of_limit,
                predicted: cure.of_limit,
                measured: None,
                refused: None,
            });
        }
    }
    all
}

/// Name of a changed run.
fn name(run: &str, number: usize) -> String {
    format!("{run}-cure-{}", number + 1)
}

/// A table: before, predicted, measured.
pub(super) fn table(all: &[Verified]) -> String {
    if all.is_empty() {
        return "\nno finding proposes a change\n".to_owned();
    }
    let width = all.iter().map(|one| one.run.chars().count()).max().unwrap_or(0).max(3);
    let mut text = format!(
        "\nwhat findings propose, carried out; each figure is a share of the limit\n  {:<width$}  before  predicted  measured  change\n",
        "run"
    );
    for one in all {
        let measured = one.measured.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"));
        let refused = one.refused.as_ref().map_or_else(String::new, |reason| format!(" (not carried out: {reason})"));
        let _ = writeln!(
            text,
            "  {:<width$}  {:>6.2}  {:>9.2}  {measured:>8}  {}{refused}",
            one.run,
            one.before,
            one.predicted,
            changes_in_words(&one.changes),
        );
    }
    text
}

/// The record with the list `verified`.
pub(super) fn with_record(record: &Record, all: &[Verified]) -> Result<Value, Failure> {
    let one = |one: &Verified| {
        json!({
            "run": one.run, "changes": one.changes, "before_of_limit": one.before, "predicted_of_limit": one.predicted,
            "measured_of_limit": one.measured, "not_carried_out": one.refused,
        })
    };
    let mut value = serde_json::to_value(record).map_err(Failure::failed)?;
    value["verified"] = all.iter().map(one).collect();
    Ok(value)
}

/// Prints both.
pub(super) fn tell(record: &Record, all: &[Verified], json: bool) -> Result<(), Failure> {
    if json { say::data(format_args!("{:#}\n", with_record(record, all)?)) } else { say::data(table(all)) }
}
