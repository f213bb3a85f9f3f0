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

#[test]
fn a_switch_without_lacp_is_named_as_the_reason() {
    if !may_make_networks() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("nicteam-lab-lacp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("plain-ports.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let bundle = folder.join("bundle");
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run"])
        .arg(&file)
        .args(["--duration", "1500ms", "--output"])
        .arg(&bundle)
        .output()
        .unwrap();
    let record = std::fs::read(bundle.join("record.json"));
    let _ = std::fs::remove_dir_all(&folder);
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}");
    let record: Record = serde_json::from_slice(&record.unwrap()).unwrap();
    let run = &record.runs[0];
    let aggregates: Vec<bool> = run.ports.iter().map(|port| port.aggregates).collect();
    assert_eq!(aggregates.iter().filter(|aggregates| **aggregates).count(), 1, "{:?}", run.ports);
    assert!(run.ports.iter().all(|port| port.host == "a" && port.partner.is_none()), "{:?}", run.ports);
    let words: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = "of 4 members of team0 on a 1 carries the traffic alone, because ";
    assert!(words.contains(reason) && words.contains("do not: partner silent: no LACPDU comes."), "{words}");
    assert!(told.contains("does not aggregate: partner silent"), "before the traffic: {told}");
}
