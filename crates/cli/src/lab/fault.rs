//! `nicteam lab fault`: faults by hand in the topology that `nicteam lab up` holds.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nicteam_experiment::{fault_kinds, fault_text};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::say;

/// Let a fault happen in the topology that `lab up` holds, or undo it.
///
/// A fault has the kind and the keys that an event of an experiment file has (docs/experiment.md). It lasts as long as `for`
/// says, or until it is undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nicteam lab fault list
  nicteam lab fault cable link=a,sw
  nicteam lab fault silence link=a,sw number=1 from=sw for=2s
  nicteam lab fault undo 1
  nicteam lab fault undo

`silence`, `impair`, `hang`, `lacp`, `stop`, `kill` and `busy` need a topology built by `nicteam lab up --faults`.")]
pub(crate) struct Args {
    /// Kind of fault; or `list`, for the kinds and the faults that last; or `undo`.
    #[arg(value_name = "KIND|list|undo")]
    what: String,
    /// Keys of the fault and their values: link=a,sw. For `undo` the number of the fault; all by default.
    #[arg(value_name = "KEY=VALUE|N")]
    values: Vec<String>,
    /// The process of `lab up`, if there are several.
    #[arg(long, value_name = "PID")]
    lab: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is asked of `lab up`, a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Let this happen.
    Fault(String),
    /// Undo the fault of this number, or all.
    Undo(Option<u32>),
    /// Name the faults that last.
    List,
}

/// What it answers, a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// What happened or lasts, in words; the number undoes it.
    Done(Vec<(Option<u32>, String)>),
    /// Why nothing happened.
    Refused(String),
}

/// Where `lab up` is asked; it goes with this value.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

/// How long the other end may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What names of these sockets begin with.
const PREFIX: &str = "nicteam-lab-";

impl Socket {
    /// Of this process. Those that killed labs left behind go.
    pub(super) fn bind() -> Result<Socket, Failure> {
        let is_left = |pid: u32| pid == std::process::id() || !is_alive(pid);
        for (_, left) in sockets().into_iter().filter(|(pid, _)| is_left(*pid)) {
            // Another lab may do the same.
            let _ = fs::remove_file(left);
        }
        let path = folder().join(format!("{PREFIX}{}.sock", std::process::id()));
        let listener = UnixListener::bind(&path).and_then(|listener| {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let failed = |error| Failure::failed(format!("cannot listen at {}: {error}", path.display()));
        Ok(Socket { listener: listener.map_err(failed)?, path })
    }

    /// Answers those who ask by now. One who goes away early is not waited for.
    pub(super) fn serve(&self, mut answer: impl FnMut(Ask) -> Answer) {
        while let Ok((stream, _)) = self.listener.accept() {
            let heard = hear::<Ask>(&stream);
            let answered = heard.map_or_else(|error| Answer::Refused(error.to_string()), &mut answer);
            // Nobody is left to tell.
            let _ = say_to(&stream, &answered);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Carries the command out.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let ask = match (args.what.as_str(), args.values.as_slice()) {
        ("list", []) => return list(args),
        ("undo", []) => Ask::Undo(None),
        ("undo", [number]) => Ask::Undo(Some(number.parse().map_err(|_| {
            Failure::wrong_input(format!("`{number}` is no number of a fault"))
                .hint(Some("`nicteam lab fault list` names them"))
        })?)),
        ("list" | "undo", _) => return Err(Failure::wrong_input("too many values")),
        (kind, values) => Ask::Fault(fault_text(kind, values)),
    };
    match ask_lab(&lab(args.lab)?, &ask)? {
        Answer::Refused(reason) => Err(Failure::wrong_input(reason.trim_end())),
        Answer::Done(done) if args.json => say::data(json(&done)),
        Answer::Done(done) => {
            for (number, words) in done {
                say::data(format_args!("{words}\n"))?;
                if let Some(number) = number {
                    say::line(format_args!("undo it: nicteam lab fault undo {number}"));
                }
            }
            Ok(())
        }
    }
}

/// Names the kinds with their keys, and the faults that last in the lab that is up, if one is.
fn list(args: &Args) -> Result<(), Failure> {
    let mut last = Vec::new();
    if args.lab.is_some() || !labs().is_empty() {
        match ask_lab(&lab(args.lab)?, &Ask::List)? {
            Answer::Done(done) => last = done,
            Answer::Refused(reason) => return Err(Failure::failed(reason)),
        }
    }
    let kinds = fault_kinds();
    if args.json {
        let kinds: serde_json::Map<String, serde_json::Value> =
            kinds.into_iter().map(|(kind, keys)| (kind.to_owned(), keys.into())).collect();
        let last = serde_json::from_str::<serde_json::Value>(&json(&last)).map_err(Failure::failed)?;
        return say::data(format_args!("{}\n", serde_json::json!({ "kinds": kinds, "faults": last })));
    }
    let kinds = kinds.iter().map(|(kind, keys)| format!("  {kind:<8}  {}\n", keys.join(", ")));
    let mut text = format!("kinds and their keys:\n{}", kinds.collect::<String>());
    if !last.is_empty() {
        let line = |(number, words): &(Option<u32>, String)| format!("  {}  {words}\n", number.unwrap_or_default());
        text += &format!("\nfaults now:\n{}", last.iter().map(line).collect::<String>());
    }
    say::data(text)
}

fn json(done: &[(Option<u32>, String)]) -> String {
    let one = |(number, text): &(Option<u32>, String)| serde_json::json!({ "number": number, "text": text });
    format!("{}\n", serde_json::Value::from_iter(done.iter().map(one)))
}

/// Where sockets of labs are.
fn folder() -> PathBuf {
    std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// The sockets of this user's labs, by process. A lab that was killed leaves its own.
fn sockets() -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(folder()).into_iter().flatten().filter_map(Result::ok);
    let mut sockets: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let pid = name.strip_prefix(PREFIX)?.strip_suffix(".sock")?.parse().ok()?;
            let own = fs::symlink_metadata(entry.path()).is_ok_and(|it| it.uid() == geteuid().as_raw());
            own.then(|| (pid, entry.path()))
        })
        .collect();
    sockets.sort();
    sockets
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The sockets of this user's labs that are up, by process.
fn labs() -> Vec<(u32, PathBuf)> {
    sockets().into_iter().filter(|(pid, _)| is_alive(*pid)).collect()
}

/// The socket of the lab that is meant.
fn lab(pid: Option<u32>) -> Result<PathBuf, Failure> {
    let labs = labs();
    let meant: Vec<&(u32, PathBuf)> = labs.iter().filter(|(own, _)| pid.is_none_or(|pid| pid == *own)).collect();
    match meant.as_slice() {
        [(_, path)] => Ok(path.clone()),
        [] => Err(Failure::failed("no lab is up").hint(Some("`nicteam lab up EXPERIMENT --faults` builds one"))),
        several => {
            let pids: Vec<String> = several.iter().map(|(pid, _)| pid.to_string()).collect();
            Err(Failure::wrong_input("several labs are up")
                .hint(Some(format!("choose one: --lab {}", pids.join(", ")))))
        }
    }
}

fn ask_lab(path: &Path, ask: &Ask) -> Result<Answer, Failure> {
    let asked = UnixStream::connect(path).and_then(|stream| {
        say_to(&stream, ask)?;
        hear(&stream)
    });
    asked.map_err(|error| Failure::failed(format!("cannot ask the lab at {}: {error}", path.display())))
}

fn say_to(mut stream: &UnixStream, what: &impl Serialize) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn hear<T: for<'d> Deserialize<'d>>(stream: &UnixStream) -> std::io::Result<T> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
