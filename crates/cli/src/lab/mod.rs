//! `nicteam lab`: experiments.

mod against;
mod bundle;
mod chaos;
mod check;
mod compare;
mod fault;
mod options;
mod pick;
mod predict;
mod progress;
mod remote;
mod tune;
mod up;
mod verify;
mod watching;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nicteam_dataplane::Kind;
use nicteam_experiment::{self as experiment, Group, MOST_REPETITIONS};
use nicteam_lab::{Options, Outcome, clean};
use nicteam_record::Bundle;

use crate::failure::Failure;
use crate::{privileges, say, value};

use bundle::{folder, style, tell, write_page};
use options::options;
use pick::{Pick, fitted, load, load_to_run};
pub(crate) use remote::{Keep, keep};
use watching::{Screen, Watching};

/// Experiments.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Build an experiment, drive its traffic, measure, and report.
    Run(Run),
    /// Build an experiment's topology and hold it until Ctrl-C, for a look around.
    Up(up::Up),
    /// Let a fault happen in the topology that `lab up` holds, or undo it.
    Fault(fault::Args),
    /// Go through the steps of tuning storage over many links: measure, find what is wrong, cure it, measure again.
    Tune(tune::Args),
    /// List the experiments that come with nicteam.
    List,
    /// Draw an experiment as this machine would run it.
    Show(Show),
    /// Check what must come out of experiments: the sections `[[expect]]` of their files.
    Check(check::Args),
    /// Say what each run would deliver, and what holds it, without building anything.
    Predict(predict::Args),
    /// Find the fewest faults with which a run fails.
    Shrink(chaos::Shrink),
    /// Compare runs: what differs, by how much, and what does not.
    Compare(compare::Args),
    /// Print a bundle's report and write its page again.
    Report {
        /// The bundle: a folder with a record.json, or that file.
        bundle: PathBuf,
        /// Print the record instead, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove what a killed lab or a power cut left.
    Clean {
        /// Folder of the bundles.
        #[arg(long, default_value = "results")]
        results: PathBuf,
    },
}

/// Build an experiment, drive its traffic, measure, and report.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pick: Pick,
    /// Folder for the results, made in one that is there; it must not exist. results/NAME-DATE-TIME by default.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What executes the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// How often each run is carried out: all runs forward, then backward, and so on. Medians and intervals of 95 % are
    /// reported; `nicteam lab compare` says what differs. A run that a hypervisor disturbed is done again.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_REPETITIONS as i64))]
    repeat: u32,
    /// Carry out each run again with each change that a finding of it proposes, and print what was predicted beside what was
    /// measured. The changed runs go to the folder verified in that of the results.
    #[arg(long, conflicts_with = "repeat")]
    verify: bool,
    /// Show what the links carry while it runs, in the view of `nicteam top`. The key q ends the view, not the run.
    #[arg(long, conflicts_with = "verify")]
    watch: bool,
    #[command(flatten)]
    consent: remote::Consent,
    /// Print the record as JSON instead of the table; with --verify, with a list `verified`.
    #[arg(long)]
    json: bool,
}

/// Draw an experiment as this machine would run it.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pick: Pick,
    /// What would execute the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// Say how many links each group would use if hosts had random addresses: from how many seeds they are drawn.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seeds: Option<u32>,
    /// Print what --seeds finds as JSON, and nothing else.
    #[arg(long, requires = "seeds")]
    json: bool,
}

/// Carries a command out.
pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Check(args) => return check::run(&args),
        Command::Run(run) => run_experiment(&run),
        Command::Up(up) => up::hold(&up),
        Command::Fault(args) => fault::run(&args),
        Command::Shrink(args) => chaos::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::List => say::data(list()),
        Command::Show(show) => draw(&show),
        Command::Report { bundle, json } => report(&bundle, json),
        Command::Clean { results } => clean_up(&results),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Prints a bundle's report and writes its page again.
fn report(bundle: &Path, json: bool) -> Result<(), Failure> {
    let mut bundle = Bundle::open(folder(bundle)?)?;
    nicteam_report::add_findings(&mut bundle.record);
    write_page(&bundle)?;
    let expectations = nicteam_expect::expectations(&bundle.record);
    let judged = nicteam_expect::judge(&expectations, std::slice::from_ref(&bundle.record), &BTreeMap::new());
    tell(&bundle, json, &nicteam_report::verdicts(&judged, &style()))?;
    if let Some(partial) = bundle.record.partial() {
        // What follows stands on one line, whatever the record says.
        say::line(format_args!("partial: {}", say::visible(partial.replace('\n', " "))));
    }
    Ok(())
}

