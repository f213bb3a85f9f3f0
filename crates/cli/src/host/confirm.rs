//! `nicteam confirm`, and the process that waits for it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nicteam_host::confirm as confirmation;
use nicteam_host::confirm::Outcome;
use nicteam_sys::reserve::Reserve;
use nicteam_sys::{Context, process};
use nix::unistd::{dup2_stdout, setsid};

use crate::failure::Failure;
use crate::{say, team};

/// Confirm that all is well after `nicteam up --confirm`, which takes its teams down again otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Confirm {
    /// Teams; all that await it by default.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Wait for a confirmation, and take the team down without one; started by `nicteam up` alone.
#[derive(Debug, clap::Args)]
pub(crate) struct AwaitConfirmation {
    /// The team.
    name: String,
    /// Which of several waits it is.
    token: u64,
}

/// A team that somebody has to confirm.
#[derive(Debug)]
pub(super) struct Guard {
    team: String,
    token: u64,
    wait: Duration,
    /// Either acts if nobody confirms; two, for somebody may kill one.
    children: [Child; 2],
}

/// Confirms.
pub(super) fn run(args: &Confirm) -> Result<(), Failure> {
    team::require_root()?;
    let awaited = confirmation::teams()?;
    let names = if args.names.is_empty() { &awaited } else { &args.names };
    if names.is_empty() {
        return Err(match too_late(&confirmation::missed_teams()?)? {
            Some(failure) => failure,
            None => Failure::failed("nothing awaits a confirmation"),
        });
    }
    for name in names {
        match confirmation::confirm(name)? {
            true => say::line(format_args!("team {name} stays up")),
            false => {
                if let Some(failure) = too_late(std::slice::from_ref(name))? {
                    return Err(failure);
                }
                let failure = Failure::failed(format!("nobody awaits a confirmation of team {name}"));
                return Err(failure.hint(Some(format!("`nicteam team show {name}` says whether it is up"))));
            }
        }
    }
    Ok(())
}

/// Says of each of these teams that was taken down unconfirmed when that was; `None` if none was.
fn too_late(teams: &[String]) -> Result<Option<Failure>, Failure> {
    let mut said = Vec::new();
    for team in teams {
        let Some(missed) = confirmation::missed(team)? else { continue };
        let (ago, wait) = (missed.ago().as_secs(), Duration::from_millis(missed.wait_ms).as_secs_f64());
        said.push(match missed.by_signal {
            true => format!("team {team} was taken down {ago} s ago, by a signal to the process that awaited it"),
            false => format!("team {team} was taken down {ago} s ago, because nobody confirmed it within {wait} s"),
        });
    }
    if said.is_empty() {
        return Ok(None);
    }
    Ok(Some(Failure::failed(said.join("\n")).hint(Some("`nicteam up FILE --confirm TIME` brings it up again"))))
}

/// Starts the processes that wait, before the team is touched: they act, too, when the process that brings the team up is killed.
pub(super) fn guard(team: &str, wait: Duration) -> Result<Guard, Failure> {
    let token = confirmation::arm(team, wait)?;
    let children = waiting(team, token).and_then(|first| Ok([first, waiting(team, token)?]));
    match children {
        Ok(children) => Ok(Guard { team: team.to_owned(), token, wait, children }),
        Err(failure) => {
            // Nothing was touched yet.
            let _ = confirmation::confirm(team);
            Err(failure)
        }
    }
}

/// Starts a process that waits, and hears that it does.
fn waiting(team: &str, token: u64) -> Result<Child, Failure> {
    let program = std::env::current_exe().context(|| "find the own program".to_owned())?;
    let mut command = Command::new(program);
    command.args(["await-confirmation", team, &token.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context(|| format!("start the process that awaits the confirmation of {team}"))?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut said).context(|| "hear from the process that awaits it".to_owned())?;
    }
    if said.trim() != READY {
        return Err(Failure::failed(format!("the process that awaits the confirmation of {team} ended")));
    }
    Ok(child)
}

/// Waits until it is decided whether a team stays up; it fails if it does not.
pub(super) fn wait_until_decided(team: &str, guard: Option<Guard>) -> Result<(), Failure> {
    let stays = confirmation::decided(team)?;
    // By now it has ended, or is about to; a signal is for the process that asks alone.
    if stays.is_some()
        && let Some(guard) = guard
    {
        guard.join()?;
    }
    match stays {
        Some(true) => {
            say::line(format_args!("team {team} stays up"));
            Ok(())
        }
        Some(false) => {
            Err(too_late(&[team.to_owned()])?.unwrap_or_else(|| Failure::failed(format!("team {team} was taken down"))))
        }
        None => Err(Failure::interrupted(format!("stopped by a signal: team {team} is still to be confirmed"))
            .hint(Some(format!("`nicteam confirm {team}` keeps it")))),
    }
}

/// Says that a team is still to be confirmed.
pub(super) fn remind(team: &str) {
    if let Ok(Some(awaited)) = confirmation::awaited(team) {
        let left = awaited.left().as_secs();
        say::line(format_args!("team {team} is taken down in {left} s; hint: `nicteam confirm {team}` keeps it"));
    }
}

impl Guard {
    /// The team is up: the time to confirm begins.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        let Guard { team, token, wait, children: [one, other] } = self;
        if !confirmation::begin(team, *token)? {
            if let Some(failure) = too_late(std::slice::from_ref(team))? {
                return Err(failure);
            }
            say::line(format_args!("nobody awaits a confirmation of team {team} any more: it stays up"));
            return Ok(());
        }
        say::line(format_args!(
            "team {team} is taken down again in {:.0} s, by process {} or {}, unless you say that all is well:\n  nicteam confirm {team}",
            wait.as_secs_f64(),
            one.id(),
            other.id()
        ));
        Ok(())
    }

    /// Waits for the processes that wait; it fails if they could not take the team down.
    pub(super) fn join(mut self) -> Result<(), Failure> {
        let team = &self.team;
        let mut has_failed = false;
        for child in &mut self.children {
            let ended = child.wait().context(|| format!("wait for the confirmation of {team}"))?;
            // One that was killed has left it to the other.
            has_failed |= ended.code().is_some_and(|code| code != 0);
        }
        match has_failed {
            false => Ok(()),
            true => Err(Failure::failed(format!("team {team} could not be taken down"))
                .hint(Some(format!("`nicteam down {team}` tries again")))),
        }
    }
}

/// What the process that waits says when nothing can keep it from acting any more.
const READY: &str = "ready";

/// Waits, in a session of its own: it outlives the login, and no terminal's end is meant for it.
pub(super) fn wait(args: &AwaitConfirmation) -> Result<(), Failure> {
    // Fails only for the leader of a group, who then has a session already.
    let _ = setsid();
    std::env::set_current_dir("/").context(|| "go to /".to_owned())?;
    process::catch_termination()?;
    // Where memory ends, it is not the way back that the kernel is to end. It may be refused.
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
    let reserve = Reserve::hold()?;
    say::data(format!("{READY}\n"))?;
    let null = OpenOptions::new().write(true).open("/dev/null").context(|| "open /dev/null".to_owned())?;
    dup2_stdout(null).context(|| "let go of standard output".to_owned())?;
    match confirmation::watch(&args.name, args.token, reserve)? {
        Outcome::Settled | Outcome::TakenDown => Ok(()),
    }
}
