//! A million flows between 1,000 hosts with four links each. `cargo bench -p nicteam-predict` prints the time and the
//! memory of each size.

#![expect(clippy::disallowed_methods, reason = "time is what is measured")]

use std::time::Instant;

use nicteam_predict::{Cable, Flow, Network, Node, Receives, Sends, Team, predict};
use nicteam_team::HashPolicy;

const HOSTS: usize = 1000;
const LINKS: usize = 4;

fn main() {
    let network = network();
    for count in [125_000, 250_000, 500_000, 1_000_000] {
        let flows: Vec<Flow> = (0..count).map(flow).collect();
        let begun = Instant::now();
        let prediction = predict(&network, &flows);
        let took = begun.elapsed();
        println!(
            "{count:>9} flows  {:>6.2} s  {:>5.2} us a flow  {:.0} Gbit/s in all  {} MB at most",
            took.as_secs_f64(),
            took.as_secs_f64() * 1e6 / count as f64,
            prediction.total_bps() / 1e9,
            most_memory_mb()
        );
    }
}

/// 1,000 hosts, each with four links of 1 Gbit/s to one switch, LACP at both ends.
fn network() -> Network {
    let sw = HOSTS;
    let mut network = Network { nodes: vec![Node::host(); HOSTS], ..Network::default() };
    network.nodes.push(Node::switch());
    for host in 0..HOSTS {
        let members: Vec<usize> = (0..LINKS).map(|link| host * LINKS + link).collect();
        network.cables.extend(members.iter().map(|_| Cable::new([host, sw], 1e9)));
        let team = |node, policy, members| Team {
            node,
            members,
            preferred: 0,
            sends: Sends::Hash { policy, buckets: 0 },
            receives: Receives::WhereSent,
        };
        network.teams.push(team(host, HashPolicy::Layer34, members.clone()));
        network.teams.push(team(sw, HashPolicy::SrcDstPort, members));
    }
    network
}

fn flow(number: usize) -> Flow {
    let (from, step) = (number % HOSTS, 1 + (number / HOSTS * 7) % (HOSTS - 1));
    let to = (from + step) % HOSTS;
    let address = |host: usize, port: usize| {
        std::net::SocketAddr::from(([10, 0, (host >> 8) as u8, host as u8], (port % 50_000 + 10_000) as u16))
    };
    Flow::tcp([from, to], [address(from, number), address(to, 5001)])
}

/// The most memory that this process has had, MB.
fn most_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
