//! What runs of experiments would deliver.

use nicteam_experiment::{
    Experiment, Overrides, Predicted, builtin, find, parse, predict, predict_drawn, predicted_json, show_predicted,
};

fn shipped(name: &str) -> Experiment {
    let found = find(name).unwrap();
    parse(&found.name, &found.path, &found.text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn parsed(text: &str) -> Experiment {
    parse("test", "test.toml", text, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn of<'p>(predicted: &'p [Predicted], run: &str) -> &'p Predicted {
    predicted.iter().find(|predicted| predicted.run == run).unwrap_or_else(|| panic!("no run {run}"))
}

#[track_caller]
fn assert_part(predicted: &Predicted, part: f64) {
    let of_limit = predicted.of_limit().unwrap_or_else(|| panic!("{predicted:?}"));
    assert!((of_limit - part).abs() < 0.006, "{}: {of_limit}, not {part}", predicted.run);
}

#[test]
fn every_shipped_run_is_predicted_within_its_limit_or_has_a_reason() {
    for builtin in builtin() {
        for predicted in predict(&shipped(builtin.name)) {
            let name = format!("{} {}", builtin.name, predicted.run);
            match (&predicted.outcome, predicted.of_limit()) {
                (Ok(outcome), Some(part)) => {
                    assert!((0.0..1.006).contains(&part), "{name}: {part}");
                    assert!(!outcome.held_by.is_empty(), "{name}");
                }
                (Ok(_), None) => panic!("{name} has no limit"),
                (Err(reason), _) => assert!(!reason.is_empty(), "{name}"),
            }
        }
    }
}

#[test]
fn t3_is_as_it_was_published() {
    let predicted = predict(&shipped("t3"));
    for (run, part) in [
        ("one-connection", 0.25),
        ("four-connections", 0.25),
        ("one-to-four", 1.0),
        ("four-to-one", 1.0),
        ("four-to-one-unlucky", 0.5),
    ] {
        assert_part(of(&predicted, run), part);
    }
    let held = &of(&predicted, "four-to-one-unlucky").outcome.as_ref().unwrap().held_by;
    assert_eq!(held, "2 of 4 links from sw to server, by src-dst-mac");
}

#[test]
fn random_addresses_give_a_distribution_and_a_seed_gives_the_same_again() {
    let experiment = shipped("t3");
    let predicted = predict_drawn(&experiment, 500);
    assert_eq!(predicted, predict_drawn(&experiment, 500));
    let parts = |run: &str| {
        let predicted = of(&predicted, run);
        let spread = predicted.outcome.as_ref().unwrap().drawn.unwrap();
        [spread.p5_bps, spread.median_bps, spread.p95_bps]
            .map(|bps| (bps / predicted.limit_bps * 100.0).round() / 100.0)
    };
    // Four clients with random MAC addresses use 1 to 4 links, 2.73 on average.
    assert_eq!(parts("four-to-one"), [0.5, 0.75, 1.0]);
    // One pair of addresses uses one link, whichever.
    assert_eq!(parts("four-connections"), [0.25; 3]);
    // All else equal, ports alone change what a hash by ports gives.
    let by_ports = predict_drawn(&shipped("switch-teams"), 500);
    let spread = of(&by_ports, "balance-xor-ports").outcome.as_ref().unwrap().drawn.unwrap();
    assert!(spread.p5_bps < spread.p95_bps, "{spread:?}");
}

const PULLED: &str = r#"
title = "A cable is pulled"
[defaults]
duration = "4s"
rate = "100mbit"
[teams.two]
mode = "stripe"
[hosts]
a = { team = "two" }
b = { team = "two" }
[switches]
sw = {}
[[links]]
between = [["a", "b"], "sw"]
count = 2
[workloads.copy]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "stripe"
workloads = "copy"
events = [{ kind = "cable", link = ["a", "sw"], at = "1s", for = "2s" }]
[[runs]]
name = "active-backup"
workloads = "copy"
teams = { two = { mode = "active-backup" } }
events = [{ kind = "cable", link = ["a", "sw"], at = "1s", for = "2s" }]
[[runs]]
name = "silent"
workloads = "copy"
events = [{ kind = "silence", link = ["a", "sw"], at = "1s" }]
"#;

#[test]
fn a_pulled_cable_counts_for_as_long_as_it_is_out() {
    let predicted = predict(&parsed(PULLED));
    assert_part(of(&predicted, "stripe"), 0.75);
    assert_part(of(&predicted, "active-backup"), 0.5);
    assert_eq!(of(&predicted, "silent").outcome.as_ref().unwrap_err(), "an event of kind silence");
}

const GATEWAY: &str = r#"
title = "Behind a gateway"
[defaults]
rate = "100mbit"
[teams.four]
mode = "balance-xor"
xmit_hash_policy = "layer2"
[hosts]
server = { team = "four" }
gw = { forward = true }
far1 = { mac = "02:00:00:00:00:11" }
far2 = { mac = "02:00:00:00:00:12" }
[switches]
sw = { spread = "src-dst-ip" }
back = {}
[[links]]
between = ["server", "sw"]
count = 4
[[links]]
between = ["gw", "sw"]
rate = "1gbit"
[[links]]
between = ["gw", "back"]
rate = "1gbit"
[[links]]
between = [["far1", "far2"], "back"]
rate = "1gbit"
[workloads.out]
kind = "tcp"
from = "server"
to = ["far1", "far2"]
[[runs]]
name = "out"
workloads = "out"
"#;

#[test]
fn a_hash_of_mac_addresses_sees_one_gateway_where_two_hosts_are() {
    assert_part(&predict(&parsed(GATEWAY))[0], 0.25);
    let by_ip = GATEWAY.replace("\"layer2\"", "\"layer2+3\"");
    assert_part(&predict(&parsed(&by_ip))[0], 0.5);
}

#[test]
fn answers_take_room_and_count_as_delivered_nowhere() {
    let predicted = predict(&parsed(
        r#"
title = "Answers"
defaults.rate = "100mbit"
hosts = { a = {}, b = {} }
links = [{ between = ["a", "b"] }]
workloads.bulk = { kind = "tcp", from = "b", to = "a" }
workloads.asked = { kind = "requests", from = "a", to = "b", connections = 4, smallest = "16kib", largest = "16kib", interval = "20ms" }
workloads.other = { kind = "requests", from = "b", to = "a", connections = 4, smallest = "16kib", largest = "16kib", interval = "20ms" }
[[runs]]
name = "same-way"
workloads = ["bulk", "asked"]
[[runs]]
name = "other-way"
workloads = ["bulk", "other"]
[[runs]]
name = "alone"
workloads = "asked"
"#,
    ));
    let same_way = of(&predicted, "same-way");
    assert_part(same_way, 1.0 - 4.0 * 50.0 * 16_384.0 * 8.0 / same_way.limit_bps);
    // Their acknowledgements.
    assert_part(of(&predicted, "other-way"), 0.992);
    assert_eq!(of(&predicted, "alone").outcome, Err("nothing that carries payload".to_owned()));
}

#[test]
fn what_tcp_may_not_take_is_an_upper_bound() {
    let reason = |experiment: &str, run: &str| {
        let predicted = predict(&shipped(experiment));
        of(&predicted, run).outcome.as_ref().unwrap().at_most.clone()
    };
    let in_turn = "its frames take several links in turn, and TCP slows down where they arrive out of order";
    assert_eq!(reason("stripe-compared", "both-rr").as_deref(), Some(in_turn));
    // Four links take turns, and the one behind the switch is full: nothing overtakes there.
    assert_eq!(reason("t3", "one-connection"), None);
    assert_eq!(reason("stripe-compared", "both-stripe"), None);
    let apart = "the delays of its links differ by 5.0 ms, and TCP slows down where they arrive out of order";
    assert_eq!(reason("unequal-delays", "five-ms").as_deref(), Some(apart));
    assert_eq!(reason("unequal-delays", "one-ms"), None);
    let waits = "a connection of multipath TCP waits for what it sent by the slower links";
    assert_eq!(reason("stripe-compared-links", "unlike-mptcp").as_deref(), Some(waits));
    assert_eq!(reason("stripe-compared-links", "two-mptcp"), None);
    let paces = "bbr paces itself below the rate of a link at times";
    assert_eq!(reason("one-sided-gateway", "far-bbr-big").as_deref(), Some(paces));
    assert_eq!(reason("one-sided-gateway", "far-cubic-big"), None);
    let table = show_predicted("five", &predict(&shipped("unequal-delays")), 0);
    let line = table.lines().find(|line| line.contains("five-ms")).unwrap();
    assert!(line.contains("  \u{2264}1.00  ") && line.contains("; at most: the delays"), "{line}");
}

#[test]
fn what_cannot_be_said_is_not_guessed() {
    let predicted = predict(&shipped("t1"));
    let ping = of(&predicted, "linux-linux-ping");
    assert_eq!(
        (ping.of_limit(), ping.outcome.as_ref().err().unwrap().as_str()),
        (None, "nothing that carries payload")
    );
    assert!(of(&predicted, "linux-linux-write").outcome.as_ref().unwrap_err().contains("write-back cache"));
    let table = show_predicted("t1", &predicted, 0);
    let line = table.lines().find(|line| line.contains("linux-linux-ping")).unwrap();
    assert!(line.ends_with("-       -  not predicted: nothing that carries payload"), "{line}");
}

#[test]
fn json_has_the_fields_that_are_documented() {
    let page = include_str!("../../../docs/predict.md");
    let json = predicted_json("t3", &predict_drawn(&shipped("t3"), 3), 3);
    for field in json.as_object().unwrap().keys().chain(json["runs"][0].as_object().unwrap().keys()) {
        assert!(page.contains(&format!("`{field}`")), "docs/predict.md does not name `{field}`");
    }
}
