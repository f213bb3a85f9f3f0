//! nmstate's YAML (nmstate 2.2, its schema of interfaces and routes), alone or in a policy of kubernetes-nmstate.

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Teams;
use nicteam_drafts::{Format, Import, Route};
use nicteam_options::ConfigOption;
use nicteam_syntax::At;
use nicteam_syntax::tree::{Entry, Node, Value};
use nicteam_syntax::{Source, yaml};

/// See the module.
pub struct Nmstate;

impl Format for Nmstate {
    fn name(&self) -> &'static str {
        "nmstate"
    }

    fn title(&self) -> &'static str {
        "nmstate's YAML (nmstatectl, NodeNetworkConfigurationPolicy)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let has =
            |words: &str| source.text.lines().any(|line| line.trim_start().trim_start_matches("- ").starts_with(words));
        has("link-aggregation:") && has("interfaces:")
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        teams.each(sources, |teams, source, of| state(teams, source, &yaml::parse(&of.text)?));
        teams.finish()
    }
}

/// The whole, or what a policy wants of it.
fn state(teams: &mut Teams<'_>, source: usize, root: &Node) -> Result<(), Problem> {
    let wanted = root.get("spec").and_then(|spec| spec.get("desiredState")).or_else(|| root.get("desiredState"));
    let root = wanted.unwrap_or(root);
    let none = [];
    let interfaces = root.get("interfaces").map_or(Ok(&none[..]), |node| node.elements("interfaces"))?;
    for interface in interfaces {
        if let Err(problem) = bond(teams, source, interface) {
            teams.problem(source, problem);
        }
    }
    interfaces.iter().for_each(|interface| beside(teams, source, interface));
    for entry in root.entries("the state")? {
        match entry.key.as_str() {
            "interfaces" => {}
            "routes" => routes(teams, &entry.value)?,
            _ => {
                let why = "it is of the whole host: nmstate goes on to keep it";
                teams.left(&At::new(source, entry.key_span.clone()), why, None);
            }
        }
    }
    Ok(())
}

fn is(node: &Node, key: &str, value: &str) -> bool {
    node.get(key).and_then(Node::scalar) == Some(value)
}

fn bond(teams: &mut Teams<'_>, source: usize, interface: &Node) -> Result<(), Problem> {
    let is_gone = is(interface, "state", "absent") || is(interface, "state", "down");
    if !is(interface, "type", "bond") || is_gone {
        return Ok(());
    }
    let Some(name) = interface.get("name") else {
        return Err(Problem::at(&interface.span, "a bond without a name").hint("`name: bond0`"));
    };
    let text = name.text("name")?.to_owned();
    let at = At::new(source, name.span.clone());
    let team = teams.team(&text, &at);
    for entry in interface.entries("an interface")? {
        let (node, here, value_at) =
            (&entry.value, At::new(source, entry.span()), At::new(source, entry.value.span.clone()));
        match entry.key.as_str() {
            "name" | "type" | "state" | "profile-name" | "identifier" => {}
            "link-aggregation" => aggregation(teams, source, team, node)?,
            "mtu" => {
                let (value, reading) = (node.text("mtu")?.to_owned(), &mut teams.reading);
                teams.drafts[team].set_mtu(reading, &value, &value_at);
            }
            "mac-address" => {
                let (value, reading) = (node.text("mac-address")?.to_owned(), &mut teams.reading);
                teams.drafts[team].set_mac(reading, &value, &value_at);
            }
            "ipv4" | "ipv6" => addresses(teams, source, team, entry)?,
            "description" => {}
            _ => teams.left(&here, "a team has nothing for it", Some(&text)),
        }
    }
    let what = format!(
        "take {text} out of this state, and set it to `state: absent` where it was applied (`nmstatectl apply`)"
    );
    teams.disable(&at, what, None);
    Ok(())
}

fn aggregation(teams: &mut Teams<'_>, source: usize, team: usize, node: &Node) -> Result<(), Problem> {
    let name = teams.drafts[team].name.clone();
    for entry in node.entries("link-aggregation")? {
        let at = At::new(source, entry.value.span.clone());
        match entry.key.as_str() {
            "mode" => teams.set(team, "mode", entry.value.text("mode")?, &at),
            "options" => {
                for option in entry.value.entries("options")? {
                    set(teams, source, team, option)?;
                }
            }
            "port" | "slaves" => {
                for element in entry.value.elements(&entry.key)? {
                    teams.add_member(team, element.text(&entry.key)?, &At::new(source, element.span.clone()));
                }
            }
            "ports-config" => {
                for port in entry.value.elements("ports-config")? {
                    port_config(teams, source, team, port)?;
                }
            }
            _ => teams.left(&At::new(source, entry.span()), "a team has nothing for it", Some(&name)),
        }
    }
    Ok(())
}

fn set(teams: &mut Teams<'_>, source: usize, team: usize, option: &Entry) -> Result<(), Problem> {
    let at = At::new(source, option.value.span.clone());
    // A list may be one.
    let value = match &option.value.value {
        Value::List(elements) => elements.iter().filter_map(Node::scalar).collect::<Vec<_>>().join(","),
        _ => option.value.text(&option.key)?.to_owned(),
    };
    let value = match value.as_str() {
        "true" => "1",
        "false" => "0",
        other => other,
    };
    match ConfigOption::named(&option.key) {
        Some(known) => teams.set(team, known.name, value, &at),
        None if option.key == "balance_slb" || option.key == "balance-slb" => {
            let Teams { reading, drafts, .. } = teams;
            drafts[team].balance_slb(reading, value, &at);
        }
        None => {
            let near = ConfigOption::nearest(&option.key);
            let problem = Problem::at(&option.key_span, format!("no option of bonding is called `{}`", option.key));
            return Err(match near {
                Some(near) => problem.hint(format!("did you mean `{}`?", near.name)),
                None => problem,
            });
        }
    }
    Ok(())
}

