//! `nicteam lab check`: whether what must come out of an experiment does.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use nicteam_dataplane::Kind;
use nicteam_expect::{Expectation, Judged, Rounds, Verdict, judge, no_worse};
use nicteam_experiment::{Experiment, MOST_REPETITIONS, Run};
use nicteam_record::{Bundle, Record};
use serde_json::{Value, json};

use super::against;
use super::bundle::{folder, style, write_page};
use super::chaos;
use super::options::options;
use super::pick::{Pick, load_to_run};
use super::progress::Live;
use crate::failure::Failure;
use crate::{say, value};

/// How often runs are carried out at most, if not said.
const MOST: u32 = 24;
/// The exit code if something is undecided, and nothing is missed.
const UNDECIDED: u8 = 4;

/// Check what must come out of experiments: the sections `[[expect]]` of their files, and that random faults (`[runs.chaos]`)
/// break nothing.
///
/// The runs that expectations name are carried out several times, forward and backward in turn, and those that a hypervisor
/// disturbed once more. An expectation holds if the whole interval of 95 % lies in its bound, is missed if none of it does,
/// and is undecided otherwise; then there are as many repetitions again, up to a limit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 all expectations hold, 1 one is missed (or the experiment could not be carried out),
2 the command line or a file is wrong, 3 the machine lacks something, 4 none is missed and one is undecided.")]
pub(crate) struct Args {
    /// Names of experiments that come with nicteam (t3), or files.
    #[arg(required = true, value_name = "NAME|FILE")]
    experiments: Vec<String>,
    /// How often each run is carried out at first; fewer than six times have no interval of 95 %.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=MOST_REPETITIONS as i64))]
    repeat: u32,
    /// How often at most, while something is undecided; 24, or N if that is more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_REPETITIONS as i64))]
    most: Option<u32>,
    /// How long each run is measured: 60s, 500ms.
    #[arg(long, value_parser = value::duration)]
    duration: Option<Duration>,
    /// Rate of every link: 100mbit, 1gbit.
    #[arg(long, value_parser = value::rate)]
    rate: Option<u64>,
    /// What executes the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// Who runs the teams of hosts, whatever the file says: nicteam, ovs, kernel. Of several, with commas between them, each
    /// run is carried out once by each, and each is judged.
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    engine: Vec<String>,
    /// Folder for the bundles, made in one that is there; it must not exist. Each batch of repetitions is a bundle in it:
    /// NAME-1, NAME-2. By default each is results/NAME-DATE-TIME.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Compare with another nicteam program, as the one before an upgrade: it carries out the same runs, in turn with this one.
    /// Each figure that the files bound must be no worse than by that program; docs/check.md says by how much.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "engine")]
    against: Option<PathBuf>,
    /// Write one page with all verdicts: a file that loads nothing.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the verdicts for test runners, in the format of JUnit.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print JSON, described in docs/check.md, instead of tables.
    #[arg(long)]
    json: bool,
}

/// An experiment that was carried out.
struct Checked {
    experiment: Experiment,
    former: BTreeMap<String, Record>,
    batches: Vec<Record>,
    bundles: Vec<PathBuf>,
}

impl Checked {
    fn judged(&self) -> Vec<Judged<'_>> {
        judge(&self.experiment.expect, &self.batches, &self.former)
    }
}

