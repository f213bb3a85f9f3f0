//! The lab says why a bundle of mode 802.3ad carries what one link can: the
//! switch has plain ports and speaks no LACP.

use std::process::Command;

use nicteam_record::Record;
use nicteam_testnet::may_make_networks;

const EXPERIMENT: &str = r#"
title = "Four links to a switch that knows nothing of them"

[teams.bundle]
mode = "802.3ad"
lacp_rate = "fast"
aggregate_wait = 0
xmit_hash_policy = "layer3+4"

[hosts]
a = { team = "bundle" }
b = {}

[switches]
sw = {}

[[links]]
between = ["a", "sw"]
count = 4
rate = "10mbit"

[[links]]
between = ["b", "sw"]
rate = "100mbit"

[workloads.four]
kind = "tcp"
from = "a"
to = "b"
connections = 4

[[runs]]
name = "plain-ports"
workloads = "four"
"#;

/// Runs an experiment: what it said on standard output and error, its record if it ended.
fn run(name: &str, experiment: &str) -> (String, String, Option<Record>) {
    let folder = std::env::temp_dir().join(format!("nicteam-lab-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, bundle) = (folder.join("experiment.toml"), folder.join("bundle"));
    std::fs::write(&file, experiment).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run"])
        .arg(&file)
        .args(["--duration", "1500ms", "--output"])
        .arg(&bundle)
        .output()
        .unwrap();
    let record = std::fs::read(bundle.join("record.json")).ok();
    let _ = std::fs::remove_dir_all(&folder);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    (text(&output.stdout), text(&output.stderr), record.map(|record| serde_json::from_slice(&record).unwrap()))
}

#[test]
fn a_switch_without_lacp_is_named_as_the_reason() {
    if !may_make_networks() {
        return;
    }
    let (said, told, record) = run("plain-ports", EXPERIMENT);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let run = &record.runs[0];
    let aggregates: Vec<bool> = run.ports.iter().map(|port| port.aggregates).collect();
    assert_eq!(aggregates.iter().filter(|aggregates| **aggregates).count(), 1, "{:?}", run.ports);
    assert!(run.ports.iter().all(|port| port.host == "a" && port.partner.is_none()), "{:?}", run.ports);
    let reason = "of 4 members of team0 on a 1 carries the traffic alone, because ";
    assert!(said.contains(reason) && said.contains("do not: partner silent: no LACPDU comes."), "{said}");
    assert!(told.contains("does not aggregate: partner silent"), "before the traffic: {told}");
}

#[test]
fn a_run_that_fails_for_it_says_so() {
    if !may_make_networks() {
        return;
    }
    // A static group sends by links that the strict team does not listen on.
    let experiment = EXPERIMENT
        .replace("sw = {}", "sw = { spread = \"src-dst-mac\", lacp = \"off\" }")
        .replace("aggregate_wait = 0", "aggregate_wait = 0\nlacp_strict = \"on\"");
    let (_, told, record) = run("static-group", &experiment);
    assert!(record.is_none(), "{told}");
    let reason = "members that do not aggregate: eth0 of a: partner silent: no LACPDU comes; eth1 of a: partner silent";
    assert!(told.contains(reason), "{told}");
}
