//! The member of each hop, by mode, and what follows for the rates.

use std::net::SocketAddr;

use nicteam_predict::{ByLink, Cable, Flow, Held, Hop, Network, Node, Receives, Sends, Team, predict};
use nicteam_team::HashPolicy;

const LINK: f64 = 100e6;
/// Payload of one link: 1448 of 1538 bytes.
const PAYLOAD: f64 = LINK * 1448.0 / 1538.0;

/// Hosts with so many links each to a switch, the node behind them.
fn star(links: &[usize]) -> Network {
    let mut network = Network { nodes: vec![Node::host(); links.len()], ..Network::default() };
    network.nodes.push(Node::switch());
    for (host, links) in links.iter().enumerate() {
        (0..*links).for_each(|_| network.cables.push(Cable::new([host, network.nodes.len() - 1], LINK)));
    }
    network
}

fn cables_of(network: &Network, node: usize) -> Vec<usize> {
    (0..network.cables.len()).filter(|cable| network.cables[*cable].ends[0] == node).collect()
}

/// Gives a host a team, and perhaps the switch a group towards it.
fn team(network: &mut Network, host: usize, sends: Sends, receives: Receives, group: Option<Sends>) {
    let members = cables_of(network, host);
    let switch = network.nodes.len() - 1;
    network.teams.push(Team { node: host, members: members.clone(), preferred: 0, sends, receives });
    if let Some(sends) = group {
        network.teams.push(Team { node: switch, members, preferred: 0, sends, receives: Receives::WhereSent });
    }
}

fn hash(policy: HashPolicy) -> Sends {
    Sends::Hash { policy, buckets: 0 }
}

fn flow(from: usize, to: usize, port: u16) -> Flow {
    let address = |host: usize, port| SocketAddr::from(([10, 0, 0, host as u8 + 1], port));
    Flow::tcp([from, to], [address(from, port), address(to, 5001)])
}

#[track_caller]
fn assert_links(network: &Network, flows: &[Flow], links: f64) {
    let worth = predict(network, flows).total_bps() / PAYLOAD;
    assert!((worth - links).abs() < 0.005 * links.max(1.0), "{worth} links, not {links}");
}

#[test]
fn one_cable_carries_payload_without_headers() {
    let network = Network { nodes: vec![Node::host(); 2], cables: vec![Cable::new([0, 1], LINK)], teams: Vec::new() };
    assert_links(&network, &[flow(0, 1, 40_000)], 1.0);
    let jumbo = Cable { mtu: 9000, ..Cable::new([0, 1], LINK) };
    let network = Network { cables: vec![jumbo], ..network };
    assert_links(&network, &[flow(0, 1, 40_000)], LINK * 8948.0 / 9038.0 / PAYLOAD);
}

#[test]
fn acknowledgements_take_their_part_of_the_way_back() {
    let network = Network { nodes: vec![Node::host(); 2], cables: vec![Cable::new([0, 1], LINK)], teams: Vec::new() };
    assert_links(&network, &[flow(0, 1, 40_000), flow(1, 0, 40_001)], 2.0 * 1538.0 / (1538.0 + 45.0));
}

#[test]
fn balance_rr_fills_its_links_and_the_switch_gives_one() {
    let mut network = star(&[4, 4]);
    for host in 0..2 {
        let group = Some(hash(HashPolicy::SrcDstMac));
        team(&mut network, host, Sends::InTurn, Receives::WhereSent, group);
    }
    let prediction = predict(&network, &[flow(0, 1, 40_000)]);
    assert_links(&network, &[flow(0, 1, 40_000)], 1.0);
    let shares: Vec<f64> =
        prediction.hops(0).map(|hop| if let Hop::Cable { share, .. } = hop { share } else { 0.0 }).collect();
    assert_eq!(shares, [0.25, 0.25, 0.25, 0.25, 1.0]);
    assert!(matches!(prediction.held[0], Held::Cable { from: 2, .. }), "{:?}", prediction.held[0]);
}

#[test]
fn a_hash_by_ports_spreads_connections_and_one_by_macs_does_not() {
    for (policy, links) in [(HashPolicy::Layer2, 1.0), (HashPolicy::Layer34, 2.0)] {
        let mut network = star(&[2, 2]);
        (0..2).for_each(|host| {
            team(&mut network, host, hash(policy), Receives::WhereSent, Some(hash(HashPolicy::SrcDstPort)));
        });
        let flows: Vec<Flow> = (0..16).map(|n| flow(0, 1, 40_000 + n)).collect();
        assert_links(&network, &flows, links);
    }
}

#[test]
fn active_backup_uses_one_link_and_another_when_it_fails() {
    let mut network = star(&[2, 1]);
    team(&mut network, 0, Sends::Active, Receives::Active, None);
    let by = |network: &Network, flow: &Flow| {
        let prediction = predict(network, std::slice::from_ref(flow));
        prediction
            .hops(0)
            .find_map(|hop| if let Hop::Cable { cable: cable @ 0..2, .. } = hop { Some(cable) } else { None })
    };
    for one in [flow(0, 1, 40_000), flow(1, 0, 40_000)] {
        assert_eq!(by(&network, &one), Some(0));
        let mut pulled = network.clone();
        pulled.cables[0].up = false;
        assert_eq!(by(&pulled, &one), Some(1));
        pulled.cables[1].up = false;
        let nothing = predict(&pulled, &[one]);
        assert_eq!((nothing.bps[0], nothing.held[0]), (0.0, Held::NoWay));
    }
}

