//! Teams as netplan's bonds.

use std::collections::BTreeSet;
use std::fmt::Write;

use nicteam_drafts::{Network, Team, Written, kernel};
use nicteam_syntax::Source;

use super::parameters::{DROPPED, Kind, PARAMETERS};

/// Read behind what an installer writes.
const PATH: &str = "/etc/netplan/60-nicteam.yaml";

/// Writes one file of all teams that can be the kernel's bonds.
pub(super) fn write(network: &Network) -> Written {
    let mut left = Vec::new();
    let bonds: Vec<(&Team, kernel::Bond)> =
        network.lowest_first().into_iter().filter_map(|team| Some((team, kernel::bond(team, &mut left)?))).collect();
    if bonds.is_empty() {
        return Written { files: Vec::new(), left };
    }
    let mut text = String::from(
        "# Written by `nicteam export --to netplan`: bonds of the kernel's driver.\nnetwork:\n  version: 2\n  ethernets:\n",
    );
    let mut members: BTreeSet<&String> = bonds.iter().flat_map(|(team, _)| &team.members).collect();
    // A bond that is a member of another is defined below.
    bonds.iter().for_each(|(team, _)| _ = members.remove(&team.name));
    for member in members {
        line(&mut text, 4, &format!("{}: {{}}", word(member)));
    }
    line(&mut text, 2, "bonds:");
    for (team, bond) in &bonds {
        write_bond(&mut text, team, bond, &mut left);
    }
    Written { files: vec![Source::new(PATH, text)], left }
}

fn write_bond(text: &mut String, team: &Team, bond: &kernel::Bond, left: &mut Vec<String>) {
    line(text, 4, &format!("{}:", word(&team.name)));
    line(text, 6, &format!("interfaces: {}", list(team.members.iter().map(String::as_str))));
    if let Some(mac) = team.mac {
        line(text, 6, &format!("macaddress: {}", word(&mac.to_string())));
    }
    if let Some(mtu) = team.mtu {
        line(text, 6, &format!("mtu: {mtu}"));
    }
    if let Some(accept_ra) = team.accept_ra {
        line(text, 6, &format!("accept-ra: {}", accept_ra != 0));
    }
    if !team.addresses.is_empty() {
        let addresses: Vec<String> = team.addresses.iter().map(ToString::to_string).collect();
        line(text, 6, &format!("addresses: {}", list(addresses.iter().map(String::as_str))));
    }
    if !team.routes.is_empty() {
        line(text, 6, "routes:");
    }
    for route in &team.routes {
        // `default` is known since 0.103 alone.
        line(text, 8, &format!("- to: {}", word(&route.to.to_string())));
        let via = route.via.map(|via| format!("via: {}", word(&via.to_string())));
        // Without a next hop it is on the link, which networkd is to be told.
        let scope = (route.via.is_none() && route.to.address.is_ipv4()).then(|| "scope: link".to_owned());
        let metric = route.metric.map(|metric| format!("metric: {metric}"));
        let table = route.table.map(|table| format!("table: {table}"));
        for part in [via, scope, metric, table].into_iter().flatten() {
            line(text, 10, &part);
        }
    }
    line(text, 6, "parameters:");
    for (option, value) in &bond.options {
        let known = PARAMETERS.iter().find(|(_, name, _)| name == option);
        match known {
            Some((name, ..)) if DROPPED.contains(option) && value == "0" => {
                left.push(format!("{}: netplan drops `{name}: 0`", team.name));
            }
            Some((name, _, kind)) => {
                let value = parameter(*kind, value);
                value.into_iter().for_each(|value| line(text, 8, &format!("{name}: {value}")));
            }
            None if is_said_otherwise(bond, option) => {}
            None => left.push(format!("{}: netplan has no `{option}`", team.name)),
        }
    }
}

/// A value in netplan's words; none where it is said by leaving it out.
fn parameter(kind: Kind, value: &str) -> Option<String> {
    match kind {
        _ if value.is_empty() => None,
        Kind::Milliseconds | Kind::Seconds => Some(value.to_owned()),
        Kind::Boolean => Some((value == "1").to_string()),
        Kind::List => Some(list(value.split(','))),
        Kind::Same | Kind::Device => Some(word(value)),
    }
}

/// Options that say nothing, or that another one says.
fn is_said_otherwise(bond: &kernel::Bond, option: &str) -> bool {
    match option {
        "use_carrier" => true,
        "num_unsol_na" => bond.get("num_grat_arp") == bond.get("num_unsol_na"),
        _ => bond.get(option) == Some(""),
    }
}

fn line(text: &mut String, indent: usize, line: &str) {
    // A String takes everything.
    let _ = writeln!(text, "{:indent$}{line}", "");
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(word).collect::<Vec<_>>().join(", "))
}

/// A word as it is where nobody can take it for something else, else in quotes.
fn word(word: &str) -> String {
    const OTHERS: &[&str] = &["true", "false", "on", "off", "yes", "no", "y", "n", "null"];
    let is_plain = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
        && !OTHERS.contains(&word.to_ascii_lowercase().as_str());
    match is_plain {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}
