//! A host with a team and hosts behind a gateway.

use nicteam_record::{Member, Run};
use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

/// One host behind the gateway has a link without delay, the other one of 40 ms each way.
const EXPERIMENT: &str = r#"
title = "Behind a gateway"
[defaults]
rate = "20mbit"
warmup = "300ms"
[teams.two]
mode = "balance-rr"
[hosts]
server = { team = "two" }
gw = { forward = true }
near = {}
far = {}
[switches]
sw = {}
[impairments.near]
[impairments.far]
delay = "40ms"
[[links]]
between = ["server", "sw"]
count = 2
[[links]]
between = ["gw", "sw"]
[[links]]
between = ["gw", "near"]
impair = "near"
[[links]]
between = ["gw", "far"]
impair = "far"
[workloads.ping]
kind = "ping"
from = "server"
to = ["near", "far"]
interval = "50ms"
[workloads.copy]
kind = "tcp"
from = "server"
to = "far"
[workloads.program]
kind = "program"
from = "far"
to = "server"
congestion = "reno"
client = "cat /proc/net/route"
[[runs]]
name = "pings"
workloads = ["ping", "program"]
[[runs]]
name = "copy"
workloads = "copy"
"#;

#[test]
fn packets_go_through_a_gateway_and_take_as_long_as_the_link_behind_it() {
    if !may_make_networks() {
        return;
    }
    let (said, told, record) = run("gateway", EXPERIMENT);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let [pings, copy] = record.runs.as_slice() else { panic!("{told}") };

    let least_us = |to: &str| {
        let probes = pings.probes.iter().find(|probes| probes.to == to).unwrap();
        assert!(probes.lost < probes.sent, "{probes:?}");
        probes.echo.as_ref().unwrap().round_trip.unwrap().min_us as f64
    };
    let ratio = least_us("far") / least_us("near");
    assert!(ratio > 8.0, "{} and {} us", least_us("far"), least_us("near"));
    // The congestion control of a workload is that of a route, which leads by the gateway.
    let routes = &pings.programs[0].last_lines;
    let [to, via] =
        [u32::from_ne_bytes([10, 0, 0, 1]), u32::from_ne_bytes([10, 0, 2, 2])].map(|it| format!("{it:08X}"));
    assert!(routes.iter().any(|route| route.contains(&to) && route.contains(&via)), "{routes:#?}");

    let gateway = copy.topology.hosts.iter().find(|host| host.name == "gw").unwrap();
    assert!(gateway.forwards && gateway.further.len() == 2, "{gateway:?}");
    assert!(copy.connections[0].delivered_bps > 0.0, "{:?}", copy.connections);
    let frames = |device| counters(copy, "gw", device).tx_frames;
    assert!(frames("eth2") > 10 * frames("eth1"), "by the link to the far host: {:?}", copy.members);
    assert!(said.contains("pings") && said.contains("copy"), "{said}");
}

fn counters<'r>(run: &'r Run, host: &str, device: &str) -> &'r Member {
    run.members.iter().find(|member| member.host == host && member.member == device).unwrap()
}
