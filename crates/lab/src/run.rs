//! Runs an experiment: builds, drives traffic, gathers samples, records.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use nicteam_experiment::{Experiment, Run, Team, Timed};
use nicteam_load::Load;
use nicteam_netlink::shape::Granularity;
use nicteam_node::Error;
use nicteam_node::clock;
use nicteam_node::flows::Flows;
use nicteam_node::protocol::{ConnectionSpec, Done, Notice, Outcomes, Request, Role};
use nicteam_node::task::{self, Kind, Planned};
use nicteam_record::{self as record, Bundle, EventKind, RUNNING, Record, Running, SampleLog, Skipped, Unfinished};
use nicteam_sys::process;

use crate::environment::{busy_now, environment};
use crate::fault_effects::Faults;
use crate::finite::Finite;
use crate::fit::{dataplane, granularity};
use crate::machine::check_machine;
use crate::neighbour_table::NoRoom;
use crate::options::Options;
use crate::output::{Output, failed, free_name};
use crate::progress::Progress;
use crate::testbed::{Deployment, Report, Setting, TeamsSay};
use crate::timeline::Timeline;
use crate::watch::Watch;
use crate::{event, files, outcomes, programs, recorded, summed, target, traffic_tests};

/// What running an experiment left.
#[derive(Debug)]
pub struct Outcome {
    /// The bundle, with every run that ended.
    pub bundle: Bundle,
    /// What ended the experiment before its last run did; `record.unfinished` says in which.
    pub stopped_by: Option<Error>,
}

/// Runs every run of an experiment and writes the bundle. `complete` adds what
/// else is to be in its folder (the report page) before the folder gets its name.
/// Ends early, with everything taken down, when a run fails or a termination
/// signal came ([`nicteam_sys::process::termination`]): the runs before that one
/// are kept, as a partial bundle.
///
/// # Errors
/// The first run did not end, or the bundle cannot be written: there is none.
pub fn run(
    experiment: &Experiment,
    options: &Options,
    progress: &mut dyn Progress,
    complete: impl FnOnce(&Bundle) -> Result<(), Error>,
) -> Result<Outcome, Error> {
    unless_stopped(|| {
        let skipped = check_machine(experiment)?;
        let output = Output::begin(&options.output)?;
        let (record, stopped_by) = record(experiment, options, &output, skipped, progress)?;
        let bundle = Bundle { dir: output.dir().to_owned(), record };
        bundle.write_record()?;
        complete(&bundle)?;
        Ok(Outcome { bundle: Bundle { dir: output.finish()?, ..bundle }, stopped_by })
    })
}

/// What a signal interrupts may fail in many ways; the signal is the reason.
pub(crate) fn unless_stopped<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    work().map_err(|error| match process::termination() {
        Some(signal) => {
            Error::Interrupted(nix::sys::signal::Signal::try_from(signal).map_or("a signal", |signal| signal.as_str()))
        }
        None => error,
    })
}

