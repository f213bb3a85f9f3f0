//! Causes planted in a lab: the finding names each where it is, and the change that it proposes delivers what was predicted.

use std::process::Command;

use nicteam_record::Run;
use nicteam_testnet::may_make_networks;
use serde_json::Value;

use crate::common::experiment::run;
use crate::common::lab::Folder;

const EXPERIMENT: &str = r#"
title = "Causes of idle links"

[teams]
by-mac = { mode = "balance-xor", xmit_hash_policy = "layer2" }
by-port = { mode = "balance-xor", xmit_hash_policy = "layer3+4" }
one = { mode = "active-backup" }
turns = { mode = "balance-rr" }

[hosts]
a = { team = "by-mac" }
b = { team = "by-port" }
c = { team = "one" }
d = { team = "turns" }

[switches]
sw = { spread = "src-dst-port" }

[[links]]
between = ["a", "sw"]
count = 4
rate = "20mbit"

[[links]]
between = ["b", "sw"]
count = 4
rate = "20mbit"

[[links]]
between = ["c", "sw"]
count = 4
rate = "20mbit"

[[links]]
between = ["d", "sw"]
count = 3
rate = "20mbit"

[[links]]
between = ["d", "sw"]
rate = "2mbit"

[workloads]
from-a = { kind = "tcp", from = "a", to = "b", connections = 8 }
to-c = { kind = "tcp", from = "b", to = "c", connections = 8 }
from-d = { kind = "tcp", from = "d", to = "b", connections = 8 }

[[runs]]
name = "hash"
workloads = "from-a"

[[runs]]
name = "active-backup"
workloads = "to-c"

[[runs]]
name = "unequal-turns"
workloads = "from-d"
"#;

#[test]
fn planted_causes_are_found_where_they_are() {
    if !may_make_networks() {
        return;
    }
    let (said, told, record) = run("planted", EXPERIMENT);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    for (run, node) in record.runs.iter().zip(["a", "c", "d"]) {
        let Run { name, findings, missing, .. } = run;
        let finding = findings.first().unwrap_or_else(|| panic!("{name}: {said}"));
        assert_eq!((finding.cause.as_str(), finding.node.as_deref()), (name.as_str(), Some(node)), "{findings:?}");
        let missing = missing.as_ref().unwrap();
        assert_eq!(missing.parts[0].cause, *name, "{missing:?}");
        assert!(!finding.cures.is_empty(), "{name}: {said}");
    }
    assert!(said.contains("So eth3 (2 Mbit/s) held eth0, eth1 and eth2 (20 Mbit/s) to its rate."), "{said}");
}

#[test]
fn what_a_finding_proposes_is_carried_out() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("verify");
    let file = folder.path("planted.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let mut lab = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    let lab = lab.args(["lab", "run", &file, "--only", "hash", "--duration", "1500ms", "--verify", "--json"]);
    let output = lab.args(["--output", &folder.path("bundle")]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verified = said["verified"].as_array().unwrap();
    let first = &verified[0];
    assert_eq!(first["changes"][0]["value"], "layer3+4", "{first}");
    let share = |name: &str| first[name].as_f64().unwrap_or_else(|| panic!("{first}"));
    let (before, predicted, measured) =
        (share("before_of_limit"), share("predicted_of_limit"), share("measured_of_limit"));
    // Above what a busy machine does to so short a run.
    assert!(measured > before + 0.2 && (measured - predicted).abs() < 0.15, "{first}");
    assert!(std::fs::exists(folder.path("bundle/verified/record.json")).unwrap());
}
