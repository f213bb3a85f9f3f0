//! Planted causes: runs in which one thing is wrong, three variants of each by seed. The finding must name it, where it is, and
//! account for what is missing.

use nicteam_record::{Fault, Further, Host, Link, LinkEnd, Port, Run, Switch};
use nicteam_report::{explain, find_reasons};

use crate::common::net::{FULL, HostSpec, net};
use crate::common::receive_what_was_sent;

/// A cause, by its rule's name: the node that it is at, and a run in which it is planted.
struct Planted {
    cause: &'static str,
    node: Option<&'static str>,
    run: fn(u32) -> Run,
}

const L34: &str = "balance-xor layer3+4";
const MAC: &str = "balance-xor layer2";

const PLANTED: [Planted; 12] = [
    Planted { cause: "hash", node: Some("sw"), run: switch_by_mac },
    Planted { cause: "hash", node: Some("a"), run: host_by_mac },
    Planted { cause: "active-backup", node: Some("b"), run: active_backup },
    Planted { cause: "load-balancing", node: Some("b"), run: load_balancing },
    Planted { cause: "broadcast", node: Some("a"), run: broadcast },
    Planted { cause: "learning", node: Some("sw"), run: learning },
    Planted { cause: "unknown-switch", node: Some("sw"), run: unknown_switch },
    Planted { cause: "unequal-turns", node: Some("a"), run: unequal_turns },
    Planted { cause: "not-aggregating", node: Some("a"), run: not_aggregating },
    Planted { cause: "slow-host", node: Some("b"), run: receive_window },
    Planted { cause: "acknowledgements", node: None, run: acknowledgements },
    Planted { cause: "down-in-part", node: Some("a"), run: down_in_part },
];

#[test]
fn each_planted_cause_is_found_where_it_is() {
    for Planted { cause, node, run } in PLANTED {
        for seed in 0..3 {
            let mut run = run(seed);
            find_reasons(&mut run);
            let named = run.findings.iter().find(|finding| finding.cause == cause);
            let finding = named.unwrap_or_else(|| panic!("{cause}, seed {seed}: {:#?}", run.findings));
            assert_eq!(finding.node.as_deref(), node, "{cause}, seed {seed}");
            let missing = run.missing.as_ref().unwrap();
            let first = missing.parts.first().map(|part| part.cause.as_str());
            assert_eq!(first, Some(cause), "seed {seed}: {missing:?}");
            assert!(missing.unexplained < 0.05, "{cause}, seed {seed}: {missing:?}");
        }
    }
}

#[test]
fn cures_deliver_more_and_name_what_is_to_change() {
    let cured = |run: fn(u32) -> Run| {
        let mut run = run(0);
        find_reasons(&mut run);
        let cures = run.findings.into_iter().flat_map(|finding| finding.cures);
        let cures: Vec<_> = cures.inspect(|cure| assert!(cure.of_limit > run.of_limit + 0.02, "{cure:?}")).collect();
        cures.into_iter().map(|cure| nicteam_cures::changes_in_words(&cure.changes)).collect::<Vec<String>>()
    };
    assert_eq!(cured(switch_by_mac)[0], "spread=src-dst-port at sw");
    assert_eq!(cured(host_by_mac)[0], "xmit_hash_policy=layer3+4 at a");
    assert_eq!(cured(unequal_turns)[0], "eth3 taken out at a");
    assert_eq!(cured(not_aggregating)[0], "lacp=active at sw");
    assert!(cured(active_backup)[0].starts_with("mode=802.3ad"), "{:?}", cured(active_backup));
    assert!(cured(receive_window).is_empty());
}

#[test]
fn a_slow_link_under_round_robin_is_named() {
    let mut run = unequal_turns(0);
    find_reasons(&mut run);
    let sentence = nicteam_report::explain(&run).sentence;
    assert!(
        sentence.ends_with("turns, not bytes. So eth3 (10 Mbit/s) held eth0, eth1 and eth2 (100 Mbit/s) to its rate."),
        "{sentence}"
    );
}

#[test]
fn hosts_behind_a_router_have_its_one_address() {
    for seed in 0..3 {
        let mut run = routed(seed);
        find_reasons(&mut run);
        let sentence = nicteam_report::explain(&run).sentence;
        assert!(
            sentence.contains("all frames of hosts behind the router r have the router's one address"),
            "{sentence}"
        );
        assert!(sentence.contains("Cure: layer3+4 or layer2+3"), "{sentence}");
        let cure = run.findings[0].cures.first().map(|cure| nicteam_cures::changes_in_words(&cure.changes));
        assert!(cure.is_some_and(|cure| cure.ends_with(" at a")), "{:?}", run.findings);
    }
}

