//! Runs with a disk over the network: `a` is the initiator, `b` has the target, four links each to a plain switch.

use nicteam_record::{
    Connection, Disk, Further, Histogram, Negotiated, Operations, Run, StoragePath, Target, Transfer,
};

use super::{RATE_BPS, t3};

/// What counters show of a full link at most, bit/s.
const CAPACITY_BPS: f64 = RATE_BPS * 1514.0 / 1538.0;
/// Payload beside what counters show of it.
const PAYLOAD: f64 = 1448.0 / 1514.0;
/// Bytes of a request.
const BLOCK: u64 = 32_768;

/// Reads over four paths, which were as full as this; the policy round robin with such turns.
pub fn reads(turn_ios: u32, loads: [f64; 4]) -> Run {
    let mut run = plain("multipath");
    run.connections = (0..4).map(|path| connection(path, "b", "a")).collect();
    let mut paths = paths();
    for (path, load) in loads.into_iter().enumerate() {
        let payload_bps = load * CAPACITY_BPS * PAYLOAD;
        carry(&mut run, "b", path, load);
        run.connections[path].delivered_bps = payload_bps;
        paths[path].ios = (payload_bps * run.measured_ms / 8e3) as u64 / BLOCK;
        paths[path].read_bytes = paths[path].ios * BLOCK;
    }
    let disk = Disk { policy: "round-robin".into(), turn_ios: Some(turn_ios), paths, ..disk() };
    add(&mut run, disk);
    run
}

/// One session, by one link; the switch spreads by MAC address where hosts have teams.
pub fn one_session(mode: &str) -> Run {
    let mut run = plain(mode);
    run.connections = vec![connection(0, "b", "a")];
    run.connections[0].delivered_bps = 0.98 * CAPACITY_BPS * PAYLOAD;
    if mode == "multipath" {
        carry(&mut run, "b", 0, 0.98);
    } else {
        (0..4).for_each(|place| carry(&mut run, "b", place, 0.245));
        for member in &mut run.members {
            let load = if member.member.ends_with('2') { 0.98 } else { 0.0 };
            match member.host.as_str() {
                "a" => member.rx_bps = load * CAPACITY_BPS,
                "sw" if member.member.starts_with("a-") => member.tx_bps = load * CAPACITY_BPS,
                _ => {}
            }
        }
    }
    let disk = Disk { paths: paths().into_iter().take(1).collect(), ..disk() };
    add(&mut run, disk);
    run
}

/// Turns reads into writes of a copy that took so long and of which the program saw so much.
pub fn as_copy(run: &mut Run, took_ms: f64, program_ms: f64) {
    let payload: f64 = run.delivered_bps * took_ms / 8e3;
    for connection in &mut run.connections {
        std::mem::swap(&mut connection.from, &mut connection.to);
        std::mem::swap(&mut connection.src, &mut connection.dst);
    }
    for member in &mut run.members {
        std::mem::swap(&mut member.tx_bps, &mut member.rx_bps);
        std::mem::swap(&mut member.tx_frames, &mut member.rx_frames);
    }
    for path in run.disks.iter_mut().flat_map(|disk| &mut disk.paths) {
        (path.read_bytes, path.written_bytes) = (0, path.read_bytes);
    }
    run.operations.clear();
    run.transfers = vec![Transfer {
        workload: "w".into(),
        from: "a".into(),
        to: "b".into(),
        by: "a".into(),
        bytes: payload as u64,
        verified_bytes: payload as u64,
        block_bytes: Some(131_072),
        took_ms: Some(took_ms),
        program_ms: Some(program_ms),
        cache: if program_ms < took_ms { "write-back".into() } else { String::new() },
        ..Transfer::default()
    }];
}

/// Multiplies what was carried, so that no link is full any more.
pub fn scale(run: &mut Run, factor: f64) {
    for member in &mut run.members {
        member.tx_bps *= factor;
        member.rx_bps *= factor;
    }
    run.connections.iter_mut().for_each(|connection| connection.delivered_bps *= factor);
    run.operations.iter_mut().for_each(|task| task.rate_per_s *= factor);
    run.delivered_bps *= factor;
    run.of_limit *= factor;
}