fn port_config(teams: &mut Teams<'_>, source: usize, team: usize, port: &Node) -> Result<(), Problem> {
    let Some(device) = port.get("name").and_then(Node::scalar) else { return Ok(()) };
    for entry in port.entries("ports-config")? {
        let option = match entry.key.as_str() {
            "queue-id" => "queue_id",
            "priority" => "prio",
            _ => continue,
        };
        let value = entry.value.text(&entry.key)?;
        teams.append(team, option, &format!("{device}:{value}"), &At::new(source, entry.value.span.clone()));
    }
    Ok(())
}

/// `ipv4`, `ipv6` of a bond.
fn addresses(teams: &mut Teams<'_>, source: usize, team: usize, entry: &Entry) -> Result<(), Problem> {
    let (name, node) = (teams.drafts[team].name.clone(), &entry.value);
    if is(node, "enabled", "false") {
        return Ok(());
    }
    for inner in node.entries(&entry.key)? {
        let here = At::new(source, inner.span());
        let is_on = inner.value.scalar() == Some("true");
        match inner.key.as_str() {
            "enabled" => {}
            "address" => {
                for element in inner.value.elements("address")? {
                    let part = |key: &str| element.get(key).and_then(Node::scalar);
                    let (Some(ip), Some(length)) = (part("ip"), part("prefix-length")) else {
                        let problem = Problem::at(&element.span, "an address has `ip` and `prefix-length`");
                        return Err(problem.hint("`- ip: 192.0.2.1` and `prefix-length: 24`"));
                    };
                    let Teams { reading, drafts, .. } = teams;
                    let at = At::new(source, element.span.clone());
                    drafts[team].address(reading, &format!("{ip}/{length}"), &at);
                }
            }
            "autoconf" if entry.key == "ipv6" && !is_on => teams.drafts[team].accept_ra = Some(0),
            "dhcp" | "autoconf" if is_on => {
                let why =
                    "a team does not ask for addresses: let NetworkManager or networkd do so on the team's device";
                teams.left(&here, why, Some(&name));
            }
            "dhcp" | "autoconf" | "auto-dns" | "auto-gateway" | "auto-routes" => {}
            _ => teams.left(&here, "a team has nothing for it", Some(&name)),
        }
    }
    Ok(())
}

fn routes(teams: &mut Teams<'_>, node: &Node) -> Result<(), Problem> {
    let none = [];
    for route in node.get("config").map_or(Ok(&none[..]), |config| config.elements("config"))? {
        let part = |key: &str| route.get(key).and_then(Node::scalar);
        let Some(team) = part("next-hop-interface").and_then(|device| teams.find(device)) else { continue };
        if is(route, "state", "absent") {
            continue;
        }
        let mut words = part("destination").unwrap_or("default").to_owned();
        for (key, word) in [("next-hop-address", "via"), ("metric", "metric"), ("table-id", "table")] {
            // 0 and -1 stand for what the kernel has by itself.
            let is_main = |value: &str| key == "table-id" && value == "254";
            let said =
                part(key).filter(|value| !matches!(*value, "" | "-1" | "0" | "0.0.0.0" | "::") && !is_main(value));
            words.extend(said.map(|value| format!(" {word} {value}")));
        }
        match Route::parse(&words) {
            Ok(words) => words.routes().into_iter().for_each(|route| teams.drafts[team].add_route(route)),
            Err(error) => return Err(Problem::at(&route.span, error.to_string()).hint(error.hint())),
        }
    }
    Ok(())
}

/// VLANs and bridges on a bond.
fn beside(teams: &mut Teams<'_>, source: usize, interface: &Node) {
    let base = interface.get("vlan").and_then(|vlan| vlan.get("base-iface")).and_then(Node::scalar);
    let ports = interface.get("bridge").and_then(|bridge| bridge.get("port"));
    let ports = ports.and_then(|ports| ports.elements("port").ok()).into_iter().flatten();
    let ports = ports.filter_map(|port| port.get("name").and_then(Node::scalar));
    let Some(team) = base.into_iter().chain(ports).find_map(|device| teams.find(device)) else { return };
    let name = teams.drafts[team].name.clone();
    let span = interface.get("name").map_or(interface.span.clone(), |name| name.span.clone());
    let why = "it stands on the team as it stood on the bond: nmstate goes on to build it";
    teams.left(&At::new(source, span), why, Some(&name));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_in_two_parts() {
        let text = "interfaces:\n- name: b\n  type: bond\n  link-aggregation: {mode: active-backup, port: [e1]}\n  ipv4:\n    enabled: true\n    address:\n    - {ip: 192.0.2.1, prefix-length: 24}\n";
        let import = Nmstate.read(&[Source::new("a", text)]).unwrap();
        let expected: nicteam_drafts::Address = "192.0.2.1/24".parse().unwrap();
        assert_eq!(import.network.teams[0].addresses, [expected]);
    }
}
