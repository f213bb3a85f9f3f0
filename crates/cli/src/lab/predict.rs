//! `nicteam lab predict`: what each run would deliver.

use std::path::PathBuf;
use std::time::Duration;

use nicteam_experiment::{self as experiment, Experiment, Measured, Overrides, Predicted};
use nicteam_record::Bundle;

use super::bundle::folder;
use super::pick::find;
use crate::failure::Failure;
use crate::{say, value};

/// Say what each run would deliver, and what holds it, without building anything.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam lab predict t3 --seeds 1000\n  nicteam lab predict t5 --rate 10gbit --json\n  nicteam lab predict --against results/t3-20261127-120000"
)]
pub(crate) struct Args {
    /// Names of experiments that come with nicteam (t3), or files.
    #[arg(required_unless_present = "against")]
    experiments: Vec<String>,
    /// Predict the runs of a bundle, a folder with a record.json, and print what they delivered beside it. May be repeated.
    #[arg(long, value_name = "BUNDLE", conflicts_with_all = ["experiments", "only", "duration", "rate", "engine"])]
    against: Vec<PathBuf>,
    /// Say p5, median and p95 with random addresses and ports: from how many seeds they are drawn.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seeds: Option<u32>,
    /// Only these runs, with commas between them; may be repeated.
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    only: Vec<String>,
    /// How long each run is measured: 60s, 500ms.
    #[arg(long, value_parser = value::duration)]
    duration: Option<Duration>,
    /// Rate of every link: 100mbit, 1gbit.
    #[arg(long, value_parser = value::rate)]
    rate: Option<u64>,
    /// Who runs the teams of hosts, whatever the file says: nicteam, ovs, kernel. Of several, with commas between them, each
    /// run is predicted once for each.
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    engine: Vec<String>,
    /// Print JSON: a list with an entry for each experiment.
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let overrides = Overrides {
        rate_bps: args.rate,
        duration: args.duration,
        only: (!args.only.is_empty()).then(|| args.only.clone()),
        engines: args.engine.clone(),
    };
    let seeds = args.seeds.unwrap_or(0);
    let mut all: Vec<(String, Vec<Predicted>)> = Vec::new();
    for name in &args.experiments {
        let experiment = find(name, &overrides)?;
        all.push((experiment.name.clone(), experiment::predict_drawn(&experiment, seeds)));
    }
    for bundle in &args.against {
        let mut bundle = Bundle::open(folder(bundle)?)?;
        nicteam_report::add_findings(&mut bundle.record);
        all.push(beside(&bundle, seeds)?);
    }
    if args.json {
        let entries = all.iter().map(|(name, runs)| experiment::predicted_json(name, runs, seeds));
        return say::data(format_args!("{:#}\n", serde_json::Value::from_iter(entries)));
    }
    let tables: Vec<String> = all.iter().map(|(name, runs)| experiment::show_predicted(name, runs, seeds)).collect();
    say::data(tables.join("\n") + &agreement(&all))
}

/// The runs of a bundle, predicted and measured.
fn beside(bundle: &Bundle, seeds: u32) -> Result<(String, Vec<Predicted>), Failure> {
    let record = &bundle.record.experiment;
    let overrides = Overrides::of_record(&record.overrides);
    let path = format!("the experiment in the record of {}", record.name);
    let read: Experiment = experiment::parse(&record.name, &path, &record.file, &overrides)?;
    let mut predicted = experiment::predict_drawn(&read, seeds);
    for run in &mut predicted {
        // Of a run that was repeated, the first.
        let is_it = |name: &str| name == run.run;
        let measured = bundle.record.runs.iter().find(|other| is_it(&other.name));
        run.measured = measured.map(|it| Measured {
            bps: it.delivered_bps,
            of_limit: it.of_limit,
            by_machine: it.is_held_by_machine(),
            causes: it.findings.iter().map(|finding| finding.cause.clone()).collect(),
        });
    }
    predicted.retain(|run| run.measured.is_some());
    Ok((record.name.clone(), predicted))
}

/// In how many runs the prediction is within 5 points of what was measured, and how many upper bounds hold. Runs that the
/// machine held are left out.
fn agreement(all: &[(String, Vec<Predicted>)]) -> String {
    let runs = all.iter().flat_map(|(_, runs)| runs);
    let measured = runs.filter_map(|run| Some((run, run.measured.as_ref()?)));
    let (by_machine, others): (Vec<_>, Vec<_>) = measured.partition(|(_, measured)| measured.by_machine);
    if by_machine.is_empty() && others.is_empty() {
        return String::new();
    }
    let (bounds, exact): (Vec<_>, Vec<_>) = others.iter().partition(|(run, _)| run.bound_holds().is_some());
    let bounds: Vec<bool> = bounds.iter().filter_map(|(run, _)| run.bound_holds()).collect();
    let near: Vec<bool> = exact.iter().filter_map(|(run, _)| run.is_near()).collect();
    let yes = |all: &[bool]| all.iter().filter(|yes| **yes).count();
    format!(
        "\n{} of {} predictions are within {} points of what was measured, and {} of {} upper bounds hold. Not counted: \
         {} runs that are not predicted, {} runs that the machine held.\n",
        yes(&near),
        near.len(),
        Predicted::NEAR,
        yes(&bounds),
        bounds.len(),
        others.len() - near.len() - bounds.len(),
        by_machine.len()
    )
}
