//! From records to verdicts.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_record::{Record, Run};

use crate::expectation::{Beside, Expectation, What};
use crate::verdict::{Interval, Verdict};

/// What became of an expectation in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'e> {
    /// What was expected.
    pub expectation: &'e Expectation,
    /// The run; with several engines, by one of them.
    pub run: String,
    /// What was found.
    pub found: Found,
    /// The verdict.
    pub verdict: Verdict,
    /// The repetitions in which this machine's processors held the run back.
    pub by_machine: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A figure.
    Figure {
        /// Its value in each repetition.
        values: Vec<f64>,
        /// The values of the run that it is expressed by; empty if it is taken alone.
        beside: Vec<f64>,
        /// What they come to.
        interval: Interval,
    },
    /// A finding: in how many repetitions it is, and of how many.
    Finding(usize, usize),
    /// No basis for a verdict: why, in words.
    Nothing(String),
}

/// The times of a run, each with the batch and the number of its repetition.
type Times<'r> = BTreeMap<(usize, u32), &'r Run>;

/// Verdicts on what several batches of repetitions of one experiment brought. An expectation of a run that was not carried out
/// is left out; `former` has the records that are named by `against`.
pub fn judge<'e>(
    expectations: &'e [Expectation],
    batches: &[Record],
    former: &BTreeMap<String, Record>,
) -> Vec<Judged<'e>> {
    let mut judged = Vec::new();
    for expectation in expectations {
        for (name, engine) in names(batches, &expectation.run) {
            let times = times(batches, &name);
            let found = match &expectation.what {
                What::Finding { cause, .. } => finding(&times, cause),
                What::Figure { .. } => figure(expectation, &times, engine.as_deref(), batches, former),
            };
            let found = found.unwrap_or_else(Found::Nothing);
            let by_machine = times.values().filter(|run| run.is_held_by_machine()).count();
            let verdict = verdict(expectation, &found);
            judged.push(Judged { expectation, run: name, found, verdict, by_machine });
        }
    }
    judged
}

impl Judged<'_> {
    /// Whether it may be decided by more repetitions.
    pub fn wants_more(&self) -> bool {
        self.verdict == Verdict::Undecided && !matches!(self.found, Found::Nothing(_))
    }
}

fn verdict(expectation: &Expectation, found: &Found) -> Verdict {
    match (&expectation.what, found) {
        (What::Figure { bound, .. }, Found::Figure { interval, .. }) => interval.verdict(bound),
        (What::Finding { wanted, .. }, Found::Finding(with, of)) => match (*wanted, *with) {
            (true, with) if with == *of => Verdict::Holds,
            (true, 0) => Verdict::Missed,
            (false, 0) => Verdict::Holds,
            (false, with) if with == *of => Verdict::Missed,
            _ => Verdict::Undecided,
        },
        _ => Verdict::Undecided,
    }
}

/// The names under which a run of the file was carried out, each with its engine where there are several.
fn names(batches: &[Record], run: &str) -> BTreeSet<(String, Option<String>)> {
    let of_file = |one: &&Run| one.variant.as_ref().map_or(one.base_name(), |variant| &variant.of) == run;
    let runs = batches.iter().flat_map(|record| &record.runs).filter(of_file);
    runs.map(|one| (one.base_name().to_owned(), one.variant.as_ref().map(|variant| variant.engine.clone()))).collect()
}

/// Each time that a run was carried out.
fn times<'r>(batches: &'r [Record], name: &str) -> Times<'r> {
    let of_batch = |(batch, record): (usize, &'r Record)| {
        let runs = record.runs.iter().filter(|run| run.base_name() == name);
        runs.map(move |run| ((batch, run.repetition.as_ref().map_or(1, |repetition| repetition.number)), run))
            .collect::<Vec<_>>()
    };
    batches.iter().enumerate().flat_map(of_batch).collect()
}

fn finding(times: &Times<'_>, cause: &str) -> Result<Found, String> {
    let with = times.values().filter(|run| run.findings.iter().any(|finding| finding.cause == cause)).count();
    Ok(Found::Finding(with, times.len()))
}

fn figure(
    expectation: &Expectation,
    times: &Times<'_>,
    engine: Option<&str>,
    batches: &[Record],
    former: &BTreeMap<String, Record>,
) -> Result<Found, String> {
    let own = values(expectation, times)?;
    let all: Vec<f64> = own.values().copied().collect();
    let Some(Beside { scale, run, against }) = expectation.beside() else {
        let interval = Interval::of(&all).ok_or("there is no value")?;
        return Ok(Found::Figure { values: all, beside: Vec::new(), interval });
    };
    let no_ratio = "there is no ratio: a value is not above zero";
    if let Some(bundle) = against {
        let record = former.get(bundle).ok_or_else(|| format!("{bundle} was not read"))?;
        comparable(batches, record, bundle)?;
        let theirs = self::times(std::slice::from_ref(record), run);
        let theirs: Vec<f64> =
            values(expectation, &theirs).map_err(|why| format!("{bundle}#{run}: {why}"))?.into_values().collect();
        let interval = Interval::of_sets(*scale, &all, &theirs).ok_or(no_ratio)?;
        return Ok(Found::Figure { values: all, beside: theirs, interval });
    }
    let name = engine.map_or_else(|| run.clone(), |engine| format!("{run}.{engine}"));
    let theirs = values(expectation, &self::times(batches, &name)).map_err(|why| format!("run `{name}`: {why}"))?;
    let pairs = own.iter().filter_map(|(time, value)| Some((*value, *theirs.get(time)?)));
    let (own, theirs): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let interval = Interval::of_pairs(*scale, &own, &theirs).ok_or(no_ratio)?;
    Ok(Found::Figure { values: own, beside: theirs, interval })
}

/// The figure each time; none if it is missing once, for what is left would be a choice.
fn values(expectation: &Expectation, times: &Times<'_>) -> Result<BTreeMap<(usize, u32), f64>, String> {
    let What::Figure { figure, part, .. } = &expectation.what else { return Ok(BTreeMap::new()) };
    if times.is_empty() {
        return Err("it was not carried out".to_owned());
    }
    let found: BTreeMap<_, _> =
        times.iter().filter_map(|(time, run)| Some((*time, figure.value(run, part)?))).collect();
    match times.len() - found.len() {
        0 => Ok(found),
        missing if found.is_empty() && missing == 1 => Err(format!("the record has no {}", figure.name)),
        missing => Err(format!("{missing} of {} repetitions have no {}", times.len(), figure.name)),
    }
}

/// What is lost and what is shared depends on the frames.
fn comparable(batches: &[Record], former: &Record, bundle: &str) -> Result<(), String> {
    let theirs = former.environment.frames();
    let other = batches.iter().map(|record| record.environment.frames()).find(|frames| *frames != theirs);
    other.map_or(Ok(()), |ours| Err(format!("here were {ours}, in {bundle} {theirs}: they are not compared")))
}
