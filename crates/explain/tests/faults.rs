//! Each fault is named rightly, in several variants.

use std::collections::BTreeMap;

use nicteam_bundles::traffic::{Claim, FlowKey, Neighbour, TCP};
use nicteam_bundles::{Counters, Kind, Problem, state};
use nicteam_explain::{Path, Place, Side, Sure, Weight};
use nicteam_wire::Mac;

use crate::common::{World, connection, to_one_host};

/// Plants a fault.
type Plant = fn(&mut World);
/// Raises a counter of a member.
type Count = fn(&mut Counters);

#[test]
fn a_switch_that_hashes_by_mac_is_named() {
    for (links, weight, rx) in [(2, Weight::Fault, 200e6), (4, Weight::Fault, 500e6), (2, Weight::Limit, 960e6)] {
        let all: Vec<usize> = (0..links).collect();
        // 16 flows from four hosts behind one gateway: all come by the last link, and leave by all.
        let flows: Vec<_> = (0..16).map(|at| (20 + at as u8 % 4, 9, links - 1, at % links)).collect();
        let mut world = World::aggregate(links).flows(&flows);
        for link in all {
            world = world.carries(link, if link == links - 1 { rx } else { 1e3 }, 100e6);
        }
        let found = world.finds("hash");
        assert_eq!((found.side, found.weight, found.sure), (Side::Switch, weight, Sure::Certain), "{found:#?}");
        assert!(found.sentence.contains("MAC addresses alone"), "{}", found.sentence);
        assert_eq!(found.changes[0].place, Place::Switch);
        assert_eq!(found.changes[0].hash.as_deref(), Some("layer3+4"));
        assert!(found.evidence.iter().any(|line| line.contains("this host sends")), "{found:#?}");
    }
}

#[test]
fn towards_one_host_a_hash_by_mac_and_one_by_address_are_not_told_apart() {
    let world =
        World::aggregate(2).flows(&to_one_host(16, &[0], &[0, 1])).carries(0, 400e6, 50e6).carries(1, 0.0, 50e6);
    let found = world.finds("hash");
    assert!(found.sentence.contains("MAC, or MAC and IP"), "{}", found.sentence);
    assert_eq!(found.side, Side::Switch);
}

#[test]
fn fewer_flows_are_less_sure() {
    for (count, sure) in [(6, Sure::Likely), (16, Sure::Certain)] {
        let flows = to_one_host(count, &[1], &[0, 1]);
        let found = World::aggregate(2).flows(&flows).carries(1, 100e6, 50e6).carries(0, 0.0, 50e6).finds("hash");
        assert_eq!(found.sure, sure, "{count} flows");
    }
}

#[test]
fn without_lacp_a_missing_group_is_the_other_cause() {
    let flows = to_one_host(16, &[0], &[0, 1]);
    let found = World::of("balance-xor", 2).flows(&flows).carries(0, 100e6, 50e6).carries(1, 0.0, 50e6).finds("hash");
    assert_eq!((found.side, found.sure), (Side::Switch, Sure::Likely));
    assert!(found.evidence.iter().any(|line| line.contains("in no group")), "{found:#?}");
}

#[test]
fn a_host_at_the_other_end_is_told_from_a_switch() {
    let mut world = World::aggregate(2).flows(&to_one_host(16, &[0], &[0, 1]));
    world = world.carries(0, 100e6, 50e6).carries(1, 0.0, 50e6);
    world.bundle.lacp.as_mut().unwrap().partner = Some("02:00:00:00:00:09".to_owned());
    world.bundle.members.iter_mut().for_each(|of| {
        of.lacp.as_mut().unwrap().partner.as_mut().unwrap().system = "02:00:00:00:00:09".to_owned();
    });
    let found = world.finds("hash");
    assert!(found.sentence.starts_with("The host at the other end"), "{}", found.sentence);
    assert_eq!(found.changes[0].place, Place::OtherHost);
}

#[test]
fn without_headers_counters_say_it_less_surely() {
    let mut world = World::aggregate(2).flows(&to_one_host(16, &[0], &[0, 1]));
    world = world.carries(0, 300e6, 50e6).carries(1, 0.0, 50e6);
    world.headers = None;
    let found = world.finds("hash");
    assert_eq!((found.side, found.sure), (Side::Switch, Sure::Likely));
}

