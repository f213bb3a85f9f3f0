//! The program that is measured.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nicteam_dataplane::Kind;
use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use serde_json::Value;

use crate::failure::Failure;
use crate::tools;

/// The `nicteam` binary.
#[derive(Clone, Debug)]
pub struct Product {
    /// Where it is.
    pub binary: PathBuf,
    /// User and group id to run it with; none: the caller's.
    pub as_user: Option<u32>,
}

impl Product {
    /// The one that was built beside this program.
    pub fn find() -> Result<Product, Failure> {
        Ok(Product { binary: tools::built_beside("nicteam", "nicteam")?, as_user: None })
    }

    /// Starts a team of these members in a namespace, in a process of its own. `mode` is one of the options.
    pub fn start_team(
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

    /// What has happened to a team in a namespace (`nicteam team events NAME --json`).
    ///
    /// # Errors
    /// What the program says if it fails.
    pub fn events(&self, netns: &NetNs, state: &Path, name: &str) -> Result<Vec<Value>, Failure> {
        let mut command = self.command();
        command.args(["team", "events", name, "--json"]).env("NICTEAM_STATE_DIR", state);
        process::in_netns(&mut command, netns);
        let said = tools::output(&mut command)?.stdout;
        let events = serde_json::Deserializer::from_slice(&said).into_iter().collect::<Result<_, _>>();
        events.map_err(|error| Failure::failed(format!("no events: {error}")))
    }

    /// The program, to be given its arguments.
    pub fn command(&self) -> Command {
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
pub struct TeamProcess(Child);

impl Drop for TeamProcess {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
