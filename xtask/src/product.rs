//! The program that is measured.

use std::path::PathBuf;
use std::process::Command;

use nicteam_record::Record;

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
        let own = std::env::current_exe().map_err(|error| Failure::failed(format!("cannot find myself: {error}")))?;
        let binary = own.with_file_name("nicteam");
        if binary.is_file() {
            Ok(Product { binary, as_user: None })
        } else {
            let hint = "hint: cargo build --release -p nicteam";
            Err(Failure::Missing(format!("no nicteam at {}; {hint}", binary.display())))
        }
    }

    /// The program that runs in guests, built beside it.
    pub(crate) fn agent(&self) -> Result<PathBuf, Failure> {
        let agent = self.binary.with_file_name("nicteam-oracle-agent");
        if agent.is_file() {
            Ok(agent)
        } else {
            let hint = "hint: cargo build --release -p nicteam-oracle";
            Err(Failure::Missing(format!("no agent at {}; {hint}", agent.display())))
        }
    }

    /// `nicteam lab run EXPERIMENT --json`, to be completed.
    pub(crate) fn lab_run(&self, experiment: &str) -> Command {
        let mut command = self.command();
        command.args(["lab", "run", experiment, "--json"]);
        command
    }

    /// `nicteam team run NAME`, to be completed.
    pub(crate) fn team_run(&self, name: &str) -> Command {
        let mut command = self.command();
        command.args(["team", "run", name]);
        command
    }

    /// Builds an experiment's topology and holds it.
    pub(crate) fn hold(&self, experiment: &str) -> Result<Held, Failure> {
        Held::start(self.command().args(["lab", "up", experiment, "--json"]))
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

/// Runs `nicteam lab run ... --json` to its end and reads what it printed.
pub(crate) fn record(command: &mut Command) -> Result<Record, Failure> {
    nicteam_sys::process::die_with_parent(command);
    let output = tools::output(command)?;
    serde_json::from_slice(&output.stdout).map_err(|error| Failure::failed(format!("the record is not one: {error}")))
}
