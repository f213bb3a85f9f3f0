//! `nicteam lab up`: builds a topology and holds it, and takes faults by hand meanwhile.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nicteam_dataplane::Kind;
use nicteam_experiment::{self as experiment, ByHand, Experiment};
use nicteam_lab::Held;
use nicteam_sys::process;

use super::fault::{Answer, Ask, Socket};
use super::options::options;
use super::pick::{Pick, load_to_run};
use super::watching::Screen;
use crate::failure::Failure;
use crate::{say, value};

/// How often it is looked whether somebody asks for a fault.
const LOOK: Duration = Duration::from_millis(20);
/// How often links are looked at, and what they carry is shown.
const SAMPLE: Duration = Duration::from_millis(250);
const SHOW: Duration = Duration::from_millis(500);

/// Build an experiment's topology and hold it until Ctrl-C, for a look around.
#[derive(Debug, clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    pick: Pick,
    /// What executes the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// Build it so that faults of every kind can happen (`nicteam lab fault`): with a link emulator in every cable, and a
    /// process for every team.
    #[arg(long)]
    faults: bool,
    /// Show what the links carry, in the view of `nicteam top`. The key q ends the view, Ctrl-C takes everything down.
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print what was built as JSON.
    #[arg(long)]
    json: bool,
}

/// Builds the first of the picked runs and waits for a signal.
pub(super) fn hold(up: &Up) -> Result<(), Failure> {
    let (experiment, privileges) = load_to_run(&up.pick, up.dataplane)?;
    let mut run = experiment.runs.first().cloned().ok_or_else(|| Failure::wrong_input("the experiment has no runs"))?;
    if up.faults {
        run.topology = run.topology.for_faults();
    }
    let options = options(PathBuf::new(), up.dataplane, privileges)?;
    let held = nicteam_lab::hold(&experiment, &run, &options)?;
    let socket = Socket::bind()?;
    let built_ms = held.built_in().as_secs_f64() * 1e3;
    let nodes = held.nodes();
    if up.json {
        let pids: serde_json::Map<String, serde_json::Value> =
            nodes.into_iter().map(|(node, pid)| (node, pid.into())).collect();
        say::data(format_args!("{}\n", serde_json::json!({ "run": run.name, "built_ms": built_ms, "pids": pids })))?;
    } else {
        say::data(held_text(&experiment, &run, built_ms, &nodes, privileges))?;
    }
    let mut faulty = Faulty { run: &run, held, screen: None, active: Vec::new(), next: 1 };
    if up.watch {
        faulty.held.sample(SAMPLE)?;
        faulty.screen = Some(Screen::open()?);
    }
    let mut shown = Instant::now();
    while process::termination().is_none() {
        faulty.end_those_that_are_over();
        socket.serve(|ask| faulty.answer(ask));
        if up.watch && shown.elapsed() >= SHOW {
            shown = Instant::now();
            faulty.show();
        }
        process::sleep_or_termination(LOOK);
    }
    faulty.screen = None;
    drop(socket);
    say::line(format_args!("taken down in {:.0} ms", faulty.held.take_down().as_secs_f64() * 1e3));
    Ok(())
}

/// A topology with faults in it.
struct Faulty<'a> {
    run: &'a experiment::Run,
    held: Held,
    /// What links carry, while its user looks at it.
    screen: Option<Screen>,
    active: Vec<Active>,
    next: u32,
}

/// A fault that lasts.
struct Active {
    number: u32,
    fault: ByHand,
    over: Option<Instant>,
}

impl Faulty<'_> {
    /// Shows what links carry. Without a view it is still read, so that it does not pile up.
    fn show(&mut self) {
        let (members, told) = self.held.carried();
        if self.screen.as_ref().is_some_and(|screen| !screen.is_open()) {
            self.screen = None;
        }
        let Some(screen) = &mut self.screen else { return };
        told.iter().for_each(|(node, text)| screen.tell(node, text));
        screen.show(format!("nicteam lab up: {}", self.run.name), self.run, &members);
    }

    /// Says what a fault is; in the view, if there is one.
    fn tell(&mut self, words: &str) {
        match &mut self.screen {
            Some(screen) => screen.tell("lab", words),
            None => say::line(words),
        }
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        match ask {
            Ask::Fault(text) => self.begin(&text).unwrap_or_else(Answer::Refused),
            Ask::Undo(number) => {
                let is_meant = |it: &Active| number.is_none_or(|number| number == it.number);
                let (over, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.active).into_iter().partition(is_meant);
                self.active = left;
                if over.is_empty() {
                    return Answer::Refused("there is no such fault now".to_owned());
                }
                Answer::Done(over.into_iter().map(|it| self.undo(it)).collect())
            }
            Ask::List => Answer::Done(self.active.iter().map(|it| (Some(it.number), it.fault.event.words())).collect()),
        }
    }

    fn begin(&mut self, text: &str) -> Result<Answer, String> {
        let fault = experiment::fault(self.run, text).map_err(|wrong| wrong.render(false))?;
        self.held.carry_out(&*fault.event).map_err(|error| error.to_string())?;
        let words = fault.event.words();
        self.tell(&words);
        if fault.undone.is_none() {
            return Ok(Answer::Done(vec![(None, words)]));
        }
        let (number, over) = (self.next, fault.lasts.map(|lasts| Instant::now() + lasts));
        self.next += 1;
        self.active.push(Active { number, fault, over });
        Ok(Answer::Done(vec![(Some(number), words)]))
    }

    /// Undoes a fault; what that is, in words.
    fn undo(&mut self, active: Active) -> (Option<u32>, String) {
        let Some(undone) = active.fault.undone else { return (None, String::new()) };
        let words = match self.held.carry_out(&*undone) {
            Ok(()) => undone.words(),
            Err(error) => format!("not undone: {error}"),
        };
        self.tell(&words);
        (None, words)
    }

    fn end_those_that_are_over(&mut self) {
        let now = Instant::now();
        let is_over = |it: &Active| it.over.is_some_and(|over| over <= now);
        let (over, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.active).into_iter().partition(is_over);
        self.active = left;
        over.into_iter().for_each(|it| drop(self.undo(it)));
    }
}

/// What was built, how to get into each host and switch, and how it ends.
fn held_text(
    experiment: &Experiment,
    run: &experiment::Run,
    built_ms: f64,
    nodes: &[(String, u32)],
    privileges: &str,
) -> String {
    let enter = if privileges == "root" { "nsenter" } else { "nsenter -U --preserve-credentials" };
    let mut text = format!("the topology of run `{}`, built in {built_ms:.0} ms", run.name);
    let others: Vec<&str> = experiment.runs.iter().skip(1).map(|other| other.name.as_str()).collect();
    if !others.is_empty() {
        text += &format!("; `--only RUN` builds another's: {}", others.join(", "));
    }
    text += "\n\n";
    for (node, pid) in nodes {
        let host = run.topology.hosts.iter().find(|host| host.name == *node);
        let is_switch = run.topology.switches.iter().any(|switch| switch.name == *node);
        let address =
            host.map_or(if is_switch { "switch" } else { "link emulator" }.to_owned(), |host| host.address.to_string());
        text += &format!("  {node:<14}  {address:<15}  {enter} -t {pid} -n -m\n");
    }
    let (example, end) = (nodes.first().map_or(0, |(_, pid)| *pid), std::process::id());
    text + &format!(
        "\nEach line opens a shell there; with a command behind it, it runs that: `{enter} -t {example} -n -m ip address`.\n\
         Ctrl-C, or `kill {end}` elsewhere, takes everything down.\n"
    )
}