/// Carries every run out, up to the one that fails; the second is its error.
fn record(
    experiment: &Experiment,
    options: &Options,
    output: &Output,
    skipped: Vec<Skipped>,
    progress: &mut dyn Progress,
) -> Result<(Record, Option<Error>), Error> {
    let busy_before = busy_now()?;
    let started = now_rfc3339();
    let (granularity, kind) = if options.testbed().has_real_links() {
        // Each machine runs what it can, and sends what its own stack joins.
        (Granularity::WHOLE, options.dataplane)
    } else {
        let kind = dataplane(options.dataplane)?;
        (granularity(experiment, kind), Some(kind))
    };
    let setting = Setting { binary: options.binary.clone(), dataplane: kind, granularity, smooth: false };
    let carrier = Carrier { interval: experiment.interval, options, setting: &setting, output };
    progress.begins(&experiment.name, &experiment.runs);
    let own = |team: &Team| team.engine == recorded::OWN_ENGINE;
    let has_teams = experiment.runs.iter().any(|run| run.topology.teams.iter().any(own));
    let record = Record {
        schema: record::SCHEMA,
        nicteam: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        environment: environment(options, kind.filter(|_| has_teams), granularity, busy_before)?,
        experiment: record::Experiment {
            name: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            file: experiment.text.clone(),
            overrides: experiment.overrides.clone(),
            rate_lowered_bps: experiment.rate_lowered_bps,
            seed: experiment.seed,
            repeat: experiment.repeat,
            order: experiment.runs.iter().map(|run| run.name.clone()).collect(),
            expect: experiment.expected(),
        },
        runs: Vec::new(),
        unfinished: None,
        skipped,
    };
    let mut bundle = Bundle { dir: output.dir().to_owned(), record };
    let (count, mut failed) = (experiment.runs.len(), None);
    for (number, run) in (1..).zip(&experiment.runs) {
        if let Some(left_out) = bundle.record.skipped.iter().find(|skipped| skipped.run == run.name) {
            progress.run_is_skipped(run, number, count, &left_out.reason);
            continue;
        }
        // A lab that is killed leaves the runs that have ended.
        bundle.record.unfinished = Some(Unfinished { run: run.name.clone(), reason: KILLED.to_owned() });
        bundle.write_record()?;
        output.write(RUNNING, Running { number, count, run: summed::begun(run) }.text().as_bytes())?;
        progress.run_begins(run, number, count);
        match unless_stopped(|| carrier.undisturbed(run, progress)) {
            Ok(mut done) => {
                (options.explain)(&mut done);
                if let Some(trouble) = done.relay_trouble() {
                    progress.notice("impaired links", &trouble);
                }
                progress.run_ends(&done);
                bundle.record.runs.push(done);
            }
            Err(error) if bundle.record.runs.is_empty() => return Err(error),
            Err(error) => {
                // The record has no such run, so its samples are of nothing.
                let _ = std::fs::remove_file(output.dir().join(record::samples_of(&run.name)));
                failed = Some((run, error));
                break;
            }
        }
    }
    bundle.record.unfinished =
        failed.as_ref().map(|(run, error)| Unfinished { run: run.name.clone(), reason: error.to_string() });
    Ok((bundle.record, failed.map(|(_, error)| error)))
}

/// What the record of a bundle in the making says of the run that goes on.
const KILLED: &str = "its lab runs, or was killed";

/// The share of the processors that a hypervisor may take away before a run that is to be compared is done again.
const MOST_STOLEN: f64 = 0.02;
/// How often it is done again; then it counts, and the record says what was taken.
const MOST_AGAIN: u32 = 2;

/// Carries runs out, all alike.
struct Carrier<'a> {
    interval: Duration,
    options: &'a Options,
    setting: &'a Setting,
    output: &'a Output,
}

