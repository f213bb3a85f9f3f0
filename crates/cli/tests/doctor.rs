//! What the lab can use of a machine.

use std::process::{Command, Output};

use serde_json::Value;

fn doctor(arguments: &[&str], path: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.arg("doctor").args(arguments);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.output().unwrap()
}

#[test]
fn what_is_missing_comes_with_the_line_that_installs_it() {
    // Where nobody installs, but for the folders of the system's own programs.
    let output = doctor(&["--lab"], Some("/nowhere"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    let line = text.lines().find_map(|line| line.strip_prefix("hint: apt-get install ")).unwrap();
    assert!(line.split(' ').any(|package| package == "fio") && line.contains("iperf3"), "{text}");
    assert!(text.lines().any(|line| line.contains("fio ") && line.contains("missing")), "{text}");
    for ability in ["network namespaces", "eBPF at tc", "bonding driver"] {
        assert!(text.contains(&format!("  {ability}")), "{text}");
    }
}

#[test]
fn programs_are_told_the_same() {
    let output = doctor(&["--lab", "--json"], None);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let programs = found["programs"].as_array().unwrap();
    let missing: Vec<&str> =
        programs.iter().filter(|of| of["missing"].is_string()).map(|of| of["package"].as_str().unwrap()).collect();
    assert_eq!(output.status.code(), Some(if missing.is_empty() { 0 } else { 3 }), "{found:#}");
    let install = found["install"].as_str().unwrap_or_default();
    assert!(missing.iter().all(|package| install.contains(package)), "{install}: {missing:?}");
    assert!(programs.iter().any(|of| of["name"] == "tgtd") && found["kernel"].as_array().unwrap().len() >= 4);
}

#[test]
fn this_host_is_looked_at_without_arguments() {
    let (as_text, as_json) = (doctor(&[], None), doctor(&["--json"], None));
    let text = String::from_utf8(as_text.stdout).unwrap();
    let found: Value = serde_json::from_slice(&as_json.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let disappoints = findings.iter().any(|finding| finding["disappoints"] == true);
    assert_eq!(as_json.status.code(), Some(i32::from(disappoints)), "{found:#}");
    assert!(text.starts_with(&format!("Linux {}\n", found["kernel"].as_str().unwrap())), "{text}");
    assert_eq!(text.contains("\nwill disappoint\n"), as_text.status.code() == Some(1), "{text}");
    for device in found["devices"].as_array().unwrap() {
        assert!(text.contains(&format!("\n{}: ", device["name"].as_str().unwrap())), "{text}");
    }
}
