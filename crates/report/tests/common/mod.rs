//! Records and bundles made by arithmetic, always the same.
#![allow(dead_code, reason = "every test file uses its own part")]

pub mod net;
pub mod storage;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nicteam_record::{
    Bundle, Connection, ConnectionSample, Cpu, Environment, Experiment, Host, HostCpu, Link, LinkEnd, Member,
    MemberSample, Record, Run, SCHEMA, Sample, Switch, Team, Topology,
};

/// Rate of every link, bit/s.
pub const RATE_BPS: f64 = 100e6;
/// Payload of a full segment with timestamps, and its bytes as counted and on the wire.
const PAYLOAD: f64 = 1448.0;
const COUNTED: f64 = 1514.0;
const WIRE: f64 = 1538.0;
/// Payload that one link carries, bit/s.
pub const LINK_PAYLOAD_BPS: f64 = RATE_BPS * PAYLOAD / WIRE;
/// Acknowledgements, as counted, beside the data they answer: 66 bytes for two segments.
const ACK_SHARE: f64 = 66.0 / (2.0 * COUNTED);

const WARMUP_MS: f64 = 1000.0;
const MEASURED_MS: f64 = 8000.0;
const INTERVAL_MS: f64 = 100.0;

/// What a run of the fixture is.
pub struct Spec<'a> {
    pub name: &'a str,
    pub published: Option<(&'a str, f64)>,
    /// Host, last byte of its MAC address.
    pub hosts: &'a [(&'a str, u8)],
    /// Sender, receiver, and the link (from 0) on which the switch sends its payload.
    pub connections: &'a [(&'a str, &'a str, usize)],
    /// Payload of each connection, bit/s.
    pub each_bps: f64,
    /// Payload the links could have carried, bit/s.
    pub limit_bps: f64,
}

/// Last bytes that send the payload of `four-to-one` over four links: XOR with a's is 2, 1, 3, 4.
const LUCKY: [(&str, u8); 5] = [("a", 0x10), ("b", 0x12), ("c", 0x11), ("d", 0x13), ("e", 0x14)];
/// Last bytes that collide: XOR with a's is 4, 8, 2, 6.
const UNLUCKY: [(&str, u8); 5] = [("a", 0x10), ("b", 0x14), ("c", 0x18), ("d", 0x12), ("e", 0x16)];

/// The five runs of T3.
pub fn t3() -> Record {
    let four = 4.0 * LINK_PAYLOAD_BPS;
    let full = 0.978 * LINK_PAYLOAD_BPS;
    let out: Vec<(&str, &str, usize)> = [("a", "b", 2), ("a", "c", 1), ("a", "d", 3), ("a", "e", 0)].repeat(2);
    let inward: Vec<(&str, &str, usize)> = [("b", "a", 2), ("c", "a", 1), ("d", "a", 3), ("e", "a", 0)].repeat(2);
    let unlucky: Vec<(&str, &str, usize)> = [("b", "a", 0), ("c", "a", 0), ("d", "a", 2), ("e", "a", 2)].repeat(2);
    let spec = |name, published, hosts, connections, each_bps| Spec {
        name,
        published,
        hosts,
        connections,
        each_bps,
        limit_bps: four,
    };
    record(vec![
        run(&spec("one-connection", Some(("110 MB/s", 0.24)), &LUCKY, &[("a", "b", 2)], full)),
        run(&spec("four-connections", Some(("110 MB/s", 0.24)), &LUCKY, &[("a", "b", 2); 4], full / 4.0)),
        run(&spec("one-to-four", Some(("440 MB/s", 0.98)), &LUCKY, &out, full / 2.0)),
        run(&spec("four-to-one", Some(("up to 440 MB/s", 0.98)), &LUCKY, &inward, full / 2.0)),
        run(&spec("four-to-one-unlucky", Some(("links can stay idle", 0.5)), &UNLUCKY, &unlucky, full / 4.0)),
    ])
}