impl Carrier<'_> {
    /// A run; of several repetitions one that was disturbed is done again.
    fn undisturbed(&self, run: &Run, progress: &mut dyn Progress) -> Result<record::Run, Error> {
        let mut done_again = 0;
        loop {
            let done = self.once(run, progress)?;
            let is_disturbed = run.repetition.is_some() && done.cpu.stolen > MOST_STOLEN;
            if !is_disturbed || done_again == MOST_AGAIN {
                return Ok(record::Run { done_again, ..done });
            }
            done_again += 1;
            let stolen = done.cpu.stolen * 100.0;
            progress
                .notice(&run.name, &format!("a hypervisor took {stolen:.0} % of the processors meanwhile: done again"));
        }
    }

    /// Builds a run's topology, drives its traffic, takes everything down.
    fn once(&self, run: &Run, progress: &mut dyn Progress) -> Result<record::Run, Error> {
        let Carrier { interval, options, output, .. } = *self;
        let run = &run.in_use();
        let setting = &Setting { smooth: run.measures_latency_alone(), ..self.setting.clone() };
        let no_room = NoRoom::now();
        let (reports, inbox) = mpsc::channel();
        let built = options.testbed().build(&run.topology, setting, &reports);
        let mut deployment = built.map_err(|error| or_lost(error, &[], &inbox))?;
        let machines = deployment.machines();
        let mut timeline = Timeline::default();
        // Before the traffic, which may fail for what is told here.
        let mut early = timeline.hear_of_the_build(&inbox, progress);
        let targets = target::serve(&mut *deployment, &run.topology).map_err(|error| or_lost(error, &early, &inbox))?;
        let planned = plan(run, options.kinds());
        files::prepare(&mut *deployment, run, &planned)?;
        set_up_traffic(&mut *deployment, &planned)
            .map_err(|error| or_lost(with_reasons(error, no_room, &mut *deployment), &early, &inbox))?;
        deployment.call_all(&Request::Sample { interval_ms: interval.as_millis() as u64 })?;
        deployment.call_all(&Request::Start)?;
        early.extend(timeline.hear_of_the_build(&inbox, progress));
        let start_ns = clock::monotonic_ns() + run.warmup.as_nanos() as u64;
        let kinds = options.kinds();
        let (samples, log, flows) = (Vec::new(), SampleLog::begin(output.dir(), &run.name), Flows::default());
        let finite = Finite::new(run, &planned);
        let faults = Faults::default();
        let mut watch =
            Watch { run, kinds, start_ns, samples, log, flows, finite, timeline, faults, load: None, ended: None };
        early.into_iter().for_each(|report| watch.take_in(report, progress));
        watch.until(Duration::ZERO, &inbox, progress)?;
        deployment.call_all(&Request::Begin { measured_ms: run.duration.as_millis() as u64 })?;
        watch.load = Some(Load::begin()?);
        // Faults are to leave nothing behind.
        let used = if run.events.is_empty() { Vec::new() } else { deployment.call_all(&Request::Used)? };
        for timed in &run.events {
            let Timed { at, event, .. } = timed;
            watch.until(*at, &inbox, progress)?;
            if watch.finite.over_ms().is_some() {
                break;
            }
            let at_ns = clock::monotonic_ns();
            let place = event::carry_out(&**event, &mut *deployment)?;
            let text = event.words();
            watch.faults.note(timed, (i128::from(at_ns) - i128::from(start_ns)) as f64 / 1e6, &place, &text);
            let event::Place { node, team, member } = place;
            progress.notice(&node, &text);
            watch.timeline.add(node, Notice { at_ns, kind: EventKind::Fault, team, member, text });
        }
        watch.until(run.duration, &inbox, progress)?;
        let load = watch.load.take().map(Load::end).transpose()?;
        let resources = resources(used, &mut *deployment)?;
        let teams_say = deployment.teams_say().map_err(|error| or_lost(error, &[], &inbox))?;
        // One more sample of every agent, so that the window's end lies between two.
        watch.until_behind(interval, &inbox, progress)?;
        deployment.call_all(&Request::EndClients)?;
        let (mut outcomes, told) = outcomes::of_all(deployment.call_all(&Request::Stop)?, &planned);
        inbox.try_iter().for_each(|report| watch.take_in(report, progress));
        told.into_iter().for_each(|(node, notice)| watch.timeline.add(node, notice));
        files::compare(&mut *deployment, run, &planned, &mut outcomes.transfers)?;
        let teams = deployment.teams().to_vec();
        // From here on links vanish under their teams, which is nothing to tell.
        drop(deployment);
        let (cpu, memory) = load.unzip();
        let measured_run = run;
        let (run, tasks) = watch.record(&planned, cpu.unwrap_or_default(), output)?;
        let topology = recorded::with_engines(run.topology, &teams);
        let mut events = run.events;
        let Outcomes { programs, operations, transfers, probes, mut disks, notices: _ } = outcomes;
        outcomes::name_connections(&mut disks, &run.connections, &tasks);
        for program in programs.iter().filter(|program| program.failed()) {
            let trouble = programs::trouble(program, -run.warmup_ms);
            progress.notice(&trouble.node, &trouble.text);
            events.push(trouble);
        }
        events.sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        let mut faults = run.faults;
        nicteam_chaos::add_probes(&mut faults, &probes);
        let TeamsSay { ports, buckets, pagp, one_sided } = teams_say;
        let traffic_tests = traffic_tests::of_run(measured_run, &planned, &run.connections, &programs, run.measured_ms);
        Ok(record::Run {
            ports,
            buckets,
            pagp,
            one_sided,
            topology,
            targets,
            programs,
            operations,
            traffic_tests,
            transfers,
            probes,
            disks,
            events,
            faults,
            resources,
            memory,
            machines,
            ..run
        })
    }
}

