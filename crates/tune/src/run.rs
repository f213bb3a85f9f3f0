//! Does what the machine says: builds, looks, measures.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nicteam_experiment::{self as experiment, Experiment, Overrides};
use nicteam_lab::protocol::{Device, PathSeen};
use nicteam_lab::{Options, Progress};
use nicteam_record::{self as record, Bundle};
use serde::Serialize;

use crate::error::Error;
use crate::file::{File, NETWORK};
use crate::finding::Finding;
use crate::machine::{Action, Measured, Outcome, Round, Tuning};
use crate::seen::{Figures, Seen};
use crate::trap::TRAPS;

/// The receiver of progress messages.
pub trait Told {
    /// Something begins, in words.
    fn begins(&mut self, what: &str);
    /// The first look found this, so long after the tuning began.
    fn found(&mut self, findings: &[Finding], after: Duration);
    /// The lab's own progress.
    fn progress(&mut self) -> &mut dyn Progress;
}

/// What is tuned, and where results go.
#[derive(Clone)]
pub struct Asked {
    /// Name of the experiment.
    pub name: String,
    /// The file, as it is shown.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What the command line changes.
    pub overrides: Overrides,
    /// Only a first look at the network: nothing is measured.
    pub look_alone: bool,
    /// How runs are carried out; `output` is a folder that is there, and each run gets one in it.
    pub options: Options,
    /// Adds what else is to be in a run's folder.
    pub complete: fn(&Bundle) -> Result<(), nicteam_lab::Error>,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the experiment.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What the first look found, before anything was measured.
    pub first_look: Vec<Finding>,
    /// How long that took, milliseconds.
    pub first_look_ms: f64,
    /// Step 1.
    pub baseline: Vec<Measured>,
    /// Step 2: what was wrong, and what its cure gave.
    pub rounds: Vec<Round>,
    /// Step 2: what was looked at, and how it was at the end.
    pub looked: Vec<(&'static str, String)>,
    /// Step 2: what came out at its end.
    pub network: Option<Figures>,
    /// Advice beside.
    pub advice: Vec<Finding>,
    /// Step 3; empty if step 2 was not right.
    pub production: Vec<Measured>,
    /// The experiment as the cures left it.
    pub tuned_file: String,
}

/// Goes through the steps.
///
/// # Errors
/// The file is none that can be tuned, the lab cannot build it, or a signal came. A run that does not end by itself
/// is no error.
pub fn tune(asked: &Asked, told: &mut dyn Told) -> Result<Report, Error> {
    let begun = Instant::now();
    let mut tuning = Tuning::new(File::read(&asked.text)?, &TRAPS);
    let mut look: Option<Look> = None;
    let (mut first_look, mut first_look_ms) = (None, 0.0);
    let mut number = 0;
    loop {
        match tuning.next() {
            Action::Look => {
                told.begins("looking at both ends of each cable, and at what passes each path");
                let seen = Look::take(asked, tuning.file())?;
                let findings = tuning.looked(&seen.seen(&tuning.file().clone(), None));
                if first_look.is_none() {
                    first_look_ms = begun.elapsed().as_secs_f64() * 1e3;
                    told.found(&findings, begun.elapsed());
                    first_look = Some(findings);
                }
                if asked.look_alone {
                    break;
                }
                look = Some(seen);
            }
            Action::Measure(run) => {
                number += 1;
                told.begins(&format!("measuring {run}"));
                match measure(asked, tuning.file(), &run, number, told.progress()) {
                    Ok(run) => tuning.measured(run),
                    Err(Error::Lab(error @ nicteam_lab::Error::Interrupted(_))) => return Err(error.into()),
                    Err(error) => tuning.failed(&run, error.to_string()),
                }
            }
            Action::Evaluate => {
                let file = tuning.file().clone();
                if let Some(look) = &look {
                    tuning.evaluate(&look.seen(&file, None))?;
                }
                if let Some(round) =
                    tuning.rounds().last().filter(|round| round.after.is_none() && round.error.is_none())
                {
                    told.begins(&format!("cure: {} ({})", round.finding.trap, round.finding.place));
                }
            }
            Action::Finish => break,
        }
    }
    Ok(Report {
        experiment: asked.name.clone(),
        title: tuning.file().title().to_owned(),
        outcome: if asked.look_alone { Outcome::Looked } else { tuning.outcome() },
        first_look: first_look.unwrap_or_default(),
        first_look_ms,
        baseline: tuning.baseline().to_vec(),
        rounds: tuning.rounds().to_vec(),
        looked: tuning.looks().to_vec(),
        network: tuning.network(),
        advice: tuning.advice().to_vec(),
        production: tuning.production().to_vec(),
        tuned_file: tuning.file().text(),
    })
}

/// What a look at the built network showed.
struct Look {
    run: experiment::Run,
    devices: Vec<(String, Vec<Device>)>,
    paths: Vec<PathSeen>,
}

impl Look {
    fn take(asked: &Asked, file: &File) -> Result<Look, Error> {
        let mut experiment = parsed(asked, file, NETWORK)?;
        let run = experiment.runs.swap_remove(0);
        let mut held = nicteam_lab::hold(&experiment, &run, &asked.options)?;
        let devices = held.devices()?;
        let paths = match run.workloads.first() {
            Some(workload) => held.examine(workload, &run.topology)?,
            None => Vec::new(),
        };
        held.take_down();
        Ok(Look { run, devices, paths })
    }

    fn seen<'a>(&'a self, file: &'a File, measured: Option<&'a record::Run>) -> Seen<'a> {
        Seen { file, run: &self.run, devices: &self.devices, paths: &self.paths, measured }
    }
}

/// The experiment as it is now, with one of its runs.
fn parsed(asked: &Asked, file: &File, run: &str) -> Result<Experiment, Error> {
    let overrides = Overrides { only: Some(vec![run.to_owned()]), ..asked.overrides.clone() };
    Ok(experiment::parse(&asked.name, &asked.path, &file.text(), &overrides)?)
}

fn measure(
    asked: &Asked,
    file: &File,
    run: &str,
    number: usize,
    progress: &mut dyn Progress,
) -> Result<record::Run, Error> {
    let experiment = parsed(asked, file, run)?;
    let output: PathBuf = asked.options.output.join(format!("{number:02}-{run}"));
    let options = Options { output, ..asked.options.clone() };
    let outcome = nicteam_lab::run(&experiment, &options, progress, asked.complete)?;
    if let Some(error) = outcome.stopped_by {
        return Err(error.into());
    }
    let mut runs = outcome.bundle.record.runs;
    match runs.is_empty() {
        true => Err(Error::file(format!("run `{run}` left no result"), "`nicteam lab run --only` says why")),
        false => Ok(runs.swap_remove(0)),
    }
}