#[test]
fn layer2_towards_a_gateway_is_this_hosts_fault() {
    let cases = [
        (Kind::Kernel, "ip link set bond0 type bond xmit_hash_policy layer3+4"),
        (Kind::Nicteam, "nicteam team set bond0 xmit_hash_policy=layer3+4"),
    ];
    for (kind, command) in cases {
        for policy in ["layer2", "src-mac", "vlan+srcmac"] {
            let flows: Vec<_> = (0..12).map(|at| (20 + 2 * at as u8, 9, at % 2, 0)).collect();
            let mut world = World::aggregate(2).policy(policy).flows(&flows);
            world = world.carries(0, 50e6, 400e6).carries(1, 50e6, 0.0);
            world.bundle.kind = kind;
            let found = world.finds("hash");
            assert_eq!((found.side, found.sure), (Side::Host, Sure::Certain), "{policy}: {found:#?}");
            assert!(found.sentence.contains("as a gateway has it"), "{}", found.sentence);
            assert_eq!(found.changes[0].commands, [command]);
            let gain = found.gain.unwrap();
            assert!(gain.starts_with("by prediction 12 flows would use 2 of 2 links"), "{gain}");
        }
    }
}

#[test]
fn layer2_towards_one_host_and_layer23_towards_one_host_are_named_too() {
    for policy in ["layer2", "layer2+3"] {
        let flows = to_one_host(12, &[0, 1], &[1]);
        let world = World::aggregate(2).policy(policy).flows(&flows).carries(0, 50e6, 0.0).carries(1, 50e6, 960e6);
        let found = world.finds("hash");
        assert_eq!((found.side, found.weight), (Side::Host, Weight::Limit));
        assert!(found.sentence.contains("all of them go to one host"), "{}", found.sentence);
    }
}

#[test]
fn a_mode_that_chooses_by_source_is_named_with_another_mode() {
    let mut world = World::of("balance-slb", 2).flows(&to_one_host(8, &[0], &[0])).carries(0, 100e6, 100e6);
    (world.bundle.kind, world.bundle.hash_policy) = (Kind::OpenVSwitch, None);
    let found = world.finds("hash");
    assert_eq!(found.side, Side::Host);
    assert!(found.changes[0].commands[0].contains("balance-tcp"), "{found:#?}");
}

#[test]
fn both_ends_may_be_wrong_at_once() {
    let world = World::aggregate(2).policy("layer2").flows(&to_one_host(16, &[1], &[0]));
    let explanation = world.carries(0, 0.0, 300e6).carries(1, 300e6, 0.0).explained();
    let sides: Vec<Side> = explanation.findings.iter().map(|of| of.side).collect();
    assert_eq!(sides, [Side::Switch, Side::Host]);
    assert_eq!(explanation.verdict, "2 faults; no link is full now");
}

#[test]
fn a_port_without_lacp_is_named() {
    let mut world = World::aggregate(2);
    let port = world.leave_out(1);
    port.partner = Some(nicteam_bundles::PortEnd { system: "00:00:00:00:00:00".to_owned(), ..Default::default() });
    let found = world.finds("not-aggregating");
    assert_eq!((found.member.as_deref(), found.side), (Some("eth1"), Side::Switch));
    assert!(found.sentence.contains("does not speak LACP") && found.sentence.contains("eth0 carries everything"));
    assert_eq!(found.gain.as_deref(), Some("2 links instead of 1"));
}

#[test]
fn other_reasons_not_to_aggregate_are_told_apart() {
    let cases: [(&str, Plant); 6] = [
        ("leads to another system", |world| {
            world.port(2).partner.as_mut().unwrap().system = "02:00:00:00:00:77".to_owned()
        }),
        ("in another group", |world| world.port(2).partner.as_mut().unwrap().key = 16),
        ("individual link", |world| world.port(2).partner.as_mut().unwrap().state &= !state::AGGREGATION),
        ("speed or duplex differs", |world| world.port(2).actor.as_mut().unwrap().key = 7),
        ("does not take it into the group", |world| {
            world.port(2).partner.as_mut().unwrap().state &= !state::SYNCHRONIZATION
        }),
        ("in another aggregator", |world| world.port(2).partner = None),
    ];
    for (words, change) in cases {
        let mut world = World::aggregate(3);
        world.leave_out(2);
        change(&mut world);
        let found = world.finds("not-aggregating");
        assert!(found.sentence.contains(words), "{words}: {}", found.sentence);
        assert!(found.sentence.contains("eth0 and eth1 carry everything"), "{}", found.sentence);
    }
}

#[test]
fn a_full_link_beside_one_that_is_left_out_limits() {
    let mut world = World::aggregate(2).carries(0, 10e6, 950e6);
    world.leave_out(1).partner = None;
    assert_eq!(world.finds("not-aggregating").weight, Weight::Limit);
}

