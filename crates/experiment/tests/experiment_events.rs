//! What a run does to its network.

use std::time::Duration;

use nicteam_experiment::{CablePulled, Event, Overrides, Silence, TargetKilled, parse, show};

const FAULTS: &str = r#"
title = "Faults"
defaults.duration = "8s"
hosts = { a = { team = "t" }, b = { team = "t" } }
teams.t.mode = "balance-rr"
switches.sw = {}
links = [{ between = [["a", "b"], "sw"], count = 2 }]
targets.disk = { kind = "iscsi", on = "b" }
workloads.w = { kind = "tcp", from = "a", to = "b" }
[[runs]]
name = "whole"
workloads = "w"
[[runs]]
name = "faults"
workloads = "w"
events = [
  { at = "3s", kind = "target", target = "disk", for = "500ms" },
  { at = "1s", kind = "cable", link = ["sw", "a"], number = 1, for = "4s" },
  { at = "2s", kind = "cable", link = ["b", "sw"], end = "b" },
  { at = "6s", kind = "silence", link = ["a", "sw"], for = "1s" },
]
"#;

#[test]
fn a_fault_that_lasts_a_while_is_two_events() {
    let experiment = parse("faults", "faults.toml", FAULTS, &Overrides::default()).unwrap();
    let told: Vec<_> = experiment.runs[1].events.iter().map(|of| (of.at.as_millis(), of.event.words())).collect();
    let cable = "the cable between sw (a-1) and a (eth1) is";
    let silent = "the cable between a (eth0) and sw (a-0)";
    let wanted = [
        (1000, format!("{cable} pulled at sw")),
        (2000, "the cable between b (eth0) and sw (b-0) is pulled at b".to_owned()),
        (3000, "the server of target disk on b is killed".to_owned()),
        (3500, "the server of target disk on b is started again".to_owned()),
        (5000, format!("{cable} plugged in again at sw")),
        (6000, format!("{silent} drops every frame, and keeps its carrier")),
        (7000, format!("{silent} carries again")),
    ];
    assert_eq!(told, wanted);
    assert_eq!(experiment.runs[1].events[1].at, Duration::from_secs(2));
}

#[test]
fn events_say_where_they_are_shown() {
    let experiment = parse("faults", "faults.toml", FAULTS, &Overrides::default()).unwrap();
    let details = |place: usize| experiment.runs[1].events[place].event.details();
    assert_eq!((&details(0)["node"], &details(0)["device"]), (&"sw".into(), &"a-1".into()));
    assert_eq!(details(0)["shown"], serde_json::json!(["a", "team0", "eth1"]));
    assert_eq!((&details(5)["team"], &details(5)["carries"]), (&"team0".into(), &false.into()));
}

#[test]
fn a_link_that_falls_silent_is_an_impaired_one_in_its_run() {
    let experiment = parse("faults", "faults.toml", FAULTS, &Overrides::default()).unwrap();
    let impaired = |run: usize| {
        experiment.runs[run].topology.cables.iter().map(|cable| cable.impaired.is_some()).collect::<Vec<_>>()
    };
    assert_eq!((impaired(0), impaired(1)), (vec![false; 4], vec![true, false, false, false]));
    let overrides = Overrides { only: Some(vec!["faults".to_owned()]), ..Overrides::default() };
    let shown = show(&parse("faults", "faults.toml", FAULTS, &overrides).unwrap());
    assert!(shown.contains("2 x 100mbit relayed"), "{shown}");
    assert!(shown.contains("after 3.5s: the server of target disk on b is started again"), "{shown}");
}

#[test]
fn two_events_are_one_if_the_same_happens() {
    let killed = TargetKilled { target: "disk".to_owned(), host: "b".to_owned(), restarted: false };
    let silent = Silence {
        node: "a".to_owned(),
        device: "eth0".to_owned(),
        team: None,
        carries: false,
        ends: "a (eth0) and b (eth0)".to_owned(),
    };
    let pulled = CablePulled {
        node: "a".to_owned(),
        device: "eth0".to_owned(),
        plugged: false,
        shown: ("a".to_owned(), None, "eth0".to_owned()),
        ends: silent.ends.clone(),
    };
    let events: [&dyn Event; 4] = [&killed, &TargetKilled { restarted: true, ..killed.clone() }, &silent, &pulled];
    for (place, one) in events.iter().enumerate() {
        let same: Vec<usize> = (0..4).filter(|other| *events[*other] == **one).collect();
        assert_eq!(same, [place]);
    }
}
