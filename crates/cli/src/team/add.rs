//! `nicteam team add` and `restart`: teams in processes of their own.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_daemon::control::{Client, Refusal, RefusalKind, TeamState, meant, teams, wait_until_free};
use nicteam_daemon::{PersistedTeam, StateStore};
use nicteam_host::service;
use nicteam_sys::{Context, process};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::failures::{not_started, require_root};
use super::run::Begun;
use super::spec::Spec;
use crate::failure::Failure;
use crate::say;

/// Add a team: start it in the background, return when it carries frames.
///
/// It runs in a process of its own until `nicteam team del`, and what is set
/// is kept until then: after a crash `nicteam team restart` takes it over with
/// the members and options it had. A failed start leaves nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    #[command(flatten)]
    spec: Spec,
    /// File to append what happens to the team to; it is kept in memory in any case (`team events`).
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Give a team a new process: after a crash, or with a new version of nicteam.
///
/// A process that is running ends without taking the team down, and the new one
/// takes it over with the members and options it had. With eBPF no frame is lost.
/// A member that is gone is missing until it appears; `nicteam team show` says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Restart {
    /// The team.
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// Every team of this network namespace that was added or run by name.
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

/// How long a team may take to begin, on a slow machine with many members.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long it may take to end again.
const GRACE: Duration = Duration::from_secs(10);
/// How often it is looked whether a signal has come meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// Adds a team.
pub(super) fn add(add: &Add) -> Result<(), Failure> {
    let spec = add.spec.team()?;
    require_root()?;
    let log = add.log.as_ref().map(std::path::absolute).transpose();
    start(&PersistedTeam::of(&spec, log.context(|| "find the log's folder".to_owned())?))
}

/// Restarts one team or all.
pub(super) fn restart(restart: &Restart) -> Result<(), Failure> {
    require_root()?;
    let Some(name) = &restart.name else { return restart_all() };
    restart_one(&meant(name))
}

fn restart_all() -> Result<(), Failure> {
    let teams = teams().map_err(|error| not_started(&error))?;
    let mut first = Ok(());
    for listed in teams.iter().filter(|listed| listed.state != TeamState::Held) {
        if let Err(failure) = restart_one(&listed.team) {
            say::line(&failure);
            first = first.and(Err(Failure::failed("not every team could be restarted")));
        }
    }
    first
}

fn restart_one(name: &str) -> Result<(), Failure> {
    let persisted = || StateStore::here().and_then(|store| store.load(name)).map_err(|error| not_started(&error));
    // A process ends for the next one only if there is something to start that with.
    if persisted()?.is_none() {
        return match Client::watch(name) {
            Ok(_) => Err(nothing_persisted(name)),
            Err(Refusal { kind: RefusalKind::NotRunning, .. }) => Err(nothing_persisted(name)),
            Err(refusal) => Err(refusal.into()),
        };
    }
    match Client::connect(name) {
        Ok(client) => match service::unit_of(client.pid()) {
            // The manager of its process starts the next one.
            Some(unit) => {
                drop(client);
                return service::restart_unit(&unit).map_err(Failure::failed);
            }
            None => client.replace()?,
        },
        // What is to be repaired.
        Err(Refusal { kind: RefusalKind::NotRunning, .. }) => wait_until_free(name)?,
        Err(refusal) => return Err(refusal.into()),
    }
    // It may have changed until the process ended.
    match persisted()? {
        Some(persisted) => start(&persisted),
        None => Err(nothing_persisted(name)),
    }
}

fn nothing_persisted(name: &str) -> Failure {
    Failure::failed(format!("nothing is kept of team {name}"))
        .hint(Some("add it again with its members and options, which takes it over"))
}

/// A team that was started.
pub(crate) struct Started {
    /// What executes its plan.
    dataplane: String,
    /// Its process.
    pid: u32,
}

/// Starts the process of a team, and says that it runs.
fn start(persisted: &PersistedTeam) -> Result<(), Failure> {
    let Started { dataplane, pid } = begin(persisted)?;
    say::line(format_args!("team {} runs on the {dataplane} dataplane, process {pid}", persisted.name));
    Ok(())
}

/// Starts the process of a team and waits until it says how the team began.
pub(crate) fn begin(persisted: &PersistedTeam) -> Result<Started, Failure> {
    let team = &persisted.name;
    let program = std::env::current_exe().context(|| "find the own program".to_owned())?;
    let mut command = Command::new(program);
    command.args(["team", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context(|| format!("start the process of team {team}"))?;
    let text = serde_json::to_string(persisted).map_err(Failure::failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that has ended says why, or its silence does.
        let _ = stdin.write_all(text.as_bytes());
    }
    let Some(line) = first_line(&mut child).context(|| format!("hear from the process of team {team}"))? else {
        if process::termination().is_some() {
            end(&mut child);
            return Err(Failure::interrupted(format!("stopped by a signal before team {team} began")));
        }
        // A team that it has taken over forwards on.
        let _ = child.kill().and_then(|()| child.wait());
        let said = format!("process {} of team {team} did not begin within {} s", child.id(), PATIENCE.as_secs());
        return Err(Failure::failed(said).hint(Some(format!("`nicteam team restart {team}` tries again"))));
    };
    match serde_json::from_str(&line) {
        Ok(Begun::Running { dataplane, troubles }) => {
            troubles.iter().for_each(|trouble| say::line(format_args!("warning: {}", say::visible(trouble))));
            Ok(Started { dataplane, pid: child.id() })
        }
        Ok(Begun::Failed { refusal, code }) => {
            // It has nothing more to do.
            let _ = child.wait();
            Err(Failure::from(refusal).with_number(code))
        }
        Err(_) => {
            let ended = child.wait().context(|| format!("wait for the process of team {team}"))?;
            Err(Failure::failed(format!("the process of team {team} ended before the team began: {ended}")))
        }
    }
}

/// Lets a child end what it has begun, and kills it if it does not.
fn end(child: &mut Child) {
    let _ = i32::try_from(child.id()).map(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM));
    let start = Instant::now();
    while start.elapsed() < GRACE {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK),
            _ => return,
        }
    }
    let _ = child.kill().and_then(|()| child.wait());
}

/// The first line that a child says; `None`: it says nothing for too long, or a signal ends the wait for those who catch it.
fn first_line(child: &mut Child) -> io::Result<Option<String>> {
    let Some(stdout) = child.stdout.take() else { return Ok(Some(String::new())) };
    let (heard, line) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line).map(|_| line);
        // Nobody listens any more after a while.
        let _ = heard.send(read);
    })?;
    let start = Instant::now();
    loop {
        match line.recv_timeout(LOOK) {
            Ok(line) => return line.map(Some),
            Err(RecvTimeoutError::Timeout) if start.elapsed() < PATIENCE && process::termination().is_none() => {}
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(String::new())),
        }
    }
}
