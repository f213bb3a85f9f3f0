//! What `teamdctl NAME state dump` prints (libteam 1.31, teamd/teamd_state.c,
//! teamd_link_watch.c, teamd_lw_ethtool.c, teamd_runner_activebackup.c,
//! teamd_runner_lacp.c).
//!
//! Keys are sorted and indented by four, as teamd's are. What teamd has and
//! nicteam has not is as it is in a teamd without it: no D-Bus, no ZeroMQ, debug
//! level 0.

use nicteam_bundles::PortEnd;
use nicteam_team::Mode;
use nicteam_team::mode::Sends;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use crate::{Aggregation, MemberState, PortState, TeamStatus};

/// The document's text.
pub fn teamdctl(status: &TeamStatus) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"    "));
    // Values of texts and numbers always have a JSON form.
    let _ = document(status).serialize(&mut serializer);
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

fn document(status: &TeamStatus) -> Value {
    let mut document = Map::new();
    if !status.members.is_empty() {
        let ports = status.members.iter().map(|member| (member.name.clone(), port(member, status)));
        document.insert("ports".to_owned(), Value::Object(ports.collect()));
    }
    let (runner, kernel_mode) = runner(status);
    let state = match (&status.lacp, runner) {
        (Some(lacp), _) => Some(lacp_runner(lacp, status)),
        (None, "activebackup") => Some(json!({ "active_port": status.active.as_deref().unwrap_or_default() })),
        // Other runners have none.
        (None, _) => None,
    };
    document.extend(state.map(|state| ("runner".to_owned(), state)));
    let setup = json!({
        "daemonized": true,
        "dbus_enabled": false,
        "debug_level": 0,
        "kernel_team_mode_name": kernel_mode,
        "pid": status.pid,
        "pid_file": "",
        "runner_name": runner,
        "zmq_enabled": false,
    });
    document.insert("setup".to_owned(), setup);
    document.insert("team_device".to_owned(), json!({ "ifinfo": ifinfo(&status.mac, status.index, &status.team) }));
    Value::Object(document)
}

fn port(member: &MemberState, status: &TeamStatus) -> Value {
    let up = member.is_up();
    let delay = |option: &str| status.option(option).parse::<u32>().unwrap_or(0);
    let watch = json!({
        "delay_down": delay("downdelay"),
        "delay_up": delay("updelay"),
        "down_count": member.link_failures,
        "name": "ethtool",
        "up": up,
    });
    let mut port = json!({
        "ifinfo": ifinfo(&member.mac, member.index, &member.name),
        "link": {
            "duplex": member.duplex.as_deref().unwrap_or("half"),
            "speed": member.speed_mbps.unwrap_or(0),
            "up": member.carrier,
        },
        "link_watches": { "list": { "link_watch_0": watch }, "up": up },
    });
    if let Some(lacp) = &member.lacp {
        port["runner"] = lacp_port(lacp, status);
    }
    port
}

fn lacp_runner(lacp: &Aggregation, status: &TeamStatus) -> Value {
    json!({
        "active": status.option("lacp_active") == "on",
        "fast_rate": status.option("lacp_rate") == "fast",
        "sys_prio": lacp.system_priority,
    })
}

fn lacp_port(port: &PortState, status: &TeamStatus) -> Value {
    json!({
        "actor_lacpdu_info": lacpdu_info(&port.actor),
        "aggregator": { "id": aggregator_id(port, status), "selected": is_active(port, status) },
        "key": status.option("ad_user_port_key").parse::<u16>().unwrap_or(0),
        "partner_lacpdu_info": lacpdu_info(&port.partner),
        "prio": port.actor.port_priority,
        "selected": port.aggregator.is_some(),
        "state": port_state(port),
    })
}

fn lacpdu_info(end: &PortEnd) -> Value {
    json!({
        "key": end.key,
        "port": end.port,
        "port_priority": end.port_priority,
        "state": end.state,
        "system": end.system,
        "system_priority": end.system_priority,
    })
}

/// teamd calls an aggregator by the interface index of the port that leads it; 0 is none.
pub(super) fn aggregator_id(port: &PortState, status: &TeamStatus) -> u32 {
    let same = |member: &&MemberState| {
        port.aggregator.is_some() && member.lacp.as_ref().is_some_and(|other| other.aggregator == port.aggregator)
    };
    status.members.iter().find(same).map_or(0, |member| member.index)
}

/// True if the port's aggregator is the one that carries the traffic.
pub(super) fn is_active(port: &PortState, status: &TeamStatus) -> bool {
    let active = status.lacp.as_ref().and_then(|lacp| lacp.active.as_ref());
    active.is_some_and(|active| port.aggregator == Some(active.id))
}

/// teamd's word for the state of the receive machine.
pub(super) fn port_state(port: &PortState) -> &str {
    match port.receive.as_str() {
        heard @ ("current" | "expired" | "defaulted") => heard,
        _ => "disabled",
    }
}

fn ifinfo(mac: &str, index: u32, name: &str) -> Value {
    json!({ "dev_addr": mac, "dev_addr_len": 6, "ifindex": index, "ifname": name })
}

/// The runner and the kernel's team mode that do what this mode does.
pub(super) fn runner(status: &TeamStatus) -> (&str, &str) {
    let mode: Option<Mode> = status.mode.parse().ok();
    let in_turn = |mode: Mode| mode.traits().sends == Sends::InTurn;
    match mode.and_then(|mode| mode.traits().runner) {
        _ if mode.is_some_and(in_turn) && status.option("packets_per_slave") == "0" => ("random", "random"),
        Some(runner) => runner,
        None => (status.mode.as_str(), status.mode.as_str()),
    }
}
