//! Records -> an [`Experiment`]: names bound, defaults filled, the command line applied.

mod random_faults;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::limit::limit;
use crate::overrides::Overrides;
use crate::topology::{self, Broken, Built, Plan, duplicate};
use crate::units::show_duration;
use crate::{expect, remote, teams};
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};
use nicteam_elements::event::{self, Told};
use nicteam_elements::keys::Thing;
use nicteam_elements::record::{At, Options, Record};
use nicteam_elements::resolved::{
    Direction, Experiment, GranularityChoice, PublishedRates, Run, Topology, Variant, Workload,
};
use nicteam_elements::{engine, impairments, multipath, target, task};

/// The most connections in one run: each has a port of its own from 40000 up.
const MAX_CONNECTIONS: u32 = 8192;
/// Most hosts and switches of a file.
const MAX_NODES: usize = 512;
/// Most runs of a file.
const MAX_RUNS: usize = 256;

type Named<'a> = &'a [(At<String>, Record)];
type Teams<'a> = &'a [(At<String>, Options)];

/// Resolves a file; the experiment is whole only if `problems` stays empty.
pub(crate) fn resolve(
    name: &str,
    path_shown: &str,
    text: &str,
    file: &Record,
    overrides: &Overrides,
    problems: &mut Vec<Problem>,
) -> Experiment {
    let none = Record::default();
    let defaults = file.get::<&Record>("defaults").map_or(&none, |at| at.value);
    // What a run draws depends on what it builds without it.
    let drawn;
    // What is wrong with the file is found again, when the faults are in it.
    let mut unheard = Vec::new();
    let mut without = Resolver { file, none: &none, defaults, overrides, problems: &mut unheard };
    let built = |run| (without.topology(run, None), without.duration(run));
    let file = match random_faults::drawn(file, built, problems) {
        None => file,
        Some(with) => {
            drawn = with;
            &drawn
        }
    };
    let mut resolver = Resolver { file, none: &none, defaults, overrides, problems };
    resolver.check_names();
    resolver.problems.extend(remote::check(file, resolver.rate_is_free()));
    resolver.check_machine();
    // Without hosts every name would be unknown; one error is enough.
    let hopeless = resolver.is_too_large() || resolver.named("hosts").is_empty();
    let runs = if hopeless { Vec::new() } else { resolver.runs() };
    // The limit of half a topology says nothing.
    let whole = if resolver.problems.is_empty() { &runs[..] } else { &[] };
    let highest_limit_bps = whole.iter().map(|run| limit(run).bps).fold(0.0, f64::max);
    let runs = resolver.only(runs);
    resolver.check_rate_override();
    let expect = expect::resolve(file, text, resolver.problems);
    let interval = defaults.get("interval").map_or(Duration::from_millis(100), |at| at.value);
    Experiment {
        name: name.to_owned(),
        title: file.get::<&str>("title").map(|at| at.value.to_owned()).unwrap_or_default(),
        question: file.get::<&str>("question").map(|at| at.value.to_owned()),
        path: path_shown.to_owned(),
        text: text.to_owned(),
        overrides: overrides.notes(),
        rate_lowered_bps: None,
        seed: defaults.get("seed").map_or(1, |at| at.value),
        interval,
        rate_is_free: resolver.rate_is_free(),
        highest_limit_bps,
        granularity: match defaults.get::<&str>("granularity").map_or("auto", |at| at.value) {
            "packets" => GranularityChoice::Packets,
            "super-frames" => GranularityChoice::SuperFrames,
            _ => GranularityChoice::Auto,
        },
        expect,
        repeat: 1,
        runs,
    }
}

struct Resolver<'a, 'p> {
    file: &'a Record,
    /// A run that changes nothing.
    none: &'a Record,
    defaults: &'a Record,
    overrides: &'a Overrides,
    problems: &'p mut Vec<Problem>,
}

