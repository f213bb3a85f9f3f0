//! The nicteam processes of a test.
#![allow(dead_code, reason = "not every test file needs all of it")]

pub mod experiment;
pub mod lab;
pub mod networkd;
pub mod recipe;
pub mod teams;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::Host;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A `nicteam team run` in a host; killed with this value.
pub struct TeamProcess {
    child: Child,
    state: PathBuf,
}

impl TeamProcess {
    /// Starts a team and waits until it says that it runs.
    pub fn start(host: &Host, name: &str, members: &[String], arguments: &[&str]) -> TeamProcess {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.args(["team", "run", name, "--members", &members.join(",")]).args(arguments);
        let state = teams::own_folder("state");
        command.stdin(Stdio::null()).stderr(Stdio::piped()).env("NICTEAM_STATE_DIR", &state);
        process::in_netns(&mut command, &host.netns);
        process::die_with_parent(&mut command);
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut heard = Vec::new();
        loop {
            match said.next() {
                Some(Ok(line)) if line.contains(" runs on the ") => break,
                Some(Ok(line)) => heard.push(line),
                _ => panic!("the team did not start: {heard:?}"),
            }
        }
        // Somebody has to read on, or the process would stop at a full pipe.
        std::thread::spawn(move || said.for_each(drop));
        TeamProcess { child, state }
    }

    /// Ends it as its user would: it takes the team down and is gone.
    pub fn stop(&mut self) {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills it as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for TeamProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.state);
    }
}
