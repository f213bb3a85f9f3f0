//! `nicteam lab tune`, on a network with an MTU that is wrong at one end of one cable.

use std::fs;
use std::process::Command;

use nicteam_testnet::may_make_networks;
use serde_json::Value;

use crate::common::lab::Folder;

const EXPERIMENT: &str = r#"
title = "Two paths to a disk"
[defaults]
rate = "100mbit"
mtu = 9000
duration = "600ms"
warmup = "50ms"
[hosts]
esx = {}
filer = {}
[switches]
sw = {}
[[links]]
between = ["esx", "sw"]
[[links]]
between = ["esx", "sw"]
mtu = [9000, 1500]
[[links]]
between = ["filer", "sw"]
count = 2
[targets.disk]
kind = "iscsi"
on = "filer"
size = "16mib"
[workloads.read]
kind = "access-spec"
from = "esx"
to = "filer"
target = "disk"
spec = "max-throughput-100-read"
paths = "all"
iops = 1000
outstanding = 16
[[runs]]
name = "baseline"
step = 1
workloads = "read"
[[runs]]
name = "production"
step = 3
workloads = "read"
"#;

fn is_installed(program: &str) -> bool {
    Command::new("sh").args(["-c", &format!("command -v {program}")]).output().is_ok_and(|found| found.status.success())
}

/// Compares rates: nothing computes beside it.
mod quiet {
    use super::*;

    #[test]
    fn the_end_of_the_cable_is_named_before_anything_is_measured_and_every_cure_is_measured() {
        if !may_make_networks() {
            return;
        }
        if !is_installed("tgtd") || nicteam_iscsi::Library::open().is_err() {
            eprintln!("SKIPPED: needs an iSCSI target and initiator (packages tgt, libiscsi7)");
            return;
        }
        let folder = Folder::new("tune");
        let (file, output) = (folder.path("experiment.toml"), folder.path("tuned"));
        fs::write(&file, EXPERIMENT).unwrap();
        let nicteam = || Command::new(env!("CARGO_BIN_EXE_nicteam"));
        let tuned = nicteam().args(["lab", "tune", &file, "--output", &output, "--json"]).output().unwrap();
        let said = String::from_utf8_lossy(&tuned.stderr);
        let report: Value = serde_json::from_slice(&tuned.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        let first = &report["first_look"][0];
        assert_eq!(first["place"], "cable 2 of 2 between esx and sw, end sw: device esx-1", "{report:#}");
        // The product's bound is 3 s, which `make accept` takes on a machine of its own.
        assert!(report["first_look_ms"].as_f64().unwrap() < 30e3, "{}", report["first_look_ms"]);
        let rounds = report["rounds"].as_array().unwrap();
        let traps: Vec<&str> = rounds.iter().map(|round| round["finding"]["trap"].as_str().unwrap()).collect();
        assert_eq!(traps, ["mtu", "segments", "path-policy"], "{report:#}");
        let of_limit = |figures: &Value| figures["of_limit"].as_f64();
        let (before, after) = (of_limit(&rounds[2]["before"]).unwrap(), of_limit(&rounds[2]["after"]).unwrap());
        // Two paths in turn instead of one: a ratio of two on an idle machine.
        assert!(after > before * 1.2, "{before} {after}");
        let is_enough = of_limit(&report["network"]).unwrap() >= 0.9;
        assert_eq!(report["outcome"], if is_enough { "tuned" } else { "stopped" });
        assert_eq!(tuned.status.code(), Some(i32::from(!is_enough)), "{said}");
        assert_eq!(report["production"].as_array().unwrap().len(), usize::from(is_enough));
        // The page, and the experiment as the cures left it, which is one that can be run.
        assert!(fs::read_to_string(folder.path("tuned/tune.txt")).unwrap().contains("Step 2: the network alone"));
        let shown = nicteam().args(["lab", "show", &folder.path("tuned/tuned.toml")]).output().unwrap();
        assert!(shown.status.success(), "{shown:?}");
    }
}
