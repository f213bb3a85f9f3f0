//! Guests behind a host's bridge, in a run of the lab.

use nicteam_record::{EventKind, Record};
use nicteam_testnet::{OpenVSwitch, may_make_networks};

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
    // Members and connections are read one after the other, and a busy machine lets time pass between.
    let (sent, received) = (sent.sum::<f64>() / first.delivered_bps, received.sum::<f64>() / second.delivered_bps);
    assert!(sent > 0.7 && received > 0.7, "{sent:.2} and {received:.2} of the payload: {members:?}");
}

#[test]
fn a_guest_that_moves_is_out_of_reach_for_a_moment() {
    if !may_make_networks() {
        return;
    }
    let experiment = r#"
title = "A guest moves"
[hosts]
a = { guests = 1 }
b = {}
client = {}
[switches]
sw = {}
[[links]]
between = [["a", "b", "client"], "sw"]
[workloads.w]
kind = "udp"
from = "client"
to = "a/guest1"
rate = "1mbit"
size = 64
[[runs]]
name = "moves"
workloads = "w"
events = [{ at = "300ms", kind = "migrate", guest = "a/guest1", to = "b" }]
"#;
    let (said, told, record) = run("migrate", experiment);
    assert!(said.contains("run") && told.contains("a/guest1 moves to b"), "{told}");
    moved(&record.unwrap_or_else(|| panic!("{told}")));
}

#[test]
fn a_guest_moves_between_bridges_of_open_vswitch() {
    if !may_make_networks() {
        return;
    }
    if !OpenVSwitch::is_installed() {
        return eprintln!("SKIPPED: needs openvswitch-switch");
    }
    let experiment = r#"
title = "A guest moves between hypervisors"
[teams.bond]
engine = "ovs"
mode = "ovs-balance-slb"
[hosts]
a = { team = "bond", guests = 1 }
b = { team = "bond" }
client = {}
[switches]
sw = {}
[[links]]
between = [["a", "b"], "sw"]
count = 2
[[links]]
between = ["client", "sw"]
[workloads.w]
kind = "udp"
from = "client"
to = "a/guest1"
rate = "1mbit"
size = 64
[[runs]]
name = "moves"
workloads = "w"
events = [{ at = "300ms", kind = "migrate", guest = "a/guest1", to = "b" }]
"#;
    let (_, told, record) = run("migrate-ovs", experiment);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    moved(&record);
    // The bridge is the switch's own.
    let teams = &record.runs[0].topology.teams;
    assert!(teams.iter().filter(|team| team.node != "sw").all(|team| team.offloads.contains_key("br0")), "{teams:?}");
}

/// Looks whether the guest of the only run left host a for host b, and was reached at both.
#[track_caller]
fn moved(record: &Record) {
    let run = &record.runs[0];
    let fault = run.events.iter().find(|event| event.kind == EventKind::Fault).unwrap();
    assert_eq!((fault.node.as_str(), fault.text.contains("moves to b")), ("a/guest1", true));
    assert!(fault.t_ms >= 300.0);
    let datagrams = run.connections[0].datagrams.unwrap();
    // It is lost for a moment, which was seen, and comes back.
    assert!(datagrams.lost > 0 && datagrams.received > datagrams.lost, "{datagrams:?}");
    let silence_ms = datagrams.longest_silence_us as f64 / 1e3;
    assert!(silence_ms > 1.0 && silence_ms < 1200.0, "{datagrams:?}");
    let carried =
        |host: &str| run.members.iter().filter(|member| member.host == host).map(|of| of.rx_frames).sum::<u64>();
    assert!(carried("a") > 100 && carried("b") > 100, "{:?}", run.members);
}
