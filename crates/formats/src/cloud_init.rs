//! cloud-init's network configuration, version 1 (cloud-init 22.4, `network-config-format-v1`).

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Teams;
use nicteam_drafts::{Address, Format, Import, Route};
use nicteam_options::ConfigOption;
use nicteam_syntax::At;
use nicteam_syntax::tree::{Entry, Node, Value};
use nicteam_syntax::{Source, yaml};

/// See the module.
pub struct CloudInit;

/// Keeps cloud-init from writing the network's files at the next boot.
pub(crate) const OFF: &str =
    "echo 'network: {config: disabled}' > /etc/cloud/cloud.cfg.d/99-disable-network-config.cfg";

impl Format for CloudInit {
    fn name(&self) -> &'static str {
        "cloud-init"
    }

    fn title(&self) -> &'static str {
        "cloud-init's network configuration, version 1"
    }

    fn recognises(&self, source: &Source) -> bool {
        let has = |words: &str| source.text.lines().any(|line| line.trim_start().starts_with(words));
        has("version: 1") && has("config:")
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        teams.each(sources, |teams, source, of| configuration(teams, source, &yaml::parse(&of.text)?));
        teams.finish()
    }
}

fn configuration(teams: &mut Teams<'_>, source: usize, root: &Node) -> Result<(), Problem> {
    let root = root.get("network").unwrap_or(root);
    let Some(config) = root.get("config") else {
        return Err(Problem::at(&root.span, "no `config`").hint("version 1 has `config:` with a list of devices"));
    };
    if config.scalar() == Some("disabled") {
        return Ok(());
    }
    for device in config.elements("config")? {
        let done = match device.get("type").and_then(Node::scalar) {
            Some("bond") => bond(teams, source, device),
            _ => Ok(()),
        };
        done.unwrap_or_else(|problem| teams.problem(source, problem));
    }
    for device in config.elements("config")? {
        beside(teams, source, device);
    }
    if let Some(at) = teams.drafts.first().map(|draft| draft.at.clone()) {
        let what = "keep cloud-init from writing the bond's files again, and remove what it wrote of the bond";
        teams.disable(&at, what, Some(OFF.to_owned()));
    }
    Ok(())
}

fn bond(teams: &mut Teams<'_>, source: usize, device: &Node) -> Result<(), Problem> {
    let Some(name) = device.get("name") else {
        return Err(Problem::at(&device.span, "a bond without a name").hint("`name: bond0`"));
    };
    let text = name.text("name")?.to_owned();
    let team = teams.team(&text, &At::new(source, name.span.clone()));
    for entry in device.entries("a device")? {
        let (node, here) = (&entry.value, At::new(source, entry.span()));
        let at = At::new(source, node.span.clone());
        match entry.key.as_str() {
            "type" | "name" => {}
            "bond_interfaces" | "bond-interfaces" => {
                for element in node.elements(&entry.key)? {
                    teams.add_member(team, element.text(&entry.key)?, &At::new(source, element.span.clone()));
                }
            }
            "params" => {
                for param in node.entries("params")? {
                    set(teams, source, team, param)?;
                }
            }
            "mac_address" => {
                let Teams { reading, drafts, .. } = teams;
                drafts[team].set_mac(reading, node.text("mac_address")?, &at);
            }
            "mtu" => {
                let Teams { reading, drafts, .. } = teams;
                drafts[team].set_mtu(reading, node.text("mtu")?, &at);
            }
            "accept-ra" if node.scalar() == Some("false") => teams.drafts[team].accept_ra = Some(0),
            "subnets" => {
                for subnet in node.elements("subnets")? {
                    self::subnet(teams, source, team, subnet)?;
                }
            }
            // It may be written beside the parameters.
            key if key.starts_with("bond-") || key.starts_with("bond_") => set(teams, source, team, entry)?,
            _ => teams.left(&here, "a team has nothing for it", Some(&text)),
        }
    }
    Ok(())
}

