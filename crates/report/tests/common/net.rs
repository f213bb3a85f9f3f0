//! Hosts around one switch, and the counters that their teams would leave.

use nicteam_record::{Connection, Host, Link, LinkEnd, Member, Run, Switch, Topology};
use nicteam_team::{HashPolicy, hash};
use nicteam_wire::Frame;

use super::{LINK_PAYLOAD_BPS, RATE_BPS, Spec, member, team};

/// A host: name, links, their rate as a part of [`RATE_BPS`], `mode` or `mode policy`; no team without one.
pub type HostSpec = (&'static str, usize, f64, &'static str);
/// Connections: from, to, how many, payload of each in full links of [`RATE_BPS`].
pub type Traffic = (&'static str, &'static str, usize, f64);

/// What a full link delivers beside the most it could.
pub const FULL: f64 = 0.98;

/// Hosts around one switch, and counters as their teams, and the switch's
/// groups with its policy, would leave them. Without a policy its ports are plain.
pub fn net(hosts: &[HostSpec], spread: &str, traffic: &[Traffic]) -> Run {
    let mut run = crate::common::run(&Spec {
        name: "mixed",
        published: None,
        hosts: &[],
        connections: &[],
        each_bps: 0.0,
        limit_bps: 1.0,
    });
    run.topology = topology(hosts, spread);
    for (from, to, count, links) in traffic {
        for _ in 0..*count {
            let connection = connection(hosts, run.connections.len(), from, to, links * LINK_PAYLOAD_BPS);
            run.connections.push(connection);
        }
    }
    run.members = members(&run.topology, &run.connections);
    run.delivered_bps = run.connections.iter().map(|connection| connection.delivered_bps).sum();
    run.limit_bps = 4.0 * LINK_PAYLOAD_BPS;
    run.of_limit = run.delivered_bps / run.limit_bps;
    run
}

fn topology(hosts: &[HostSpec], spread: &str) -> Topology {
    let mut topology =
        Topology { switches: vec![Switch { name: "sw".into(), ..Switch::default() }], ..Topology::default() };
    for (number, (name, links, rate, how)) in hosts.iter().enumerate() {
        let devices = |prefix: &str| (0..*links).map(|place| format!("{prefix}{place}")).collect::<Vec<_>>();
        let (own, ports) = (devices("eth"), devices(&format!("{name}-")));
        let end = |node: &str, device: &String| LinkEnd { node: node.into(), device: device.clone() };
        let rate_bps = (RATE_BPS * rate) as u64;
        topology.links.extend(own.iter().zip(&ports).map(|(device, port)| Link {
            a: end(name, device),
            b: end("sw", port),
            rate_bps,
            mtu: 1500,
            mtus: None,
            impaired: None,
            ..Link::default()
        }));
        topology.hosts.push(Host {
            name: (*name).into(),
            address: format!("10.0.0.{}/24", number + 1),
            mac: format!("02:00:00:00:00:{:02x}", number + 1),
            device: if how.is_empty() { "eth0".into() } else { "team0".into() },
            further: Vec::new(),
            parent: None,
            forwards: false,
            routes: Vec::new(),
            ..Host::default()
        });
        let (mode, policy) = how.split_once(' ').unwrap_or((how, ""));
        if !mode.is_empty() {
            topology.teams.push(team(name, "team0", "sw", mode, policy, own));
        }
        let plain = ["", "active-backup", "balance-tlb", "balance-alb", "ovs-active-backup", "ovs-balance-slb"];
        let grouped = !plain.contains(&mode);
        if grouped && !spread.is_empty() {
            topology.teams.push(team("sw", name, name, "balance-xor", spread, ports));
        }
    }
    topology
}

fn connection(hosts: &[HostSpec], index: usize, from: &str, to: &str, delivered_bps: f64) -> Connection {
    let number = |name: &str| hosts.iter().position(|(host, ..)| *host == name).unwrap() + 1;
    Connection {
        workload: "bulk".into(),
        index: index as u32,
        from: from.into(),
        to: to.into(),
        src: format!("10.0.0.{}:{}", number(from), 40000 + index),
        dst: format!("10.0.0.{}:5001", number(to)),
        delivered_bps,
        retransmits: 0,
        segments: 10_000,
        rtt_us: 1000.0,
        congestion: "cubic".into(),
        transport: "tcp".into(),
        vlan: None,
        subflows: None,
        datagrams: None,
    }
}

/// What every member of every team counts when these connections run.
fn members(topology: &Topology, connections: &[Connection]) -> Vec<Member> {
    let mut members = Vec::new();
    for team in &topology.teams {
        members.extend(team.members.iter().map(|device| member(team, device)));
    }
    let mut carry = |near: &LinkEnd, far: &LinkEnd, bps: f64| {
        for member in &mut members {
            let is = |end: &LinkEnd| end.node == member.host && end.device == member.member;
            if is(near) {
                member.tx_bps += bps;
                member.tx_frames += 1000;
            } else if is(far) {
                member.rx_bps += bps;
                member.rx_frames += 1000;
            }
        }
    };
    for connection in connections {
        let mut bps = connection.delivered_bps * 1514.0 / 1448.0;
        for (node, peer) in [(connection.from.as_str(), "sw"), ("sw", connection.to.as_str())] {
            let shares = shares(topology, node, peer, connection);
            let ends = |link: &'_ Link| {
                if link.a.node == node { (link.a.clone(), link.b.clone()) } else { (link.b.clone(), link.a.clone()) }
            };
            let cables = topology.links.iter().map(ends).filter(|(near, far)| near.node == node && far.node == peer);
            for ((near, far), share) in cables.zip(&shares) {
                carry(&near, &far, bps * share);
            }
            bps *= shares.iter().sum::<f64>();
        }
    }
    members
}

/// The part of a connection's frames that each link from a node to its peer carries.
fn shares(topology: &Topology, node: &str, peer: &str, connection: &Connection) -> Vec<f64> {
    let ends = |link: &&Link| [&link.a.node, &link.b.node].iter().all(|name| *name == node || *name == peer);
    let count = topology.links.iter().filter(ends).count();
    let one = |chosen: usize| (0..count).map(|place| f64::from(u8::from(place == chosen))).collect();
    match topology.teams.iter().find(|team| team.node == node && team.peer == peer) {
        Some(team) if team.mode == "balance-rr" => vec![1.0 / count as f64; count],
        Some(team) if team.mode == "broadcast" => vec![1.0; count],
        Some(team) if team.mode == "balance-xor" => one(place(topology, &team.xmit_hash_policy, connection, count)),
        _ => one(0),
    }
}

/// The link that a hash gives a connection.
fn place(topology: &Topology, policy: &str, connection: &Connection, count: usize) -> usize {
    let mac = |name: &str| {
        let host = topology.hosts.iter().find(|host| host.name == name).unwrap();
        host.mac.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect::<Vec<u8>>()
    };
    let end = |text: &str| text.parse::<std::net::SocketAddrV4>().unwrap();
    let (src, dst) = (end(&connection.src), end(&connection.dst));
    let mut bytes =
        [mac(&connection.to), mac(&connection.from), vec![8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]].concat();
    bytes.extend([src.ip().octets(), dst.ip().octets()].concat());
    bytes.extend([src.port().to_be_bytes(), dst.port().to_be_bytes()].concat());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    let policy: HashPolicy = policy.parse().unwrap();
    hash::hash(policy, &Frame::parse(&bytes).unwrap()) as usize % count
}
