//! `xtask test`: every test, each in a process of its own, in lanes.
//!
//! A test's lane is a module of its path ([`lane::Lane`]), so it is declared where the test stands.

mod case;
mod lane;
mod left;
mod lints;
mod program;
mod programs;
mod summary;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nicteam_sys::process;

use crate::failure::Failure;
use case::{Case, Outcome, Ran};
use lane::Lane;
use left::Left;
use summary::{LaneTime, Summary};

/// Which tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What `cargo build --tests --message-format=json` printed, by the lints' driver.
    #[arg(long, value_name = "FILE")]
    programs: PathBuf,
    /// Where to write each test's lane, wall and processor seconds, the slowest first: what stands there from the last time
    /// says which tests begin.
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// Only tests with one of these in their name.
    filter: Vec<String>,
}

/// How often the progress is printed.
const PROGRESS: Duration = Duration::from_secs(30);

/// Runs them, and says how it went.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    process::adopt_orphans()?;
    let before = Left::read()?;
    let messages = std::fs::read_to_string(&arguments.programs)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", arguments.programs.display())))?;
    let mut cases = programs::tests(&messages)?;
    let wanted = |case: &Case| arguments.filter.iter().any(|part| case.name.contains(part.as_str()));
    cases.retain(|case| arguments.filter.is_empty() || wanted(case));
    if cases.is_empty() {
        return Err(Failure::failed("no test has such a name"));
    }
    if let Some(times) = arguments.times.as_ref().and_then(|path| std::fs::read_to_string(path).ok()) {
        longest_first(&mut cases, &summary::seconds(&times));
    }

    let mut ran = Vec::new();
    let mut times = Vec::new();
    let total = cases.len();
    // A choice of tests is all that was asked for.
    let warnings = if arguments.filter.is_empty() { lints::found(&messages) } else { BTreeSet::new() };
    for together in lane::GROUPS {
        let (now, later) = cases.into_iter().partition(|case| together.contains(&case.lane));
        cases = later;
        let progress = Progress { total, done: AtomicUsize::new(ran.len()), last: Mutex::new(Instant::now()) };
        let (these, lanes) = run_together(together, now, &progress);
        ran.extend(these);
        times.extend(lanes);
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
    }
    let again = once_more(&ran);
    if process::termination().is_some() {
        return Err(Failure::Interrupted);
    }
    let left = Left::wait_for(&before)?;
    let summary = Summary { ran, again, times, left, warnings };
    if let Some(path) = &arguments.times {
        std::fs::write(path, summary.table())
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    }
    print!("{summary}");
    Ok(summary.exit_code())
}

/// Those that took longest the last time, so that none is left over when all others are done; who did not run keeps its place
/// behind them.
fn longest_first(cases: &mut [Case], seconds: &BTreeMap<&str, f64>) {
    let took = |case: &Case| seconds.get(case.name.as_str()).copied().unwrap_or_default();
    cases.sort_by(|a, b| took(b).total_cmp(&took(a)));
}

/// How far it is, on stderr.
#[derive(Debug)]
struct Progress {
    total: usize,
    done: AtomicUsize,
    last: Mutex<Instant>,
}

impl Progress {
    fn note(&self, ran: &Ran) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        if let Outcome::Failed(_) = ran.outcome {
            eprintln!("FAILED {} ({:.1} s)", ran.case.name, ran.wall.as_secs_f64());
        }
        let mut last = self.last.lock().unwrap();
        if last.elapsed() >= PROGRESS {
            *last = Instant::now();
            eprintln!("{done} of {} tests done", self.total);
        }
    }
}

/// Runs the tests of some lanes side by side, each lane by as many workers as it has.
fn run_together(lanes: &[Lane], cases: Vec<Case>, progress: &Progress) -> (Vec<Ran>, Vec<LaneTime>) {
    let ran = Mutex::new(Vec::new());
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for &lane in lanes {
            let of_lane: VecDeque<Case> = cases.iter().filter(|case| case.lane == lane).cloned().collect();
            if of_lane.is_empty() {
                continue;
            }
            let (ran, times) = (&ran, &times);
            scope.spawn(move || {
                let start = Instant::now();
                let these = run_lane(lane, of_lane, progress);
                times.lock().unwrap().push(LaneTime::of(lane, start.elapsed(), &these));
                ran.lock().unwrap().extend(these);
            });
        }
    });
    (ran.into_inner().unwrap(), times.into_inner().unwrap())
}

fn run_lane(lane: Lane, cases: VecDeque<Case>, progress: &Progress) -> Vec<Ran> {
    let queue = Mutex::new(cases);
    let ran = Mutex::new(Vec::new());
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..lane.workers(processors) {
            scope.spawn(|| {
                while process::termination().is_none() {
                    let Some(case) = queue.lock().unwrap().pop_front() else { break };
                    let one = case.run();
                    progress.note(&one);
                    ran.lock().unwrap().push(one);
                }
            });
        }
    });
    ran.into_inner().unwrap()
}

/// A live test shares its processors with whatever else the machine does: what failed is tried once
/// more, alone. What passes then is named in the summary.
fn once_more(ran: &[Ran]) -> Vec<Ran> {
    let failed = ran.iter().filter(|one| matches!(one.outcome, Outcome::Failed(_)));
    failed.take_while(|_| process::termination().is_none()).map(|one| one.case.run()).collect()
}
