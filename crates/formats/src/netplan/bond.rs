//! A bond, and what stands on it.

use std::net::IpAddr;

use nicteam_diagnostics::Problem;

use super::devices::Devices;
use super::value::{OPENVSWITCH, boolean};
use super::{Definition, Found, parameters};
use crate::names::{host_mac, mtu};
use crate::teams::Teams;
use crate::tree::{Entry, Node, Value};
use crate::{Address, Route};

/// Reads what one file says of a bond: lists add up, the last value counts.
pub(super) fn read(definition: &Definition<'_>, found: &Found<'_>, devices: &Devices<'_>, teams: &mut Teams<'_>) {
    let (id, is_first) = (definition.id(), teams.find(definition.id()).is_none());
    let team = teams.team(id, &definition.spot());
    let entries = match definition.entry.value.entries(id) {
        Ok(entries) => entries,
        Err(problem) => return teams.problem(definition.source, problem),
    };
    let is_switch = |entry: &&Entry| entry.value.scalar().and_then(boolean).is_some();
    // A switch that a later file sets anew says nothing.
    for entry in entries.iter().filter(|entry| !is_switch(entry) || !found.has_later(definition, &entry.key)) {
        if let Err(problem) = key(team, entry, definition, devices, teams) {
            teams.problem(definition.source, problem);
        }
    }
    super::cloud_init(definition, teams);
    let what = format!("remove `{id}` from `bonds`: netplan's renderer would build it again at the next boot");
    let command = is_first.then(|| format!("netplan set bonds.{id}=null"));
    teams.disable(&definition.spot(), what, command);
}

fn key(
    team: usize,
    entry: &Entry,
    definition: &Definition<'_>,
    devices: &Devices<'_>,
    teams: &mut Teams<'_>,
) -> Result<(), Problem> {
    let (name, node) = (entry.key.as_str(), &entry.value);
    let spot = definition.spot_at(node);
    match name {
        "interfaces" => {
            for element in node.elements(name)? {
                let device = devices.device(element.text(name)?, definition, element, teams)?;
                teams.add_member(team, &device, &definition.spot_at(element));
            }
        }
        "parameters" => {
            for entry in node.entries(name)? {
                if let Err(problem) = parameters::read(team, entry, definition, devices, teams) {
                    teams.problem(definition.source, problem);
                }
            }
        }
        "addresses" => {
            for element in node.elements(name)? {
                address(team, element, definition, teams)?;
            }
        }
        "routes" => {
            for element in node.elements(name)? {
                route(team, element, definition, teams)?;
            }
        }
        "gateway4" | "gateway6" => {
            let via = ip(node, name)?;
            let gateway = Route { to: Address::any_like(via), via: Some(via), metric: None, table: None };
            teams.drafts[team].add_route(gateway);
        }
        "mtu" => match mtu(node.text(name)?) {
            Ok(mtu) => teams.drafts[team].mtu = Some(mtu),
            Err(wrong) => teams.wrong(&spot, wrong),
        },
        "macaddress" => match host_mac(node.text(name)?) {
            Ok(mac) => teams.drafts[team].mac = Some(mac),
            Err(wrong) => teams.wrong(&spot, wrong),
        },
        "openvswitch" => openvswitch(team, node, definition, teams)?,
        "renderer" => {}
        "accept-ra" if is_off(node) => teams.drafts[team].accept_ra = Some(0),
        "dhcp4" | "dhcp6" | "optional" | "critical" if is_off(node) => {}
        _ => {
            let why = reason(name, definition.id());
            teams.left(&definition.spot_of(entry), why, Some(definition.id()));
        }
    }
    Ok(())
}

fn is_off(node: &Node) -> bool {
    node.scalar().and_then(boolean) == Some(false)
}