/// A record of these runs.
pub fn record(runs: Vec<Run>) -> Record {
    Record {
        skipped: Vec::new(),
        schema: SCHEMA,
        nicteam: "0.1.0".into(),
        started: "2026-11-21T21:12:07Z".into(),
        environment: Environment {
            kernel: "6.18.5 #1 SMP".into(),
            cpu_model: "Example CPU @ 2.40 GHz".into(),
            cpus: 2,
            memory_bytes: 8 << 30,
            testbed: "netns".into(),
            dataplane: "bpf".into(),
            privileges: "root".into(),
            congestion_default: "cubic".into(),
            granularity: "packets".into(),
            max_packets_per_frame: Some(1),
            busy_before: 0.034,
        },
        experiment: Experiment {
            name: "t3-four-links".into(),
            title: "Four links between hosts, one switch that spreads by MAC address".into(),
            question: Some(
                "Why do two hosts with four links each get the speed of one, and when do they get all four?".into(),
            ),
            file: "title = \"Four links\"\n[[switch]]\nname = \"sw\"\nxmit_hash_policy = \"src-dst-mac\"\n".into(),
            overrides: vec!["rate=100mbit".into()],
            rate_lowered_bps: None,
            seed: 1,
            repeat: 1,
            order: runs.iter().map(|run| run.name.clone()).collect(),
            expect: Vec::new(),
        },
        runs,
        unfinished: None,
    }
}

/// A run: hosts with four links each to `sw`, teams balance-rr, groups by src-dst-mac.
pub fn run(spec: &Spec<'_>) -> Run {
    let topology = topology(spec.hosts);
    let connections = connections(spec);
    let delivered_bps: f64 = connections.iter().map(|connection| connection.delivered_bps).sum();
    let members = members(&topology, spec);
    Run {
        variant: None,
        buckets: Vec::new(),
        name: spec.name.into(),
        description: None,
        published: spec.published.map(|(words, _)| words.into()),
        published_of_limit: spec.published.map(|(_, part)| part),
        published_rates: Vec::new(),
        compared_with: None,
        repetition: None,
        done_again: 0,
        traffic_tests: Vec::new(),
        delivered_bps,
        limit_bps: spec.limit_bps,
        of_limit: delivered_bps / spec.limit_bps,
        limit_reason: "all four links of the narrowest side, full segments of 1448 bytes".into(),
        members,
        ports: Vec::new(),
        connections,
        pagp: Vec::new(),
        one_sided: Vec::new(),
        mac_moves: Vec::new(),
        operations: Vec::new(),
        transfers: Vec::new(),
        probes: Vec::new(),
        targets: Vec::new(),
        disks: Vec::new(),
        programs: Vec::new(),
        relayed: Vec::new(),
        events: Vec::new(),
        faults: Vec::new(),
        findings: Vec::new(),
        missing: None,
        resources: Vec::new(),
        machines: Vec::new(),
        cpu: Cpu {
            busy: 0.41,
            stolen: 0.0,
            seconds: topology.hosts.iter().map(|host| HostCpu { host: host.name.clone(), seconds: 0.62 }).collect(),
            cores: Vec::new(),
        },
        memory: None,
        smooth_links: false,
        measured_ms: MEASURED_MS,
        warmup_ms: WARMUP_MS,
        delivered_counted_at: "TCP payload read by the receiving programs".into(),
        members_counted_at: "Ethernet frames without check sequence, by the dataplane".into(),
        samples: format!("samples/{}.jsonl", spec.name),
        samples_sha256: "0".repeat(64),
        topology,
    }
}

