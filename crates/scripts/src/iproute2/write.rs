//! Teams as command lines of `ip`.

use std::fmt::Write;

use nicteam_drafts::{Network, Team, Written, kernel};
use nicteam_syntax::Source;

use super::link::BOND;

/// Where a script of an administrator has its place.
const PATH: &str = "/usr/local/sbin/nicteam-bonds.sh";

/// Writes one script of all teams that can be the kernel's bonds.
pub(super) fn write(network: &Network) -> Written {
    let mut left = Vec::new();
    let mut text = String::from(
        "#!/bin/sh\n# Written by `nicteam export --to iproute2`: bonds of the kernel's driver, by iproute2.\nset -e\n",
    );
    let mut count = 0;
    for team in network.lowest_first() {
        if let Some(bond) = kernel::bond(team, &mut left) {
            write_team(&mut text, team, &bond, &mut left);
            count += 1;
        }
    }
    let files = if count == 0 { Vec::new() } else { vec![Source::new(PATH, text)] };
    Written { files, left }
}

fn write_team(text: &mut String, team: &Team, bond: &kernel::Bond, left: &mut Vec<String>) {
    let name = word(&team.name);
    // `name` ahead of it: a bond called `br` would else be an abbreviation.
    let mut line = format!("\nip link add name {name} type bond");
    let (mut of_members, mut active) = (Vec::new(), None);
    for (option, value) in &bond.options {
        let known = BOND.iter().find(|(_, kernels)| kernels == option);
        match (*option, known) {
            ("prio" | "queue_id", _) => of_members.push((*option, value)),
            _ if value.is_empty() => {}
            // A member, which has to be up.
            ("active_slave", _) => active = Some(value),
            ("num_unsol_na", _) if bond.get("num_grat_arp").is_some() => {}
            (_, Some((known, _))) => {
                // A String takes everything.
                let _ = write!(line, " {known} {}", word(value));
            }
            (_, None) => left.push(format!("{}: `ip link` of iproute2 has no `{option}`", team.name)),
        }
    }
    let mut put = |line: String| text.push_str(&(line + "\n"));
    put(line);
    if let Some(mac) = team.mac {
        put(format!("ip link set dev {name} address {mac}"));
    }
    for member in &team.members {
        let member = word(member);
        // The driver takes no device in that is up.
        put(format!("ip link set dev {member} down"));
        put(format!("ip link set dev {member} master {name}"));
    }
    for (option, pairs) in of_members {
        for (member, value) in pairs.split(',').filter_map(|pair| pair.rsplit_once(':')) {
            put(format!("ip link set dev {} type bond_slave {option} {}", word(member), word(value)));
        }
    }
    let mtu = team.mtu.map(|mtu| format!(" mtu {mtu}")).unwrap_or_default();
    put(format!("ip link set dev {name}{mtu} up"));
    if let Some(active) = active {
        put(format!("ip link set dev {name} type bond active_slave {}", word(active)));
    }
    if let Some(accept_ra) = team.accept_ra {
        left.push(format!("{0}: `ip` does not set it: sysctl -w net/ipv6/conf/{0}/accept_ra={accept_ra}", team.name));
    }
    for address in &team.addresses {
        put(format!("ip address add {address} dev {name}"));
    }
    for route in &team.routes {
        let family = if route.to.address.is_ipv6() { " -6" } else { "" };
        let via = route.via.map(|via| format!(" via {via}")).unwrap_or_default();
        let metric = route.metric.map(|metric| format!(" metric {metric}")).unwrap_or_default();
        let table = route.table.map(|table| format!(" table {table}")).unwrap_or_default();
        put(format!("ip{family} route add {}{via} dev {name}{metric}{table}", route.to));
    }
}

/// A word as it is where no shell takes it for something else, else in quotes.
fn word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+,:@%/".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
