//! One-sided striping for people.

use std::fmt::{self, Write};

use crate::{PlainHostState, PlainMemberState, TeamStatus};

/// The most hosts that are named.
const HOSTS: usize = 8;

/// The hosts that do not stripe and that several members send to, or were tried for; and what had to be sent again.
pub(super) fn write(out: &mut String, status: &TeamStatus) -> fmt::Result {
    let Some(one_sided) = &status.one_sided else { return Ok(()) };
    let is_told = |host: &&PlainHostState| host.width > 1 || host.held_ms > 0;
    let hosts: Vec<&PlainHostState> = one_sided.hosts.iter().filter(is_told).collect();
    for host in hosts.iter().take(HOSTS) {
        write!(
            out,
            "  one-sided  {}: by {} of {} members, {} Mbit/s acknowledged",
            host.name(),
            host.width,
            one_sided.members.len(),
            host.delivered_mbps
        )?;
        match host.held_ms {
            0 => writeln!(out)?,
            ms => writeln!(out, "; more gained nothing, tried again in {} s", ms.div_ceil(1000))?,
        }
    }
    if hosts.len() > HOSTS {
        writeln!(out, "             and {} other hosts", hosts.len() - HOSTS)?;
    }
    let again = |of: &PlainMemberState| format!("{} {} of {}", of.member, of.resent, of.sent);
    let again: Vec<String> = one_sided.members.iter().filter(|of| of.resent > 0).map(again).collect();
    match again.len() {
        0 => Ok(()),
        _ => writeln!(out, "  sent again {} segments to hosts without nicteam", again.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown(one_sided: Value) -> String {
        let status = json!({
            "schema": 1, "nicteam": "", "team": "team0", "index": 1, "mac": "", "mtu": 1500, "admin_up": true,
            "carrier": true, "mode": "", "options": {}, "active": null, "dataplane": "bpf", "generation": 1,
            "uptime_ms": 0, "pid": 1, "unsent_frames": 0, "members": [], "problems": [], "one_sided": one_sided,
        });
        let mut out = String::new();
        write(&mut out, &serde_json::from_value(status).unwrap()).unwrap();
        out
    }

    fn host(last: u32, width: u32, held_ms: u32, addresses: Value) -> Value {
        json!({
            "mac": format!("02:00:00:00:00:{last:02x}"), "addresses": addresses, "width": width,
            "delivered_mbps": 940 * width, "striped": width > 1, "held_ms": held_ms, "asked": false,
        })
    }

    #[test]
    fn hosts_with_several_members_are_shown_with_figures() {
        let member = |name: &str, sent: u64, resent: u64| json!({ "member": name, "sent": sent, "resent": resent, "state": "used" });
        let hosts = json!([
            host(9, 3, 0, json!(["10.0.0.9", "fe80::9"])),
            host(8, 1, 3500, json!([])),
            host(7, 1, 0, json!(["10.0.0.7"])),
        ]);
        let members = json!([member("eth0", 90_000, 12), member("eth1", 80_000, 0), member("eth2", 70_000, 3)]);
        assert_eq!(
            shown(json!({ "hosts": hosts, "members": members })),
            "  one-sided  10.0.0.9, fe80::9 (02:00:00:00:00:09): by 3 of 3 members, 2820 Mbit/s acknowledged\n\
             \x20 one-sided  02:00:00:00:00:08: by 1 of 3 members, 940 Mbit/s acknowledged; more gained nothing, tried again in 4 s\n\
             \x20 sent again eth0 12 of 90000, eth2 3 of 70000 segments to hosts without nicteam\n"
        );
        let many: Vec<Value> = (1..12).map(|last| host(last, 2, 0, json!([]))).collect();
        let many = shown(json!({ "hosts": many, "members": [] }));
        assert!(many.ends_with("             and 3 other hosts\n"), "{many}");
        assert_eq!(shown(Value::Null), "");
    }
}
