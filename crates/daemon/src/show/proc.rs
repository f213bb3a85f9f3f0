//! `/proc/net/bonding/NAME`, field by field.
//!
//! Linux 6.1 drivers/net/bonding/bond_procfs.c, `bond_info_show_master` and
//! `bond_info_show_slave`. The first line has this program's version in place
//! of the kernel's; delays are the ones in force, which the kernel rounds to
//! whole `miimon` intervals.

use std::fmt::{self, Write};

use nicteam_team::{HashPolicy, Mode};

use crate::{MemberState, TeamStatus};

/// The file's text.
pub fn proc(status: &TeamStatus) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = team(&mut text, status);
    for member in &status.members {
        let _ = self::member(&mut text, member);
    }
    text
}

fn team(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let mode: Option<Mode> = status.mode.parse().ok();
    writeln!(out, "Ethernet Channel Bonding Driver: v{}\n", status.nicteam)?;
    write!(out, "Bonding Mode: {}", title(mode).unwrap_or(&status.mode))?;
    match status.option("fail_over_mac") {
        moves @ ("active" | "follow") if mode == Some(Mode::ActiveBackup) => writeln!(out, " (fail_over_mac {moves})")?,
        _ => writeln!(out)?,
    }
    // Linux bonding.h, `bond_mode_uses_xmit_hash`.
    if mode.is_some_and(|mode| mode.hashes() || mode.balances_load()) {
        hash_policy(out, status.option("xmit_hash_policy"))?;
    }
    if mode.is_some_and(Mode::uses_primary) {
        // The kernel names the primary once it has joined.
        let named = status.option("primary");
        match status.members.iter().find(|member| member.name == named) {
            Some(primary) => {
                let reselect = status.option("primary_reselect");
                writeln!(out, "Primary Slave: {} (primary_reselect {reselect})", primary.name)?;
            }
            None => writeln!(out, "Primary Slave: None")?,
        }
        writeln!(out, "Currently Active Slave: {}", status.active.as_deref().unwrap_or("None"))?;
    }
    writeln!(out, "MII Status: {}", if status.carrier { "up" } else { "down" })?;
    writeln!(out, "MII Polling Interval (ms): {}", status.option("miimon"))?;
    writeln!(out, "Up Delay (ms): {}", status.option("updelay"))?;
    writeln!(out, "Down Delay (ms): {}", status.option("downdelay"))?;
    writeln!(out, "Peer Notification Delay (ms): {}", status.option("peer_notif_delay"))?;
    arp_monitor(out, status)
}

fn arp_monitor(out: &mut String, status: &TeamStatus) -> fmt::Result {
    if status.option("arp_interval") == "0" {
        return Ok(());
    }
    let targets = |option: &str| match status.option(option) {
        "" => String::new(),
        targets => format!(" {}", targets.replace(',', ", ")),
    };
    writeln!(out, "ARP Polling Interval (ms): {}", status.option("arp_interval"))?;
    writeln!(out, "ARP Missed Max: {}", status.option("arp_missed_max"))?;
    writeln!(out, "ARP IP target/s (n.n.n.n form):{}", targets("arp_ip_target"))?;
    writeln!(out, "NS IPv6 target/s (xx::xx form):{}", targets("ns_ip6_target"))
}

/// The policies of switches have no number in the kernel.
fn hash_policy(out: &mut String, name: &str) -> fmt::Result {
    match name.parse::<HashPolicy>().ok().and_then(HashPolicy::number) {
        Some(number) => writeln!(out, "Transmit Hash Policy: {name} ({number})"),
        None => writeln!(out, "Transmit Hash Policy: {name}"),
    }
}

fn member(out: &mut String, member: &MemberState) -> fmt::Result {
    writeln!(out, "\nSlave Interface: {}", member.name)?;
    writeln!(out, "MII Status: {}", member.state)?;
    match member.speed_mbps {
        Some(speed) => writeln!(out, "Speed: {speed} Mbps")?,
        None => writeln!(out, "Speed: Unknown")?,
    }
    writeln!(out, "Duplex: {}", member.duplex.as_deref().unwrap_or("Unknown"))?;
    writeln!(out, "Link Failure Count: {}", member.link_failures)?;
    writeln!(out, "Permanent HW addr: {}", member.permanent_mac)?;
    // Members have no queues of their own here.
    writeln!(out, "Slave queue ID: 0")
}

/// Linux bond_main.c, `bond_mode_name`.
fn title(mode: Option<Mode>) -> Option<&'static str> {
    match mode {
        Some(Mode::BalanceRr) => Some("load balancing (round-robin)"),
        Some(Mode::ActiveBackup) => Some("fault-tolerance (active-backup)"),
        Some(Mode::BalanceXor) => Some("load balancing (xor)"),
        Some(Mode::Broadcast) => Some("fault-tolerance (broadcast)"),
        Some(Mode::BalanceTlb) => Some("transmit load balancing"),
        Some(Mode::BalanceAlb) => Some("adaptive load balancing"),
        None => None,
    }
}