/// The experiments that come with nicteam, by group, published tests first.
fn list() -> String {
    let width = experiment::builtin().iter().map(|builtin| builtin.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for group in Group::ALL {
        text += &format!("{}{}:\n", if text.is_empty() { "" } else { "\n" }, group.title());
        for builtin in experiment::builtin().iter().filter(|builtin| builtin.group == group) {
            text += &format!("  {:<width$}  {}\n", builtin.name, builtin.title());
        }
    }
    text
}

fn run_experiment(run: &Run) -> Result<(), Failure> {
    let (experiment, privileges) = load_to_run(&run.pick, run.dataplane)?;
    let mut experiment = experiment.repeated(run.repeat);
    let testbed = remote::testbed(&mut experiment, &run.consent)?;
    let output = match &run.output {
        Some(output) => output.clone(),
        None => nicteam_lab::default_output(&experiment.name)?,
    };
    let options = Options { testbed, ..options(output, run.dataplane, privileges)? };
    let mut live = Watching::new(run.watch.then(Screen::open).transpose()?);
    let outcome = nicteam_lab::run(&experiment, &options, &mut live, write_page);
    drop(live);
    let Outcome { bundle, stopped_by } = outcome.map_err(|error| match error {
        nicteam_lab::Error::Interrupted(_) => Failure::interrupted(format!("{error}; nothing was recorded")),
        error => error.into(),
    })?;
    // Verdicts fail nothing here, and neither does a former record that is not there.
    let former = check::former(&experiment).unwrap_or_default();
    let judged = nicteam_expect::judge(&experiment.expect, std::slice::from_ref(&bundle.record), &former);
    let verdicts = nicteam_report::verdicts(&judged, &style());
    if run.verify && stopped_by.is_none() {
        if !run.json {
            tell(&bundle, false, &verdicts)?;
        }
        let verified = verify::verify(&experiment, &bundle, &options)?;
        return verify::tell(&bundle.record, &verified, run.json);
    }
    tell(&bundle, run.json, &verdicts)?;
    let Some(error) = stopped_by else { return chaos::judge(&experiment, &bundle) };
    let failure = Failure::from(error);
    Err(match bundle.record.partial() {
        Some(partial) => failure.saying(partial),
        None => failure,
    })
}

/// Draws an experiment fitted to the machine, and warns of what that would refuse.
/// Which dataplane it has can be found out with the privileges of a run alone;
/// without them the experiment is drawn as the file has it.
fn draw(Show { pick, dataplane, seeds, json }: &Show) -> Result<(), Failure> {
    let experiment = load(pick)?;
    let drawn = seeds.map(|seeds| (experiment::links_used(&experiment, seeds), seeds));
    if let Some((found, seeds)) = drawn.as_ref().filter(|_| *json) {
        return say::data(format_args!("{:#}\n", experiment::links_used_json(&experiment.name, found, *seeds)));
    }
    let drawn = drawn.map_or_else(String::new, |(found, seeds)| experiment::show_links_used(&found, seeds));
    if privileges::obtain().is_err() {
        return say::data(experiment::show(&experiment) + &drawn);
    }
    let warnings = match nicteam_lab::check_tcp(&experiment) {
        Ok(()) => String::new(),
        Err(nicteam_lab::Error::Experiment(problems)) => format!("\n{}\n", problems.warnings().trim_end()),
        Err(error) => return Err(error.into()),
    };
    let experiment = fitted(experiment, pick, *dataplane)?;
    say::data(experiment::show(&experiment) + &drawn + &warnings)
}

fn clean_up(results: &Path) -> Result<(), Failure> {
    let cleaned = clean::clean(results)?;
    if cleaned == clean::Cleaned::default() {
        return say::data("nothing to clean\n");
    }
    let agent = |(pid, node)| format!("ended the agent of {node} (process {pid}) and its network namespace\n");
    let bundle = |bundle: PathBuf| format!("removed {}\n", bundle.display());
    let agents = cleaned.agents.into_iter().map(agent);
    say::data(agents.chain(cleaned.bundles.into_iter().map(bundle)).collect::<String>())
}