impl<'a> Resolver<'a, '_> {
    fn named(&self, key: &str) -> Named<'a> {
        self.file.get::<Named<'a>>(key).map_or(&[], |at| at.value)
    }

    fn team_options(&self) -> Teams<'a> {
        self.file.get::<Teams<'a>>("teams").map_or(&[], |at| at.value)
    }

    /// Hosts and switches share one name space; the rest is unique by the rules of TOML.
    fn check_names(&mut self) {
        let (hosts, switches) = (self.named("hosts"), self.named("switches"));
        for (switch, _) in switches {
            if let Some((host, _)) = hosts.iter().find(|(host, _)| host.value == switch.value) {
                self.problems.push(duplicate(Thing::Switch, switch, host));
            }
        }
        for (name, options) in self.team_options() {
            teams::configure(name, options, self.problems);
        }
        if let Some(at) = self.file.get::<Named<'a>>("hosts")
            && at.value.is_empty()
        {
            let problem = Problem::at(&at.span, "the experiment has no hosts");
            self.problems.push(problem.hint("name them: `[hosts]`, below it `a = {}`, `b = {}`"));
        }
    }

    /// More than is worth looking at; says so.
    fn is_too_large(&mut self) -> bool {
        let runs = self.file.get::<&[Record]>("runs").map_or(0, |at| at.value.len());
        let nodes = self.named("hosts").len() + self.named("switches").len();
        if runs <= MAX_RUNS && nodes <= MAX_NODES {
            return false;
        }
        let message =
            format!("the file has {runs} runs and {nodes} hosts and switches; {MAX_RUNS} and {MAX_NODES} are the most");
        self.problems.push(Problem::outside(message).hint("split the experiment into several files"));
        true
    }

    fn runs(&mut self) -> Vec<Run> {
        let records: &'a [Record] = self.file.get("runs").map_or(&[], |at| at.value);
        let mut names: BTreeMap<&str, At<&str>> = BTreeMap::new();
        let mut runs = Vec::new();
        for record in records {
            if let Some(name) = record.get::<&'a str>("name") {
                if let Some(first) = names.get(name.value) {
                    let (name, first) = (owned(&name), owned(first));
                    self.problems.push(duplicate(Thing::Run, &name, &first));
                }
                names.insert(name.value, name);
            }
            runs.extend(self.variants(record));
        }
        self.check_unused_workloads(records);
        runs
    }

    /// Those that no run names are checked in the file's own topology. Without a
    /// run that is checked, too: a file that is being written still wants its links checked.
    fn check_unused_workloads(&mut self, runs: &'a [Record]) {
        let names = runs.iter().filter_map(|run| run.get::<&[At<String>]>("workloads"));
        let used: BTreeSet<&str> = names.flat_map(|names| names.value).map(|name| name.value.as_str()).collect();
        let mut unused =
            self.named("workloads").iter().filter(|(name, _)| !used.contains(name.value.as_str())).peekable();
        if unused.peek().is_none() && !runs.is_empty() {
            return;
        }
        let known = self.problems.len();
        let built = self.topology(self.none, None);
        if !runs.is_empty() {
            // Each run may change what would be wrong here.
            self.problems.truncate(known);
        }
        for (name, workload) in unused {
            self.workload(name, workload, Duration::from_secs(1), &built);
        }
    }

    /// A run, once by each engine that the command line names.
    fn variants(&mut self, record: &'a Record) -> Vec<Run> {
        let name = record.get::<&str>("name").map_or("", |at| at.value);
        // What the command line leaves out is checked as the file has it.
        let overrides = self.overrides;
        let engines = if self.is_asked_for(name) { &overrides.engines[..] } else { &[] };
        match engines {
            [] => vec![self.run(record, None)],
            [engine] => vec![self.run(record, Some(engine))],
            several => several.iter().map(|engine| self.variant(record, name, engine)).collect(),
        }
    }

    fn variant(&mut self, record: &'a Record, of: &str, engine: &str) -> Run {
        let variant = Variant { of: of.to_owned(), engine: engine.to_owned() };
        Run { name: format!("{of}.{engine}"), variant: Some(variant), ..self.run(record, Some(engine)) }
    }

    fn is_asked_for(&self, run: &str) -> bool {
        self.overrides.only.as_ref().is_none_or(|only| only.iter().any(|name| name == run))
    }

    /// Those of the command line are engines, each named once.
    fn check_machine(&mut self) {
        let engines = &self.overrides.engines[..];
        for (place, name) in engines.iter().enumerate() {
            if engine::find(name).is_none() {
                self.problems.push(Problem::outside(format!("no engine `{name}`")).hint(teams::engines_hint(name)));
            } else if engines[..place].contains(name) {
                let problem = Problem::outside(format!("engine `{name}` is named twice"));
                self.problems.push(problem.hint("each run is carried out once by each engine"));
            }
        }
    }

    /// `engine`: the engine of the hosts' teams, if it replaces that of the file.
    fn run(&mut self, record: &'a Record, engine: Option<&str>) -> Run {
        let mut built = self.topology(record, engine);
        let text = |key| record.get::<&str>(key).map(|at| at.value.to_owned());
        let (duration, warmup) = (self.duration(record), self.time(record, "warmup", Duration::from_secs(1)));
        let workloads = self.workloads(record, warmup + duration, &built);
        self.check_connections(record, &workloads);
        self.check_targets(record, &workloads);
        self.check_slow_hosts(record, &workloads, &built.topology);
        let (topology, impairments) = (&built.topology, &built.impairments);
        let told = &mut Told { topology, impairments, duration, problems: self.problems };
        let events = event::resolve(events(record), told);
        for event in events.iter().filter(|timed| timed.event.needs_process()).map(|timed| &timed.event) {
            let own = built.topology.teams.iter_mut().filter(|team| team.node == event.node());
            own.for_each(|team| team.own_process = true);
        }
        self.check_interval(duration);
        Run {
            name: text("name").unwrap_or_default(),
            variant: None,
            description: text("description"),
            published: text("published"),
            published_of_limit: record.get("published_of_limit").map(|at| at.value),
            published_rates: self.published_rates(record),
            compared_with: self.compared_with(record),
            repetition: None,
            duration,
            warmup,
            events,
            impairments: built.impairments,
            chaos_seed: record.get::<&Record>("chaos").map(|at| at.value.get("seed").map_or(1, |at| at.value)),
            workloads,
            topology: built.topology,
        }
    }

    fn time(&self, run: &Record, key: &str, otherwise: Duration) -> Duration {
        let given = run.get::<Duration>(key).or_else(|| self.defaults.get(key));
        given.map_or(otherwise, |at| at.value)
    }

    /// How long a run is measured.
    fn duration(&self, run: &Record) -> Duration {
        self.overrides.duration.unwrap_or_else(|| self.time(run, "duration", Duration::from_secs(8)))
    }

    /// What a published test found for each client.
    fn published_rates(&mut self, run: &'a Record) -> Vec<PublishedRates> {
        let named = run.get::<Named<'a>>("published_rates").map_or(&[][..], |at| at.value);
        let hosts = self.named("hosts");
        let mut rates = Vec::new();
        for (host, record) in named {
            if hosts.iter().all(|(known, _)| known.value != host.value) && !self.file.is_broken("hosts") {
                let known = hosts.iter().map(|(known, _)| known.value.as_str());
                let hint = meant(&host.value, known, |known| format!("the hosts are {}", list(known)));
                self.problems.push(Problem::at(&host.span, format!("no host `{}`", host.value)).hint(hint));
            }
            let rate = |key| record.get::<u64>(key).map_or(0, |at| at.value);
            let host = host.value.clone();
            rates.push(PublishedRates { host, download_bps: rate("download"), upload_bps: rate("upload") });
        }
        rates
    }

    /// The run that one is drawn beside, which is another one of the file.
    fn compared_with(&mut self, run: &'a Record) -> Option<String> {
        let named = run.get::<&[At<String>]>("compared_with")?;
        let other = named.value.first()?;
        let own = run.get::<&str>("name").map_or("", |at| at.value);
        let runs: &[Record] = self.file.get("runs").map_or(&[], |at| at.value);
        let names = runs.iter().filter_map(|run| Some(run.get::<&str>("name")?.value)).filter(|name| *name != own);
        if !names.clone().any(|name| name == other.value) {
            let hint = meant(&other.value, names, |mut names| match names.clone().next() {
                None => "there is no other run".to_owned(),
                Some(_) => format!("the other runs are {}", list(names.by_ref())),
            });
            self.problems.push(Problem::at(&other.span, format!("no other run `{}`", other.value)).hint(hint));
        }
        Some(other.value.clone())
    }

    /// A slow processor is a model that our generators keep to.
    fn check_slow_hosts(&mut self, run: &Record, workloads: &[Workload], topology: &Topology) {
        let Some(names) = run.get::<&[At<String>]>("workloads") else { return };
        let is_slow =
            |name: &str| topology.hosts.iter().any(|host| host.name == name && host.bounds.processor_bps.is_some());
        for workload in workloads.iter().filter(|workload| {
            !task::keep_to_a_processor().any(|kind| kind == workload.task.kind())
                || !workload.task.programs().is_empty()
        }) {
            let slow = workload.pairs.iter().flat_map(|(from, to)| [from, to]).find(|host| is_slow(host));
            let place = names.value.iter().find(|at| at.value == workload.name);
            if let (Some(host), Some(place)) = (slow, place) {
                let message =
                    format!("workload `{}` would not be slowed down by `processor` of host `{host}`", workload.name);
                let hint = format!(
                    "kinds {} keep to it, by our generator; or remove `processor`",
                    list(task::keep_to_a_processor())
                );
                self.problems.push(Problem::at(&place.span, message).hint(hint));
            }
        }
    }

    /// Each connection has a port of its own.
    fn check_connections(&mut self, run: &Record, workloads: &[Workload]) {
        let count: u32 = workloads
            .iter()
            .map(|workload| workload.connections * if workload.direction == Direction::Both { 2 } else { 1 })
            .sum();
        if count > MAX_CONNECTIONS {
            let message = format!("{count} connections in one run; {MAX_CONNECTIONS} are the most");
            let problem = match run.get::<&str>("name") {
                Some(name) => Problem::at(&name.span, message),
                None => Problem::outside(message),
            };
            self.problems.push(problem.hint("lower `connections`, or split the run (`both` counts twice)"));
        }
    }

    /// What is copied is checked to the last byte, which says nothing where another workload wrote the same.
    fn check_targets(&mut self, run: &Record, workloads: &[Workload]) {
        let Some(names) = run.get::<&[At<String>]>("workloads") else { return };
        for workload in workloads {
            let Some(target) = workload.task.owns_target() else { continue };
            let other =
                workloads.iter().find(|other| other.name != workload.name && other.task.target() == Some(target));
            let Some(other) = other else { continue };
            let place = |name: &str| names.value.iter().find(|at| at.value == name).map(|at| &at.span);
            let (Some(span), Some(also)) = (place(&other.name), place(&workload.name)) else { continue };
            let message =
                format!("workload `{}` uses target `{target}`, on which `{}` copies", other.name, workload.name);
            let problem = Problem::at(span, message).also(also, "the copy, whose content is checked");
            self.problems.push(problem.hint("give one of them a target of its own"));
            return;
        }
    }

    fn check_interval(&mut self, duration: Duration) {
        let Some(interval) = self.defaults.get::<Duration>("interval") else { return };
        if interval.value > duration {
            let (interval_text, duration_text) = (show_duration(interval.value), show_duration(duration));
            let message = format!("samples {interval_text} apart do not fit into a run of {duration_text}");
            self.problems.push(Problem::at(&interval.span, message).hint("lower `interval`, or raise `duration`"));
        }
    }

    fn topology(&mut self, run: &'a Record, engine: Option<&str>) -> Built {
        let hosts = self.overlay("hosts", Thing::Host, run);
        let switches = self.overlay("switches", Thing::Switch, run);
        let mut teams: BTreeMap<&str, (&At<String>, Options)> =
            self.team_options().iter().map(|(name, options)| (name.value.as_str(), (name, options.clone()))).collect();
        for (name, options) in run.get::<Teams<'a>>("teams").map_or(&[][..], |at| at.value) {
            match teams.get_mut(name.value.as_str()) {
                Some((_, base)) => *base = teams::overlaid(base, options),
                None if self.file.is_broken("teams") => {}
                None => {
                    let names: Vec<_> = teams.keys().copied().collect();
                    self.problems.push(unknown_override(Thing::Team, name, &names));
                }
            }
        }
        if let Some(engine) = engine.filter(|name| engine::find(name).is_some()) {
            teams.values_mut().for_each(|(name, options)| *options = teams::run_by(engine, name, options));
        }
        let impairments = self.overlay("impairments", Thing::Impairment, run);
        let seed = self.defaults.get("seed").map_or(1, |at| at.value);
        let of_run = run.get::<&[At<String>]>("workloads").map(|at| at.value);
        let multipath = multipath::hosts(self.named("workloads"), of_run, &hosts, task::takes_every_path);
        let impairments = impairments::resolve(&impairments, seed, self.problems);
        let plan = Plan {
            hosts,
            switches,
            teams,
            targets: self.targets(run),
            multipath,
            bridged: event::bridged(events(run)),
            relayed: event::relayed(events(run)),
            without_offloads: event::without_offloads(events(run), &impairments),
            impairments,
            links: self.file.get("links").map_or(&[], |at| at.value),
            rate_bps: self.default_rate(),
            mtu: self.defaults.get::<u64>("mtu").map_or(1500, |at| at.value as u32),
            broken: Broken {
                nodes: self.file.is_broken("hosts") || self.file.is_broken("switches"),
                teams: self.file.is_broken("teams"),
                impairments: self.file.is_broken("impairments"),
                mtu: self.file.is_broken("defaults") || self.defaults.is_broken("mtu"),
            },
        };
        topology::build(&plan, self.problems)
    }

    /// The targets of a run, its changes laid over the file.
    fn targets(&mut self, run: &'a Record) -> Vec<(&'a At<String>, Record)> {
        let wanted = target::of_run(run, self.named("workloads"));
        self.overlay("targets", Thing::Target, run).into_iter().filter(|(name, _)| wanted(&name.value)).collect()
    }

    /// The file's hosts or switches with a run's changes laid over them.
    fn overlay(&mut self, key: &str, thing: Thing, run: &'a Record) -> Vec<(&'a At<String>, Record)> {
        let base = self.named(key);
        let changes = run.get::<Named<'a>>(key).map_or(&[][..], |at| at.value);
        for (name, _) in changes.iter().filter(|_| !self.file.is_broken(key)) {
            if base.iter().all(|(known, _)| known.value != name.value) {
                let names: Vec<_> = base.iter().map(|(known, _)| known.value.as_str()).collect();
                self.problems.push(unknown_override(thing, name, &names));
            }
        }
        let overlaid = |(name, record): &'a (At<String>, Record)| {
            let change = changes.iter().find(|(changed, _)| changed.value == name.value);
            (name, change.map_or_else(|| record.clone(), |(_, change)| record.overlaid(change)))
        };
        base.iter().map(overlaid).collect()
    }

    fn default_rate(&self) -> u64 {
        self.overrides.rate_bps.or_else(|| Some(self.defaults.get::<u64>("rate")?.value)).unwrap_or(100_000_000)
    }

    /// The runs that `--only` names.
    fn only(&mut self, mut runs: Vec<Run>) -> Vec<Run> {
        let Some(only) = &self.overrides.only else { return runs };
        for name in only.iter().filter(|name| runs.iter().all(|run| of_file(run) != name.as_str())) {
            let hint = meant(name, runs.iter().map(of_file), |names| format!("the runs are {}", list(names)));
            self.problems.push(Problem::outside(format!("no run `{name}` in this experiment")).hint(hint));
        }
        runs.retain(|run| only.iter().any(|name| name == of_file(run)));
        runs
    }

    /// True if every link names its own rate.
    fn all_rates_named(&self) -> bool {
        let links: &[Record] = self.file.get("links").map_or(&[], |at| at.value);
        !links.is_empty() && links.iter().all(|link| link.has("rate"))
    }

    fn rate_is_free(&self) -> bool {
        self.overrides.rate_bps.is_none() && !self.defaults.has("rate") && !self.all_rates_named()
    }

    fn check_rate_override(&mut self) {
        if self.overrides.rate_bps.is_some() && self.all_rates_named() {
            let problem = Problem::outside("a rate from the command line would change nothing");
            self.problems.push(problem.hint("every link of this file names its own `rate`; edit the file"));
        }
    }
}

/// What the file calls a run.
fn of_file(run: &Run) -> &str {
    run.variant.as_ref().map_or(&run.name, |variant| &variant.of)
}

fn owned(at: &At<&str>) -> At<String> {
    At { value: at.value.to_owned(), span: at.span.clone() }
}

/// What a run does to its network.
fn events(run: &Record) -> &[Record] {
    run.get("events").map_or(&[], |at| at.value)
}

fn unknown_override(thing: Thing, name: &At<String>, known: &[&str]) -> Problem {
    let word = thing.word();
    Problem::at(&name.span, format!("this run changes {word} `{}`, which does not exist", name.value)).hint(meant(
        &name.value,
        known.iter().copied(),
        |known| format!("known: {}; a run changes what the file describes and adds nothing", list(known)),
    ))
}

/// What was probably meant by a name that there is not; if nothing is near, what else to say of the known ones.
fn meant<'n, I: Iterator<Item = &'n str> + Clone>(name: &str, known: I, otherwise: impl FnOnce(I) -> String) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise(known),
    }
}
