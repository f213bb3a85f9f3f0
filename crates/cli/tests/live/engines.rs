//! Teams that another program runs: Open vSwitch, started by the lab for each host.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use nicteam_testnet::{OpenVSwitch, eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::lab::{Folder, assert_failure, children_of, is_alive, press_ctrl_c};

const NICTEAM: &str = env!("CARGO_BIN_EXE_nicteam");

/// Two hosts whose teams every engine can run, at two members each.
const FILE: &str = r#"
title = "Engines"
links = [{ between = [["a", "b"], "sw"], count = 2, rate = "20mbit" }]
switches.sw = {}
[defaults]
duration = "500ms"
warmup = "300ms"
interval = "50ms"
[teams.t]
mode = "active-backup"
primary = "eth1"
[hosts]
a = { team = "t" }
b = { team = "t" }
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "copy"
workloads = "w"
"#;
/// Its links' rate, bit/s.
const LINK_BPS: f64 = 20e6;

/// A folder with the file, where Open vSwitch is and may run.
fn folder(name: &str) -> Option<Folder> {
    if !may_make_networks() {
        return None;
    }
    if !OpenVSwitch::is_installed() {
        eprintln!("SKIPPED: needs openvswitch-switch");
        return None;
    }
    let folder = Folder::new(name);
    fs::write(folder.path("t.toml"), FILE).unwrap();
    Some(folder)
}

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    let (file, output) = (folder.path("t.toml"), folder.path("bundle"));
    Command::new(NICTEAM).args(["lab", "run", &file, "--output", &output]).args(arguments).output().unwrap()
}

#[test]
fn two_engines_are_two_columns_of_one_report() {
    let Some(folder) = folder("engines-two") else { return };
    let output = run(&folder, &["--engine", "nicteam,ovs"]);
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let record: Value = serde_json::from_slice(&fs::read(folder.path("bundle/record.json")).unwrap()).unwrap();
    for (run, engine) in record["runs"].as_array().unwrap().iter().zip(["nicteam", "ovs"]) {
        assert_eq!(run["name"], format!("copy.{engine}"));
        assert_eq!(run["variant"], serde_json::json!({ "of": "copy", "engine": engine }));
        assert!(run["topology"]["teams"].as_array().unwrap().iter().all(|team| team["engine"] == engine), "{run}");
        let sent = |member: &str| {
            let members = run["members"].as_array().unwrap();
            let found = members.iter().find(|found| found["host"] == "a" && found["member"] == member);
            found.unwrap()["tx_bps"].as_f64().unwrap()
        };
        // No more than its link: that its rate is limited has outlived who runs the team. (Half a second of payload may be more,
        // where the receiver was late and had some to read from before.)
        assert!((1e6..LINK_BPS * 1.2).contains(&sent("eth1")), "{engine}: {}", sent("eth1"));
        // The primary carries, the other stands by, at both.
        assert!(sent("eth1") > 100.0 * sent("eth0").max(1.0), "{engine}: {} {}", sent("eth1"), sent("eth0"));
    }
    let team = &record["runs"][1]["topology"]["teams"][0];
    assert!(team["engine_version"].as_str().unwrap().contains("Open vSwitch"), "{team}");
    assert!(team["offloads"]["eth0"].is_array() && team["dataplane"] == "netdev", "{team}");
    let table: Vec<&str> = printed.lines().take(3).collect();
    assert!(table[0].contains("nicteam") && table[0].contains("ovs"), "{printed}");
    assert!(table.iter().any(|line| line.starts_with("copy ") && line.matches("0.").count() >= 2), "{printed}");
    let page = fs::read_to_string(folder.path("bundle/report.html")).unwrap();
    assert!(page.contains("<th scope=\"col\" class=\"num\">ovs</th>"), "no column of the page");
    assert_eq!(folder.entries().len(), 2, "{:?}", folder.entries());
}