#[test]
fn busy_processors_come_before_acknowledgements() {
    let mut run = acknowledgements(0);
    run.cpu.busy = 0.95;
    find_reasons(&mut run);
    assert!(run.findings.iter().any(|finding| finding.cause == "machine"), "{:#?}", run.findings);
}

/// Hosts a and b with four links each.
fn two(a: &'static str, b: &'static str) -> [HostSpec; 2] {
    [("a", 4, 1.0, a), ("b", 4, 1.0, b)]
}

/// As many connections as a seed says.
fn connections(seed: u32) -> usize {
    4 + 4 * seed as usize
}

fn switch_by_mac(seed: u32) -> Run {
    let count = connections(seed);
    net(&two("balance-rr", L34), "src-dst-mac", &[("a", "b", count, FULL / count as f64)])
}

fn host_by_mac(seed: u32) -> Run {
    let count = connections(seed);
    net(&two(MAC, L34), "src-dst-port", &[("a", "b", count, FULL / count as f64)])
}

fn active_backup(seed: u32) -> Run {
    let count = connections(seed);
    net(&two(L34, "active-backup"), "src-dst-port", &[("a", "b", count, FULL / count as f64)])
}

fn load_balancing(seed: u32) -> Run {
    let count = connections(seed);
    net(&two(L34, "balance-alb"), "src-dst-port", &[("a", "b", count, FULL / count as f64)])
}

fn broadcast(seed: u32) -> Run {
    let count = connections(seed);
    net(&two("broadcast", L34), "src-dst-port", &[("a", "b", count, FULL / count as f64)])
}

fn learning(seed: u32) -> Run {
    let count = connections(seed);
    net(&two(L34, L34), "", &[("a", "b", count, FULL / count as f64)])
}

/// A real switch that hashes MAC addresses.
fn unknown_switch(seed: u32) -> Run {
    let count = connections(seed);
    let mut run = net(&two("balance-rr", L34), "src-dst-mac", &[("a", "b", count, FULL / count as f64)]);
    run.topology.teams.retain(|team| team.node != "sw");
    run.members.retain(|member| member.host != "sw");
    run.topology.switches[0] = Switch { name: "sw".into(), unknown: true, ..Switch::default() };
    run
}

#[test]
fn of_an_unknown_switch_is_said_what_it_can_look_at() {
    let said = |run: Run| {
        let explanation = explain(&run);
        (explanation.sentence, explanation.facts)
    };
    let (sentence, facts) = said(unknown_switch(1));
    assert_eq!(
        sentence,
        "Receiving side: how sw chooses a link is not known. 8 connections reached b by 1 of 4 links, so sw chooses by the \
         receiver's address alone, without a group, or by MAC addresses, or by IP addresses. Let it hash IP addresses and ports, \
         with these links in one group."
    );
    assert!(
        facts.contains(&"A hash of ports uses so few of 4 links by chance in one of 16384 cases.".to_owned()),
        "{facts:?}"
    );
    // Two links: more than there are addresses.
    let mut run = unknown_switch(1);
    let own = |device| move |member: &&mut nicteam_record::Member| member.host == "b" && member.member == device;
    let full = run.members.iter().filter(|member| member.host == "b").map(|member| member.rx_bps).fold(0.0, f64::max);
    let frames = run.members.iter().filter(|member| member.host == "b").map(|member| member.rx_frames).max().unwrap();
    for device in ["eth0", "eth1", "eth2", "eth3"] {
        let member = run.members.iter_mut().find(own(device)).unwrap();
        let carries = ["eth0", "eth1"].contains(&device);
        (member.rx_bps, member.rx_frames) = if carries { (full, frames) } else { (0.0, 0) };
    }
    let (sentence, facts) = said(run);
    assert!(sentence.ends_with("by 2 of 4 links, so sw chooses by ports."), "{sentence}");
    assert_eq!(facts[1], "By MAC addresses these connections would use 1 link at most.");
}

/// Three links of 100 Mbit/s and one of 10; each carries what the slow one can.
fn unequal_turns(seed: u32) -> Run {
    let count = connections(seed);
    let mut run = net(&two("balance-rr", L34), "src-dst-port", &[("a", "b", count, 0.4 * FULL / count as f64)]);
    for link in run.topology.links.iter_mut().filter(|link| link.a.node == "a" && link.a.device == "eth3") {
        link.rate_bps /= 10;
    }
    run.limit_bps *= 3.1 / 4.0;
    run.of_limit = run.delivered_bps / run.limit_bps;
    run
}

