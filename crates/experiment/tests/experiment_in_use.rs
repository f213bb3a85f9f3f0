//! What a run needs of its topology.

use nicteam_experiment::{Overrides, Run, Topology, parse, show};

const APART: &str = r#"
title = "Two networks, and a host between others"
hosts = { a = { team = "t" }, b = { team = "t", guests = 1 }, c = {}, d = { team = "t" }, e = {} }
teams.t.mode = "balance-rr"
switches = { near = {}, far = {}, beyond = {} }
links = [
  { between = [["a", "b"], "near"], count = 2 },
  { between = [["c", "d"], "far"] },
  { between = [["d", "e"], "beyond"] },
]
targets = { one = { kind = "iscsi", on = "b" }, two = { kind = "iscsi", on = "d" } }
[workloads]
near = { kind = "tcp", from = "a", to = "b/guest1" }
far = { kind = "tcp", from = "c", to = "d" }
ping = { kind = "ping", from = "a", to = "b" }
[[runs]]
name = "near"
workloads = "near"
[[runs]]
name = "far"
workloads = "far"
[[runs]]
name = "event"
workloads = "near"
events = [{ at = "1s", kind = "cable", link = ["e", "beyond"] }]
[[runs]]
name = "ping"
workloads = "ping"
[[runs]]
name = "ping-beside"
workloads = ["ping", "near"]
"#;

fn run(number: usize) -> Run {
    let mut experiment =
        parse("apart", "apart.toml", APART, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
    experiment.runs.swap_remove(number)
}

fn of_run(number: usize) -> Topology {
    run(number).in_use().topology
}

fn nodes(topology: &Topology) -> Vec<&str> {
    let hosts = topology.hosts.iter().map(|host| host.name.as_str());
    hosts.chain(topology.switches.iter().map(|switch| switch.name.as_str())).collect()
}

#[test]
fn a_run_has_what_cables_join_to_its_ends() {
    let near = of_run(0);
    assert_eq!(nodes(&near), ["a", "b", "b/guest1", "near"]);
    assert_eq!((near.cables.len(), near.teams.len()), (4, 2));
    assert!(near.targets.iter().all(|target| target.name == "one"));
    let far = of_run(1);
    assert_eq!(nodes(&far), ["c", "d", "e", "far", "beyond"], "d is on both switches");
    assert_eq!((far.cables.len(), far.teams.len()), (4, 1));
}

#[test]
fn a_run_has_what_its_events_happen_to() {
    assert_eq!(nodes(&of_run(2)), ["a", "b", "c", "d", "e", "b/guest1", "near", "far", "beyond"]);
}

#[test]
fn a_run_of_pings_alone_measures_latency() {
    assert!(run(3).measures_latency_alone());
    assert!(!run(4).measures_latency_alone(), "they share the links");
    let experiment =
        parse("apart", "apart.toml", APART, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(show(&experiment).matches("let two frames go at once").count(), 1);
}
