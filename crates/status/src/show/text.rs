//! A team for people.

use std::fmt::{self, Write};

use nicteam_team::Mode;
use nicteam_team::mode::Sends;

use super::one_sided;
use crate::{MemberState, RedundantState, TeamStatus};

/// Several lines that say how the team is, and what is wrong if something is.
pub fn text(status: &TeamStatus) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = write(&mut text, status);
    text
}

fn write(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let up = status.members.iter().filter(|member| member.is_up()).count();
    let carrier = if status.carrier { "carrier" } else { "NO CARRIER" };
    write!(out, "{}: {}, {carrier}, {up} of {} members up", status.team, status.mode, status.members.len())?;
    if status.mode.parse().is_ok_and(Mode::uses_primary) {
        write!(out, ", active {}", status.active.as_deref().unwrap_or("none"))?;
    }
    if let Some(bond) = status.openvswitch.as_ref().filter(|bond| bond.lacp.is_some()) {
        write!(out, ", LACP {}", bond.lacp_status)?;
    }
    if let Some(lacp) = status.lacp.as_ref().filter(|_| status.openvswitch.is_none()) {
        let aggregate = status.members.iter().filter(|member| member.active).count();
        match lacp.active.as_ref().filter(|_| lacp.has_partner()) {
            Some(active) => write!(out, ", {aggregate} aggregate with {}", active.partner_system)?,
            None => write!(out, ", no partner")?,
        }
    }
    writeln!(out)?;
    if let Some(device) = &status.device {
        writeln!(out, "  device     {device}, renamed since the team was made")?;
    }
    writeln!(out, "  address    {}, MTU {}", status.mac, status.mtu)?;
    writeln!(
        out,
        "  dataplane  {}, plan {}, up {}, process {}",
        status.dataplane,
        status.generation,
        duration(status.uptime_ms),
        status.pid
    )?;
    let options: Vec<String> =
        status.chosen_options().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let options = if options.is_empty() { "all at their defaults".to_owned() } else { options.join(" ") };
    writeln!(out, "  options    {options}")?;
    failover(out, status)?;
    buckets(out, status)?;
    if status.mode.parse().is_ok_and(Mode::stripes) {
        peers(out, status)?;
        one_sided::write(out, status)?;
    }
    if let Some(withheld @ 1..) = status.withheld_acks {
        writeln!(out, "  gaps       {withheld} ACKs suppressed: they reported only gaps younger than `sack_delay`")?;
    }
    if status.unsent_frames > 0 {
        writeln!(out, "  unsent     {} frames that no member could send", status.unsent_frames)?;
    }
    let dropped = status.control_frames.iter().filter(|frames| frames.dropped > 0);
    let dropped: Vec<String> =
        dropped.map(|of| format!("{} {} ({} handled)", of.dropped, of.kind, of.handled)).collect();
    if !dropped.is_empty() {
        writeln!(out, "  too many   about {} were dropped", dropped.join(", "))?;
    }
    for repair in &status.repairs {
        writeln!(
            out,
            "  repaired   {} of `{}`, which another program took away: {} times, the last {} s ago",
            repair.what,
            repair.device,
            repair.times,
            repair.last_ms / 1000
        )?;
    }
    for problem in &status.problems {
        writeln!(out, "  problem    {}\n             hint: {}", problem.text, problem.hint)?;
    }
    if !status.members.is_empty() {
        writeln!(out)?;
        table(out, status)?;
    }
    Ok(())
}

/// What it means that the programs cannot see a lost carrier, where they were to act on it.
fn failover(out: &mut String, status: &TeamStatus) -> fmt::Result {
    // A frame that leaves by each member needs no other one.
    let by_all = |mode: Mode| mode.traits().sends == Sends::ByAll;
    let wanted = status.option("carrier_failover") == "1" && !status.mode.parse().is_ok_and(by_all);
    if status.dataplane != "bpf" || !wanted || status.failover_in_kernel {
        return Ok(());
    }
    writeln!(
        out,
        "  failover   by the process alone: eBPF programs cannot read the carrier on this kernel (Linux 6.2 and newer can), so \
         while the process does not run, frames for a member without carrier are lost"
    )
}

/// Open vSwitch's balance-slb and balance-tcp: which members have the buckets that carry something.
fn buckets(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let Some(bond) = &status.openvswitch else { return Ok(()) };
    if !status.mode.parse().is_ok_and(|mode: Mode| mode.traits().bonds_by_buckets()) {
        return Ok(());
    }
    let loaded = bond.members.iter().map(|member| format!("{} {}", member.name, member.buckets.len()));
    let rebalanced = match bond.next_rebalance_ms {
        Some(ms) => format!("rebalanced in {} s", ms.div_ceil(1000)),
        None => "not rebalanced".to_owned(),
    };
    writeln!(out, "  buckets    with traffic: {}; {rebalanced}", loaded.collect::<Vec<_>>().join(", "))
}