#[test]
fn an_engine_that_the_machine_lacks_is_skipped_by_name() {
    let Some(folder) = folder("engines-kernel") else { return };
    let output = run(&folder, &["--engine", "nicteam,kernel"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    if !said.contains("is skipped") {
        // This kernel has bonding: then it has carried, too.
        return assert_eq!(said.matches("of the limit").count(), 2, "{said}");
    }
    assert!(said.contains("run 2 of 2: copy.kernel is skipped: this kernel has no bonding driver"), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("copy.kernel was skipped: this kernel has no bonding driver"), "{printed}");
    let record: Value = serde_json::from_slice(&fs::read(folder.path("bundle/record.json")).unwrap()).unwrap();
    assert_eq!(record["skipped"][0]["run"], "copy.kernel");
    assert_eq!(record["unfinished"], Value::Null);
    let alone = Command::new(NICTEAM).args(["lab", "run", &folder.path("t.toml"), "--engine", "kernel"]).output();
    assert_failure(&alone.unwrap(), 3, &["no run can be carried out here", "no bonding driver"]);
}

#[test]
fn open_vswitch_that_is_not_installed_is_named_before_anything_is_built() {
    let Some(folder) = folder("engines-missing") else { return };
    // A mount namespace of its own, in which nobody finds its schema.
    let script = |rest: &str| {
        format!("mount -t tmpfs none /usr/share/openvswitch && exec {NICTEAM} lab run {} {rest}", folder.path("t.toml"))
    };
    let output = format!("--output {}", folder.path("bundle"));
    let run = |rest: &str| Command::new("unshare").args(["-m", "sh", "-c", &script(rest)]).output().unwrap();
    let refused = run(&format!("--engine ovs {output}"));
    assert_failure(&refused, 3, &["engine `ovs`", "not installed", "hint:", "openvswitch-switch"]);
    assert!(!String::from_utf8_lossy(&refused.stderr).contains("run 1 of"), "something was built");
    // Who does not ask for it does not need it.
    assert!(run(&output).status.success());
}

/// A lab in the middle of a run by Open vSwitch, its agents, and the daemons of each.
fn lab_in_a_run(folder: &Folder) -> (Child, impl Iterator<Item = String> + use<>, Vec<u32>, Vec<Vec<u32>>) {
    let mut lab = Command::new(NICTEAM)
        .args(["lab", "run", &folder.path("t.toml"), "--engine", "ovs", "--duration", "60s"])
        .args(["--output", &folder.path("bundle")])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let said = BufReader::new(lab.stderr.take().unwrap()).lines().map_while(Result::ok);
    let (mut agents, mut daemons) = (Vec::new(), Vec::new());
    eventually("a database and a switch at both hosts", || {
        agents = children_of(lab.id());
        daemons = agents.iter().map(|agent| daemons_of(*agent)).filter(|daemons| daemons.len() == 2).collect();
        daemons.len() == 2
    });
    // Traffic goes by them as soon as they have a port each; the switches' processor time says so.
    eventually("traffic", || daemons.iter().all(|daemons| processor_ticks(daemons[1]) > 5));
    (lab, said, agents, daemons)
}

/// The database and the switch that an agent has started; it runs other programs for moments.
fn daemons_of(agent: u32) -> Vec<u32> {
    let mut daemons = children_of(agent);
    let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    daemons.retain(|pid| ["ovsdb-server", "ovs-vswitchd"].contains(&name(pid).trim()));
    daemons
}

/// User and system time of a process, in clock ticks.
fn processor_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<u64>().unwrap()).sum()
}

fn all_have_ended(agents: &[u32], daemons: &[Vec<u32>]) -> bool {
    !agents.iter().chain(daemons.iter().flatten()).any(|process| is_alive(*process))
}

#[test]
fn ctrl_c_ends_the_daemons_of_every_host() {
    let Some(folder) = folder("engines-ctrl-c") else { return };
    let (mut lab, _said, agents, daemons) = lab_in_a_run(&folder);
    press_ctrl_c(&lab);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    eventually("the end of all daemons", || all_have_ended(&agents, &daemons));
    assert_eq!(folder.entries(), ["t.toml"]);
}

#[test]
fn kill_ends_the_daemons_even_of_an_agent_that_is_stopped() {
    let Some(folder) = folder("engines-kill") else { return };
    let (mut lab, _said, agents, daemons) = lab_in_a_run(&folder);
    kill(Pid::from_raw(agents[0] as i32), Signal::SIGSTOP).unwrap();
    lab.kill().unwrap();
    lab.wait().unwrap();
    eventually("the end of all daemons", || all_have_ended(&agents, &daemons));
}

#[test]
fn a_killed_agent_takes_its_daemons_along() {
    let Some(folder) = folder("engines-agent") else { return };
    let (mut lab, _said, agents, daemons) = lab_in_a_run(&folder);
    kill(Pid::from_raw(agents[0] as i32), Signal::SIGKILL).unwrap();
    assert_eq!(lab.wait().unwrap().code(), Some(1));
    eventually("the end of all daemons", || all_have_ended(&agents, &daemons));
    assert_eq!(folder.entries(), ["t.toml"]);
}

#[test]
fn a_switch_that_ends_in_a_run_ends_it_with_its_last_words() {
    let Some(folder) = folder("engines-switch") else { return };
    let (mut lab, said, agents, daemons) = lab_in_a_run(&folder);
    kill(Pid::from_raw(daemons[1][1] as i32), Signal::SIGKILL).unwrap();
    let said: Vec<String> = said.collect();
    assert_eq!(lab.wait().unwrap().code(), Some(1), "{said:?}");
    let words = ["nicteam: b: ovs-vswitchd has ended by SIGKILL; the last that it said: ", "|INFO|"];
    assert!(said.iter().any(|line| words.iter().all(|words| line.contains(words))), "{said:?}");
    eventually("the end of all daemons", || all_have_ended(&agents, &daemons));
    assert_eq!(folder.entries(), ["t.toml"]);
}