fn topology(hosts: &[(&str, u8)]) -> Topology {
    let mut topology =
        Topology { switches: vec![Switch { name: "sw".into(), ..Switch::default() }], ..Topology::default() };
    for (number, (name, last)) in hosts.iter().enumerate() {
        topology.hosts.push(Host {
            name: (*name).into(),
            address: format!("10.0.0.{}/24", number + 1),
            mac: format!("02:00:00:00:00:{last:02x}"),
            device: "team0".into(),
            further: Vec::new(),
            parent: None,
            forwards: false,
            routes: Vec::new(),
            ..Host::default()
        });
        let ends = |prefix: &str| (0..4).map(|place| format!("{prefix}{place}")).collect::<Vec<_>>();
        let (own, ports) = (ends("eth"), ends(&format!("{name}-")));
        for (device, port) in own.iter().zip(&ports) {
            topology.links.push(Link {
                a: LinkEnd { node: (*name).into(), device: device.clone() },
                b: LinkEnd { node: "sw".into(), device: port.clone() },
                rate_bps: RATE_BPS as u64,
                mtu: 1500,
                mtus: None,
                impaired: None,
                ..Link::default()
            });
        }
        topology.teams.push(team(name, "team0", "sw", "balance-rr", "", own));
        topology.teams.push(team("sw", name, name, "balance-xor", "src-dst-mac", ports));
    }
    topology
}

pub fn team(node: &str, device: &str, peer: &str, mode: &str, policy: &str, members: Vec<String>) -> Team {
    Team {
        engine_version: String::new(),
        offloads: BTreeMap::new(),
        node: node.into(),
        device: device.into(),
        peer: peer.into(),
        mode: mode.into(),
        xmit_hash_policy: policy.into(),
        options: BTreeMap::new(),
        members,
        engine: String::new(),
        dataplane: String::new(),
    }
}

fn connections(spec: &Spec<'_>) -> Vec<Connection> {
    let address = |name: &str| spec.hosts.iter().position(|(host, _)| *host == name).unwrap_or(0) + 1;
    let each = spec.connections.iter().enumerate().map(|(index, (from, to, _))| Connection {
        workload: "bulk".into(),
        index: index as u32,
        from: (*from).into(),
        to: (*to).into(),
        src: format!("10.0.0.{}:{}", address(from), 40000 + index),
        dst: format!("10.0.0.{}:5001", address(to)),
        // Half a per cent up and down, as real connections are.
        delivered_bps: spec.each_bps * if spec.connections.len() < 2 { 1.0 } else { [1.005, 0.995][index % 2] },
        retransmits: 3,
        segments: (spec.each_bps * MEASURED_MS / 8000.0 / PAYLOAD) as u64,
        rtt_us: 8250.0,
        congestion: "cubic".into(),
        transport: "tcp".into(),
        vlan: None,
        subflows: None,
        datagrams: None,
    });
    each.collect()
}

/// Data in turn from the sender, on one link from the switch; acknowledgements back alike.
fn members(topology: &Topology, spec: &Spec<'_>) -> Vec<Member> {
    let mut members: Vec<Member> =
        topology.teams.iter().flat_map(|team| team.members.iter().map(|device| member(team, device))).collect();
    let mut add = |node: &str, team: &str, place: Option<usize>, bps: f64| {
        for other in 0..4 {
            let bps = if place.is_none() {
                bps / 4.0
            } else if place == Some(other) {
                bps
            } else {
                0.0
            };
            let device = if node == "sw" { format!("{team}-{other}") } else { format!("eth{other}") };
            let (far, far_device) = if node == "sw" {
                (team.to_owned(), format!("eth{other}"))
            } else {
                ("sw".to_owned(), format!("{node}-{other}"))
            };
            for member in &mut members {
                if member.host == node && member.member == device {
                    member.tx_bps += bps;
                } else if member.host == far && member.member == far_device {
                    member.rx_bps += bps;
                }
            }
        }
    };
    for (from, to, place) in spec.connections {
        let data = spec.each_bps * COUNTED / PAYLOAD;
        add(from, "team0", None, data);
        add("sw", to, Some(*place), data);
        add(to, "team0", None, data * ACK_SHARE);
        add("sw", from, Some(*place), data * ACK_SHARE);
    }
    for member in &mut members {
        let frames = |bps: f64| (bps * MEASURED_MS / 8000.0 / COUNTED) as u64;
        (member.tx_frames, member.rx_frames) = (frames(member.tx_bps), frames(member.rx_bps));
    }
    members
}