#[test]
fn a_partner_that_is_missing_is_named_once() {
    for links in [2, 3] {
        let mut world = World::aggregate(links);
        let lacp = world.bundle.lacp.as_mut().unwrap();
        (lacp.partner, lacp.negotiated) = (None, Some(false));
        (1..links).for_each(|place| drop(world.leave_out(place).partner.take()));
        let found = world.finds("lacp-missing");
        assert_eq!(found.side, Side::Switch);
        assert!(found.sentence.contains("eth0 alone"), "{}", found.sentence);
    }
}

#[test]
fn a_link_that_is_down_is_named() {
    let cases: [(&str, Side, Plant); 3] = [
        ("no carrier", Side::Link, |world| world.member(1).carrier = false),
        ("set down", Side::Host, |world| (world.member(1).admin_up, world.member(1).carrier) = (false, false)),
        ("does not use it", Side::Link, |_| {}),
    ];
    for mode in ["balance-xor", "active-backup", "balance-rr"] {
        for (words, side, change) in cases {
            let mut world = World::of(mode, 2);
            (world.member(1).up, world.member(1).active) = (false, false);
            change(&mut world);
            let found = world.finds("down");
            assert_eq!((found.member.as_deref(), found.side), (Some("eth1"), side));
            assert!(found.sentence.contains(words), "{words}: {}", found.sentence);
        }
    }
    let mut world = World::aggregate(2);
    world.leave_out(1);
    (world.member(1).up, world.member(1).carrier) = (false, false);
    assert_eq!(world.finds("down").side, Side::Link, "LACP is not blamed for it");
}

#[test]
fn unlike_speeds_are_named() {
    for mode in ["balance-xor", "active-backup"] {
        let mut world = World::of(mode, 3);
        world.member(2).speed_mbps = Some(100);
        let found = world.finds("speed");
        assert_eq!((found.member.as_deref(), found.side), (Some("eth2"), Side::Link));
        assert!(found.sentence.contains("100 Mbit/s") && found.sentence.contains("1 Gbit/s"), "{}", found.sentence);
    }
    let mut world = World::of("balance-xor", 2);
    world.member(0).full_duplex = Some(false);
    assert_eq!(world.finds("half-duplex").member.as_deref(), Some("eth0"));
}

#[test]
fn mtus_that_differ_are_named() {
    let mut world = World::aggregate(2);
    (world.bundle.mtu, world.member(0).mtu) = (Some(9000), Some(9000));
    let found = world.finds("mtu");
    assert_eq!((found.member.as_deref(), found.side), (Some("eth1"), Side::Host));
    assert_eq!(found.changes[0].commands, ["ip link set eth1 mtu 9000"]);

    let mut world = World::aggregate(2);
    let port = Neighbour {
        system: "sw1".to_owned(),
        port: "Eth7".to_owned(),
        max_frame_bytes: Some(1522),
        ..Neighbour::default()
    };
    world.headers.as_mut().unwrap().ports = BTreeMap::from([("eth0".to_owned(), port)]);
    world.is_good();
    (world.bundle.mtu, world.member(0).mtu, world.member(1).mtu) = (Some(9000), Some(9000), Some(9000));
    let found = world.finds("mtu");
    assert!(found.side == Side::Switch && found.sentence.contains("Eth7 of sw1"), "{}", found.sentence);

    let mut world = World::aggregate(2);
    let path = Path {
        to: "10.0.0.9".to_owned(),
        is_good: false,
        findings: vec!["Packets of 1500 bytes do not pass.".to_owned()],
        cures: vec!["raise it".to_owned()],
    };
    world.path = Some(path);
    assert_eq!(world.finds("mtu").evidence.len(), 1);
    world.path.as_mut().unwrap().is_good = true;
    world.is_good();
}

#[test]
fn packets_that_are_too_large_for_the_path_show_in_connections() {
    let mut world = World::aggregate(2);
    let key =
        FlowKey { protocol: TCP, local: "10.0.0.1:40000".parse().unwrap(), remote: "10.7.0.9:80".parse().unwrap() };
    let mut stuck = connection(key, 0);
    (stuck.retransmits, stuck.segments) = (5, 5);
    world.connections = vec![stuck];
    let found = world.finds("mtu");
    assert_eq!(found.sure, Sure::Possible);
    assert_eq!(found.changes[0].commands, ["nicteam doctor path 10.7.0.9"]);

    let mut world = World::aggregate(2);
    world.headers.as_mut().unwrap().too_large = BTreeMap::from([("10.7.0.9".parse().unwrap(), 1400)]);
    assert!(world.notes("mtu").sentence.contains("1400 bytes"));
}