/// stripe: who else does, and over how many paths.
fn peers(out: &mut String, status: &TeamStatus) -> fmt::Result {
    if status.peers.is_empty() {
        writeln!(
            out,
            "  peers      none: no other team on this segment uses stripe, so frames are sent as in balance-alb, or one-sided"
        )?;
    }
    for peer in &status.peers {
        writeln!(out, "  peer       {}: {} of {} paths work", peer.team, peer.working(), peer.paths.len())?;
        for path in peer.paths.iter().filter(|path| !path.works) {
            writeln!(out, "             {} to {}: probes do not come back", path.member, path.to)?;
        }
        if let Some(RedundantState { sent, received, duplicates }) = &peer.redundant {
            writeln!(
                out,
                "             redundant: {sent} frames sent, {received} received, {duplicates} duplicates eliminated"
            )?;
        }
    }
    if status.segments.len() > 1 {
        let segments: Vec<String> = status.segments.iter().map(|members| members.join(" ")).collect();
        writeln!(
            out,
            "  segments   {}: {}; broadcasts leave by the first of each",
            segments.len(),
            segments.join(" | ")
        )?;
    }
    match status.hellos {
        Some(hellos) if hellos.authenticated => {
            writeln!(out, "  hellos     authenticated by stripe_key: teams without this key are not peers")?;
            let (known, Some(have)) = (status.peers.len(), hellos.have_new_key) else { return Ok(()) };
            writeln!(
                out,
                "             key change in progress: stripe_key_old is accepted, too; {have} of {known} teams have the new key"
            )
        }
        _ => writeln!(
            out,
            "  hellos     not authenticated: any host on the segment can announce a team (set `stripe_key` to prevent this)"
        ),
    }
}

/// The members: names to the left, numbers to the right.
fn table(out: &mut String, status: &TeamStatus) -> fmt::Result {
    const HEAD: [&str; 10] = [
        "member",
        "state",
        "speed",
        "tx frames",
        "tx bytes",
        "tx drops",
        "rx frames",
        "rx bytes",
        "rx drops",
        "failures",
    ];
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(status.members.iter().map(|member| row(member, status)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // The first three are words.
            let _ = if column < 3 { write!(line, "  {cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn row(member: &MemberState, status: &TeamStatus) -> [String; 10] {
    let marked = if status.active.as_deref() == Some(&member.name) { ", active" } else { "" };
    let numbers =
        [member.tx_frames, member.tx_bytes, member.tx_drops, member.rx_frames, member.rx_bytes, member.rx_drops];
    let [tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops] = numbers.map(|number| number.to_string());
    let state = format!("{}{marked}", member.state);
    let failures = member.link_failures.to_string();
    [member.name.clone(), state, speed(member), tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops, failures]
}

fn speed(member: &MemberState) -> String {
    let duplex = if member.duplex.as_deref() == Some("half") { " half duplex" } else { "" };
    match member.speed_mbps {
        None => "unknown".to_owned(),
        Some(mbps) if mbps >= 1000 && mbps % 100 == 0 => {
            let (whole, tenth) = (mbps / 1000, mbps % 1000 / 100);
            if tenth == 0 { format!("{whole} Gbit/s{duplex}") } else { format!("{whole}.{tenth} Gbit/s{duplex}") }
        }
        Some(mbps) => format!("{mbps} Mbit/s{duplex}"),
    }
}

/// The two largest units, whole.
fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, min, s) => format!("{min} min {s} s"),
        (0, h, min, _) => format!("{h} h {min} min"),
        (d, h, ..) => format!("{d} d {h} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(mode: &str, dataplane: &str, in_kernel: bool, option: &str) -> String {
        let status = json!({
            "schema": 1, "nicteam": "", "team": "team0", "index": 1, "mac": "", "mtu": 1500, "admin_up": true,
            "carrier": true, "mode": mode, "options": {"carrier_failover": option}, "active": null,
            "dataplane": dataplane, "generation": 1, "uptime_ms": 0, "pid": 1, "unsent_frames": 0,
            "failover_in_kernel": in_kernel, "members": [], "problems": [],
        });
        text(&serde_json::from_value(status).unwrap())
    }

    #[test]
    fn what_a_kernel_cannot_do_is_said_where_it_matters() {
        let said = |mode, dataplane, in_kernel, option| {
            shown(mode, dataplane, in_kernel, option).contains("  failover   by the process alone: eBPF programs")
        };
        assert!(said("active-backup", "bpf", false, "1"));
        assert!(!said("active-backup", "bpf", true, "1"));
        assert!(!said("active-backup", "bpf", false, "0"), "nobody asked for it");
        assert!(!said("active-backup", "packet", false, "1"), "nothing is forwarded without the process");
        assert!(!said("broadcast", "bpf", false, "1"), "nothing is lost");
    }

    #[test]
    fn durations_have_two_units() {
        let cases = [(999, "0 s"), (61_000, "1 min 1 s"), (3_660_000, "1 h 1 min"), (90_000_000, "1 d 1 h")];
        for (ms, words) in cases {
            assert_eq!(duration(ms), words);
        }
    }
}
