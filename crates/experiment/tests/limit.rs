//! What the links of a run carry at most.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nicteam_experiment::{Bounds, Cable, Direction, End, Host, Ping, Run, Switch, Tcp, Topology, Udp, Workload, limit};
use nicteam_wire::Mac;

const LINK_BPS: u64 = 100_000_000;
/// Payload of one link: 1448 of 1538 bytes.
const PAYLOAD_BPS: f64 = 94_148_240.0;

/// Hosts with so many links each, to one switch.
fn topology(links: &[(&str, usize)]) -> Topology {
    let host = |(name, _): &(&str, usize)| Host {
        name: (*name).to_owned(),
        address: [10, 0, 0, 1].into(),
        prefix: 24,
        mac: Mac::default(),
        device: "team0".to_owned(),
        further: Vec::new(),
        mptcp: false,
        announces: false,
        parent: None,
        forwards: false,
        routes: Vec::new(),
        bounds: Bounds::default(),
        ssh: None,
        bundle: None,
    };
    fn end(node: &str, device: String) -> End {
        End { node: node.to_owned(), device }
    }
    let cables = links.iter().flat_map(|(name, count)| {
        (0..*count).map(move |n| Cable {
            impaired: None,
            a: end(name, format!("eth{n}")),
            b: end("sw", format!("{name}-{n}")),
            rate_bps: LINK_BPS,
            mtus: [1500; 2],
            queue_bytes: None,
            burst_bytes: None,
            without_offloads: false,
        })
    });
    Topology {
        hosts: links.iter().map(host).collect(),
        switches: vec![Switch { name: "sw".to_owned(), ..Switch::default() }],
        cables: cables.collect(),
        teams: Vec::new(),
        targets: Vec::new(),
    }
}

fn run(links: &[(&str, usize)], pairs: &[(&str, &str)], direction: Direction) -> Run {
    let pairs: Vec<_> = pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    let task = Arc::new(Tcp { congestion: "cubic".to_owned(), mptcp: false });
    let workload = Workload { name: "w".to_owned(), connections: pairs.len() as u32, pairs, direction, task };
    Run {
        name: "run".to_owned(),
        variant: None,
        description: None,
        published: None,
        published_of_limit: None,
        published_rates: Vec::new(),
        compared_with: None,
        repetition: None,
        topology: topology(links),
        workloads: vec![workload],
        duration: Duration::from_secs(1),
        warmup: Duration::ZERO,
        events: Vec::new(),
        impairments: BTreeMap::new(),
        chaos_seed: None,
    }
}

fn links_worth(run: &Run) -> f64 {
    limit(run).bps / PAYLOAD_BPS
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
}

#[test]
fn one_way_takes_the_narrower_side() {
    assert_close(links_worth(&run(&[("a", 4), ("b", 4)], &[("a", "b")], Direction::Send)), 4.0);
    assert_close(links_worth(&run(&[("a", 4), ("b", 2)], &[("a", "b")], Direction::Send)), 2.0);
    assert_close(links_worth(&run(&[("a", 4), ("b", 2)], &[("a", "b")], Direction::Receive)), 2.0);
}

#[test]
fn many_hosts_share_what_the_narrow_side_has() {
    let hosts = [("a", 4), ("b", 1), ("c", 1), ("d", 1)];
    let pairs = [("a", "b"), ("a", "c"), ("a", "d")];
    assert_close(links_worth(&run(&hosts, &pairs, Direction::Send)), 3.0);
    // d's payload goes round a's bottleneck only if c makes room: needs an augmenting path.
    let hosts = [("a", 1), ("b", 1), ("c", 1), ("d", 1)];
    let pairs = [("a", "c"), ("a", "d"), ("b", "c")];
    assert_close(links_worth(&run(&hosts, &pairs, Direction::Send)), 2.0);
}

