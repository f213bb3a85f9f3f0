//! Hosts with guests.

use nicteam_experiment::{Overrides, parse, show};

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
