//! `nicteam team record`: what a team was told lately, as a file.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nicteam_daemon::control::{Client, RefusalKind, meant};
use nicteam_daemon::{Entry, StateStore, TeamStatus, Whose, show};
use nicteam_team::replay::head;

use crate::failure::Failure;
use crate::say;

/// Write what a team was told lately to a file, which `team replay` replays: what a report of a defect needs.
///
/// Links, control frames (of LACP, hellos, ARP and neighbour discovery), deadlines, options and counters, at most 64 MiB of
/// them; never a key. The file names devices and addresses of this network: look at it by `team replay --show`.
/// A process saves the last of it each second, so that of a team whose process was killed there is that.
#[derive(Debug, clap::Args)]
pub(crate) struct Record {
    /// The team.
    name: String,
    /// The file, which must not be there yet; `-`: standard output. NAME.nicteam-record by default.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What the process was told that ran the team before this one, as far as it had saved that: after a crash and a restart.
    #[arg(long)]
    former: bool,
}

/// Records a team.
pub(super) fn record(wanted: &Record) -> Result<(), Failure> {
    let name = meant(&wanted.name);
    let file = match wanted.former {
        true => saved(&name, Whose::Former)?.ok_or_else(|| none_before(&name))?,
        false => last(&name)?,
    };
    let path = wanted.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.nicteam-record")));
    if path.as_os_str() == "-" {
        return io::stdout()
            .lock()
            .write_all(&file)
            .map_err(|error| Failure::failed(format!("standard output: {error}")));
    }
    write(&path, &file)?;
    say::line(format_args!("{}: {} bytes; `nicteam team replay` replays it", path.display(), file.len()));
    Ok(())
}

/// What the team was told, by its process; by what that had saved, if it was killed.
fn last(team: &str) -> Result<Vec<u8>, Failure> {
    let mut client = match Client::connect(team) {
        Ok(client) => client,
        Err(refusal) if refusal.kind == RefusalKind::NotRunning => {
            let saved = saved(team, Whose::Last)?.ok_or(refusal)?;
            say::line(format_args!("note: the process of {team} has ended; this is what it had saved"));
            return Ok(saved);
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let (status, events) = (client.status()?, client.events_after(0)?);
    Ok([head(&about(&status, &events)), client.recording()?].concat())
}

/// What a process of the team had saved.
fn saved(team: &str, whose: Whose) -> Result<Option<Vec<u8>>, Failure> {
    StateStore::here().and_then(|store| store.recording(team, whose)).map_err(Failure::failed)
}

fn none_before(team: &str) -> Failure {
    let failure = Failure::failed(format!("no process that ran {team} before this one has left what it was told"));
    failure.hint(Some(format!("`nicteam team record {team}` has what this one was told")))
}

/// Writes a file that only its owner may read.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let failed = |error: io::Error| Failure::failed(format!("{}: {error}", path.display()));
    let mut file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::failed(format!("{} is there already", path.display())).hint(Some("-o names another file"))
        }
        _ => failed(error),
    })?;
    file.write_all(bytes).map_err(|error| {
        // Half a file helps nobody.
        let _ = fs::remove_file(path);
        failed(error)
    })
}

/// What a report needs beside.
fn about(status: &TeamStatus, events: &[Entry]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let kernel = nix::sys::utsname::uname().map_or_else(
        |errno| errno.to_string(),
        |name| format!("{} {}", name.release().display(), name.version().display()),
    );
    let mut about = format!("nicteam: {}\nkernel: {kernel}\n", status.nicteam);
    // Writing to a text cannot fail.
    let _ = writeln!(about, "recorded: {now} s after 1970, {} ms after the team's process began", status.uptime_ms);
    for member in &status.members {
        let _ = writeln!(about, "member {}: driver {}", member.name, driver(&member.name));
    }
    let _ = write!(about, "\nteam show:\n{}\nteam events:\n", show::text(status));
    for entry in events {
        let _ = writeln!(about, "{entry}");
    }
    about
}

/// The driver of a device, as sysfs has it.
fn driver(device: &str) -> String {
    let link = fs::read_link(format!("/sys/class/net/{device}/device/driver"));
    let name = link.ok().and_then(|link| link.file_name().map(|name| name.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "none that sysfs names".to_owned())
}
