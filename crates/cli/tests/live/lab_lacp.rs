//! The lab says why a bundle of mode 802.3ad carries what one link can: the
//! switch has plain ports and speaks no LACP.

use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

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
fn a_run_in_which_nothing_passes_is_a_result_with_its_reason() {
    if !may_make_networks() {
        return;
    }
    // A static group sends by links that the strict team does not listen on.
    let experiment = EXPERIMENT
        .replace("sw = {}", "sw = { spread = \"src-dst-mac\", lacp = \"off\" }")
        .replace("aggregate_wait = 0", "aggregate_wait = 0\nlacp_strict = \"on\"");
    let (said, told, record) = run("static-group", &experiment);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let run = &record.runs[0];
    assert_eq!((run.connections.len(), run.delivered_bps), (4, 0.0));
    assert_eq!(run.findings[0].cause, "not-aggregating");
    assert!(said.contains("Nothing passed: frames that come by members that do not aggregate are dropped."), "{said}");
    let cure = &run.findings[0].cures[0].changes[0];
    assert_eq!((cure.node.as_str(), cure.what.as_str(), cure.value.as_str()), ("sw", "lacp", "active"));
}
