//! However a lab ends, it says why and leaves a clean machine.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nicteam_testnet::{eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::lab::{Folder, assert_failure, children_of, is_alive, press_ctrl_c};

const NICTEAM: &str = env!("CARGO_BIN_EXE_nicteam");

/// A lab that has begun to build, in a process group of its own, as a shell starts it.
fn lab(output: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut lab = Command::new(NICTEAM)
        .args(["lab", "run", "two-hosts", "--duration", "60s", "--output", output])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(lab.stderr.take().unwrap()).lines().map_while(Result::ok);
    let first = said.next().unwrap();
    assert!(first.starts_with("run 1 of"), "{first}");
    (lab, said)
}

/// A lab in the middle of a run, and its agents.
fn lab_in_a_run(output: &str) -> (Child, Vec<u32>) {
    let (lab, said) = lab(output);
    std::thread::spawn(move || said.for_each(drop));
    let mut agents = Vec::new();
    eventually("two agents", || {
        agents = children_of(lab.id());
        agents.len() == 2
    });
    // A second of traffic, or the signal would meet a lab that still builds.
    std::thread::sleep(Duration::from_secs(1));
    (lab, agents)
}

#[test]
fn ctrl_c_takes_everything_down() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("ctrl-c");
    let (mut lab, agents) = lab_in_a_run(&folder.path("bundle"));
    press_ctrl_c(&lab);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert!(!agents.iter().any(|agent| is_alive(*agent)), "agents are left");
    assert_eq!(folder.entries(), [""; 0]);
}

#[test]
fn ctrl_c_while_it_builds_is_no_other_error() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("ctrl-c-early");
    for delay_ms in [0, 5, 10, 20, 40, 80] {
        let (mut lab, said) = lab(&folder.path("bundle"));
        std::thread::sleep(Duration::from_millis(delay_ms));
        press_ctrl_c(&lab);
        let said: Vec<String> = said.collect();
        assert_eq!(lab.wait().unwrap().code(), Some(130), "after {delay_ms} ms: {said:?}");
        assert!(said.iter().any(|line| line.contains("stopped by SIGINT")), "after {delay_ms} ms: {said:?}");
        assert_eq!(folder.entries(), [""; 0]);
    }
}

#[test]
fn a_dead_agent_ends_the_run() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("dead-agent");
    let (mut lab, agents) = lab_in_a_run(&folder.path("bundle"));
    kill(Pid::from_raw(agents[1] as i32), Signal::SIGKILL).unwrap();
    assert_eq!(lab.wait().unwrap().code(), Some(1));
    assert_eq!(folder.entries(), [""; 0]);
}

/// A short run and a long one.
const TWO_RUNS: &str = r#"
title = "A short run and a long one"
defaults.warmup = "0s"
links = [{ between = ["a", "b"], rate = "10mbit" }]
[hosts]
a = {}
b = {}
[workloads.copy]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "short"
workloads = "copy"
duration = "300ms"
[[runs]]
name = "long"
workloads = "copy"
duration = "60s"
"#;

/// Runs [`TWO_RUNS`], ends it in the second run, and returns what it said and its exit code.
fn ended_in_the_second_run(folder: &Folder, end: impl FnOnce(&Child)) -> (String, String, Option<i32>) {
    let file = folder.path("two-runs.toml");
    fs::write(&file, TWO_RUNS).unwrap();
    let mut lab = Command::new(NICTEAM)
        .args(["lab", "run", &file, "--output", &folder.path("bundle")])
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(lab.stderr.take().unwrap()).lines().map_while(Result::ok);
    let heard: Vec<String> = said.by_ref().take_while(|line| !line.starts_with("run 2 of 2")).collect();
    assert!(heard.iter().any(|line| line.starts_with("run 1 of 2: short")), "{heard:?}");
    eventually("two agents", || children_of(lab.id()).len() == 2);
    end(&lab);
    let rest: Vec<String> = said.collect();
    let printed = std::io::read_to_string(lab.stdout.take().unwrap()).unwrap();
    (rest.join("\n"), printed, lab.wait().unwrap().code())
}

/// The bundle holds the first run and says that the second did not end.
#[track_caller]
fn assert_partial(folder: &Folder, reason: &str, said: &str, printed: &str) {
    let record = fs::read_to_string(folder.path("bundle/record.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["runs"].as_array().unwrap().len(), 1);
    assert_eq!(record["runs"][0]["name"], "short");
    assert_eq!(record["unfinished"]["run"], "long");
    assert!(record["unfinished"]["reason"].as_str().unwrap().contains(reason), "{record}");
    assert!(fs::read_to_string(folder.path("bundle/report.html")).unwrap().contains("Partial:"));
    let samples: Vec<_> = fs::read_dir(folder.path("bundle/samples")).unwrap().collect();
    assert_eq!(samples.len(), 1);
    assert!(printed.contains("short"), "no table: {printed}");
    assert!(said.contains("run `long` did not end") && said.contains("1 of 2 runs are recorded"), "{said}");
    let again = Command::new(NICTEAM).args(["lab", "report", &folder.path("bundle")]).output().unwrap();
    assert!(again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("partial: run `long` did not end"), "{again:?}");
}

#[test]
fn ctrl_c_keeps_the_runs_that_ended() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("ctrl-c-second");
    let (said, printed, code) = ended_in_the_second_run(&folder, press_ctrl_c);
    assert_eq!(code, Some(130), "{said}");
    assert_partial(&folder, "stopped by SIGINT", &said, &printed);
}

#[test]
fn a_failed_run_keeps_those_before_it() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("dead-agent-second");
    let (said, printed, code) = ended_in_the_second_run(&folder, |lab| {
        kill(Pid::from_raw(children_of(lab.id())[1] as i32), Signal::SIGKILL).unwrap();
    });
    assert_eq!(code, Some(1), "{said}");
    // Which call finds it out depends on the moment.
    assert_partial(&folder, "", &said, &printed);
}

