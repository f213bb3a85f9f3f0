//! Teams -> `/etc/systemd/network`: a `.netdev`, a `.network`, and one for each member.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_drafts::Written;
use nicteam_drafts::kernel::{self, Bond};
use nicteam_drafts::{Network, Team};
use nicteam_syntax::Source;

use super::keys::{KEYS, Unit};

pub(super) fn write(network: &Network) -> Written {
    let mut written = Written::default();
    let teams = network.lowest_first();
    let bonds: Vec<(&Team, Bond)> =
        teams.into_iter().filter_map(|team| Some((team, kernel::bond(team, &mut written.left)?))).collect();
    // The first file that fits a device holds: a bond that is a member says so in its own.
    let mut member_lines: BTreeMap<&str, String> = BTreeMap::new();
    for (team, bond) in &bonds {
        member_lines.extend(team.members.iter().map(|member| (member.as_str(), of_member(team, member, bond))));
    }
    let names: BTreeSet<&str> = bonds.iter().map(|(team, _)| team.name.as_str()).collect();
    for (team, bond) in &bonds {
        let netdev = netdev(team, bond, &mut written.left);
        let file = |name: String, text| Source::new(format!("/etc/systemd/network/{name}"), text);
        written.files.push(file(format!("30-{}.netdev", team.name), netdev));
        written.files.push(file(format!("30-{}.network", team.name), own(team, member_lines.get(&*team.name))));
        for (place, member) in team.members.iter().enumerate().filter(|(_, member)| !names.contains(member.as_str())) {
            let name = format!("30-{}-{:02}-{member}.network", team.name, place + 1);
            let lines = member_lines.get(&**member).map_or("", String::as_str);
            written.files.push(file(name, format!("[Match]\nName={member}\n\n[Network]\n{lines}")));
        }
    }
    written
}

/// Values of the kernel that systemd 252 and later refuse: "Failed to parse bond ..., ignoring".
const REFUSED: [(&str, &str); 6] = [
    ("xmit_hash_policy", "vlan+srcmac"),
    ("arp_validate", "filter"),
    ("arp_validate", "filter_active"),
    ("arp_validate", "filter_backup"),
    ("ad_select", "actor_port_prio"),
    ("ad_actor_system", "00:00:00:00:00:00"),
];

/// Options whose key came later than systemd 252, with the version that has it first.
const SINCE: [(&str, u16); 1] = [("arp_missed_max", 256)];

fn netdev(team: &Team, bond: &Bond, left: &mut Vec<String>) -> String {
    let name = &team.name;
    let mut out = format!("[NetDev]\nName={name}\nKind=bond\n");
    if let Some(mtu) = team.mtu {
        out.push_str(&format!("MTUBytes={mtu}\n"));
    }
    if let Some(mac) = team.mac {
        out.push_str(&format!("MACAddress={mac}\n"));
    }
    out.push_str("\n[Bond]\n");
    for (option, value) in &bond.options {
        let key = KEYS.iter().find(|(_, of, _)| of == option);
        match key {
            Some((key, ..)) if REFUSED.contains(&(*option, value.as_str())) => {
                left.push(format!("{name}: systemd-networkd takes no `{value}` for `{key}=`"));
            }
            Some((key, _, unit)) => {
                if let Some((_, since)) = SINCE.iter().find(|(of, _)| of == option) {
                    left.push(format!("{name}: `{key}=` is of systemd {since}: earlier ones ignore it"));
                    out.push_str(&format!("# Of systemd {since}: earlier ones ignore it.\n"));
                }
                out.push_str(&format!("{key}={}\n", written(*unit, value)));
            }
            // It stands with the member.
            None if matches!(*option, "primary" | "active_slave") && !value.is_empty() => {}
            None => left.push(format!("{name}: systemd-networkd has no key for `{option} = {value}`")),
        }
    }
    out
}

fn written(unit: Unit, value: &str) -> String {
    match unit {
        Unit::Same => value.to_owned(),
        Unit::Milliseconds => format!("{value}ms"),
        Unit::Seconds => format!("{value}s"),
        Unit::Flag => if value == "0" { "no" } else { "yes" }.to_owned(),
        Unit::Addresses => value.replace(',', " "),
    }
}

fn own(team: &Team, as_member: Option<&String>) -> String {
    let mut out = format!("[Match]\nName={}\n\n[Network]\n{}", team.name, as_member.map_or("", String::as_str));
    if let Some(accept_ra) = team.accept_ra {
        out.push_str(&format!("IPv6AcceptRA={}\n", if accept_ra == 0 { "no" } else { "yes" }));
    }
    for address in &team.addresses {
        out.push_str(&format!("Address={address}\n"));
    }
    for route in &team.routes {
        out.push_str(&format!("\n[Route]\nDestination={}\n", route.to));
        let mut line = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                out.push_str(&format!("{key}={value}\n"));
            }
        };
        line("Gateway", route.via.map(|via| via.to_string()));
        line("Metric", route.metric.map(|metric| metric.to_string()));
        line("Table", route.table.map(|table| table.to_string()));
    }
    out
}

/// What makes a device a member, in [Network].
fn of_member(team: &Team, member: &str, bond: &Bond) -> String {
    let is = |option: &str| bond.get(option) == Some(member);
    let mut out = format!("Bond={}\n", team.name);
    for (option, key) in [("primary", "PrimarySlave"), ("active_slave", "ActiveSlave")] {
        if is(option) {
            out.push_str(&format!("{key}=yes\n"));
        }
    }
    out
}