/// Carries it out.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // What is wrong with a file is said before any other takes its time.
    let loaded: Vec<(Checked, &'static str)> =
        args.experiments.iter().map(|name| prepare(args, name)).collect::<Result<_, _>>()?;
    if let Some(output) = &args.output {
        std::fs::create_dir(output)
            .map_err(|error| Failure::wrong_input(format!("cannot make {}: {error}", output.display())))?;
    }
    let mut checked = Vec::new();
    for (mut one, privileges) in loaded {
        carry_out(args, &mut one, privileges)?;
        checked.push(one);
    }
    let judged: Vec<Vec<Judged<'_>>> = checked.iter().map(Checked::judged).collect();
    let all: Vec<(&Checked, &[Judged<'_>])> = checked.iter().zip(judged.iter().map(Vec::as_slice)).collect();
    if let Some(path) = &args.junit {
        let suites: Vec<(&str, &str, &[Judged<'_>])> = all
            .iter()
            .map(|(checked, judged)| (checked.experiment.name.as_str(), checked.experiment.path.as_str(), *judged))
            .collect();
        write(path, &nicteam_report::junit(&suites))?;
    }
    if let Some(path) = &args.page {
        let all: Vec<(&str, &str, &[Judged<'_>])> = all
            .iter()
            .map(|(checked, judged)| (checked.experiment.name.as_str(), checked.experiment.title.as_str(), *judged))
            .collect();
        write(path, &nicteam_report::verdicts_page(&all))?;
    }
    tell(args, &all)?;
    Ok(match Verdict::of_all(judged.iter().flatten().map(|one| one.verdict)) {
        Verdict::Holds => ExitCode::SUCCESS,
        Verdict::Missed => ExitCode::FAILURE,
        Verdict::Undecided => ExitCode::from(UNDECIDED),
    })
}

/// Reads an experiment and what it is compared with, and asks whether the machine can carry it out.
fn prepare(args: &Args, name: &str) -> Result<(Checked, &'static str), Failure> {
    let pick = Pick {
        experiment: name.to_owned(),
        only: Vec::new(),
        duration: args.duration,
        rate: args.rate,
        engine: args.engine.clone(),
    };
    let (experiment, privileges) = load_to_run(&pick, args.dataplane)?;
    if experiment.expect.is_empty() {
        let hint = "add sections [[expect]]; docs/check.md describes them";
        return Err(Failure::wrong_input(format!("{} expects nothing", experiment.path)).hint(Some(hint)));
    }
    let experiment = match &args.against {
        Some(program) => Experiment { expect: no_worse(&experiment.expect, against::name(program)?), ..experiment },
        None => experiment,
    };
    if experiment.expect.is_empty() {
        let hint = "--against compares figures; name an experiment that bounds one";
        return Err(Failure::wrong_input(format!("{} bounds no figure", experiment.path)).hint(Some(hint)));
    }
    let experiment = only(experiment.clone(), experiment.expect.iter());
    if let Some(skipped) = nicteam_lab::check_machine(&experiment)?.first() {
        return Err(Failure::missing(format!("run `{}` cannot be carried out: {}", skipped.run, skipped.reason)));
    }
    let former = if args.against.is_some() { BTreeMap::new() } else { former(&experiment)? };
    Ok((Checked { experiment, former, batches: Vec::new(), bundles: Vec::new() }, privileges))
}

/// The experiment with the runs alone that these expectations need.
fn only<'e>(experiment: Experiment, expectations: impl Iterator<Item = &'e Expectation>) -> Experiment {
    let names: BTreeSet<&str> = expectations.flat_map(Expectation::runs).collect();
    let of_file = |run: &Run| run.variant.as_ref().map_or(run.name.clone(), |variant| variant.of.clone());
    let runs = experiment.runs.iter().filter(|run| names.contains(of_file(run).as_str())).cloned().collect();
    Experiment { runs, ..experiment }
}

/// The records that an experiment is compared with, by the names that its file gives them.
pub(super) fn former(experiment: &Experiment) -> Result<BTreeMap<String, Record>, Failure> {
    let beside = Path::new(&experiment.path).parent().unwrap_or(Path::new(""));
    let mut records = BTreeMap::new();
    for (named, expectation) in experiment.expect.iter().filter_map(|it| Some((it.against()?, it))) {
        let record = Bundle::open(folder(&beside.join(named))?)?.record;
        let run = expectation.beside().map_or("", |beside| beside.run.as_str());
        if record.runs.iter().all(|one| one.base_name() != run) {
            let names: BTreeSet<&str> = record.runs.iter().map(nicteam_record::Run::base_name).collect();
            let hint = format!("its runs are {}", names.into_iter().collect::<Vec<_>>().join(", "));
            return Err(Failure::wrong_input(format!("{named} has no run `{run}`")).hint(Some(hint)));
        }
        records.insert(named.to_owned(), record);
    }
    Ok(records)
}

/// Carries the runs out until everything is decided, or the limit is reached.
fn carry_out(args: &Args, checked: &mut Checked, privileges: &'static str) -> Result<(), Failure> {
    let mut rounds = Rounds { done: 0, most: args.most.unwrap_or(MOST).max(args.repeat) };
    let mut times = args.repeat;
    while times > 0 {
        let open: Vec<Expectation> = match rounds.done {
            0 => checked.experiment.expect.clone(),
            _ => checked.judged().iter().filter(|it| it.wants_more()).map(|it| it.expectation.clone()).collect(),
        };
        let wanted = only(checked.experiment.clone(), open.iter());
        match &args.against {
            None => one_batch(args, checked, wanted.rounds(rounds.done + 1, times), privileges)?,
            // In turn, so that a change of the machine meets both; the one that begins changes.
            Some(program) => {
                for number in rounds.done + 1..=rounds.done + times {
                    let other = against::Other { program, experiment: &wanted, number, changes: args.changes() };
                    if number % 2 == 0 {
                        other.carry_out(&mut checked.former)?;
                    }
                    one_batch(args, checked, wanted.clone().rounds(number, 1), privileges)?;
                    if number % 2 == 1 {
                        other.carry_out(&mut checked.former)?;
                    }
                }
            }
        }
        rounds.done += times;
        let judged = checked.judged();
        times = rounds.next(&judged);
        if times > 0 {
            let open = judged.iter().filter(|it| it.wants_more()).count();
            say::line(format_args!("{open} undecided after {} repetitions: {times} more", rounds.done));
        }
    }
    Ok(())
}

/// Carries out one batch of repetitions, and keeps what it left.
fn one_batch(args: &Args, checked: &mut Checked, batch: Experiment, privileges: &'static str) -> Result<(), Failure> {
    let output = match &args.output {
        Some(folder) => folder.join(format!("{}-{}", batch.name, checked.batches.len() + 1)),
        None => nicteam_lab::default_output(&batch.name)?,
    };
    let bundle = carry_out_batch(args, &batch, output, privileges)?;
    checked.bundles.push(bundle.dir);
    checked.batches.push(bundle.record);
    Ok(())
}

impl Args {
    /// What the command line changes in the runs, as the other program takes it.
    fn changes(&self) -> Vec<String> {
        let duration = self.duration.map(|duration| format!("--duration={}ms", duration.as_millis()));
        let rate = self.rate.map(|rate| format!("--rate={rate}bit"));
        let dataplane = self.dataplane.map(|kind| format!("--dataplane={kind}"));
        [duration, rate, dataplane].into_iter().flatten().collect()
    }
}

/// Writes a file that the command line names.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

fn carry_out_batch(
    args: &Args,
    batch: &Experiment,
    output: PathBuf,
    privileges: &'static str,
) -> Result<Bundle, Failure> {
    let options = options(output, args.dataplane, privileges)?;
    let mut live = Live::new(std::io::stderr().is_terminal());
    let outcome = nicteam_lab::run(batch, &options, &mut live, write_page);
    drop(live);
    let outcome = outcome?;
    match outcome.stopped_by {
        Some(error) => Err(error.into()),
        None => {
            // What random faults broke is an expectation like others; here its details are said.
            chaos::tell_broken(batch, &outcome.bundle)?;
            Ok(outcome.bundle)
        }
    }
}

fn tell(args: &Args, all: &[(&Checked, &[Judged<'_>])]) -> Result<(), Failure> {
    if args.json {
        let experiments: Vec<Value> = all
            .iter()
            .map(|(checked, judged)| {
                json!({
                    "experiment": checked.experiment.name,
                    "bundles": checked.bundles,
                    "verdict": Verdict::of_all(judged.iter().map(|one| one.verdict)).name(),
                    "expectations": nicteam_report::verdicts_json(judged),
                })
            })
            .collect();
        say::data(serde_json::to_string_pretty(&experiments).map_err(Failure::failed)? + "\n")?;
    } else {
        let table = |(checked, judged): &(&Checked, &[Judged<'_>])| {
            let title = say::visible(format!("{}: {}", checked.experiment.name, checked.experiment.title));
            format!("{title}\n{}", nicteam_report::verdicts(judged, &style()))
        };
        say::data(all.iter().map(table).collect::<Vec<_>>().join("\n"))?;
    }
    for bundle in all.iter().flat_map(|(checked, _)| &checked.bundles) {
        say::line(format_args!("bundle: {}", bundle.display()));
    }
    Ok(())
}
