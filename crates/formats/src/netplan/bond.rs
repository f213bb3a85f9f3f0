//! A bond, and what stands on it.

use std::net::IpAddr;
use std::path::Path;

use nicteam_diagnostics::{Problem, nearest};
use nicteam_drafts::Teams;
use nicteam_drafts::names::{host_mac, mtu};
use nicteam_drafts::{Address, Route};
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Entry, Node, Value};

use super::definition::{self, Definition, Found, cloud_init, names};
use super::devices::Devices;
use super::parameters;
use super::value::{OPENVSWITCH, boolean};
use crate::keyfile;

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
    cloud_init(definition, found, teams);
    if is_first {
        lift(definition, found, teams);
    }
    let what = format!("remove `{id}` from `bonds`: netplan's renderer would build it again at the next boot");
    let command =
        is_first.then(|| format!("netplan set {}", quoted(&format!("{}=null", definition::key("bonds", id)))));
    teams.disable(&definition.spot(), what, command);
}

/// What stands on the bond finds the team's device by a definition of its own: netplan has nothing stand on what it does not
/// know, and a name of one kind cannot become another's.
fn lift(definition: &Definition<'_>, found: &Found<'_>, teams: &mut Teams<'_>) {
    let id = definition.id();
    let mut above: Vec<&Definition<'_>> = found.above(id).collect();
    above.dedup_by_key(|of| (of.kind, of.id()));
    if above.is_empty() {
        return;
    }
    let own = format!("nicteam-{id}");
    // In the first file that names it: what a later one defines is not known there.
    let first = above.iter().map(|of| of.source).min().and_then(|source| teams.reading.sources().get(source));
    let file = first.and_then(|source| Path::new(&source.path).file_stem()?.to_str()).filter(|stem| *stem != "-");
    let hint = file.map(|stem| format!(" --origin-hint {}", quoted(stem))).unwrap_or_default();
    let set = |hint: &str, text: String| format!("netplan set{hint} {}", quoted(&text));
    let device =
        format!("{}={{\"match\":{{\"name\":\"{id}\"}},\"critical\":true}}", definition::key("ethernets", &own));
    let what = format!("let netplan know the team's device as `{own}`, for what stands on it");
    teams.disable(&definition.spot(), what, Some(set(&hint, device)));
    for of in above {
        let key = definition::key(of.kind, of.id());
        let links = of.entry.value.get("link").is_some_and(|link| link.scalar() == Some(id));
        let command = match links {
            true => set("", format!("{key}.link={own}")),
            false => {
                // A list that is set is added to.
                let all = found.own(of.kind, of.id()).into_iter().filter_map(|of| of.entry.value.get("interfaces"));
                let mut ports: Vec<&str> = Vec::new();
                for port in all.flat_map(names).map(|port| if port == id { own.as_str() } else { port }) {
                    if !ports.contains(&port) {
                        ports.push(port);
                    }
                }
                let list = format!("{key}.interfaces=[{}]", ports.join(","));
                format!("{} && {}", set("", format!("{key}.interfaces=null")), set("", list))
            }
        };
        teams.disable(&of.spot(), format!("put {} onto `{own}`", of.id()), Some(command));
    }
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
            if via.is_ipv4() != (name == "gateway4") {
                let problem = Problem::at(&node.span, format!("`{via}` is no gateway for `{name}`"));
                return Err(
                    problem.hint("`gateway4` takes an IPv4 address, `gateway6` an IPv6 one; `routes` takes both")
                );
            }
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
        _ if SWITCHES.contains(&name) && node.scalar().and_then(boolean).is_none() => {
            return Err(
                Problem::at(&node.span, format!("`{name}` is neither true nor false")).hint("`true` or `false`")
            );
        }
        _ if SWITCHES.contains(&name) || OTHERS.contains(&name) => {
            let why = reason(name, definition.id());
            teams.left(&definition.spot_of(entry), why, Some(definition.id()));
        }
        _ => return Err(unknown(entry)),
    }
    Ok(())
}

/// What NetworkManager builds is as its own profiles are: routes have its metric, and where addresses of IPv6 are given, and
/// DHCP is not asked for, nobody reads router advertisements.
pub(super) fn by_network_manager(found: &Found<'_>, teams: &mut Teams<'_>) {
    for draft in teams.drafts.iter_mut().filter(|draft| found.is_network_managers(&draft.name)) {
        let metric = Some(keyfile::BONDS_METRIC);
        draft.routes.replace(|route| [Route { metric: route.metric.or(metric), ..route }]);
        let asks = |definition: &Definition<'_>| definition.entry.value.get("dhcp6").is_some_and(|node| !is_off(node));
        let own = found.own("bonds", &draft.name);
        if draft.addresses.iter().any(|address| address.address.is_ipv6()) && !own.into_iter().any(asks) {
            draft.accept_ra = Some(0);
        }
    }
}

fn is_off(node: &Node) -> bool {
    node.scalar().and_then(boolean) == Some(false)
}

/// Keys of a bond that are read, for those that are misspelt.
const KEYS: &[&str] = &[
    "interfaces",
    "parameters",
    "addresses",
    "routes",
    "gateway4",
    "gateway6",
    "macaddress",
    "mtu",
    "openvswitch",
    "renderer",
];

/// Keys that are true or false, and stay where they are true.
const SWITCHES: &[&str] = &["dhcp4", "dhcp6", "accept-ra", "ipv6-privacy", "optional", "critical", "ignore-carrier"];
/// The others that netplan has (0.106 src/parse.c, and `ra-overrides` of 1.1).
const OTHERS: &[&str] = &[
    "dhcp4-overrides",
    "dhcp6-overrides",
    "dhcp-identifier",
    "ra-overrides",
    "ipv6-address-generation",
    "ipv6-address-token",
    "ipv6-mtu",
    "link-local",
    "optional-addresses",
    "nameservers",
    "routing-policy",
    "activation-mode",
    "networkmanager",
];

/// A key that netplan refuses.
fn unknown(entry: &Entry) -> Problem {
    let known = KEYS.iter().chain(SWITCHES).chain(OTHERS).copied();
    let problem = Problem::at(&entry.key_span, format!("netplan has no key `{}` for a bond", entry.key));
    match nearest(&entry.key, known) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("take it out: netplan refuses the whole file"),
    }
}

/// Why a key of a bond stays.
fn reason(name: &str, id: &str) -> String {
    match name {
        "dhcp4"
        | "dhcp6"
        | "dhcp4-overrides"
        | "dhcp6-overrides"
        | "dhcp-identifier"
        | "ra-overrides"
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
            "on-link" => match boolean(text) {
                Some(is_on) => words.extend(is_on.then(|| "onlink".to_owned())),
                None => {
                    let problem = Problem::at(&entry.value.span, "`on-link` is neither true nor false");
                    return Err(problem.hint("`true` or `false`"));
                }
            },
            "type" if text == "unicast" => {}
            "scope" => {}
            "mtu" | "from" | "congestion-window" | "advertised-receive-window" | "advertised-mss" => {
                let why = format!("the route is taken over without `{}`", entry.key);
                teams.left(&definition.spot_of(entry), why, Some(definition.id()));
            }
            other if other != "type" => {
                let problem = Problem::at(&entry.key_span, format!("netplan has no key `{other}` for a route"));
                return Err(problem.hint("a route has `to`, `via`, `metric`, `table`, `on-link` and `type`"));
            }
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
