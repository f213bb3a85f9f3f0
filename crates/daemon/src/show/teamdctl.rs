//! What `teamdctl NAME state dump` prints (libteam 1.32, teamd/teamd_state.c,
//! teamd_link_watch.c, teamd_lw_ethtool.c, teamd_runner_activebackup.c).
//!
//! Keys are sorted and indented by four, as teamd's are. What teamd has and
//! nicteam has not is as it is in a teamd without it: no D-Bus, no ZeroMQ, debug
//! level 0.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use crate::{MemberState, TeamStatus};

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
    // The active-backup runner alone has a state among these.
    if runner == "activebackup" {
        let active_port = status.active.clone().unwrap_or_default();
        document.insert("runner".to_owned(), json!({ "active_port": active_port }));
    }
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
    json!({
        "ifinfo": ifinfo(&member.mac, member.index, &member.name),
        "link": {
            "duplex": member.duplex.as_deref().unwrap_or("half"),
            "speed": member.speed_mbps.unwrap_or(0),
            "up": member.carrier,
        },
        "link_watches": { "list": { "link_watch_0": watch }, "up": up },
    })
}

fn ifinfo(mac: &str, index: u32, name: &str) -> Value {
    json!({ "dev_addr": mac, "dev_addr_len": 6, "ifindex": index, "ifname": name })
}

/// The runner and the kernel's team mode that do what this mode does.
fn runner(status: &TeamStatus) -> (&str, &str) {
    match status.mode.as_str() {
        "balance-rr" if status.option("packets_per_slave") == "0" => ("random", "random"),
        "balance-rr" => ("roundrobin", "roundrobin"),
        "active-backup" => ("activebackup", "activebackup"),
        "broadcast" => ("broadcast", "broadcast"),
        "balance-xor" => ("loadbalance", "loadbalance"),
        "802.3ad" => ("lacp", "loadbalance"),
        other => (other, other),
    }
}
