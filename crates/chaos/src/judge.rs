//! What faults broke, and should not have: from a run's record.

use nicteam_record::{Fault, Run, Team};

use crate::promise::{agrees_again_ms, number, promised_ms};

/// Something that holds whatever happens, and did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What should have held: `duplicates`, `order`, `blackhole`, `bytes`, `share`, `loop` or `leak`.
    pub what: &'static str,
    /// In words, with figures.
    pub text: String,
}

/// Datagrams of a connection that may overtake each other when its flow changes the link, each time.
const OVERTAKE: f64 = 4.0;
/// So often flows may change the link by a fault: when it begins, and when it is over.
const CHANGES: usize = 2;
/// From one assignment of loads to the next, in modes of the kernel's that have one, milliseconds (Linux 6.1 bond_alb.h,
/// `BOND_TLB_REBALANCE_INTERVAL`).
const ASSIGNED_MS: f64 = 10_000.0;
/// The share that is full at the end, of that before the first fault.
const FULL: f64 = 0.85;
/// So much more may be received than was sent, all links together, before it is a loop.
const LOOP: f64 = 4.0;
/// Descriptors that may be open at the end and were not at the beginning.
const DESCRIPTORS: u64 = 8;
/// Memory by which a node may grow, bytes.
const GROWTH_BYTES: u64 = 64 << 20;

/// What does not hold in a run.
pub fn broken(run: &Run) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut say = |what, text| broken.push(Broken { what, text });
    let impaired = run.faults.iter().any(|fault| fault.kind == "impair");
    let modes: Vec<&str> = run.topology.teams.iter().map(|team| team.mode.as_str()).collect();
    // A switch whose tables are empty sends by all ports, and Open vSwitch takes that on each member in this mode.
    let floods = run.faults.iter().any(|fault| matches!(fault.kind.as_str(), "restart" | "reboot"));
    let copies = modes.contains(&"broadcast")
        || modes.contains(&"ovs-balance-slb") && floods
        || run.relayed.iter().any(|way| way.duplicated > 0);
    let sorts = !modes.iter().any(|mode| matches!(*mode, "balance-rr" | "stripe" | "broadcast"));
    let rebalances = run.topology.teams.iter().map(|team| rebalances(team, run.measured_ms)).sum::<f64>();
    let may_overtake = OVERTAKE * ((CHANGES * run.faults.len().max(1)) as f64 + rebalances);
    for connection in &run.connections {
        let Some(datagrams) = connection.datagrams else { continue };
        let name = format!("connection {} from {} to {}", connection.index, connection.from, connection.to);
        if datagrams.duplicated > 0 && !copies {
            say("duplicates", format!("{name}: {} datagrams arrived twice", datagrams.duplicated));
        }
        if datagrams.reordered as f64 > may_overtake && sorts && !impaired {
            let text = format!("{} datagrams overtook others, at most {may_overtake} may", datagrams.reordered);
            say("order", format!("{name}: {text}"));
        }
    }
    for (place, fault) in run.faults.iter().enumerate() {
        let Some(promised_ms) = promised_ms(fault, &run.topology) else { continue };
        let allowed_ms = promised_ms + overlap_ms(run, place);
        // Probes that another fault silences afterwards are the other's.
        let silence_ms = fault.silence_ms.unwrap_or(0.0).min(fault.until_ms - fault.t_ms);
        if silence_ms > allowed_ms {
            let text = format!("nothing arrived for {silence_ms:.0} ms, at most {allowed_ms:.0} ms are promised");
            say("blackhole", format!("at {:.1} s, {}: {text}", fault.t_ms / 1e3, fault.text));
        }
    }
    for transfer in &run.transfers {
        let differs = transfer.sent_sha256.is_some() && transfer.received_sha256.is_some();
        if transfer.wrong_at.is_some() || differs && transfer.sent_sha256 != transfer.received_sha256 {
            say("bytes", format!("{}: what arrived is not what was sent", transfer.workload));
        }
    }
    // A copy ends when all is copied, and its share with it.
    if let (Some(first), Some(last), []) = (run.faults.first(), run.faults.last(), run.transfers.as_slice())
        && let (Some(before_bps), Some(after_bps)) = (first.before_bps, last.after_bps)
    {
        if before_bps == 0.0 && !run.connections.is_empty() {
            say("share", "nothing arrived before the first fault".to_owned());
        }
        // It may have come back later than shortly after the last fault. Older records know that of that fault alone.
        let is_full = |bps: f64| bps >= before_bps * FULL;
        let came_back = last.full_share_ms.is_some() && last.before_bps.is_some_and(is_full);
        let came_back = came_back || last.recovered_ms.is_some();
        if !is_full(after_bps) && !came_back {
            let [before, after] = [before_bps, after_bps].map(|bps| bps / 1e6);
            say(
                "share",
                format!("{after:.1} Mbit/s arrive after the last fault, and {before:.1} before the first one"),
            );
        }
    }
    let sum = |field: fn(&nicteam_record::Member) -> u64| run.members.iter().map(field).sum::<u64>() as f64;
    let (sent, received) = (sum(|member| member.tx_frames), sum(|member| member.rx_frames + member.rx_drops));
    if received > sent * LOOP + 10_000.0 {
        say("loop", format!("hosts received {received:.0} frames and sent {sent:.0}"));
    }
    for node in &run.resources {
        let [open, bytes] = [node.descriptors, node.memory_bytes].map(|[before, after]| after.saturating_sub(before));
        if open > DESCRIPTORS {
            say("leak", format!("{}: {open} more descriptors are open than at the beginning", node.node));
        }
        if bytes > GROWTH_BYTES {
            say("leak", format!("{}: {} MiB more memory is used than at the beginning", node.node, bytes >> 20));
        }
    }
    broken
}

/// How often a team gives its links other loads in so long a time, by its own choice.
fn rebalances(team: &Team, measured_ms: f64) -> f64 {
    let interval_ms = match team.mode.as_str() {
        "balance-tlb" | "balance-alb" => ASSIGNED_MS,
        "ovs-balance-slb" | "ovs-balance-tcp" => number(team, "bond_rebalance_interval"),
        _ => 0.0,
    };
    if interval_ms > 0.0 { (measured_ms / interval_ms).floor() } else { 0.0 }
}

/// For how long faults before this one lasted beside it, milliseconds, or were not over for teams that agree by LACP: what they
/// took together is no one's promise. Of a fault after it nothing is laid to this one.
fn overlap_ms(run: &Run, place: usize) -> f64 {
    let back_ms = agrees_again_ms(&run.topology);
    let over_ms = |fault: &Fault| fault.over_ms.unwrap_or(fault.until_ms) + back_ms;
    run.faults[..place].iter().map(|fault| over_ms(fault) - run.faults[place].t_ms).fold(0.0, f64::max)
}