/// Why a key of a bond stays.
fn reason(name: &str, id: &str) -> String {
    match name {
        "dhcp4"
        | "dhcp6"
        | "dhcp4-overrides"
        | "dhcp6-overrides"
        | "dhcp-identifier"
        | "accept-ra"
        | "ipv6-privacy"
        | "ipv6-address-generation"
        | "ipv6-address-token"
        | "link-local"
        | "optional-addresses" => {
            format!("a team does not ask for addresses: netplan does, on {}", kept_below(id))
        }
        "nameservers" => {
            format!("a team has no name servers: keep them in netplan, below {}", kept_below(id))
        }
        "routing-policy" => "a team has no rules of routing: `ip rule add` makes them".to_owned(),
        "optional" | "critical" | "activation-mode" => "it says how netplan and its renderer boot".to_owned(),
        _ => "a team has nothing like it".to_owned(),
    }
}

/// Where netplan goes on to configure a team's device. networkd takes away addresses that are not in its own file.
fn kept_below(id: &str) -> String {
    format!(
        "`ethernets: {{{id}: {{critical: true, ...}}}}`; without `critical` networkd removes addresses that the team has"
    )
}

/// An element of `addresses`: a text, or one with options below it.
fn address(team: usize, element: &Node, definition: &Definition<'_>, teams: &mut Teams<'_>) -> Result<(), Problem> {
    let (text, span) = match &element.value {
        Value::Map(entries) => match entries.as_slice() {
            [entry] => {
                for option in entry.value.entries("the address")? {
                    let why = format!("an address of a team has no `{}`", option.key);
                    teams.left(&definition.spot_of(option), why, Some(definition.id()));
                }
                (entry.key.as_str(), &entry.key_span)
            }
            _ => return Err(Problem::at(&element.span, "an address with options is one key with a mapping")),
        },
        _ => (element.text("addresses")?, &element.span),
    };
    match text.parse::<Address>() {
        Ok(address) => {
            teams.drafts[team].add_address(address);
            Ok(())
        }
        Err(error) => Err(Problem::at(span, error.to_string()).hint(error.hint())),
    }
}

fn ip(node: &Node, name: &str) -> Result<IpAddr, Problem> {
    let text = node.text(name)?;
    let refused =
        || Problem::at(&node.span, format!("`{text}` is no IP address")).hint("an address alone: `10.0.0.254`");
    text.parse().map_err(|_| refused())
}

/// An element of `routes`: in the words of `ip route`, then as those are read.
fn route(team: usize, element: &Node, definition: &Definition<'_>, teams: &mut Teams<'_>) -> Result<(), Problem> {
    let mut words = Vec::new();
    for entry in element.entries("a route")? {
        let text = entry.value.text(&entry.key)?;
        match entry.key.as_str() {
            "to" => {
                let is_default = matches!(text, "default" | "0.0.0.0/0" | "::/0");
                // netplan takes an address within a network for the network.
                let network = text.parse::<Address>().map(|of| of.network().to_string());
                let to = if is_default { text.to_owned() } else { network.unwrap_or_else(|_| text.to_owned()) };
                words.insert(0, to);
            }
            "via" | "metric" | "table" => words.push(format!("{} {text}", entry.key)),
            "on-link" if boolean(text) == Some(true) => words.push("onlink".to_owned()),
            "on-link" => {}
            "type" if text == "unicast" => {}
            "scope" => {}
            other => {
                let why = format!("a team's route has no `{other}`: add it by `ip route` on the team's device");
                teams.left(&definition.spot_at(element), why, Some(definition.id()));
                return Ok(());
            }
        }
    }
    if element.get("to").is_none() {
        let problem = Problem::at(&element.span, "a route without `to`");
        return Err(problem.hint("`to: default`, or a network: `to: 10.9.0.0/16`"));
    }
    match Route::parse(&words.join(" ")) {
        Ok(words) => words.routes().into_iter().for_each(|route| teams.drafts[team].add_route(route)),
        Err(error) => return Err(Problem::at(&element.span, error.to_string()).hint(error.hint())),
    }
    Ok(())
}

/// `openvswitch: {lacp: active}`.
fn openvswitch(team: usize, node: &Node, definition: &Definition<'_>, teams: &mut Teams<'_>) -> Result<(), Problem> {
    for entry in node.entries("openvswitch")? {
        match entry.key.as_str() {
            "lacp" => teams.set(team, "lacp", entry.value.text("lacp")?, &definition.spot_at(&entry.value)),
            _ => teams.left(&definition.spot_of(entry), OPENVSWITCH, Some(definition.id())),
        }
    }
    Ok(())
}
