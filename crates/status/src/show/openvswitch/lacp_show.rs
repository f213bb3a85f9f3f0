//! `lacp/show` (`lacp_print_details`).

use std::fmt::{self, Write};

use nicteam_bundles::PortEnd;

use super::{LacpMember, LacpView, by_name, truth};

/// A team's LACP.
pub fn lacp_show(lacp: &LacpView<'_>) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = head(&mut text, lacp);
    for member in by_name(&lacp.members, |member| member.name) {
        let _ = self::member(&mut text, member);
    }
    text
}

fn head(out: &mut String, lacp: &LacpView<'_>) -> fmt::Result {
    writeln!(out, "---- {} ----", lacp.name)?;
    let (status, negotiated) =
        (if lacp.active { "active" } else { "passive" }, if lacp.negotiated { " negotiated" } else { "" });
    writeln!(out, "  status: {status}{negotiated}")?;
    writeln!(out, "  sys_id: {}", lacp.system)?;
    writeln!(out, "  sys_priority: {}", lacp.system_priority)?;
    match lacp.key {
        Some(key) => writeln!(out, "  aggregation key: {key}")?,
        None => writeln!(out, "  aggregation key: none")?,
    }
    writeln!(out, "  lacp_time: {}", if lacp.fast { "fast" } else { "slow" })
}

fn member(out: &mut String, member: &LacpMember<'_>) -> fmt::Result {
    let attached = if member.attached { "attached" } else { "detached" };
    writeln!(out, "\nmember: {}: {} {attached}", member.name, member.status())?;
    writeln!(out, "  port_id: {}", member.port.actor.port)?;
    writeln!(out, "  port_priority: {}", member.port.actor.port_priority)?;
    writeln!(out, "  may_enable: {}", truth(member.may_enable))?;
    for (whose, end) in member.ends() {
        let PortEnd { system_priority, system, key, port_priority, port, state } = end;
        writeln!(out, "\n  {whose} sys_id: {system}")?;
        writeln!(out, "  {whose} sys_priority: {system_priority}")?;
        writeln!(out, "  {whose} port_id: {port}")?;
        writeln!(out, "  {whose} port_priority: {port_priority}")?;
        writeln!(out, "  {whose} key: {key}")?;
        writeln!(out, "  {whose} state:{}", bits(state))?;
    }
    Ok(())
}

/// The bits that are set, each with a space ahead (`ds_put_lacp_state`).
fn bits(state: u8) -> String {
    const NAMES: [&str; 8] = [
        " activity",
        " timeout",
        " aggregation",
        " synchronized",
        " collecting",
        " distributing",
        " defaulted",
        " expired",
    ];
    let numbered = NAMES.iter().enumerate();
    numbered.filter(|(bit, _)| state & 1 << bit != 0).map(|(_, name)| *name).collect()
}
