//! `/proc/net/bonding/NAME`, field by field.
//!
//! Linux 6.1 drivers/net/bonding/bond_procfs.c, `bond_info_show_master` and
//! `bond_info_show_slave`. The first line has this program's version in place
//! of the kernel's; delays are the ones in force, which the kernel rounds to
//! whole `miimon` intervals.

use std::fmt::{self, Write};

use nicteam_team::mode::Addresses;
use nicteam_team::{HashPolicy, Mode};

use crate::{Aggregation, MemberState, PortState, TeamStatus};

/// The file's text.
pub fn proc(status: &TeamStatus) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = team(&mut text, status);
    for member in &status.members {
        let _ = self::member(&mut text, member, status.queue_id(&member.name));
    }
    text
}

fn team(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let mode: Option<Mode> = status.mode.parse().ok();
    writeln!(out, "Ethernet Channel Bonding Driver: v{}\n", status.nicteam)?;
    write!(out, "Bonding Mode: {}", mode.map_or(&*status.mode, |mode| mode.traits().title))?;
    match status.option("fail_over_mac") {
        moves @ ("active" | "follow") if mode.is_some_and(moves_addresses) => {
            writeln!(out, " (fail_over_mac {moves})")?;
        }
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
    arp_monitor(out, status)?;
    match &status.lacp {
        Some(lacp) => lacp_info(out, status, lacp),
        None => Ok(()),
    }
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

fn lacp_info(out: &mut String, status: &TeamStatus, lacp: &Aggregation) -> fmt::Result {
    writeln!(out, "\n802.3ad info")?;
    let active = match status.openvswitch.as_ref().and_then(|bond| bond.lacp.as_ref()) {
        Some(lacp) if lacp.active => "on",
        Some(_) => "off",
        None => status.option("lacp_active"),
    };
    writeln!(out, "LACP active: {active}")?;
    writeln!(out, "LACP rate: {}", status.option("lacp_rate"))?;
    writeln!(out, "Min links: {}", status.option("min_links"))?;
    writeln!(out, "Aggregator selection policy (ad_select): {}", status.option("ad_select"))?;
    writeln!(out, "System priority: {}", lacp.system_priority)?;
    writeln!(out, "System MAC address: {}", lacp.system)?;
    // An aggregator whose ports are all down is none to the kernel.
    let Some(active) = lacp.active.as_ref().filter(|active| active.ports > 0) else {
        return writeln!(out, "bond {} has no active aggregator", status.team);
    };
    writeln!(out, "Active Aggregator Info:")?;
    writeln!(out, "\tAggregator ID: {}", active.id)?;
    writeln!(out, "\tNumber of ports: {}", active.ports)?;
    writeln!(out, "\tActor Key: {}", active.actor_key)?;
    writeln!(out, "\tPartner Key: {}", active.partner_key)?;
    writeln!(out, "\tPartner Mac Address: {}", active.partner_system)
}

/// The policies of switches have no number in the kernel.
fn hash_policy(out: &mut String, name: &str) -> fmt::Result {
    match name.parse::<HashPolicy>().ok().and_then(HashPolicy::number) {
        Some(number) => writeln!(out, "Transmit Hash Policy: {name} ({number})"),
        None => writeln!(out, "Transmit Hash Policy: {name}"),
    }
}

fn member(out: &mut String, member: &MemberState, queue_id: u16) -> fmt::Result {
    writeln!(out, "\nSlave Interface: {}", member.name)?;
    writeln!(out, "MII Status: {}", member.state)?;
    match member.speed_mbps {
        Some(speed) => writeln!(out, "Speed: {speed} Mbps")?,
        None => writeln!(out, "Speed: Unknown")?,
    }
    writeln!(out, "Duplex: {}", member.duplex.as_deref().unwrap_or("Unknown"))?;
    writeln!(out, "Link Failure Count: {}", member.link_failures)?;
    writeln!(out, "Permanent HW addr: {}", member.permanent_mac)?;
    writeln!(out, "Slave queue ID: {queue_id}")?;
    match &member.lacp {
        Some(port) => self::port(out, port),
        None => Ok(()),
    }
}

fn port(out: &mut String, port: &PortState) -> fmt::Result {
    let Some(aggregator) = port.aggregator else {
        return writeln!(out, "Aggregator ID: N/A");
    };
    writeln!(out, "Aggregator ID: {aggregator}")?;
    writeln!(out, "Actor Churn State: {}", port.actor_churn)?;
    writeln!(out, "Partner Churn State: {}", port.partner_churn)?;
    writeln!(out, "Actor Churned Count: {}", port.actor_churned)?;
    writeln!(out, "Partner Churned Count: {}", port.partner_churned)?;
    for (whose, key, end) in [("actor", "port", &port.actor), ("partner", "oper", &port.partner)] {
        writeln!(out, "details {whose} lacp pdu:")?;
        writeln!(out, "    system priority: {}", end.system_priority)?;
        writeln!(out, "    system mac address: {}", end.system)?;
        writeln!(out, "    {key} key: {}", end.key)?;
        writeln!(out, "    port priority: {}", end.port_priority)?;
        writeln!(out, "    port number: {}", end.port)?;
        writeln!(out, "    port state: {}", end.state)?;
    }
    Ok(())
}

fn moves_addresses(mode: Mode) -> bool {
    mode.traits().addresses == Addresses::FailOverMac
}
