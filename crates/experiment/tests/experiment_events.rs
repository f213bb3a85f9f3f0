//! What a run does to its network.

use std::time::Duration;

use nicteam_experiment::{CablePulled, Event, Overrides, Shown, Silence, TargetKilled, parse, show};

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
    let shown = serde_json::json!({ "node": "a", "team": "team0", "member": "eth1" });
    assert_eq!(details(0)["shown"], shown);
    assert_eq!((&details(5)["shown"]["team"], &details(5)["carries"]), (&"team0".into(), &false.into()));
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

const KINDS: &str = r#"
title = "Kinds of faults"
defaults.duration = "1s"
hosts = { a = { team = "t" }, b = { team = "t" } }
teams.t.mode = "802.3ad"
switches = { one = { spread = "layer2" }, two = { spread = "layer2" } }
links = [
  { between = ["a", "one"], count = 2 },
  { between = ["b", "two"], count = 2 },
  { between = ["one", "two"], rate = "1gbit" },
]
impairments.lossy.loss = "1%"
workloads.w = { kind = "tcp", from = "a", to = "b" }
[[runs]]
name = "r"
workloads = "w"
events = [EVENT]
"#;

/// What happens and when, milliseconds, and which cables the link emulator carries.
fn kind(event: &str) -> (Vec<(u128, String)>, Vec<bool>) {
    let experiment = parse("kinds", "kinds.toml", &KINDS.replace("EVENT", event), &Overrides::default()).unwrap();
    let run = &experiment.runs[0];
    let told = run.events.iter().map(|of| (of.at.as_millis(), of.event.words())).collect();
    (told, run.topology.cables.iter().map(|cable| cable.impaired.is_some()).collect())
}

#[test]
fn a_fault_with_a_period_comes_again_while_it_is_over_before_the_run_ends() {
    let (told, _) = kind("{ kind = 'cable', link = ['a', 'one'], at = '100ms', for = '200ms', every = '300ms' }");
    // The third time would be over at 900 ms, a fourth at 1200 ms.
    assert_eq!(told.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [100, 300, 400, 600, 700, 900]);
    let pulled: Vec<bool> = told.iter().map(|(_, words)| words.contains("pulled")).collect();
    assert_eq!(pulled, [true, false, true, false, true, false]);
    let (told, _) = kind("{ kind = 'cable', link = ['a', 'one'], at = '100ms', for = '200ms', every = '350ms' }");
    assert_eq!(told.last().unwrap().0, 650, "at the run's end it would not be over: 800 + 200 ms");
}

#[test]
fn every_kind_says_what_happens_and_names_its_cables() {
    let link = "link = ['a', 'one']";
    let cable = "the cable between a (eth0) and one (a-0)";
    let (one, of_switch, none) = ([true, false, false, false, false], [true, true, false, false, true], [false; 5]);
    let cases = [
        (
            format!("kind = 'silence', {link}, from = 'one'"),
            format!("{cable} drops every frame from one, and keeps its carrier"),
            format!("{cable} carries again"),
            one,
        ),
        (
            format!("kind = 'impair', impair = 'lossy', {link}"),
            format!("{cable} is impaired by `lossy`"),
            format!("{cable} is as it was before `lossy`"),
            one,
        ),
        (
            format!("kind = 'rate', rate = '10mbit', {link}, from = 'a'"),
            format!("{cable} carries 10mbit from a"),
            format!("{cable} carries 100mbit from a"),
            none,
        ),
        (
            format!("kind = 'mtu', mtu = 1000, {link}"),
            format!("{cable} has an MTU of 1000 at one"),
            format!("{cable} has an MTU of 1500 at one"),
            none,
        ),
        (
            "kind = 'hang', switch = 'one'".to_owned(),
            "switch one hangs: it forwards nothing, and its ports stay up".to_owned(),
            "switch one forwards again".to_owned(),
            of_switch,
        ),
        (
            "kind = 'restart', switch = 'one'".to_owned(),
            "switch one is restarted: its ports go down".to_owned(),
            "switch one is up again, with empty tables".to_owned(),
            none,
        ),
        (
            "kind = 'lacp', switch = 'one'".to_owned(),
            "switch one sends no more LACPDUs, and forwards as before".to_owned(),
            "switch one sends LACPDUs again".to_owned(),
            of_switch,
        ),
    ];
    for (event, begins, over, relayed) in cases {
        let found = kind(&format!("{{ {event}, at = '100ms', for = '200ms' }}"));
        assert_eq!(found, (vec![(100, begins), (300, over)], relayed.to_vec()), "{event}");
    }
}

#[test]
fn a_rate_of_one_direction_is_set_at_its_sender_alone() {
    for (from, senders) in [("", vec!["a", "one"]), (", from = 'one'", vec!["one"])] {
        let event = format!("{{ kind = 'rate', rate = '10mbit', link = ['a', 'one'], at = '0s'{from} }}");
        let experiment = parse("kinds", "kinds.toml", &KINDS.replace("EVENT", &event), &Overrides::default()).unwrap();
        let details = experiment.runs[0].events[0].event.details();
        let found: Vec<&str> =
            details["senders"].as_array().unwrap().iter().map(|it| it[0].as_str().unwrap()).collect();
        assert_eq!(found, senders);
    }
}

#[test]
fn the_filters_are_those_of_the_end_that_is_a_member() {
    let (told, _) = kind("{ kind = 'filters', link = ['one', 'a'], number = 1, end = 'a', at = '100ms' }");
    assert_eq!(told, [(100, "the filters at a of the cable between one (a-1) and a (eth1) are removed".to_owned())]);
}

#[test]
fn a_cable_with_an_event_of_its_mtu_carries_single_packets() {
    let event = "{ kind = 'mtu', mtu = 1000, link = ['a', 'one'], number = 1, at = '0s' }";
    let experiment = parse("kinds", "kinds.toml", &KINDS.replace("EVENT", event), &Overrides::default()).unwrap();
    let single: Vec<bool> = experiment.runs[0].topology.cables.iter().map(|cable| cable.without_offloads).collect();
    assert_eq!(single, [false, true, false, false, false]);
}

#[test]
fn two_events_are_one_if_the_same_happens() {
    let killed = TargetKilled { target: "disk".to_owned(), host: "b".to_owned(), restarted: false };
    let silent = Silence {
        shown: Shown { node: "a".to_owned(), team: None, member: "eth0".to_owned() },
        from: None,
        carries: false,
        ends: "a (eth0) and b (eth0)".to_owned(),
    };
    let pulled = CablePulled {
        node: "a".to_owned(),
        device: "eth0".to_owned(),
        plugged: false,
        shown: Shown { node: "a".to_owned(), team: None, member: "eth0".to_owned() },
        ends: silent.ends.clone(),
    };
    let events: [&dyn Event; 4] = [&killed, &TargetKilled { restarted: true, ..killed.clone() }, &silent, &pulled];
    for (place, one) in events.iter().enumerate() {
        let same: Vec<usize> = (0..4).filter(|other| *events[*other] == **one).collect();
        assert_eq!(same, [place]);
    }
}
