//! Test T2 in a short form, on slow links: what a group at the switch is needed for, a cable that is pulled, and stripe beside it.

use std::process::Command;

use nicteam_record::{Record, Run};
use nicteam_testnet::may_make_networks;

/// Runs some runs of T2; the record, and the table.
fn t2(only: &str, rate: &str) -> (Record, String) {
    let folder = std::env::temp_dir().join(format!("nicteam-t2-{}-{}", only.len(), std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run", "t2", "--rate", rate, "--duration", "1300ms", "--only", only, "--output"])
        .arg(&folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let record = serde_json::from_str(&std::fs::read_to_string(folder.join("record.json")).unwrap()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    (record, String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
}

fn of<'r>(record: &'r Record, name: &str) -> &'r Run {
    record.runs.iter().find(|run| run.name == name).unwrap()
}

#[test]
fn it_says_what_each_mode_needs_and_how_long_nothing_passed() {
    if !may_make_networks() {
        return;
    }
    let (record, table) = t2("sla-three,lacp-three,alb-rlb-pulled", "40mbit");
    assert!(table.contains("server: balance-xor needs a static group at sw, which has none"), "{table}");
    assert!(table.contains("802.3ad needs a group with LACP at sw, which has none: 1 of 2 members carries"), "{table}");
    assert!(table.contains("Jain's index"), "{table}");
    let three = &of(&record, "sla-three").traffic_tests;
    let clients: Vec<(&str, u32)> = three.iter().map(|test| (test.from.as_str(), test.connections)).collect();
    assert_eq!(clients, [("main", 32), ("second", 32), ("laptop", 32)]);
    assert!(of(&record, "lacp-three").operations[0].completed >= 10, "somebody browses beside it");
    let pulled = of(&record, "alb-rlb-pulled");
    assert!(pulled.traffic_tests.iter().all(|test| test.download_bytes > 0 && test.upload_bytes > 0));
    assert!(table.contains("nothing came back for"), "{table}");
}

#[test]
fn an_ordinary_switch_doubles_what_leaves_a_server_that_stripes() {
    if !may_make_networks() {
        return;
    }
    let (record, _) = t2("fast-hosts-no-team-out,stripe-out", "40mbit");
    let (one, both) = (of(&record, "fast-hosts-no-team-out").delivered_bps, of(&record, "stripe-out").delivered_bps);
    // A queue of the beginning may arrive within so short a window.
    assert!((1.7..=2.5).contains(&(both / one)), "{both} beside {one}");
}
