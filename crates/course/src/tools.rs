//! Other programs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nicteam_sys::netns::{self, NetNs};
use nicteam_sys::process;

use crate::failure::Failure;

/// A program and the Debian package it comes in.
pub type Tool = (&'static str, &'static str);

/// Refuses a machine that lacks one of these programs, or root.
pub fn require(tools: &[Tool]) -> Result<(), Failure> {
    if !netns::is_network_root() {
        return Err(Failure::Missing("this needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN); hint: sudo".to_owned()));
    }
    match tools.iter().find(|(program, _)| find(program).is_none()) {
        None => Ok(()),
        Some((program, package)) => {
            Err(Failure::Missing(format!("no `{program}`; hint: apt-get install --no-install-recommends {package}")))
        }
    }
}

/// Runs a program to its end; what it printed, if it succeeded.
pub fn output(command: &mut Command) -> Result<Output, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Failure::failed(format!("cannot run {program}: {error}")))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::failed(format!("{program} failed ({}): {}", output.status, said.trim())))
}

/// A program that runs in a namespace, and says nothing; killed with this value.
pub struct Daemon(Child);

impl Daemon {
    /// Starts it.
    pub fn spawn(netns: &NetNs, mut command: Command) -> Result<Daemon, Failure> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_netns(&mut command, netns);
        process::die_with_parent(&mut command);
        let program = command.get_program().to_string_lossy().into_owned();
        command.spawn().map(Daemon).map_err(|error| Failure::failed(format!("cannot run {program}: {error}")))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that runs in guests.
pub fn agent() -> Result<PathBuf, Failure> {
    built_beside("nicteam-oracle-agent", "nicteam-oracle")
}

/// A program of the project that was built beside this one.
pub fn built_beside(program: &str, package: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::failed(format!("cannot find myself: {error}")))?;
    let path = own.with_file_name(program);
    if path.is_file() {
        return Ok(path);
    }
    let hint = format!("hint: cargo build --release -p {package}");
    Err(Failure::Missing(format!("no {program} at {}; {hint}", path.display())))
}

/// The repository's root.
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Cargo, to be run at the repository's root.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}

/// Where a program is: at its path, or somewhere in `PATH`.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Joining an absolute path gives that path.
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
