//! `nicteam team run`, and the process behind `nicteam team add`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc;

use nicteam_daemon::control::Refusal;
use nicteam_daemon::{Entry, Happened, PersistedTeam, ProcessOptions, Service};
use nicteam_sys::{Context, process};
use nix::fcntl::OFlag;
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use serde::{Deserialize, Serialize};

use super::failures::{not_started, require_root};
use super::spec::Spec;
use crate::failure::Failure;
use crate::say;

/// Run a team in the foreground until a signal comes.
///
/// SIGINT, SIGTERM and SIGHUP take the team down and give its members back
/// as they were; so do `nicteam team del` and the deletion of its device. A
/// process that is killed with SIGKILL leaves an eBPF team forwarding, while the
/// members of a packet team drop every frame until it is started again and ended.
/// Run the same command again, or `nicteam team restart`, to take either over.
///
/// What a member was before it joined is noted in /run/nicteam, and for people in its alias (`ip link`).
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    spec: Spec,
}

/// What the process of a team tells the command that started it, once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Begun {
    /// The first plan is in force.
    Running {
        /// What executes it.
        dataplane: String,
        /// What could not be done on the way.
        troubles: Vec<String>,
    },
    /// There is no team.
    Failed {
        /// Why.
        refusal: Refusal,
        /// The exit code that says so.
        code: u8,
    },
}

/// Runs a team in the foreground.
pub(super) fn run(run: &Run) -> Result<(), Failure> {
    let spec = run.spec.team()?;
    require_root()?;
    process::catch_termination()?;
    let options = ProcessOptions { confined: true, ..ProcessOptions::default() };
    let service = Service::start_with(&PersistedTeam::of(&spec, None), Box::new(tell), options);
    let service = service.map_err(|error| not_started(&error))?;
    say::line(format_args!("team {} runs on the {} dataplane", service.name(), service.dataplane()));
    service.wait(process::termination_event()).map_err(Failure::failed)?;
    service.end().map_err(Failure::failed)
}

/// Runs the team that standard input describes, in a session of its own. Says
/// on standard output how it began, then lets go of both.
pub(super) fn serve() -> Result<(), Failure> {
    // Fails only for the leader of a group, who then has a session already.
    let _ = setsid();
    std::env::set_current_dir("/").context(|| "go to /".to_owned())?;
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).context(|| "read the team from standard input".to_owned())?;
    let persisted: PersistedTeam = serde_json::from_str(&text).map_err(Failure::wrong_input)?;
    process::catch_termination()?;
    let log = open_log(&persisted)?;
    let_go_of_terminal(log.as_ref())?;
    let (troubles, heard) = mpsc::channel();
    let listener = move |entry: &Entry| {
        if let Some(mut log) = log.as_ref() {
            // A full disk must not end a team.
            let _ = writeln!(log, "{entry}");
        }
        if let Happened::Trouble { text } = &entry.happened {
            let _ = troubles.send(text.clone());
        }
    };
    let options = ProcessOptions { confined: true, ..ProcessOptions::default() };
    let service = match Service::start_with(&persisted, Box::new(listener), options) {
        Ok(service) => service,
        Err(error) => {
            let code = not_started(&error).number();
            begun(&Begun::Failed { refusal: Refusal::from(&error), code })?;
            return Ok(());
        }
    };
    begun(&Begun::Running { dataplane: service.dataplane().to_string(), troubles: heard.try_iter().collect() })?;
    drop(heard);
    dup2_stdout(null()?).context(|| "let go of standard output".to_owned())?;
    service.wait(process::termination_event()).map_err(Failure::failed)?;
    service.end().map_err(Failure::failed)
}

/// The file that what happens is appended to, if there is to be one.
fn open_log(persisted: &PersistedTeam) -> Result<Option<File>, Failure> {
    let Some(path) = &persisted.log else { return Ok(None) };
    // A log may hold what other users are not to read, and a link in its place may lead anywhere.
    let no_link = OFlag::O_NOFOLLOW.bits();
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(no_link).open(path);
    opened.map(Some).or_else(|error| {
        let error = nicteam_sys::Error::new(format!("write to {}", path.display()), error);
        begun(&Begun::Failed { refusal: Refusal::from(&nicteam_daemon::Error::from(error)), code: 1 })?;
        Err(Failure::failed("no log"))
    })
}

/// Leaves the terminal's input and error output.
fn let_go_of_terminal(log: Option<&File>) -> Result<(), Failure> {
    dup2_stdin(null()?).context(|| "let go of standard input".to_owned())?;
    let error_output = log.map_or_else(null, |log| log.try_clone().map_err(Failure::failed))?;
    Ok(dup2_stderr(error_output).context(|| "let go of standard error".to_owned())?)
}

fn null() -> Result<File, Failure> {
    Ok(OpenOptions::new().read(true).write(true).open("/dev/null").context(|| "open /dev/null".to_owned())?)
}

/// Tells the command that started this process how the team began.
fn begun(begun: &Begun) -> Result<(), Failure> {
    let text = serde_json::to_string(begun).map_err(Failure::failed)?;
    say::data(text + "\n")
}

/// Tells the user what happens to a team in the foreground.
fn tell(entry: &Entry) {
    match &entry.happened {
        // For those who follow its events.
        Happened::Plan { .. } | Happened::Started { .. } => {}
        happened => say::line(say::visible(happened)),
    }
}