fn set(teams: &mut Teams<'_>, source: usize, team: usize, param: &Entry) -> Result<(), Problem> {
    let name = param.key.replace('-', "_");
    let name = name.strip_prefix("bond_").unwrap_or(&name);
    let value = match &param.value.value {
        Value::List(elements) => elements.iter().filter_map(Node::scalar).collect::<Vec<_>>().join(","),
        Value::Null => return Ok(()),
        _ => param.value.text(&param.key)?.split_whitespace().collect::<Vec<_>>().join(","),
    };
    match ConfigOption::named(name) {
        Some(option) => {
            teams.set(team, option.name, &value, &At::new(source, param.value.span.clone()));
            Ok(())
        }
        None => {
            let problem = Problem::at(&param.key_span, format!("no option of bonding is called `{name}`"));
            Err(match ConfigOption::nearest(name) {
                Some(near) => problem.hint(format!("did you mean `bond-{}`?", near.name.replace('_', "-"))),
                None => problem,
            })
        }
    }
}

fn subnet(teams: &mut Teams<'_>, source: usize, team: usize, subnet: &Node) -> Result<(), Problem> {
    let name = teams.drafts[team].name.clone();
    let at = At::new(source, subnet.span.clone());
    let part = |key: &str| subnet.get(key).and_then(Node::scalar);
    match part("type") {
        Some("static" | "static6") => {}
        Some("manual") => return Ok(()),
        _ => {
            let why = "a team does not ask for addresses: let networkd or ifupdown do so on the team's device";
            teams.left(&at, why, Some(&name));
            return Ok(());
        }
    }
    let refused = |error: nicteam_drafts::AddressError| Problem::at(&subnet.span, error.to_string()).hint(error.hint());
    if let Some(text) = part("address") {
        let address = match (text.contains('/'), part("netmask"), text.parse()) {
            (false, Some(netmask), Ok(address)) => Address::with_netmask(address, netmask),
            _ => text.parse(),
        };
        teams.drafts[team].add_address(address.map_err(refused)?);
    }
    let mut add = |words: &str, span: &std::ops::Range<usize>| match Route::parse(words) {
        Ok(words) => {
            words.routes().into_iter().for_each(|route| teams.drafts[team].add_route(route));
            Ok(())
        }
        Err(error) => Err(Problem::at(span, error.to_string()).hint(error.hint())),
    };
    if let Some(gateway) = part("gateway") {
        add(&format!("default via {gateway}"), &subnet.span)?;
    }
    let none = [];
    for route in subnet.get("routes").map_or(Ok(&none[..]), |routes| routes.elements("routes"))? {
        let part = |key: &str| route.get(key).and_then(Node::scalar);
        let to = part("destination").or_else(|| part("network")).unwrap_or("default");
        let to = match (to.contains('/'), part("netmask"), to.parse()) {
            (false, Some(netmask), Ok(address)) => {
                Address::with_netmask(address, netmask).map_err(refused)?.to_string()
            }
            _ => to.to_owned(),
        };
        let via = part("gateway").map(|via| format!(" via {via}")).unwrap_or_default();
        let metric = part("metric").map(|metric| format!(" metric {metric}")).unwrap_or_default();
        add(&format!("{to}{via}{metric}"), &route.span)?;
    }
    for key in ["dns_nameservers", "dns_search"] {
        if let Some(node) = subnet.get(key) {
            let why = "name servers are the host's: write them where it has them";
            teams.left(&At::new(source, node.span.clone()), why, Some(&name));
        }
    }
    Ok(())
}

/// VLANs and bridges on a bond.
fn beside(teams: &mut Teams<'_>, source: usize, device: &Node) {
    let link = device.get("vlan_link").and_then(Node::scalar);
    let ports = device.get("bridge_interfaces").and_then(|ports| ports.elements("bridge_interfaces").ok());
    let ports = ports.into_iter().flatten().filter_map(Node::scalar);
    let Some(team) = link.into_iter().chain(ports).find_map(|name| teams.find(name)) else { return };
    let name = teams.drafts[team].name.clone();
    let span = device.get("name").map_or(device.span.clone(), |name| name.span.clone());
    let why = "it stands on the team as it stood on the bond: what cloud-init wrote of it stays";
    teams.left(&At::new(source, span), why, Some(&name));
}