#[test]
fn clean_leaves_a_running_lab_alone() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("clean-running");
    let (mut lab, agents) = lab_in_a_run(&folder.path("bundle"));
    fs::create_dir(folder.0.join("mine.partial")).unwrap();
    let output = Command::new(NICTEAM).args(["lab", "clean", "--results"]).arg(&folder.0).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing to clean\n");
    assert!(agents.iter().all(|agent| is_alive(*agent)));
    press_ctrl_c(&lab);
    lab.wait().unwrap();
    assert_eq!(folder.entries(), ["mine.partial"]);
}

#[test]
fn kill_leaves_no_process_and_clean_removes_the_rest() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("kill");
    let (mut lab, agents) = lab_in_a_run(&folder.path("bundle"));
    // An agent that is stopped cannot end by itself.
    kill(Pid::from_raw(agents[0] as i32), Signal::SIGSTOP).unwrap();
    lab.kill().unwrap();
    lab.wait().unwrap();
    eventually("the end of all agents", || !agents.iter().any(|agent| is_alive(*agent)));
    assert_eq!(folder.entries(), ["bundle.partial"]);
    // What was measured until then can be read.
    let report = Command::new(NICTEAM).args(["lab", "report"]).arg(folder.0.join("bundle.partial")).output().unwrap();
    let said = String::from_utf8_lossy(&report.stderr);
    assert!(report.status.success() && said.contains("its lab runs, or was killed; 0 of"), "{report:?}");
    let samples = fs::read_dir(folder.0.join("bundle.partial/samples")).unwrap().next().unwrap().unwrap();
    let lines = fs::read_to_string(samples.path()).unwrap();
    let whole: Vec<&str> = lines.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    let is_sample = |line: &&str| serde_json::from_str::<nicteam_record::Sample>(line).is_ok();
    assert!(whole.len() > 4 && whole.iter().all(is_sample), "{lines}");
    let clean = || {
        let output = Command::new(NICTEAM).args(["lab", "clean", "--results"]).arg(&folder.0).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(clean().contains("bundle.partial"));
    assert_eq!(folder.entries(), [""; 0]);
    assert_eq!(clean(), "nothing to clean\n");
}

#[test]
fn a_full_disk_is_named() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("full");
    // Full at the samples, at the record, and at the page.
    for size in ["4k", "12k", "24k"] {
        // A mount namespace of its own, so that the small disk goes with the process.
        let script = format!(
            "mount -t tmpfs -o size={size} none {disk} && \
             {NICTEAM} lab run two-hosts --duration 300ms --output {disk}/bundle; code=$?; ls -A {disk}; exit $code",
            disk = folder.0.display()
        );
        let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
        assert_failure(&output, 1, &["cannot write", "No space left on device"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{size}: something is left");
    }
}

#[test]
fn an_output_that_exists_is_not_touched() {
    let folder = Folder::new("exists");
    fs::write(folder.0.join("precious"), "data").unwrap();
    let output = Command::new(NICTEAM).args(["lab", "run", "two-hosts", "--output"]).arg(&folder.0).output().unwrap();
    assert_failure(&output, 2, &["exists already", "hint:"]);
    assert_eq!(fs::read_to_string(folder.0.join("precious")).unwrap(), "data");
}

#[test]
fn an_output_in_a_folder_that_is_not_there_makes_no_tree() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("no-parent");
    let output = folder.path("slip/of/the-pen");
    let output = Command::new(NICTEAM).args(["lab", "run", "two-hosts", "--output", &output]).output().unwrap();
    assert_failure(&output, 2, &["no folder", "slip/of", "hint:", "mkdir -p"]);
    assert_eq!(folder.entries(), [""; 0]);
}

#[test]
fn a_duration_out_of_range_is_refused() {
    for duration in ["0s", "10ms", "99h", "soon"] {
        let output = Command::new(NICTEAM).args(["lab", "run", "two-hosts", "--duration", duration]).output().unwrap();
        assert_failure(&output, 2, &[duration, "hint:"]);
    }
}

#[test]
fn neither_root_nor_user_namespaces_is_named() {
    // Inside a user namespace that allows no further ones, without any capability.
    let script = format!(
        "echo 0 > /proc/sys/user/max_user_namespaces && \
         exec setpriv --bounding-set=-all --inh-caps=-all -- {NICTEAM} lab run two-hosts"
    );
    let output = Command::new("unshare").args(["-Ur", "sh", "-c", &script]).output().unwrap();
    assert_failure(&output, 3, &["needs root or user namespaces", "hint:", "user.max_user_namespaces"]);
}

#[test]
fn an_ordinary_user_runs_an_experiment() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("user");
    // The build folder may be closed to others.
    let binary = folder.path("nicteam");
    fs::copy(NICTEAM, &binary).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", &binary])
        .args(["lab", "run", "two-hosts", "--duration", "1s", "--json", "--output", &folder.path("bundle")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["environment"]["privileges"], "user namespace");
    assert!(record["runs"][0]["delivered_bps"].as_f64().unwrap() > 0.0);
    assert!(Path::new(&folder.path("bundle/report.html")).exists());
}
