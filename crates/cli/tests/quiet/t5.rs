//! Test T5, cell by cell: a sample of its runs, all of them and by Open vSwitch itself in a soak.

use std::process::Command;

use nicteam_record::Record;
use nicteam_testnet::may_make_networks;

/// What the published test calls one link, of two.
const ONE_LINK: std::ops::RangeInclusive<f64> = 0.45..=0.52;
/// What balance-tcp carries without LACP.
const NOTHING: std::ops::RangeInclusive<f64> = 0.0..=0.01;
/// What it calls two links.
const TWO_LINKS: std::ops::RangeInclusive<f64> = 0.93..=1.02;

/// Runs T5, or these runs of it, by an engine.
fn t5(engine: &str, only: &[&str]) -> Record {
    let folder = std::env::temp_dir().join(format!("nicteam-t5-{engine}-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.args([
        "lab",
        "run",
        "t5",
        "--engine",
        engine,
        "--rate",
        "100mbit",
        "--duration",
        "1s",
        "--json",
        "--output",
    ]);
    command.arg(&folder).args(only.iter().flat_map(|run| ["--only", run]));
    let output = command.output().unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn check(record: &Record) {
    for run in &record.runs {
        // What is not published is as the switch spreads to the addresses of the run.
        let links = match (run.published_of_limit, run.name.as_str()) {
            (Some(part), _) => part * 2.0,
            (None, "active-backup-lacp-1-receive") => 2.0,
            (None, _) => 1.0,
        };
        let bounds = if links < 0.5 {
            NOTHING
        } else if links < 1.5 {
            ONE_LINK
        } else {
            TWO_LINKS
        };
        assert!(bounds.contains(&run.of_limit), "{}: {} is not within {bounds:?}", run.name, run.of_limit);
    }
}

#[test]
fn its_cells_are_as_published() {
    if !may_make_networks() {
        return;
    }
    if std::env::var_os("NICTEAM_SOAK").is_none() {
        return check(&t5("nicteam", &["slb-2-send", "slb-2-send-unlucky"]));
    }
    check(&t5("nicteam", &[]));
    if Command::new("ovs-vswitchd").arg("--version").output().is_ok() {
        check(&t5("ovs", &[]));
    } else {
        eprintln!("SKIPPED: no ovs-vswitchd");
    }
}