/// Hosts with an address a link; nothing was carried yet.
fn plain(mode: &str) -> Run {
    let mut run = t3().runs.swap_remove(0);
    run.topology.hosts.truncate(2);
    let kept = |node: &str, peer: &str| ["a", "b"].contains(&node) || ["a", "b"].contains(&peer) && mode != "multipath";
    run.topology.teams.retain(|team| kept(&team.node, &team.peer));
    for (number, host) in run.topology.hosts.iter_mut().enumerate() {
        if mode == "multipath" {
            let further =
                |path| Further { device: format!("eth{path}"), address: address(path, number) + "/24", mac: None };
            (host.device, host.address) = ("eth0".into(), address(0, number) + "/24");
            host.further = (1..4).map(further).collect();
        }
    }
    for team in run.topology.teams.iter_mut().filter(|team| team.node != "sw") {
        team.mode = mode.into();
        if mode == "multipath" {
            team.device = String::new();
        }
    }
    run.topology.links.retain(|link| ["a", "b"].contains(&link.a.node.as_str()));
    let alive = |host: &str, device: &str| ["a", "b"].contains(&host) || ["a-", "b-"].contains(&&device[..2]);
    run.members.retain(|member| alive(&member.host, &member.member));
    run.members.iter_mut().for_each(|member| {
        (member.tx_bps, member.rx_bps, member.tx_frames, member.rx_frames) = (0.0, 0.0, 1, 1);
    });
    run
}

/// Address of a host's link: the first host is `.1`, the second `.2`.
fn address(path: usize, host: usize) -> String {
    format!("10.0.{path}.{}", host + 1)
}

fn connection(path: usize, from: &str, to: &str) -> Connection {
    let mut connection = t3().runs.swap_remove(0).connections.swap_remove(0);
    (connection.from, connection.to) = (from.into(), to.into());
    connection.index = path as u32;
    connection.workload = "w".into();
    (connection.src, connection.dst) = (address(path, 1) + ":3260", address(path, 0) + ":40000");
    connection
}

fn paths() -> Vec<StoragePath> {
    let path = |path: usize| StoragePath {
        path: path as u32,
        device: format!("eth{path}"),
        address: address(path, 0),
        portal: address(path, 1) + ":3260",
        state: "active".into(),
        ios: 1000,
        latency_us: Some(2000.0),
        logins: 1,
        connections: vec![path as u32],
        negotiated: Some(Negotiated {
            first_burst_bytes: 65_536,
            max_burst_bytes: 262_144,
            max_recv_data_bytes: 262_144,
            own_max_recv_data_bytes: 262_144,
            immediate_data: true,
            initial_r2t: true,
            header_digest: "None".into(),
            data_digest: "None".into(),
        }),
        ..StoragePath::default()
    };
    (0..4).map(path).collect()
}

fn disk() -> Disk {
    Disk { workload: "w".into(), host: "a".into(), target: "disk".into(), ..Disk::default() }
}

/// Adds a disk, its target and what was done on it to a run.
fn add(run: &mut Run, disk: Disk) {
    run.delivered_bps = run.connections.iter().map(|connection| connection.delivered_bps).sum();
    run.of_limit = run.delivered_bps / run.limit_bps;
    run.targets = vec![Target {
        name: "disk".into(),
        host: "b".into(),
        kind: "iscsi".into(),
        program: "tgt".into(),
        version: "1.0.85".into(),
        size_bytes: 1 << 30,
        medium: "memory".into(),
        ..Target::default()
    }];
    let read_bytes = (run.delivered_bps * run.measured_ms / 8e3) as u64;
    let mut latency = Histogram::default();
    (0..read_bytes / BLOCK).for_each(|_| latency.add(4500));
    run.operations = vec![Operations {
        workload: "w".into(),
        from: "a".into(),
        to: "b".into(),
        completed: read_bytes / BLOCK,
        rate_per_s: run.delivered_bps / 8.0 / BLOCK as f64,
        latency,
        specification: "32 KiB, 100 % read, sequential, 64 outstanding".into(),
        block_bytes: Some(BLOCK),
        outstanding: Some(64),
        read_bytes,
        ..Operations::default()
    }];
    run.disks = vec![disk];
}

/// Sets how full a host's link was, away from it.
fn carry(run: &mut Run, host: &str, path: usize, load: f64) {
    let (bps, frames) = (load * CAPACITY_BPS, (load * 10_000.0) as u64);
    let other = if host == "a" { "b" } else { "a" };
    for member in &mut run.members {
        let at = (member.host.as_str(), member.member.as_str());
        if at == (host, &format!("eth{path}")) || at == ("sw", &format!("{other}-{path}")) {
            (member.tx_bps, member.tx_frames) = (bps, frames);
        } else if at == ("sw", &format!("{host}-{path}")) || at == (other, &format!("eth{path}")) {
            (member.rx_bps, member.rx_frames) = (bps, frames);
        }
    }
}
