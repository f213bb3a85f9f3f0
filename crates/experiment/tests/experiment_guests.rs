//! Hosts with guests.

use std::time::Duration;

use nicteam_experiment::{Announce, Event, Migrate, Overrides, parse, show};

const GUESTS: &str = r#"
title = "Guests"
[hosts]
pc = { team = "bond", guests = [{ mac = "02:00:00:00:10:01" }, { address = "10.0.0.50/24" }] }
peer = {}
[teams.bond]
mode = "active-backup"
[switches]
sw = {}
[[links]]
between = ["pc", "sw"]
count = 2
[[links]]
between = ["peer", "sw"]
[workloads.w]
kind = "tcp"
from = ["pc/guest1", "pc/guest2"]
to = "peer"
[[runs]]
name = "two"
workloads = "w"
[[runs]]
name = "three"
workloads = "w"
hosts = { pc = { guests = 3 } }
"#;

#[test]
fn guests_are_hosts_behind_their_host() {
    let experiment = parse("guests", "guests.toml", GUESTS, &Overrides::default()).unwrap();
    let seen = |run: usize| {
        let hosts = experiment.runs[run].topology.hosts.iter();
        hosts.map(|host| format!("{} {} {} {}", host.name, host.address, host.mac, host.device)).collect::<Vec<_>>()
    };
    assert_eq!(
        seen(0),
        [
            "pc 10.0.0.1 02:00:00:00:00:01 br0",
            "peer 10.0.0.2 02:00:00:00:00:02 eth0",
            "pc/guest1 10.0.0.3 02:00:00:00:10:01 eth0",
            "pc/guest2 10.0.0.50 02:00:00:00:00:04 eth0",
        ]
    );
    assert_eq!(seen(1)[4], "pc/guest3 10.0.0.5 02:00:00:00:00:05 eth0");
    let topology = &experiment.runs[0].topology;
    assert_eq!((topology.links_of("pc/guest2"), topology.links_of("peer")), ("pc", "peer"));
    assert_eq!((topology.guests_of("pc").count(), topology.guests_of("peer").count()), (2, 0));
    let shown = show(&experiment);
    assert!(shown.contains("10.0.0.1/24  2 guests behind team0 active-backup"), "{shown}");
    assert!(shown.contains("pc/guest2  02:00:00:00:00:04  10.0.0.50/24, guest behind br0 of pc"), "{shown}");
}

#[test]
fn a_guest_moves_to_a_host_that_gets_a_bridge_for_it() {
    let event = r#"{ at = "3s", kind = "migrate", guest = "pc/guest1", to = "peer", announce = "rarp" }"#;
    let early = r#"{ at = "1s", kind = "migrate", guest = "pc/guest2", to = "peer" }"#;
    let text = GUESTS.replace("name = \"two\"", &format!("name = \"two\"\nevents = [{event}, {early}]"));
    let text = text.replace("to = \"peer\"\n[[runs]]", "to = \"other\"\n[[runs]]");
    let text = text
        .replace("peer = {}", "peer = {}\nother = {}")
        .replace("between = [\"peer\"", "between = [[\"peer\", \"other\"]");
    let experiment = parse("guests", "guests.toml", &text, &Overrides::default()).unwrap();
    let [first, second] = experiment.runs[0].events.as_slice() else { panic!("{:?}", experiment.runs[0].events) };
    assert_eq!((first.at, second.at), (Duration::from_secs(1), Duration::from_secs(3)));
    let (guest, from, to) = ("pc/guest1".to_owned(), "pc".to_owned(), "peer".to_owned());
    let expected: &dyn Event = &Migrate { guest, from, to, announce: Announce { arp: false, rarp: true } };
    assert_eq!(&*second.event, expected);
    let device = |run: usize| experiment.runs[run].topology.hosts[1].device.clone();
    assert_eq!((device(0), device(1)), ("br0".to_owned(), "eth0".to_owned()));
    assert!(show(&experiment).contains("event      after 3s: pc/guest1 moves to peer, announced by RARP"));
}