/// Makes the far ends' counters those of the near ends, after a test changed what was sent.
pub fn receive_what_was_sent(run: &mut Run) {
    let sent = run.members.clone();
    for member in &mut run.members {
        let far = run.topology.links.iter().find_map(|link| {
            let is = |end: &LinkEnd| end.node == member.host && end.device == member.member;
            if is(&link.a) { Some(&link.b) } else { is(&link.b).then_some(&link.a) }
        });
        let far = far.and_then(|far| sent.iter().find(|sent| sent.host == far.node && sent.member == far.device));
        if let Some(far) = far {
            (member.rx_bps, member.rx_frames) = (far.tx_bps, far.tx_frames);
        }
    }
}

fn member(team: &Team, device: &str) -> Member {
    Member {
        host: team.node.clone(),
        team: team.device.clone(),
        member: device.into(),
        tx_bps: 0.0,
        rx_bps: 0.0,
        tx_frames: 0,
        rx_frames: 0,
        tx_drops: 0,
        rx_drops: 0,
    }
}

/// Samples whose counters grow as the run's figures say, after a ramp in the warm-up.
pub fn samples(run: &Run) -> Vec<Sample> {
    let steps = ((WARMUP_MS + MEASURED_MS) / INTERVAL_MS) as usize;
    let mut samples = Vec::new();
    for host in &run.topology.hosts {
        let own: Vec<&Member> = run.members.iter().filter(|member| member.host == host.name).collect();
        let mut bytes = vec![(0.0, 0.0); own.len()];
        for step in 0..=steps {
            let t_ms = step as f64 * INTERVAL_MS - WARMUP_MS;
            let members = own.iter().zip(&mut bytes).enumerate().map(|(place, (member, bytes))| {
                if step > 0 {
                    let ramp = ((t_ms + WARMUP_MS) / 600.0).min(1.0);
                    // A ripple of 1.5 per cent that differs by member.
                    let ripple = 1.0 + 0.015 * ((step * 7 + place * 3) as f64 * 0.9).sin();
                    bytes.0 += member.tx_bps * ramp * ripple * INTERVAL_MS / 8000.0;
                    bytes.1 += member.rx_bps * ramp * ripple * INTERVAL_MS / 8000.0;
                }
                MemberSample {
                    team: member.team.clone(),
                    member: member.member.clone(),
                    tx_bytes: bytes.0 as u64,
                    tx_frames: (bytes.0 / COUNTED) as u64,
                    rx_bytes: bytes.1 as u64,
                    rx_frames: (bytes.1 / COUNTED) as u64,
                    ..MemberSample::default()
                }
            });
            let members = members.collect();
            let connections: Vec<ConnectionSample> = Vec::new();
            samples.push(Sample {
                t_ms,
                host: host.name.clone(),
                cpu_ms: step as f64 * 7.0,
                members,
                connections,
                relayed: Vec::new(),
                mac_moves: None,
            });
        }
    }
    samples
}

/// A bundle in a folder of its own, removed when the guard goes.
pub struct TestBundle {
    pub bundle: Bundle,
}

impl TestBundle {
    /// Writes the record and its samples.
    pub fn write(name: &str, record: Record) -> TestBundle {
        let dir = std::env::temp_dir().join(format!("nicteam-report-{}-{name}", std::process::id()));
        fs::create_dir_all(dir.join("samples")).unwrap();
        let lines = |run: &Run| {
            samples(run).iter().map(|sample| serde_json::to_string(sample).unwrap() + "\n").collect::<String>()
        };
        for run in &record.runs {
            fs::write(dir.join(&run.samples), lines(run)).unwrap();
        }
        let bundle = Bundle { dir, record };
        bundle.write_record().unwrap();
        TestBundle { bundle }
    }

    /// The folder.
    pub fn dir(&self) -> PathBuf {
        self.bundle.dir.clone()
    }
}

impl Drop for TestBundle {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.bundle.dir);
    }
}

/// Multiplies every figure, so that no link is full any more.
pub fn scale(run: &mut Run, factor: f64) {
    run.members.iter_mut().for_each(|member| {
        member.tx_bps *= factor;
        member.rx_bps *= factor;
    });
    run.connections.iter_mut().for_each(|connection| connection.delivered_bps *= factor);
    run.delivered_bps *= factor;
    run.of_limit *= factor;
}
