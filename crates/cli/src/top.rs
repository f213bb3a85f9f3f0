//! `nicteam top`: what the bundles of this host carry, live.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use nicteam_sys::signals::Signals;
use nicteam_watch::top::{self, Ended, Model, View, rows, table};
use nicteam_watch::{Snapshot, Watcher};
use nix::sys::signal::Signal;

use crate::elsewhere::{Asked, Place};
use crate::failure::Failure;
use crate::{say, value};

/// Show what the bundles of this host carry, live.
///
/// Teams of nicteam, bonds of the kernel, bonds of Open vSwitch, teams of teamd: each member with what it sends and
/// receives, its share, its losses and its LACP state; peers and paths of stripe; events. The bars are parts of the speed
/// of the link. Keys: q quit, p pause, s sort, u unit, e events, arrows scroll. NO_COLOR=1 leaves colours out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam top\n  nicteam top team0\n  nicteam top --once\n  nicteam top --json --interval 5s\n  nicteam top --host root@node1"
)]
pub(crate) struct Args {
    /// A team or bond; all by default.
    team: Option<String>,
    /// Print one plain table and end. Its rates are those of one interval.
    #[arg(long)]
    once: bool,
    /// Print a JSON value for each interval; with --once, one.
    #[arg(long)]
    json: bool,
    /// Between two looks: 1s, 500ms.
    #[arg(long, value_parser = value::duration, default_value = "1s")]
    interval: Duration,
    /// Answer each line of the standard input with a look, as JSON.
    #[arg(long, hide = true)]
    answer: bool,
    #[command(flatten)]
    place: Place,
}

/// The shortest interval: looks cost the teams a little.
const SHORTEST: Duration = Duration::from_millis(100);

/// Shows it.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.answer {
        return answer();
    }
    // Ahead of the first thread.
    let signals = Signals::catch(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let look: Look = match &args.place.host {
        Some(host) => of_machine(host)?,
        None => {
            let mut watcher = Watcher::open()?;
            Box::new(move || watcher.look().map_err(|error| error.to_string()))
        }
    };
    show(args, look, &signals)
}

/// What is asked for each look.
type Look = Box<dyn FnMut() -> Result<Snapshot, String> + Send>;

/// Looks at another machine.
fn of_machine(host: &str) -> Result<Look, Failure> {
    let mut asked = Asked::start(host, &["top".to_owned(), "--answer".to_owned()])?;
    Ok(Box::new(move || serde_json::from_str(&asked.ask()?).map_err(|error| format!("what was answered: {error}"))))
}

/// Looks for another machine's user, until the input ends.
fn answer() -> Result<(), Failure> {
    let mut watcher = Watcher::open()?;
    for line in std::io::stdin().lock().lines() {
        line.map_err(Failure::failed)?;
        let look = serde_json::to_string(&watcher.look()?).map_err(Failure::failed)?;
        if !say::data_to_reader(look + "\n")? {
            break;
        }
    }
    Ok(())
}

fn show(args: &Args, mut look: Look, signals: &Signals) -> Result<(), Failure> {
    let interval = args.interval.max(SHORTEST);
    let only = args.team.as_deref().map(nicteam_daemon::control::meant);
    if args.once || args.json {
        return print(args, only.as_deref(), &mut look, (interval, signals));
    }
    if !std::io::stdout().is_terminal() {
        return Err(
            Failure::wrong_input("standard output is no terminal").hint(Some("`nicteam top --once` prints a table"))
        );
    }
    if let Some(name) = &only {
        find(&rows(None, &look().map_err(Failure::failed)?, Some(name)), name)?;
    }
    let model = Model::new(only, has_colour());
    match top::run(model, interval, signals, look) {
        Ok(Ended::ByUser | Ended::ByInterrupt) => Ok(()),
        Ok(Ended::BySignal) => Err(Failure::interrupted("stopped by a signal")),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Whether the terminal is to have colours.
pub(crate) fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Without a terminal.
fn print(
    args: &Args,
    only: Option<&str>,
    look: &mut Look,
    (interval, signals): (Duration, &Signals),
) -> Result<(), Failure> {
    let mut before = look().map_err(Failure::failed)?;
    loop {
        if is_stopped(signals, interval)? {
            return Ok(());
        }
        let now = look().map_err(Failure::failed)?;
        let view = rows(Some(&before), &now, only);
        if let Some(name) = only {
            find(&view, name)?;
        }
        let text = match args.json {
            true => serde_json::to_string(&view).map_err(Failure::failed)? + "\n",
            false => table(&view),
        };
        view.unseen.iter().for_each(|what| say::line(format_args!("nicteam: not seen: {}", say::visible(what))));
        if !say::data_to_reader(text)? || args.once {
            return Ok(());
        }
        before = now;
    }
}

fn find(view: &View, name: &str) -> Result<(), Failure> {
    if !view.bundles.is_empty() {
        return Ok(());
    }
    let failure = Failure::failed(format!("there is no team or bond {name} here"));
    Err(failure.hint(Some("`nicteam top --once` lists the bundles of this host")))
}

fn is_stopped(signals: &Signals, wait: Duration) -> Result<bool, Failure> {
    use std::os::fd::AsFd;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
    let _ = poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], wait);
    Ok(signals.next()?.is_some())
}
