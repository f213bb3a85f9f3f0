//! `nicteam lab fault`: faults by hand in the topology that `nicteam lab up` holds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use nicteam_testnet::{eventually, may_make_networks};

use crate::common::lab::{Folder, press_ctrl_c, words};

const LAB: &str = "title = \"Hands\"\nlinks = [{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }]\nswitches.sw = {}\n\
    hosts = { a = { team = \"t\" }, b = { team = \"t\" } }\nteams.t = { mode = \"active-backup\", miimon = 50 }\n\
    workloads.w = { kind = \"tcp\", from = \"a\", to = \"b\" }\n[[runs]]\nname = \"r\"\nworkloads = \"w\"\n";

/// What a lab leaves that was killed: no process has so high a number.
const LEFT: &str = "nicteam-lab-4194305.sock";

/// A topology that is held.
struct Lab {
    folder: Folder,
    process: Child,
    /// The process of host `a`.
    a: u64,
}

impl Lab {
    fn up(name: &str, arguments: &[&str]) -> Lab {
        let folder = Folder::new(name);
        fs::write(folder.path("lab.toml"), LAB).unwrap();
        fs::write(folder.path(LEFT), "").unwrap();
        let mut command = nicteam(&folder);
        command.args(["lab", "up", "lab.toml", "--json", "--dataplane", "packet"]).args(arguments);
        let mut process = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let built: serde_json::Value = serde_json::from_str(&line).unwrap();
        let a = built["pids"]["a"].as_u64().unwrap();
        Lab { folder, process, a }
    }

    fn fault(&self, arguments: &[&str]) -> Output {
        nicteam(&self.folder).args(["lab", "fault"]).args(arguments).output().unwrap()
    }

    /// What must work; what it printed.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.fault(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", words(&output.stderr));
        words(&output.stdout)
    }

    /// What must be refused; why.
    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.fault(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", words(&output.stdout));
        words(&output.stderr)
    }

    /// Whether this member of the team of host `a` has a carrier, as the team's own process says.
    fn has_carrier(&self, device: &str) -> bool {
        let arguments = ["-t", &self.a.to_string(), "-n", "-m", env!("CARGO_BIN_EXE_nicteam")];
        let show = ["team", "show", "team0", "--format", "json"];
        let output = Command::new("nsenter").args(arguments).args(show).output().unwrap();
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let members = status["members"].as_array().unwrap();
        members.iter().find(|member| member["name"] == device).unwrap()["carrier"].as_bool().unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        press_ctrl_c(&self.process);
        self.process.wait().unwrap();
    }
}

/// The sockets of other labs are in other folders.
fn nicteam(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.current_dir(&folder.0).env("XDG_RUNTIME_DIR", &folder.0);
    command
}

#[test]
fn faults_happen_and_are_undone_by_hand() {
    if !may_make_networks() {
        return;
    }
    let lab = Lab::up("by-hand", &["--faults"]);
    assert!(!lab.folder.entries().contains(&LEFT.to_owned()), "{:?}", lab.folder.entries());
    assert!(lab.done(&["list"]).contains("silence link, number, from, for, every"));
    assert!(lab.done(&["cable", "link=a,sw"]).contains("pulled at sw"));
    assert!(lab.done(&["list"]).contains("faults now: 1 the cable between a (eth0)"));
    // A team on packet sockets hears of it by netlink.
    eventually("eth0 has no carrier", || !lab.has_carrier("eth0"));
    assert!(lab.has_carrier("eth1"));
    assert!(lab.done(&["undo", "1"]).contains("plugged in again"));
    eventually("eth0 has its carrier back", || lab.has_carrier("eth0"));
    lab.done(&["silence", "link=a,sw", "number=1", "from=sw"]);
    lab.done(&["stop", "host=a"]);
    let undone = lab.done(&["undo"]);
    assert!(undone.contains("carries again") && undone.contains("continues"), "{undone}");
    assert!(!lab.done(&["list"]).contains("faults now"));
    assert!(lab.done(&["filters", "link=a,sw", "--json"]).contains("\"number\":null"));
}

#[test]
fn what_is_wrong_with_a_fault_by_hand_is_said_as_of_a_file() {
    if !may_make_networks() {
        return;
    }
    let lab = Lab::up("by-hand-wrong", &[]);
    assert!(lab.refused(2, &["cabel", "link=a,sw"]).contains("cable"));
    let wrong = lab.refused(2, &["cable", "link=a,c"]);
    assert!(wrong.contains("there is no cable between `a` and `c`") && wrong.contains("the fault:2"), "{wrong}");
    assert!(lab.refused(2, &["silence", "link=a,sw"]).contains("nicteam lab up --faults"));
    assert!(lab.refused(2, &["kill", "host=a"]).contains("nicteam lab up --faults"));
    assert!(lab.refused(2, &["cable", "link=a,sw", "every=1s"]).contains("happens once"));
    assert!(lab.refused(2, &["undo", "7"]).contains("no such fault"));
    drop(lab);
    let alone = Folder::new("by-hand-alone");
    let output = nicteam(&alone).args(["lab", "fault", "cable", "link=a,sw"]).output().unwrap();
    assert!(output.status.code() == Some(1) && words(&output.stderr).contains("no lab is up"), "{output:?}");
}
