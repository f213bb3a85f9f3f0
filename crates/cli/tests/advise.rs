//! `nicteam advise`, run as a user would.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn advise(args: &[&str], flows: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    let command = command.arg("advise").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(flows.as_bytes());
    child.wait_with_output().unwrap()
}

/// A thousand flows between two hosts.
fn flows() -> String {
    (0..1000).map(|port| format!("10.0.0.1,10.0.0.2,{},5001,tcp,1000\n", 40_000 + port)).collect()
}

#[test]
fn ports_fill_the_links_and_addresses_do_not() {
    let output = advise(&["--flows", "-", "--members", "4", "--rate", "1gbit", "--json"], &flows());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((advice["flows"].as_u64(), advice["bytes"].as_u64()), (Some(1000), Some(1_000_000)));
    let ranked = advice["ranked"].as_array().unwrap();
    let of = |name: &str| ranked.iter().find(|one| one["name"] == name).unwrap();
    assert!(of("802.3ad layer3+4")["share"].as_f64().unwrap() > 0.8);
    assert_eq!(of("802.3ad layer2+3")["bps"].as_f64(), Some(1e9));
    assert_eq!(of("802.3ad layer3+4")["switch"], "a group with LACP");
    assert_eq!(ranked[0]["name"], "stripe at both ends");
    assert!(ranked.iter().all(|one| one["name"] != "802.3ad layer2"), "MAC addresses are not known");
}

#[test]
fn the_switchs_end_is_written() {
    let output = advise(&["--flows", "-", "--members", "2", "--switch", "cisco"], &flows());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\nmode ") || said.contains("  mode "), "{said}");
    assert!(said.contains("channel-group"), "{said}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let output = advise(&["--flows", "-", "--members", "2"], "10.0.0.1,10.0.0.2,1,2,tcp,many\n");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("-: line 1: `many` is no number of bytes"), "{told}");
    let output = advise(&["--flows", "-", "--members", "2"], "");
    assert!(String::from_utf8(output.stderr).unwrap().contains("there is no traffic in it"));
}
