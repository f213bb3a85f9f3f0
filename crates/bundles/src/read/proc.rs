//! `/proc/net/bonding/NAME` (Linux drivers/net/bonding/bond_procfs.c).

use nicteam_options::Mode;

use super::mac;
use crate::{Bundle, Kind, Lacp, Member, Port, PortEnd};

/// Options that stand in the text, by their names there.
const OPTIONS: &[(&str, &str)] = &[
    ("MII Polling Interval (ms)", "miimon"),
    ("Up Delay (ms)", "updelay"),
    ("Down Delay (ms)", "downdelay"),
    ("ARP Polling Interval (ms)", "arp_interval"),
    ("LACP active", "lacp_active"),
    ("LACP rate", "lacp_rate"),
    ("Min links", "min_links"),
    ("Aggregator selection policy (ad_select)", "ad_select"),
];

/// Whose values the lines are.
#[derive(Clone, Copy)]
enum Part {
    Bond,
    Aggregator,
    Member,
    Actor,
    Partner,
}

/// The bond of this name, by what the kernel says of it. Its device has to be asked for its address, its MTU and its members' ones.
///
/// The kernel says what LACP knows only to a reader who has `CAP_NET_ADMIN`: [`Port::actor`] and [`Port::partner`] are unknown else.
pub fn proc(name: &str, text: &str) -> Bundle {
    let mut bond = Bundle {
        name: name.to_owned(),
        kind: Kind::Kernel,
        device: Some(name.to_owned()),
        admin_up: true,
        ..Bundle::default()
    };
    let mut part = Part::Bond;
    for line in text.lines() {
        let line = line.trim();
        match line {
            "802.3ad info" => bond.lacp = Some(Lacp::default()),
            "Active Aggregator Info:" => part = Part::Aggregator,
            "details actor lacp pdu:" => part = Part::Actor,
            "details partner lacp pdu:" => part = Part::Partner,
            _ => {
                let Some((key, value)) = line.split_once(": ") else { continue };
                let value = value.trim();
                if key == "Slave Interface" {
                    bond.members.push(Member { name: value.to_owned(), admin_up: true, ..Member::default() });
                    part = Part::Member;
                    continue;
                }
                match part {
                    Part::Bond | Part::Aggregator => of_bond(&mut bond, part, key, value),
                    Part::Member => of_member(bond.members.last_mut(), key, value),
                    Part::Actor | Part::Partner => of_port(bond.members.last_mut(), part, key, value),
                }
            }
        }
    }
    bond.find_senders();
    bond
}

fn of_bond(bond: &mut Bundle, part: Part, key: &str, value: &str) {
    if let Some((_, option)) = OPTIONS.iter().find(|(of, _)| *of == key) {
        bond.options.insert((*option).to_owned(), value.to_owned());
    }
    // `layer2+3 (2)`, `eth0 (primary_reselect always)`: the word, then what it is.
    let word = value.split_whitespace().next().unwrap_or_default();
    match (key, bond.lacp.as_mut()) {
        ("Bonding Mode", _) => bond.mode = mode(value),
        ("Transmit Hash Policy", _) => bond.hash_policy = Some(word.to_owned()),
        ("Currently Active Slave", _) => bond.active = Some(word.to_owned()).filter(|name| name != "None"),
        ("Primary Slave", _) if word != "None" => drop(bond.options.insert("primary".to_owned(), word.to_owned())),
        ("MII Status", _) => bond.carrier = value == "up",
        ("System priority", Some(lacp)) => lacp.system_priority = value.parse().ok(),
        ("System MAC address", Some(lacp)) => lacp.system = mac(value),
        (_, Some(lacp)) if matches!(part, Part::Aggregator) => of_aggregator(lacp, key, value),
        _ => {}
    }
}

fn of_aggregator(lacp: &mut Lacp, key: &str, value: &str) {
    match key {
        "Aggregator ID" => lacp.aggregator = value.parse().ok(),
        "Number of ports" => lacp.ports = value.parse().ok(),
        "Actor Key" => lacp.actor_key = value.parse().ok(),
        "Partner Key" => lacp.partner_key = value.parse().ok(),
        "Partner Mac Address" => {
            let system = mac(value);
            lacp.negotiated = system.as_ref().map(|system| system != NOBODY);
            lacp.partner = system.filter(|system| system != NOBODY);
        }
        _ => {}
    }
}

/// A partner's address where there is none.
const NOBODY: &str = "00:00:00:00:00:00";

fn of_member(member: Option<&mut Member>, key: &str, value: &str) {
    let Some(member) = member else { return };
    match key {
        "MII Status" => {
            // `going down` still serves, `going back` does not yet (Linux bonding.h, `BOND_LINK_FAIL`, `BOND_LINK_BACK`).
            member.up = matches!(value, "up" | "going down");
            member.carrier = matches!(value, "up" | "going back");
        }
        "Speed" => member.speed_mbps = value.split_whitespace().next().and_then(|number| number.parse().ok()),
        "Duplex" => {
            member.full_duplex =
                [("full", true), ("half", false)].iter().find(|(word, _)| *word == value).map(|(_, full)| *full)
        }
        "Link Failure Count" => member.link_failures = value.parse().ok(),
        "Permanent HW addr" => member.permanent_mac = mac(value),
        "Aggregator ID" => {
            let aggregator = value.parse().ok();
            member.lacp = Some(Port { aggregator, ..Port::default() });
        }
        _ => {
            let Some(port) = member.lacp.as_mut() else { return };
            match key {
                "Actor Churn State" => value.clone_into(&mut port.actor_churn),
                "Partner Churn State" => value.clone_into(&mut port.partner_churn),
                _ => {}
            }
        }
    }
}

fn of_port(member: Option<&mut Member>, part: Part, key: &str, value: &str) {
    let Some(port) = member.and_then(|member| member.lacp.as_mut()) else { return };
    let end = if matches!(part, Part::Actor) { &mut port.actor } else { &mut port.partner };
    let end = end.get_or_insert_with(PortEnd::default);
    let number = || value.parse().unwrap_or_default();
    match key {
        "system priority" => end.system_priority = number(),
        "system mac address" => end.system = mac(value).unwrap_or_default(),
        "port key" | "oper key" => end.key = number(),
        "port priority" => end.port_priority = number(),
        "port number" => end.port = number(),
        "port state" => end.state = value.parse().unwrap_or_default(),
        _ => {}
    }
}

/// The mode's name: `fault-tolerance (active-backup) (fail_over_mac active)` is a title, then what it is set to.
fn mode(value: &str) -> String {
    let titled =
        Mode::ALL.into_iter().map(Mode::traits).filter(|of| of.number.is_some() && value.starts_with(of.title));
    // The longest: no title is the beginning of another one today.
    titled.max_by_key(|of| of.title.len()).map_or(value, |of| of.name).to_owned()
}
