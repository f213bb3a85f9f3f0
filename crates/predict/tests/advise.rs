//! Which mode suits traffic.

use nicteam_predict::advise::{Ranked, Traffic};
use nicteam_wire::{Frame, Mac, head_of_flow};

const TCP: u8 = 6;

/// Flows from one host to another, from ports one after the other, so many bytes each.
fn ranked(members: u32, has_macs: bool, bytes: &[u64]) -> Vec<Ranked> {
    let mut traffic = Traffic::new(members, has_macs);
    for (number, bytes) in bytes.iter().enumerate() {
        let src = format!("10.0.0.1:{}", 40_000 + number).parse().unwrap();
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let head = head_of_flow(macs, TCP, src, "10.0.0.2:5001".parse().unwrap()).unwrap();
        traffic.add(&Frame::parse(&head).unwrap(), *bytes);
    }
    traffic.ranked()
}

fn of<'r>(ranked: &'r [Ranked], name: &str) -> &'r Ranked {
    ranked.iter().find(|one| one.name == name).unwrap()
}

#[test]
fn between_two_hosts_addresses_give_one_link_and_ports_give_all() {
    let ranked = ranked(4, true, &[1000; 4096]);
    for name in ["802.3ad layer2", "802.3ad layer2+3", "active-backup", "balance-tlb", "switch src-dst-ip"] {
        let one = of(&ranked, name);
        assert!((one.share - 0.25).abs() < 1e-9 && (one.worst - 0.25).abs() < 1e-9, "{one:?}");
    }
    let by_ports = of(&ranked, "802.3ad layer3+4");
    assert!(by_ports.share > 0.9 && by_ports.expected > 0.9 && by_ports.worst > 0.8, "{by_ports:?}");
    assert_eq!(ranked[0].name, "stripe at both ends");
    let place = |name: &str| ranked.iter().position(|one| one.name == name).unwrap();
    assert!(place("balance-rr") > place("stripe at the sending end alone"), "out of order comes behind");
    assert!(place("802.3ad layer3+4") < place("802.3ad layer2"));
}

#[test]
fn a_flow_that_is_most_of_the_bytes_has_one_link() {
    let mut bytes = vec![1; 1000];
    bytes[0] = 1_000_000;
    let ranked = ranked(4, true, &bytes);
    assert!(of(&ranked, "802.3ad layer3+4").expected < 0.26, "{ranked:?}");
    assert!((of(&ranked, "stripe at both ends").expected - 1.0).abs() < 1e-9);
}

#[test]
fn the_worst_case_is_no_better_than_the_mean() {
    for members in [1, 2, 3, 8] {
        for one in ranked(members, true, &[5, 9, 1, 1, 30, 2, 2]) {
            assert!(one.worst <= one.expected + 1e-12 && one.expected <= 1.0 + 1e-12, "{one:?}");
            assert!(one.worst >= 1.0 / f64::from(members) - 1e-12, "{one:?}");
        }
    }
}

#[test]
fn without_mac_addresses_what_looks_at_them_alone_is_not_ranked() {
    let ranked = ranked(2, false, &[1, 2, 3]);
    assert!(ranked.iter().all(|one| !["802.3ad layer2", "switch src-dst-mac", "ovs-balance-slb"].contains(&one.name)));
    assert!(ranked.iter().any(|one| one.name == "802.3ad layer2+3"));
}
