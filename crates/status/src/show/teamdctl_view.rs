//! What `teamdctl NAME state` prints, also called `state view` (libteam 1.31,
//! utils/teamdctl.c, `stateview_json_process`).

use std::fmt::{self, Write};

use super::teamdctl::{aggregator_id, is_active, port_state, runner};
use crate::{MemberState, TeamStatus};

/// The view's text, without the lines that `-v` adds.
pub fn teamdctl_view(status: &TeamStatus) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = write(&mut text, status);
    text
}

fn write(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let (runner, _) = runner(status);
    writeln!(out, "setup:\n  runner: {runner}")?;
    if !status.members.is_empty() {
        writeln!(out, "ports:")?;
        // teamd sorts its ports by name.
        let mut members: Vec<&MemberState> = status.members.iter().collect();
        members.sort_by(|one, other| one.name.cmp(&other.name));
        members.into_iter().try_for_each(|member| port(out, member, status))?;
    }
    match runner {
        "activebackup" => writeln!(out, "runner:\n  active port: {}", status.active.as_deref().unwrap_or_default()),
        "lacp" => {
            let (active, fast) = (status.option("lacp_active") == "on", status.option("lacp_rate") == "fast");
            writeln!(out, "runner:\n  active: {}\n  fast rate: {}", yes(active), yes(fast))
        }
        _ => Ok(()),
    }
}

fn port(out: &mut String, member: &MemberState, status: &TeamStatus) -> fmt::Result {
    let link = if member.is_up() { "up" } else { "down" };
    writeln!(out, "  {}", member.name)?;
    writeln!(out, "    link watches:\n      link summary: {link}")?;
    writeln!(out, "      instance[link_watch_0]:\n        name: ethtool\n        link: {link}")?;
    writeln!(out, "        down count: {}", member.link_failures)?;
    let Some(port) = &member.lacp else { return Ok(()) };
    let selected = if is_active(port, status) { ", Selected" } else { "" };
    writeln!(out, "    runner:\n      aggregator ID: {}{selected}", aggregator_id(port, status))?;
    writeln!(out, "      selected: {}", yes(port.aggregator.is_some()))?;
    writeln!(out, "      state: {}", port_state(port))
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}
