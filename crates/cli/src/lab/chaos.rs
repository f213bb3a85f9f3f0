//! Random faults of runs: what they broke, and the fewest with which it breaks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nicteam_chaos::{Broken, broken, replay, shrink};
use nicteam_dataplane::Kind;
use nicteam_experiment::{Experiment, Run};
use nicteam_lab::Outcome;
use nicteam_record::Bundle;

use super::options::options;
use super::pick::{Pick, load_to_run};
use super::progress::Live;
use crate::failure::Failure;
use crate::{say, value};

/// Find the fewest faults with which a run fails.
///
/// The first of the picked runs is carried out again and again, with fewer and fewer of its faults (`events`, and those
/// drawn by `chaos`), as long as it breaks what must hold: docs/chaos.md. An experiment file with the faults that are left is
/// written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 the fewest faults were found, 1 the run does not fail with all its faults (or cannot be carried out),
2 the command line or a file is wrong, 3 the machine lacks something.")]
pub(crate) struct Shrink {
    #[command(flatten)]
    pick: Pick,
    /// What executes the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// How often a set of faults is tried before it counts as one with which the run does not fail.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    times: u32,
    /// The experiment file to write; NAME-RUN-fewest.toml by default.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Says what the random faults of a bundle's runs broke, and writes a file for each such run that replays it.
///
/// # Errors
/// Something is broken, or a file cannot be written.
pub(super) fn judge(experiment: &Experiment, bundle: &Bundle) -> Result<(), Failure> {
    match tell_broken(experiment, bundle)?.as_slice() {
        [] => Ok(()),
        runs => Err(Failure::failed(format!("faults broke what must hold in {}", runs.join(", ")))),
    }
}

/// The same; the runs in which something is broken.
///
/// # Errors
/// A file cannot be written.
pub(super) fn tell_broken<'b>(experiment: &Experiment, bundle: &'b Bundle) -> Result<Vec<&'b str>, Failure> {
    let mut failed = Vec::new();
    for run in &bundle.record.runs {
        let planned = experiment.runs.iter().find(|planned| planned.name == run.name);
        let Some((planned, seed)) = planned.and_then(|planned| Some((planned, planned.chaos_seed?))) else { continue };
        let found = broken(run);
        say::line(format_args!("{}: {} faults, drawn from seed {seed}", run.name, run.faults.len()));
        if found.is_empty() {
            say::line("  nothing is broken that must hold");
            continue;
        }
        tell(&found);
        let path = bundle.dir.join(format!("{}-seed-{seed}.toml", run.name));
        write(&path, experiment, planned, &texts(planned).into_values().collect::<Vec<_>>())?;
        say::line(format_args!("  `nicteam lab shrink {}` finds the fewest faults that break it", path.display()));
        failed.push(run.name.as_str());
    }
    Ok(failed)
}

/// Carries the command out.
pub(super) fn run(args: &Shrink) -> Result<(), Failure> {
    let (experiment, privileges) = load_to_run(&args.pick, args.dataplane)?;
    let run = experiment.runs.first().ok_or_else(|| Failure::wrong_input("the experiment has no runs"))?;
    let faults = texts(run);
    if faults.is_empty() {
        let hint = "give it `events`, or a section [runs.chaos]";
        return Err(Failure::wrong_input(format!("run `{}` has no faults", run.name)).hint(Some(hint)));
    }
    let folder = std::env::temp_dir().join(format!("nicteam-shrink-{}", std::process::id()));
    let mut tried = 0;
    let mut fails = |keep: &[usize]| -> Result<bool, Failure> {
        for _ in 0..args.times {
            tried += 1;
            let events = run.events.iter().filter(|timed| keep.contains(&timed.fault)).cloned().collect();
            let with =
                Experiment { runs: vec![Run { events, ..run.clone() }], expect: Vec::new(), ..experiment.clone() };
            let found = try_once(&with, args.dataplane, privileges, &folder)?;
            let so = if found.is_empty() { "it does not fail" } else { "it fails" };
            say::line(format_args!("try {tried}, {} of {} faults: {so}", keep.len(), faults.len()));
            tell(&found);
            if !found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let all: Vec<usize> = faults.keys().copied().collect();
    if !fails(&all)? {
        let hint = "a fault that depends on chance may need `--times 5`";
        return Err(Failure::failed(format!("run `{}` does not fail with all its faults", run.name)).hint(Some(hint)));
    }
    let fewest = shrink(&all, &mut fails)?;
    let texts: Vec<String> = fewest.iter().filter_map(|fault| faults.get(fault).cloned()).collect();
    let path = args.output.clone().unwrap_or_else(|| format!("{}-{}-fewest.toml", experiment.name, run.name).into());
    write(&path, &experiment, run, &texts)?;
    say::data(texts.join("\n") + "\n")?;
    say::line(format_args!("{} of {} faults are enough: {}", texts.len(), faults.len(), path.display()));
    Ok(())
}

/// Carries an experiment out, and leaves nothing of it but what is broken.
fn try_once(
    experiment: &Experiment,
    dataplane: Option<Kind>,
    privileges: &'static str,
    folder: &Path,
) -> Result<Vec<Broken>, Failure> {
    let options = options(folder.to_owned(), dataplane, privileges)?;
    let Outcome { bundle, stopped_by } = nicteam_lab::run(experiment, &options, &mut Live::new(false), |_| Ok(()))?;
    fs::remove_dir_all(&bundle.dir).map_err(Failure::failed)?;
    match stopped_by {
        Some(error) => Err(error.into()),
        None => Ok(bundle.record.runs.iter().flat_map(broken).collect()),
    }
}

/// Each fault of a run by its number, as a file has it.
fn texts(run: &Run) -> BTreeMap<usize, String> {
    run.events.iter().map(|timed| (timed.fault, timed.toml.to_string())).collect()
}

fn tell(found: &[Broken]) {
    found.iter().for_each(|it| say::line(format_args!("  {}: {}", it.what, say::visible(&it.text))));
}

fn write(path: &Path, experiment: &Experiment, run: &Run, faults: &[String]) -> Result<(), Failure> {
    let name = run.variant.as_ref().map_or(&run.name, |variant| &variant.of);
    let text = replay(&experiment.text, name, faults).map_err(Failure::failed)?;
    fs::write(path, text).map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}
