//! Guests behind a host's bridge, in a run of the lab.

use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

const EXPERIMENT: &str = r#"
title = "Two guests"

[teams.bundle]
mode = "balance-xor"
xmit_hash_policy = "vlan+srcmac"

[hosts]
pc = { team = "bundle", guests = 2 }
one = {}
two = {}

[switches]
sw = { spread = "dst-mac" }

[defaults]
rate = "20mbit"

[[links]]
between = ["pc", "sw"]
count = 2

[[links]]
between = [["one", "two"], "sw"]

[workloads.first]
kind = "tcp"
from = "pc/guest1"
to = "one"

[workloads.second]
kind = "tcp"
from = "pc/guest2"
to = "two"
direction = "receive"

[[runs]]
name = "guests"
workloads = ["first", "second"]
"#;

#[test]
fn guests_send_and_receive_by_their_hosts_team() {
    if !may_make_networks() {
        return;
    }
    let (_, told, record) = run("guests", EXPERIMENT);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let run = &record.runs[0];
    let host = |name: &str| run.topology.hosts.iter().find(|host| host.name == name).unwrap();
    assert_eq!((host("pc").device.as_str(), host("pc/guest2").parent.as_deref()), ("br0", Some("pc")));
    let ends: Vec<_> = run.connections.iter().map(|c| (c.from.as_str(), c.to.as_str())).collect();
    assert_eq!(ends, [("pc/guest1", "one"), ("two", "pc/guest2")]);
    assert!(run.connections.iter().all(|connection| connection.delivered_bps > 0.0), "{:?}", run.connections);
    let members: Vec<_> = run.members.iter().filter(|member| member.host == "pc").collect();
    assert!(members.len() == 2 && members.iter().all(|member| member.team == "team0"), "{members:?}");
    let (sent, received) = (members.iter().map(|m| m.tx_bps), members.iter().map(|m| m.rx_bps));
    let (first, second) = (&run.connections[0], &run.connections[1]);
    assert!(sent.sum::<f64>() >= first.delivered_bps && received.sum::<f64>() >= second.delivered_bps, "{members:?}");
}