#[test]
fn both_ways_pay_for_acknowledgements() {
    let both = links_worth(&run(&[("a", 4), ("b", 4)], &[("a", "b")], Direction::Both));
    assert_close(both, 8.0 * 1538.0 / (1538.0 + 90.0 / 2.0));
}

#[test]
fn a_host_that_sends_and_receives_has_its_links_for_both() {
    let hosts = [("a", 1), ("b", 1), ("c", 1)];
    let both = links_worth(&run(&hosts, &[("b", "a"), ("b", "c")], Direction::Both));
    // b's one link each way carries everything.
    assert_close(both, 2.0 * 1538.0 / (1538.0 + 90.0 / 2.0));
}

#[test]
fn a_narrow_link_between_switches_counts() {
    let mut narrow = run(&[("a", 2), ("b", 2)], &[("a", "b")], Direction::Send);
    narrow.topology.switches.push(Switch { name: "sw2".to_owned(), ..Switch::default() });
    for cable in narrow.topology.cables.iter_mut().filter(|cable| cable.a.node == "b") {
        cable.b.node = "sw2".to_owned();
    }
    let mut trunk = narrow.topology.cables[0].clone();
    (trunk.a.node, trunk.b.node) = ("sw".to_owned(), "sw2".to_owned());
    narrow.topology.cables.push(trunk);
    assert_close(links_worth(&narrow), 1.0);
    assert_eq!(limit(&narrow).reason, "the links between the switches");
}

#[test]
fn the_reason_names_the_narrow_side() {
    assert_eq!(limit(&run(&[("a", 4), ("b", 1)], &[("a", "b")], Direction::Send)).reason, "the link of b");
    assert_eq!(limit(&run(&[("a", 4), ("b", 4)], &[("a", "b")], Direction::Send)).reason, "all 4 links of a");
}

#[test]
fn datagrams_are_not_asked_for_more_than_is_sent() {
    let mut slow = run(&[("a", 4), ("b", 4)], &[("a", "b")], Direction::Send);
    slow.workloads[0].task = Arc::new(Udp { rate_bps: 360_000_000, size_bytes: 1472 });
    assert_close(limit(&slow).bps / 360e6, 1472.0 / 1538.0);
    slow.workloads[0].task = Arc::new(Udp { rate_bps: 500_000_000, size_bytes: 1472 });
    assert_close(links_worth(&slow), 4.0);
}

#[test]
fn what_is_only_answered_has_no_part_in_it() {
    let mut run = run(&[("a", 4), ("b", 4)], &[("a", "b")], Direction::Send);
    let alone = links_worth(&run);
    let interval = Duration::from_secs(1);
    let ping = Ping { payload_bytes: 56, dont_fragment: false, interval, count: None, every_path: false };
    // The other way: as payload it would make the limit that of both directions.
    let pairs = vec![("b".to_owned(), "a".to_owned())];
    let ping = Workload { name: "p".to_owned(), pairs, task: Arc::new(ping), ..run.workloads[0].clone() };
    run.workloads.push(ping);
    assert_close(links_worth(&run), alone);
    run.workloads.remove(0);
    assert_close(limit(&run).bps, 0.0);
}

#[test]
fn guests_share_the_links_of_their_host() {
    let mut guests = run(&[("a", 2), ("b", 1), ("c", 1)], &[("a/guest1", "b"), ("a/guest2", "c")], Direction::Send);
    for name in ["a/guest1", "a/guest2"] {
        let host = Host { name: name.to_owned(), parent: Some("a".to_owned()), ..guests.topology.hosts[0].clone() };
        guests.topology.hosts.push(host);
    }
    assert_close(links_worth(&guests), 2.0);
    assert_eq!(limit(&guests).reason, "all 2 links of a");
    guests.workloads[0].pairs.pop();
    assert_close(links_worth(&guests), 1.0);
}

#[test]
fn no_traffic_has_no_limit() {
    assert_close(limit(&run(&[("a", 4)], &[], Direction::Send)).bps, 0.0);
}
