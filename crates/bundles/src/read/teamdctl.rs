//! `teamdctl NAME state dump` (libteam 1.31, teamd/teamd_state.c, teamd_runner_lacp.c).

use serde_json::Value;

use super::mac;
use crate::{Bundle, Kind, Lacp, Member, Port, PortEnd, state};

/// The team of this name; none of a text that is no state of a team.
pub fn teamdctl(name: &str, text: &str) -> Option<Bundle> {
    let document: Value = serde_json::from_str(text).ok()?;
    let setup = document.get("setup")?.as_object()?;
    let runner = setup.get("runner_name")?.as_str()?;
    let mut team = Bundle {
        name: name.to_owned(),
        kind: Kind::Teamd,
        device: Some(name.to_owned()),
        mode: runner.to_owned(),
        admin_up: true,
        ..Bundle::default()
    };
    let info = |key: &str| document.pointer(&format!("/team_device/ifinfo/{key}"));
    team.index = info("ifindex").and_then(number);
    team.mac = info("dev_addr").and_then(Value::as_str).and_then(mac);
    let active = document.pointer("/runner/active_port").and_then(Value::as_str);
    team.active = active.filter(|name| !name.is_empty()).map(ToOwned::to_owned);
    let ports = document.get("ports").and_then(Value::as_object);
    team.members = ports.into_iter().flatten().map(|(name, port)| member(name, port)).collect();
    if team.active.is_some() {
        let active = team.active.clone();
        team.members.iter_mut().for_each(|member| member.active = active.as_ref() == Some(&member.name));
    }
    team.carrier = team.members.iter().any(|member| member.up);
    if team.members.iter().any(|member| member.lacp.is_some()) {
        team.lacp = Some(lacp(&document, &team.members));
    }
    Some(team)
}

fn member(name: &str, port: &Value) -> Member {
    let link = |key: &str| port.pointer(&format!("/link/{key}"));
    let up = port.pointer("/link_watches/up").and_then(Value::as_bool).unwrap_or(false);
    let watches = port.pointer("/link_watches/list").and_then(Value::as_object);
    let failures = watches.into_iter().flatten().filter_map(|(_, watch)| watch.get("down_count")?.as_u64());
    let lacp = port.pointer("/runner/actor_lacpdu_info").is_some().then(|| self::port(port));
    Member {
        name: name.to_owned(),
        index: port.pointer("/ifinfo/ifindex").and_then(number),
        up,
        admin_up: true,
        carrier: link("up").and_then(Value::as_bool).unwrap_or(false),
        active: up && lacp.as_ref().is_none_or(|port| port.attached),
        speed_mbps: link("speed").and_then(number).filter(|speed| *speed > 0),
        full_duplex: link("duplex").and_then(Value::as_str).map(|duplex| duplex == "full"),
        mtu: None,
        mac: port.pointer("/ifinfo/dev_addr").and_then(Value::as_str).and_then(mac),
        permanent_mac: None,
        link_failures: failures.max(),
        lacp,
        ..Member::default()
    }
}

fn port(port: &Value) -> Port {
    let runner = |path: &str| port.pointer(&format!("/runner/{path}"));
    let actor = runner("actor_lacpdu_info").map(end);
    Port {
        aggregator: runner("aggregator/id").and_then(number),
        attached: runner("aggregator/selected").and_then(Value::as_bool).unwrap_or(false)
            && actor.as_ref().is_some_and(|end| end.has(state::DISTRIBUTING)),
        partner: runner("partner_lacpdu_info").map(end),
        actor,
        ..Port::default()
    }
}

fn end(info: &Value) -> PortEnd {
    let short = |key: &str| info.get(key).and_then(Value::as_u64).and_then(|of| u16::try_from(of).ok()).unwrap_or(0);
    PortEnd {
        system_priority: short("system_priority"),
        system: info.get("system").and_then(Value::as_str).and_then(mac).unwrap_or_default(),
        key: short("key"),
        port_priority: short("port_priority"),
        port: short("port"),
        state: u8::try_from(short("state")).unwrap_or(0),
    }
}

fn lacp(document: &Value, members: &[Member]) -> Lacp {
    let ports = || members.iter().filter_map(|member| member.lacp.as_ref());
    let attached = || ports().filter(|port| port.attached);
    let partner = attached().filter_map(|port| port.partner.as_ref()).find(|end| !end.is_unknown());
    let priority = document.pointer("/runner/sys_prio").and_then(Value::as_u64);
    Lacp {
        system: ports().find_map(|port| port.actor.as_ref().map(|end| end.system.clone())),
        system_priority: priority.and_then(|of| u16::try_from(of).ok()),
        aggregator: attached().find_map(|port| port.aggregator),
        ports: u32::try_from(attached().count()).ok(),
        actor_key: attached().find_map(|port| port.actor.as_ref().map(|end| end.key)),
        partner_key: partner.map(|end| end.key),
        negotiated: Some(partner.is_some()),
        partner: partner.map(|end| end.system.clone()),
    }
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}
