//! An emulated Catalyst that speaks PAgP: the team hears it on both dataplanes, and the report says what to do.

use nicteam_testnet::may_make_networks;

use crate::common::lab::{run_with, words};

const EXPERIMENT: &str = r#"
title = "Three links to a Catalyst in mode desirable"

[defaults]
warmup = "200ms"

[teams.bundle]
mode = "MODE"

[hosts]
a = { team = "bundle" }
b = {}

[switches.sw]
model = "catalyst-2960s"
channel_group = "desirable"

[[links]]
between = ["a", "sw"]
count = 3
rate = "10mbit"

[[links]]
between = ["b", "sw"]
rate = "100mbit"

[workloads.four]
kind = "tcp"
from = "b"
to = "a"
connections = 4

[[runs]]
name = "pagp"
workloads = "four"
"#;

#[test]
fn a_switch_that_speaks_pagp_is_found_and_the_cure_is_said() {
    if !may_make_networks() {
        return;
    }
    // By turns the address moves with nearly each acknowledgement, and with it the port to which the switch sends.
    for (dataplane, mode) in [("bpf", "balance-xor"), ("packet", "balance-rr")] {
        let arguments = ["--duration", "500ms", "--dataplane", dataplane];
        let (output, record) = run_with(&format!("pagp-{dataplane}"), &EXPERIMENT.replace("MODE", mode), &arguments);
        let said = words(&output.stdout);
        if dataplane == "bpf" && output.status.code() == Some(3) {
            // The machine lacks what eBPF needs, which the message names.
            continue;
        }
        let record = record.unwrap();
        let run = &record.runs[0];
        let heard: Vec<_> = run.pagp.iter().map(|heard| (heard.host.as_str(), heard.member.as_str())).collect();
        assert_eq!(heard, [("a", "eth0"), ("a", "eth1"), ("a", "eth2")], "{dataplane}: {said}");
        assert!(run.pagp.iter().all(|heard| (heard.switch.as_str(), heard.mode.as_str()) == ("sw", "desirable")));
        assert!(
            run.events.iter().any(|event| event.text.contains("sw speaks PAgP (mode desirable)")),
            "{:?}",
            run.events
        );
        assert!(run.topology.teams.iter().all(|team| team.node != "sw"), "its ports stay plain ones");
        let [moves] = run.mac_moves.as_slice() else { panic!("{:?}", run.mac_moves) };
        assert_eq!(moves.switch, "sw");
        if mode == "balance-rr" {
            assert!(moves.moves > 100, "{moves:?}");
            continue;
        }
        // Four connections by one link of three, and what to do about it.
        assert!(run.of_limit < 0.6, "{dataplane}: {}", run.of_limit);
        assert!(said.contains("the switch sw speaks PAgP (mode desirable)"), "{dataplane}: {said}");
        assert!(said.contains("`channel-group N mode on`"), "{dataplane}: {said}");
    }
}
