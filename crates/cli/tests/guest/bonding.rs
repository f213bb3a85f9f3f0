//! Teams that the kernel's own driver runs, in a guest that has one: engine `kernel` of the lab.

use std::fs;
use std::path::Path;

use nicteam_oracle::Image;
use nicteam_oracle::protocol::Request;
use serde_json::Value;

use crate::common::lab::Folder;

/// Two hosts at two links: what each mode delivers of them to one connection and to two is known.
const FILE: &str = r#"
title = "Bonding"
links = [{ between = ["a", "b"], count = 2, rate = "5mbit" }]
[defaults]
duration = "1500ms"
warmup = "500ms"
[teams.t]
mode = "active-backup"
primary = "eth1"
engine = "kernel"
[hosts]
a = { team = "t" }
b = { team = "t" }
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
connections = 2
[[runs]]
name = "one-member"
workloads = "w"
[[runs]]
name = "in-turn"
workloads = "w"
teams.t = { mode = "balance-rr", primary = "" }
[[runs]]
name = "aggregated"
workloads = "w"
teams.t = { mode = "802.3ad", xmit_hash_policy = "layer3+4", lacp_rate = "fast", primary = "" }
"#;

/// In the guest's own memory, for the host's files are not its to write.
const SCRIPT: &str = "mount -t tmpfs none /run && cd /run && $NICTEAM lab run $FILE --dataplane packet --output out \
    >/run/printed 2>/run/said || { cat /run/said; exit 1; }; cat /run/out/record.json";

#[test]
fn the_kernels_bonds_carry_runs_of_the_lab() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    let modules = ["sch_htb"].map(str::to_owned).into();
    guest.must(Request::Load { folder: Image::obtain().unwrap().modules, modules });
    let folder = Folder::new("bonding");
    let file = folder.path("bonding.toml");
    fs::write(&file, FILE).unwrap();
    let script = SCRIPT.replace("$NICTEAM", nicteam.to_str().unwrap()).replace("$FILE", &file);
    let record = guest.run("/bin/sh", &["-c", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let record: Value = serde_json::from_str(&record).unwrap();
    let [one_member, in_turn, aggregated] = &record["runs"].as_array().unwrap()[..] else { panic!("{record}") };
    for run in [one_member, in_turn, aggregated] {
        for team in run["topology"]["teams"].as_array().unwrap() {
            assert_eq!((&team["engine"], &team["dataplane"]), (&"kernel".into(), &"bonding".into()), "{team}");
            assert_eq!(team["engine_version"], format!("Linux {}", guest.kernel()));
        }
    }
    let of_limit = |run: &Value| run["of_limit"].as_f64().unwrap();
    // One link of two, and both.
    assert!((0.15..0.55).contains(&of_limit(one_member)), "{}", of_limit(one_member));
    assert!((0.3..1.05).contains(&of_limit(in_turn)), "{}", of_limit(in_turn));
    assert!((0.1..1.05).contains(&of_limit(aggregated)), "{}", of_limit(aggregated));
    let sent = |run: &Value, member: &str| {
        let members = run["members"].as_array().unwrap();
        members.iter().find(|found| found["host"] == "a" && found["member"] == member).unwrap()["tx_frames"]
            .as_f64()
            .unwrap()
    };
    assert!(sent(one_member, "eth1") > 50.0 * sent(one_member, "eth0").max(1.0), "the primary carries: {one_member}");
    let (first, second) = (sent(in_turn, "eth0"), sent(in_turn, "eth1"));
    assert!((first / second - 1.0).abs() < 0.05, "in turn: {first} and {second}");
    let ports = aggregated["ports"].as_array().unwrap();
    assert!(ports.len() == 4 && ports.iter().all(|port| port["aggregates"] == true), "{ports:?}");
    assert!(ports.iter().all(|port| port["partner"].is_string()), "{ports:?}");
}