#[test]
fn an_address_that_another_host_has_is_named() {
    for (by_arp, sure) in [(true, Sure::Certain), (false, Sure::Likely)] {
        let mut world = World::aggregate(2);
        let (mac, member) = (Mac([2, 0, 0, 0, 0, 7]), "eth0".to_owned());
        let claim = Claim { address: "10.0.0.1".parse().unwrap(), mac, by_arp, member };
        let other = Claim { address: "10.44.0.1".parse().unwrap(), ..claim.clone() };
        world.headers.as_mut().unwrap().claims = vec![other];
        world.is_good();
        world.headers.as_mut().unwrap().claims.push(claim);
        let found = world.finds("duplicate-address");
        assert_eq!((found.side, found.sure), (Side::OtherHost, sure));
        assert!(
            found.sentence.contains("10.0.0.1") && found.sentence.contains("02:00:00:00:00:07"),
            "{}",
            found.sentence
        );
    }
}

#[test]
fn one_heavy_flow_is_named_and_limits_when_its_link_is_full() {
    for (bps, weight) in [(300e6, Weight::Notice), (950e6, Weight::Limit)] {
        let flows = to_one_host(9, &[0, 1], &[0, 1]);
        let mut world = World::aggregate(2).flows(&flows).carries(0, 5e6, bps).carries(1, 5e6, 10e6);
        world.connections[0].sent_bytes = (bps * 10.0 / 8.0 * 0.95) as u64;
        let found = if weight == Weight::Limit { world.finds("one-flow") } else { world.notes("one-flow") };
        assert_eq!((found.weight, found.sure), (weight, Sure::Certain));
        assert!(found.sentence.contains("10.0.0.1:40000"), "{}", found.sentence);
    }
    // One that is received, and by a mode that sends in turn it is no matter.
    let flow = to_one_host(1, &[1], &[0]);
    let mut world = World::aggregate(2).flows(&flow).carries(1, 800e6, 5e6);
    world.connections[0].received_bytes = 900_000_000;
    assert!(world.notes("one-flow").sentence.contains("receives"));
    world.bundle.mode = "balance-rr".to_owned();
    world.is_good();
}

#[test]
fn a_lossy_member_is_named_by_its_counters() {
    let cases: [(&str, Count); 5] = [
        ("dropped received", |of| of.rx_drops = 5000),
        ("damaged", |of| of.rx_errors = 50),
        ("damaged", |of| of.rx_missed = 50),
        ("could not send", |of| of.tx_errors = 50),
        ("to be sent", |of| of.tx_drops = 500),
    ];
    for (words, change) in cases {
        let flows = to_one_host(16, &[0, 1], &[0, 1]);
        let mut world = World::aggregate(2).flows(&flows).carries(0, 100e6, 100e6).carries(1, 100e6, 100e6);
        change(&mut world.rates.devices.get_mut("eth1").unwrap().counted);
        let found = world.finds("lossy");
        assert_eq!(found.member.as_deref(), Some("eth1"));
        assert!(found.sentence.contains(words), "{words}: {}", found.sentence);
    }
}

#[test]
fn a_lossy_member_is_named_by_what_tcp_sends_again() {
    let flows = to_one_host(16, &[0, 1], &[0, 1]);
    let mut world = World::aggregate(2).flows(&flows).carries(0, 100e6, 100e6).carries(1, 100e6, 100e6);
    for (at, of) in world.connections.iter_mut().enumerate() {
        of.retransmits = if at % 2 == 1 { 20 } else { 0 };
    }
    let found = world.finds("lossy");
    assert_eq!((found.member.as_deref(), found.sure), (Some("eth1"), Sure::Likely));
    // The same on both is no member's.
    world.connections.iter_mut().for_each(|of| of.retransmits = 20);
    world.is_good();
}

#[test]
fn a_link_that_fails_while_it_is_looked_at_is_named() {
    let mut world = World::aggregate(2);
    world.earlier = Some(world.bundle.clone());
    world.member(1).link_failures = Some(2);
    let found = world.finds("flapping");
    assert!(found.sentence.contains("2 times while"), "{}", found.sentence);
}

#[test]
fn a_receiver_that_is_slow_is_told_from_a_link() {
    let flows = to_one_host(4, &[0, 1], &[0, 1]);
    let mut world = World::aggregate(2).flows(&flows).carries(0, 5e6, 100e6).carries(1, 5e6, 100e6);
    world.connections.iter_mut().for_each(|of| of.rwnd_limited_us = 8_000_000);
    assert_eq!(world.notes("slow-host").side, Side::OtherHost);
}

#[test]
fn what_its_program_says_is_told_where_no_rule_knows_better() {
    let mut world = World::aggregate(2);
    world.bundle.problems = vec![Problem { text: "miimon is 0".to_owned(), hint: "set it".to_owned() }];
    assert_eq!(world.finds("problem").sentence, "miimon is 0");
    world.member(1).carrier = false;
    assert_eq!(world.finds("down").side, Side::Link);
}