#[test]
fn stripe_uses_all_links_of_both_ends_and_those_that_are_left() {
    let mut network = star(&[4, 3]);
    (0..2).for_each(|host| team(&mut network, host, Sends::Striped, Receives::ByPeer, None));
    assert_links(&network, &[flow(0, 1, 40_000)], 3.0);
    network.cables[5].up = false;
    assert_links(&network, &[flow(0, 1, 40_000)], 2.0);
    // Unlike rates add up.
    network.cables[4].rate_bps = LINK / 2.0;
    assert_links(&network, &[flow(0, 1, 40_000)], 1.5);
}

#[test]
fn stripe_sends_to_a_plain_host_by_all_links_and_receives_by_one() {
    let mut network = star(&[4, 1]);
    team(&mut network, 0, Sends::Striped, Receives::ByPeer, None);
    network.cables[4].rate_bps = 10.0 * LINK;
    assert_links(&network, &[flow(0, 1, 40_000)], 4.0);
    assert_links(&network, &[flow(1, 0, 40_000)], 1.0);
}

#[test]
fn stripe_back_to_back_in_both_directions() {
    let mut network =
        Network { nodes: vec![Node::host(); 2], cables: vec![Cable::new([0, 1], LINK); 4], ..Network::default() };
    for node in 0..2 {
        let (sends, receives) = (Sends::Striped, Receives::ByPeer);
        network.teams.push(Team { node, members: vec![0, 1, 2, 3], preferred: 0, sends, receives });
    }
    assert_links(&network, &[flow(0, 1, 40_000), flow(1, 0, 40_001)], 8.0 * 1538.0 / (1538.0 + 45.0));
}

#[test]
fn subflows_take_a_link_each() {
    let mut network = star(&[4, 4]);
    network.cables[6].up = false;
    let subflow = |link: usize| Flow { by_link: Some(ByLink::One(link)), ..flow(0, 1, 40_000 + link as u16) };
    let flows: Vec<Flow> = (0..4).map(subflow).collect();
    assert_links(&network, &flows, 3.0);
}

#[test]
fn what_is_read_and_written_in_a_fixed_proportion_fills_one_direction_first() {
    let network = star(&[4, 4]);
    let flow = Flow { by_link: Some(ByLink::InTurn), back_share: 0.75, ..flow(0, 1, 40_000) };
    // Of each four bits three go back, beside the acknowledgements of the fourth.
    assert_links(&network, &[flow], 4.0 * 1538.0 / (0.75 * 1538.0 + 0.25 * 45.0));
}

#[test]
fn copies_of_a_broadcast_share_the_receivers_link() {
    let mut network = star(&[2, 1]);
    team(&mut network, 0, Sends::All, Receives::WhereSent, Some(hash(HashPolicy::SrcDstMac)));
    assert_links(&network, &[flow(0, 1, 40_000)], 0.5);
}

#[test]
fn load_balancing_gives_peers_links_of_their_own() {
    for (receives, from_all) in [(Receives::Active, 1.0), (Receives::ByPeer, 4.0)] {
        let mut network = star(&[4, 1, 1, 1, 1]);
        team(&mut network, 0, Sends::ByDestination, receives, None);
        let flows = |back: bool| -> Vec<Flow> {
            (1..5).map(|host| if back { flow(host, 0, 40_000) } else { flow(0, host, 40_000) }).collect()
        };
        assert_links(&network, &flows(false), 4.0);
        assert_links(&network, &flows(true), from_all);
        assert_links(&network, &flows(false)[..1], 1.0);
    }
}

#[test]
fn a_source_has_one_link_whatever_its_ports() {
    let mut network = star(&[2, 1, 1]);
    team(&mut network, 0, Sends::BySource { basis: 0 }, Receives::WhereSent, None);
    let flows: Vec<Flow> = (0..8).map(|n| flow(0, 1 + n % 2, 40_000 + n as u16)).collect();
    assert_links(&network, &flows, 1.0);
    network.teams[0].sends = Sends::ByFlow { basis: 0 };
    assert_links(&network, &flows, 2.0);
    network.teams[0].sends = Sends::Nobody;
    assert_links(&network, &flows, 0.0);
}

#[test]
fn a_slow_host_bounds_both_directions_together() {
    let mut network = star(&[1, 1]);
    network.nodes[1].processor_bps = Some(PAYLOAD / 2.0);
    let prediction = predict(&network, &[flow(0, 1, 40_000), flow(1, 0, 40_001)]);
    assert!((prediction.total_bps() - PAYLOAD / 2.0).abs() < 1.0);
    assert_eq!(prediction.held[0], Held::Processor { node: 1 });
}

/// What this thread has had of a processor, nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
#[cfg(target_os = "linux")]
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn time_grows_with_the_number_of_flows() {
    let mut network = star(&[4; 50]);
    for host in 0..50 {
        let group = Some(hash(HashPolicy::SrcDstPort));
        team(&mut network, host, hash(HashPolicy::Layer34), Receives::WhereSent, group);
    }
    let flows: Vec<Flow> = (0..40_000).map(|n| flow(n % 50, (n + 1 + n / 50 % 49) % 50, 10_000 + n as u16)).collect();
    // Other load only adds time, little of it to the processor's: the least of several is compared, taken in turn.
    let mut least = [f64::INFINITY; 2];
    for _ in 0..5 {
        for (least, count) in least.iter_mut().zip([flows.len() / 2, flows.len()]) {
            let before = processor_ns();
            assert!(predict(&network, &flows[..count]).total_bps() > 0.0);
            *least = least.min((processor_ns() - before) as f64);
        }
    }
    assert!(least[1] / least[0] < 2.6, "{} times the time for twice the flows", least[1] / least[0]);
}
