//! Devices on members, neighbours and rules move to the team and come back.

use std::process::Command;

use nicteam_testnet::{Host, assert_becomes, eventually};

use super::{Network, Session, TEAM};
use crate::common::teams::may_test_bpf;

#[test]
fn a_device_on_a_member_moves_with_its_connection_and_so_do_neighbours_and_rules() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let ip = |host: &Host, line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        host.netns.run(|| Command::new("ip").args(&words).output()).unwrap().unwrap().status.success()
    };
    // Not every kernel has VLAN devices.
    let has_vlans = ip(&network.near.host, "link add link eth0 name above7 type vlan id 7");
    let kind = if has_vlans { "vlan" } else { "macvlan" };
    let far_device = if has_vlans { "above7" } else { "eth0" };
    if has_vlans {
        assert!(ip(&network.far, "link add link eth0 name above7 type vlan id 7"));
    } else {
        eprintln!("no VLAN devices in this kernel: a macvlan in its place");
        network.ip("link add link eth0 name above7 type macvlan mode bridge");
    }
    network.ip("address add 10.7.0.1/24 dev above7");
    network.ip("link set above7 up");
    network.ip("route add 10.77.0.0/16 via 10.7.0.2");
    network.ip("neighbour add 10.3.0.9 lladdr 02:00:00:00:00:99 nud permanent dev eth0");
    assert!(ip(&network.far, &format!("address add 10.7.0.2/24 dev {far_device}")));
    assert!(ip(&network.far, &format!("link set {far_device} up")));
    eventually("addresses", || !network.snapshot().iter().any(|line| line.contains("tentative")));
    let before = network.snapshot();
    let mut session = Session::new(&network, "10.7.0.2:7001".parse().unwrap());
    session.live_on("before");
    let file = network.file("teams.toml", TEAM);
    let check = network.done(&["check", &file]);
    assert!(check.contains(&format!("make {kind} above7 again on team0")), "{check}");
    network.done(&["up", &file]);
    let up = network.snapshot();
    let has = |words: &[&str]| up.iter().any(|line| words.iter().all(|word| line.contains(word)));
    for words in [
        &["above7@team0", kind][..],
        &["above7", "10.7.0.1/24"],
        &["10.77.0.0/16 via 10.7.0.2 dev above7"],
        &["10.3.0.9 dev team0 lladdr 02:00:00:00:00:99 PERMANENT"],
        &["iif team0 lookup 5"],
    ] {
        assert!(has(words), "{words:?}: {up:#?}");
    }
    assert!(!has(&["iif eth0"]), "{up:#?}");
    session.live_on("up");
    network.done(&["down", "team0"]);
    session.live_on("down");
    assert_becomes(|| network.snapshot(), &before, "down");
}
