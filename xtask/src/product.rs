//! The program that is measured.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nicteam_dataplane::Kind;
use nicteam_record::Record;
use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::failure::Failure;
use crate::held::Held;
use crate::tools;

/// The `nicteam` binary.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// Where it is.
    pub(crate) binary: PathBuf,
    /// User and group id to run it with; none: the caller's.
    pub(crate) as_user: Option<u32>,
}

impl Product {
    /// The one that was built beside this program.
    pub(crate) fn find() -> Result<Product, Failure> {
        Ok(Product { binary: tools::built_beside("nicteam", "nicteam")?, as_user: None })
    }

    /// Another one.
    pub(crate) fn at(binary: &Path) -> Result<Product, Failure> {
        match binary.canonicalize() {
            Ok(binary) if binary.is_file() => Ok(Product { binary, as_user: None }),
            Ok(other) => Err(Failure::Missing(format!("{} is no program", other.display()))),
            Err(error) => Err(Failure::Missing(format!("no program at {}: {error}", binary.display()))),
        }
    }

    /// `nicteam lab run EXPERIMENT --json`, to be completed.
    pub(crate) fn lab_run(&self, experiment: &str) -> Command {
        let mut command = self.command();
        command.args(["lab", "run", experiment, "--json"]);
        command
    }

    /// Starts a team of these members in a namespace, in a process of its own. `mode` is one of the options.
    pub(crate) fn start_team(
        &self,
        netns: &NetNs,
        state: &Path,
        name: &str,
        members: &[String],
        options: &[(&str, &str)],
        kind: Kind,
    ) -> Result<TeamProcess, Failure> {
        let mut command = self.command();
        command.args(["team", "run", name, "--members", &members.join(","), "--dataplane", &kind.to_string()]);
        for (name, value) in options {
            match *name {
                "mode" => command.args(["--mode", value]),
                _ => command.arg("-o").arg(format!("{name}={value}")),
            };
        }
        command.env("NICTEAM_STATE_DIR", state);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_netns(&mut command, netns);
        process::die_with_parent(&mut command);
        let child = command.spawn().map_err(|error| Failure::failed(format!("cannot run nicteam: {error}")))?;
        Ok(TeamProcess(child))
    }

    /// What a team in a namespace says of itself (`nicteam team show NAME --format json`).
    pub(crate) fn status(&self, netns: &NetNs, state: &Path, name: &str) -> Result<Value, Failure> {
        let said = self.team(netns, state, &["show", name, "--format", "json"])?;
        serde_json::from_slice(&said).map_err(|error| Failure::failed(format!("no status: {error}")))
    }

    /// What has happened to a team in a namespace (`nicteam team events NAME --json`).
    pub(crate) fn events(&self, netns: &NetNs, state: &Path, name: &str) -> Result<Vec<Value>, Failure> {
        let said = self.team(netns, state, &["events", name, "--json"])?;
        let events = serde_json::Deserializer::from_slice(&said).into_iter().collect::<Result<_, _>>();
        events.map_err(|error| Failure::failed(format!("no events: {error}")))
    }

    /// What `nicteam team` prints in a namespace.
    fn team(&self, netns: &NetNs, state: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let mut command = self.command();
        command.arg("team").args(arguments).env("NICTEAM_STATE_DIR", state);
        process::in_netns(&mut command, netns);
        Ok(tools::output(&mut command)?.stdout)
    }

    /// Builds an experiment's topology and holds it.
    pub(crate) fn hold(&self, experiment: &str) -> Result<Held, Failure> {
        Held::start(self.command().args(["lab", "up", experiment, "--json"]))
    }

    /// `nicteam lab tune EXPERIMENT --look --json`.
    pub(crate) fn lab_tune_look(&self, experiment: &str) -> Command {
        let mut command = self.command();
        command.args(["lab", "tune", experiment, "--look", "--json"]);
        command
    }

    /// `nicteam doctor path`, to be completed.
    pub(crate) fn doctor_path(&self) -> Command {
        let mut command = self.command();
        command.args(["doctor", "path"]);
        command
    }

    fn command(&self) -> Command {
        let Some(user) = self.as_user else { return Command::new(&self.binary) };
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}")]);
        command.args(["--clear-groups", "--pdeathsig=KILL", "--"]);
        command.arg(&self.binary);
        command
    }
}

/// A process that runs a team; killed with this value.
#[derive(Debug)]
pub(crate) struct TeamProcess(Child);

impl TeamProcess {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Failure> {
        kill(Pid::from_raw(self.0.id() as i32), signal).map_err(Failure::failed)
    }

    /// Ends it as by a crash, and waits until it has ended.
    pub(crate) fn kill(&mut self) -> Result<(), Failure> {
        self.0.kill().and_then(|()| self.0.wait()).map(drop).map_err(Failure::failed)
    }
}

impl Drop for TeamProcess {
    fn drop(&mut self) {
        // Fails only if it has ended, which is what is wanted.
        let _ = self.kill();
    }
}

/// Runs `nicteam lab run ... --json` to its end and reads what it printed.
pub(crate) fn record(command: &mut Command) -> Result<Record, Failure> {
    process::die_with_parent(command);
    let output = tools::output(command)?;
    serde_json::from_slice(&output.stdout).map_err(|error| Failure::failed(format!("the record is not one: {error}")))
}
