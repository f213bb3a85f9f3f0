//! `bond/show` (`bond_print_details`).

use std::fmt::{self, Write};

use super::{NO_RECIRCULATION, by_name, truth};
use crate::{BondMemberState, BondState};

/// A bond.
pub fn bond_show(name: &str, bond: &BondState) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = head(&mut text, name, bond);
    for member in by_name(&bond.members, |member| &member.name) {
        let _ = self::member(&mut text, member, bond.next_rebalance_ms.is_some());
    }
    text + "\n"
}

fn head(out: &mut String, name: &str, bond: &BondState) -> fmt::Result {
    writeln!(out, "---- {name} ----")?;
    writeln!(out, "bond_mode: {}", bond.mode)?;
    let falls_back = bond.lacp_fallback_ab && bond.lacp_status == "configured";
    match bond.mode == "balance-tcp" && !falls_back {
        true => writeln!(out, "bond may use recirculation: yes, Recirc-ID : {NO_RECIRCULATION}")?,
        false => writeln!(out, "bond may use recirculation: no, Recirc-ID : -1")?,
    }
    writeln!(out, "bond-hash-basis: {}", bond.hash_basis)?;
    // An offload of the real one's datapath.
    writeln!(out, "lb_output action: disabled, bond-id: -1")?;
    if bond.mode == "balance-slb" {
        writeln!(out, "all members active: {}", truth(bond.all_members_active))?;
    }
    writeln!(out, "updelay: {} ms", bond.updelay_ms)?;
    writeln!(out, "downdelay: {} ms", bond.downdelay_ms)?;
    if let Some(ms) = bond.next_rebalance_ms {
        writeln!(out, "next rebalance: {ms} ms")?;
    }
    writeln!(out, "lacp_status: {}", bond.lacp_status)?;
    writeln!(out, "lacp_fallback_ab: {}", truth(bond.lacp_fallback_ab))?;
    writeln!(out, "active-backup primary: {}", primary(bond))?;
    writeln!(out, "active member mac: {}({})", bond.active_mac, bond.active.as_deref().unwrap_or("none"))
}

/// The preferred member, where the active one may carry everything (vswitchd/bridge.c, `port_configure_bond`).
fn primary(bond: &BondState) -> String {
    let is_asked = bond.mode == "active-backup" || bond.lacp_fallback_ab;
    match bond.primary.as_ref().filter(|_| is_asked) {
        None => "<none>".to_owned(),
        Some(name) if bond.members.iter().any(|member| member.name == *name) => name.clone(),
        Some(name) => format!("{name} (no such member)"),
    }
}

fn member(out: &mut String, member: &BondMemberState, is_balanced: bool) -> fmt::Result {
    let BondMemberState { name, enabled, .. } = member;
    writeln!(out, "\nmember {name}: {}", if *enabled { "enabled" } else { "disabled" })?;
    if member.active {
        writeln!(out, "  active member")?;
    }
    if let Some(ms) = member.delay_ms {
        let delay = if *enabled { "downdelay" } else { "updelay" };
        writeln!(out, "  {delay} expires in {ms} ms")?;
    }
    writeln!(out, "  may_enable: {}", truth(member.may_enable))?;
    let kilobytes = |bytes: u64| bytes / 1024;
    for load in member.buckets.iter().filter(|load| is_balanced && kilobytes(load.bytes) > 0) {
        writeln!(out, "  hash {}: {} kB load", load.bucket, kilobytes(load.bytes))?;
    }
    Ok(())
}