/// What the nodes used then, if they were asked, and use now.
fn resources(then: Vec<(String, Done)>, deployment: &mut dyn Deployment) -> Result<Vec<record::Resources>, Error> {
    let now = if then.is_empty() { Vec::new() } else { deployment.call_all(&Request::Used)? };
    let both = |((node, then), (_, now)): ((String, Done), (String, Done))| {
        let [then, now] = [then, now].map(|done| done.used.unwrap_or_default());
        let descriptors = [then.descriptors, now.descriptors];
        record::Resources { node, descriptors, memory_bytes: [then.memory_bytes, now.memory_bytes] }
    };
    Ok(then.into_iter().zip(now).map(both).collect())
}

/// The error, or what was lost before it, which is its reason.
fn or_lost(error: Error, early: &[Report], inbox: &mpsc::Receiver<Report>) -> Error {
    let lost = early.iter().cloned().chain(inbox.try_iter()).find_map(|report| match report {
        Report::Lost(node, message) => Some(Error::Agent { node, message }),
        _ => None,
    });
    lost.unwrap_or(error)
}

/// Plans all connections of a run.
fn plan(run: &Run, kinds: &[&'static dyn Kind]) -> Vec<Planned> {
    let mut planned = Vec::new();
    for (number, workload) in (0..).zip(&run.workloads) {
        planned.extend(task::plan(workload, number, planned.len() as u32, &run.topology.hosts));
    }
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    task::spread(kinds, planned.iter_mut().map(|planned| &mut planned.spec), processors);
    planned
}

/// Prepares every connection, the ends that are connected to first.
fn set_up_traffic(deployment: &mut dyn Deployment, planned: &[Planned]) -> Result<(), Error> {
    let ends: [(Role, Node); 2] =
        [(Role::Server, |planned| &planned.server), (Role::Client, |planned| &planned.client)];
    for (role, node) in ends {
        for (node, connections) in by_node(planned, node) {
            deployment.call(node, &Request::Prepare { role, connections })?;
        }
    }
    Ok(())
}

/// The error, and what may be its reason: members that do not aggregate (frames that the other end sends by them are lost), and
/// addresses for which the kernel had no room.
fn with_reasons(error: Error, no_room: NoRoom, deployment: &mut dyn Deployment) -> Error {
    let Error::Agent { node, message } = error else { return error };
    let message = match no_room.since() {
        Some(reason) => format!("{message}; {reason}"),
        None => message,
    };
    let ports = deployment.teams_say().unwrap_or_default().ports;
    let idle = ports.iter().filter(|port| !port.aggregates);
    let idle = idle.map(|port| {
        format!("{} of {}: {}", port.member, port.host, port.why_not.as_deref().unwrap_or("no reason was given"))
    });
    let idle: Vec<String> = idle.collect();
    let message = match idle.as_slice() {
        [] => message,
        idle => format!("{message}; members that do not aggregate: {}", idle.join("; ")),
    };
    Error::Agent { node, message }
}

/// The node of one end of a connection.
type Node = fn(&Planned) -> &String;

/// The connections of each node that has one of their ends.
fn by_node(planned: &[Planned], node: Node) -> BTreeMap<&str, Vec<ConnectionSpec>> {
    let mut nodes: BTreeMap<&str, Vec<ConnectionSpec>> = BTreeMap::new();
    for planned in planned {
        nodes.entry(node(planned)).or_default().push(planned.spec.clone());
    }
    nodes
}

/// The time of day, UTC.
fn now_rfc3339() -> String {
    let now = time::OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
    now.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}

/// The folder for an experiment's results if none is named: `results/NAME-DATE-TIME`, free for now.
/// Makes `results`.
pub fn default_output(name: &str) -> Result<PathBuf, Error> {
    let results = Path::new("results");
    std::fs::create_dir_all(results).map_err(failed("make the folder", results))?;
    let stamp: String = now_rfc3339().chars().filter(char::is_ascii_digit).collect();
    let (date, time) = stamp.split_at(stamp.len().min(8));
    Ok(free_name(&results.join(format!("{name}-{date}-{time}"))))
}
