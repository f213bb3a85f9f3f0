//! `nicteam lab predict`, run as a user would, against runs that were measured.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Bundles of shipped experiments, as a lab recorded them.
const BUNDLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/bundles");

/// Runs whose difference `docs/design/predict.md` explains.
const EXPLAINED: [&str; 2] = ["three-plain-clients", "one-to-four-stripe"];

fn predicted(args: &[&str]) -> Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_nicteam")).args(["lab", "predict", "--json"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn predictions_are_what_was_measured_or_are_explained() {
    let bundles = std::fs::read_dir(BUNDLES).unwrap().map(|entry| entry.unwrap().path());
    let bundles: Vec<String> = bundles.map(|path| path.to_str().unwrap().to_owned()).collect();
    let args: Vec<&str> = bundles.iter().flat_map(|path| ["--against", path]).collect();
    let all = predicted(&args);
    let runs: Vec<&Value> = all.as_array().unwrap().iter().flat_map(|one| one["runs"].as_array().unwrap()).collect();
    let counted: Vec<&&Value> = runs.iter().filter(|run| run["off_by_points"].is_number()).collect();
    assert!(counted.len() > 90, "{} runs", counted.len());
    let page = std::fs::read_to_string(Path::new(BUNDLES).join("../../../../docs/design/predict.md")).unwrap();
    let mut bounds = BTreeSet::new();
    for run in counted {
        let name = run["run"].as_str().unwrap();
        let points = run["off_by_points"].as_f64().unwrap();
        let by_machine = run["measured"]["by_machine"].as_bool().unwrap();
        let is_bound = run["at_most"].is_string();
        bounds.extend(is_bound.then(|| name.to_owned()));
        let is_good = if is_bound { points >= -5.0 } else { points.abs() <= 5.0 };
        assert!(is_good || by_machine || EXPLAINED.contains(&name), "{name}: {points} points");
    }
    for name in ["both-rr", "unlike-mptcp", "five-ms"] {
        assert!(bounds.contains(name), "{bounds:?}");
    }
    assert!(bounds.len() < 25, "few predictions are bounds: {bounds:?}");
    for name in EXPLAINED {
        assert!(page.contains(&format!("`{name}`")), "docs/design/predict.md does not explain {name}");
    }
}

#[test]
fn it_takes_several_experiments_and_overrides() {
    let both = predicted(&["t3", "two-hosts", "--only", "one-connection", "--rate", "1gbit", "--seeds", "5"]);
    let names: Vec<&str> = both.as_array().unwrap().iter().map(|one| one["experiment"].as_str().unwrap()).collect();
    assert_eq!(names, ["t3-four-links", "two-hosts"]);
    let run = &both[1]["runs"][0];
    assert!((run["bps"].as_f64().unwrap() / 1e9 - 1448.0 / 1538.0).abs() < 1e-3);
    assert_eq!(run["drawn"]["p5_bps"], run["drawn"]["p95_bps"]);
}