/// A switch without LACP: of four members one carries all.
fn not_aggregating(seed: u32) -> Run {
    let count = connections(seed);
    let mut run = net(&two("802.3ad layer3+4", L34), "src-dst-port", &[("a", "b", count, FULL / count as f64)]);
    let own = || run.members.iter().filter(|member| member.host == "a");
    let (bps, frames) = (own().map(|member| member.tx_bps).sum::<f64>(), own().map(|member| member.tx_frames).sum());
    for (place, member) in run.members.iter_mut().filter(|member| member.host == "a").enumerate() {
        (member.tx_bps, member.tx_frames) = if place == 0 { (bps, frames) } else { (0.0, 0) };
    }
    receive_what_was_sent(&mut run);
    run.ports = (0..4)
        .map(|place| Port {
            host: "a".into(),
            team: "team0".into(),
            member: format!("eth{place}"),
            aggregates: place == 0,
            partner: None,
            why_not: (place > 0).then(|| "partner silent: no LACPDU comes".into()),
        })
        .collect();
    run
}

/// A window that is full of what is on its way.
fn receive_window(seed: u32) -> Run {
    let mut run = net(&two(L34, L34), "src-dst-port", &[("a", "b", 4, 0.2)]);
    let rtt_us = 10_000.0 * f64::from(seed + 1);
    let each_bps = run.connections[0].delivered_bps;
    run.connections.iter_mut().for_each(|connection| connection.rtt_us = rtt_us);
    let window = (each_bps / 8.0 * rtt_us / 1e6) as u32;
    run.topology.hosts[1].receive_window_bytes = Some(window);
    run
}

/// One link each; b's payload to a fills the way by which a's is acknowledged.
fn acknowledgements(seed: u32) -> Run {
    let part = 0.3 + 0.1 * f64::from(seed);
    let mut run = net(&[("a", 1, 1.0, ""), ("b", 1, 1.0, "")], "", &[("a", "b", 1, part), ("b", "a", 4, FULL / 4.0)]);
    run.limit_bps /= 2.0;
    run.of_limit = run.delivered_bps / run.limit_bps;
    run
}

/// One of two links is down for half of the time.
fn down_in_part(seed: u32) -> Run {
    let mut run = net(&[("a", 2, 1.0, L34), ("b", 2, 1.0, L34)], "src-dst-port", &[("a", "b", 8, 0.75 * 2.0 / 8.0)]);
    run.limit_bps /= 2.0;
    run.of_limit = run.delivered_bps / run.limit_bps;
    let whole_bps = run.limit_bps;
    // What arrived before is known of a moment alone, and may be little.
    let before_bps = if seed.is_multiple_of(2) { whole_bps } else { whole_bps * 0.6 };
    run.faults = vec![Fault {
        t_ms: 1000.0 + 500.0 * f64::from(seed),
        over_ms: Some(5000.0 + 500.0 * f64::from(seed)),
        until_ms: 8000.0,
        kind: "cable".into(),
        node: "a".into(),
        member: Some("eth1".into()),
        text: "eth1 of a was pulled".into(),
        before_bps: Some(before_bps),
        during_bps: Some(whole_bps / 2.0),
        after_bps: Some(whole_bps),
        ..Fault::default()
    }];
    run
}

/// Four hosts behind a router, which has four links to a's switch; a spreads by MAC address.
fn routed(seed: u32) -> Run {
    let count = connections(seed);
    let mut run =
        net(&[("a", 4, 1.0, MAC), ("r", 4, 1.0, L34)], "src-dst-port", &[("a", "r", count, FULL / count as f64)]);
    run.topology.hosts[1].forwards = true;
    for number in 0..4 {
        let name = format!("b{number}");
        let mac = Some(format!("02:00:00:00:01:0{number}"));
        let further =
            Further { device: format!("eth{}", number + 4), address: format!("10.0.{}.1/24", number + 1), mac };
        let end = |node: &str, device: &str| LinkEnd { node: node.into(), device: device.into() };
        let b = end(&name, "eth0");
        run.topology.links.push(Link {
            a: end("r", &further.device),
            b,
            rate_bps: 1_000_000_000,
            mtu: 1500,
            ..Link::default()
        });
        run.topology.hosts[1].further.push(further);
        run.topology.hosts.push(Host {
            address: format!("10.0.{}.2/24", number + 1),
            mac: format!("02:00:00:00:02:{:02x}", 16 * seed + number),
            device: "eth0".into(),
            name,
            ..Host::default()
        });
    }
    for (number, connection) in run.connections.iter_mut().enumerate() {
        connection.to = format!("b{}", number % 4);
        connection.dst = format!("10.0.{}.2:5001", number % 4 + 1);
    }
    run
}
