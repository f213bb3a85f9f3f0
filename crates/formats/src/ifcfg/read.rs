//! Files -> teams, what stays, and what to switch off.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Reading;
use nicteam_drafts::Teams;
use nicteam_drafts::draft::{Draft, in_kernels_words};
use nicteam_drafts::names::shown;
use nicteam_drafts::{Address, Import, Route};
use nicteam_scripts::commands::{self, Command};
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Node, Value};
use nicteam_syntax::{Source, json};

use super::all::Interfaces;
use super::disable::{Role, comment_out_line, disable};
use super::interface::{BRIDGE_STAYS, Interface, names_members, read_options};
use super::line::Line;
use super::parts::{Kind, Part, parts};
use super::routes;
use crate::teamd;

pub(super) fn read(sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
    let mut teams = Teams::new(sources).with_members(members);
    let parts = parts(sources);
    let interfaces = Interfaces::new(parts.iter().filter_map(Interface::read).collect());
    let enslaved = enslaved(&parts);
    for interface in interfaces.iter() {
        interface.check(&mut teams.reading, interfaces.master(interface).map(|(bond, _)| bond));
    }
    bonds(&mut teams, &parts, &interfaces);
    for team in 0..teams.drafts.len() {
        read_members(&mut teams, team, &interfaces);
        read_slaves(&mut teams, team, &interfaces);
        let name = teams.drafts[team].name.clone();
        for (member, at) in enslaved.get(&name).into_iter().flatten() {
            teams.add_member(team, member, at);
        }
    }
    teams.leave_empty();
    let Teams { reading, drafts, .. } = &mut teams;
    let rules = |part: &'_ Part<'_>| match &part.kind {
        Kind::Rules(device) => Some(device.clone()),
        _ => None,
    };
    let ruled: Vec<String> = parts.iter().filter_map(rules).collect();
    let ruled: BTreeSet<&str> = ruled.iter().map(String::as_str).collect();
    for draft in drafts.iter_mut() {
        read_own(reading, draft, &ruled, &interfaces);
    }
    // What the driver is told for one bond comes before what it is told for all.
    for is_of_one in [true, false] {
        for line in parts.iter().filter(|part| part.kind == Kind::Modprobe).flat_map(Part::lines) {
            read_driver_options(reading, &line, drafts, is_of_one);
        }
    }
    for part in &parts {
        match &part.kind {
            Kind::Modprobe => read_modprobe(reading, part, drafts),
            Kind::Script => read_script(reading, part, drafts),
            Kind::Routes(device) => routes::read(reading, part, device, drafts),
            Kind::Table(device) => routes::read_table(reading, part, device.as_deref(), drafts),
            Kind::Rules(device) => leave_rules(reading, part, device, drafts),
            Kind::Global => read_global(reading, part, drafts),
            Kind::Interface(_) => {}
        }
    }
    on_top(reading, &interfaces, drafts);
    teams.finish()
}

/// A draft for each bond, in the order in which they first appear.
fn bonds(teams: &mut Teams<'_>, parts: &[Part<'_>], interfaces: &Interfaces) {
    for interface in interfaces.iter() {
        if interface.is_bond() {
            teams.team(&interface.device, &interface.at);
        }
        let Some((master, entry)) = interfaces.master(interface) else { continue };
        let own = interfaces.own(master).next();
        if own.is_none() && is_uuid(master) {
            let message = format!("no file of these has the UUID `{}`", shown(master));
            teams.reading.wrong(&entry.value_at, message, "name the file of the bond beside this one");
            continue;
        }
        teams.team(master, own.map_or(&entry.value_at, |own| &own.at));
    }
    for (part, line) in parts.iter().flat_map(|part| part.lines().into_iter().map(move |line| (part, line))) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match (&part.kind, words.as_slice()) {
            (Kind::Modprobe, ["alias", bond, "bonding"]) => drop(teams.team(bond, &line.at)),
            (Kind::Script, _) => {
                if let Some(Ok(Command::Enslave { bond, .. })) = commands::read(line.text, "").one() {
                    teams.team(&bond, &line.at);
                }
            }
            _ => {}
        }
    }
}

/// `0b7fd1c3-5e0e-4d1b-9a36-0a3c5a1d9d11`.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Devices whose files say which bond or team they are in; and how teamd is to treat a team and its ports.
fn read_members(teams: &mut Teams<'_>, team: usize, interfaces: &Interfaces) {
    let name = teams.drafts[team].name.clone();
    let mut ports = Vec::new();
    for own in interfaces.own(&name).filter(|own| own.is_team()) {
        let root = embedded(own, "TEAM_CONFIG");
        let done = root.and_then(|root| teamd::configuration(teams, team, own.at.source, &root));
        done.map_or_else(|problem| teams.problem(own.at.source, problem), |of| ports.extend(of));
    }
    for interface in interfaces.members(&name) {
        let root = embedded(interface, "TEAM_PORT_CONFIG");
        let port = root.and_then(|root| {
            teamd::read_port(teams, team, &interface.device, &interface.at, (interface.at.source, &root))
        });
        port.map_or_else(|problem| teams.problem(interface.at.source, problem), |port| ports.push(port));
        for (key, option) in [("BOND_PORT_QUEUE_ID", "queue_id"), ("BOND_PORT_PRIO", "prio")] {
            if let Some(entry) = interface.entry(key) {
                teams.append(team, option, &format!("{}:{}", interface.device, entry.value), &entry.value_at);
            }
        }
        interface.leave_members(&mut teams.reading, &teams.drafts[team]);
        disable(&mut teams.reading, interface, Role::Member);
    }
    teamd::prefer(teams, team, &ports);
}

/// teamd's JSON in a value; nothing if it is not there.
fn embedded(interface: &Interface, key: &str) -> Result<Node, Problem> {
    let nothing = Node { value: Value::Null, span: interface.at.span() };
    interface.entry(key).map_or(Ok(nothing), |entry| json::parse_embedded(&entry.value, &entry.spans))
}

/// Devices that the file of the bond names.
fn read_slaves(teams: &mut Teams<'_>, team: usize, interfaces: &Interfaces) {
    let Teams { reading, drafts, .. } = teams;
    let draft = &mut drafts[team];
    let own = interfaces.own(&draft.name);
    let entries = own.flat_map(|own| &own.entries).filter(|entry| names_members(&entry.key));
    for entry in entries.collect::<Vec<_>>() {
        for device in entry.value.split_whitespace() {
            draft.member(reading, device, &entry.value_at);
            for interface in interfaces.own(device).filter(|of| interfaces.master(of).is_none()) {
                interface.leave_members(reading, draft);
                disable(reading, interface, Role::Member);
            }
        }
    }
}

/// Devices that scripts put into a bond, by the bond.
fn enslaved(parts: &[Part<'_>]) -> BTreeMap<String, Vec<(String, At)>> {
    let mut enslaved: BTreeMap<String, Vec<(String, At)>> = BTreeMap::new();
    for line in parts.iter().filter(|part| part.kind == Kind::Script).flat_map(Part::lines) {
        let (bond, members) = match commands::read(line.text, "").one() {
            Some(Ok(Command::Enslave { bond, members })) => (bond, members),
            Some(Ok(Command::Join { master, device })) => (master, vec![device]),
            _ => continue,
        };
        let members = members.into_iter().map(|member| (member, line.at.clone()));
        enslaved.entry(bond).or_default().extend(members);
    }
    enslaved
}

/// The bond's own files.
fn read_own(reading: &mut Reading<'_>, draft: &mut Draft, ruled: &BTreeSet<&str>, interfaces: &Interfaces) {
    let name = draft.name.clone();
    let has_rules = ruled.contains(&*name);
    for interface in interfaces.own(&name) {
        let stays = interface.read_into(reading, draft);
        if interface.is_openvswitch() {
            interface.read_openvswitch(reading, draft);
        }
        disable(reading, interface, Role::Bond { stays: stays || has_rules });
    }
}

/// A team has no policy rules: its device gets them as the bond's did.
fn leave_rules(reading: &mut Reading<'_>, part: &Part<'_>, device: &str, drafts: &[Draft]) {
    if drafts.iter().any(|draft| draft.name == device) {
        for line in part.lines() {
            let why = format!(
                "a team has no policy rules: this file stays, and `ifup {}` adds the rule for the team's device, too",
                quoted(device)
            );
            reading.left(&line.at, Some(device), why);
        }
    }
}

/// `options bond0 mode=0`, `install bond0 /sbin/modprobe bonding -o bond0 mode=0`; and `options bonding mode=0`, of all bonds.
fn read_driver_options(reading: &mut Reading<'_>, line: &Line<'_>, drafts: &mut [Draft], is_of_one: bool) {
    let mut words = line.text.split_whitespace();
    let (verb, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let options: Vec<&str> = match verb {
        "options" => words.collect(),
        "install" => driver_options(words).unwrap_or_default(),
        _ => return,
    };
    let concerned = |draft: &&mut Draft| if is_of_one { draft.name == name } else { name == "bonding" };
    drafts.iter_mut().filter(concerned).for_each(|draft| add_options(reading, draft, &options, line));
}

/// The options in a command that loads the driver for a bond, if it does nothing else.
fn driver_options<'w>(mut command: impl Iterator<Item = &'w str>) -> Option<Vec<&'w str>> {
    command.next().filter(|program| program.rsplit('/').next() == Some("modprobe"))?;
    let rest: Vec<&str> = command.collect();
    let is_simple = rest.contains(&"bonding") && !rest.iter().any(|word| word.contains([';', '&', '|', '$']));
    is_simple.then(|| rest.into_iter().filter(|word| word.contains('=') && !word.starts_with('-')).collect())
}

/// Lines of the driver that are no longer wanted, and those that are not read.
fn read_modprobe(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &[Draft]) {
    for line in part.lines() {
        let mut words = line.text.split_whitespace();
        let (verb, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let is_one = drafts.iter().any(|draft| draft.name == name);
        let is_read = match verb {
            "alias" => is_one && line.text.ends_with("bonding"),
            "options" => is_one || name == "bonding" && !drafts.is_empty(),
            "install" => is_one && driver_options(words).is_some(),
            _ => false,
        };
        if is_read {
            comment_out_line(reading, &line.at);
        } else if line.text.contains("bonding") {
            reading.left(&line.at, None, "nicteam needs no driver, and has nothing for this");
        }
    }
}

/// Options of the driver hold where the bond itself does not say them.
fn add_options(reading: &mut Reading<'_>, draft: &mut Draft, options: &[&str], line: &Line<'_>) {
    for word in options {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let is_same = |held: &String| in_kernels_words(name, value).is_ok_and(|(_, value)| value == *held);
        let held =
            nicteam_options::ConfigOption::named(name).and_then(|option| draft.value(option.name)).map(str::to_owned);
        match held {
            Some(held) if is_same(&held) => {}
            Some(held) => {
                let why = format!("`{name}` of {} is `{held}`", draft.name);
                reading.left_as(&line.at, (*word).to_owned(), Some(&draft.name), why);
            }
            None => read_options(reading, draft, word, &line.at),
        }
    }
}

/// `ifenslave bond0 eth0 eth1`, routes.
fn read_script(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &mut [Draft]) {
    for line in part.lines() {
        let ends = |c: char| c.is_whitespace() || c == '/';
        let names_it = |draft: &&mut Draft| line.text.split(ends).any(|word| word == draft.name);
        let Some(draft) = drafts.iter_mut().find(names_it) else { continue };
        match commands::read(line.text, "").one() {
            Some(Ok(Command::Enslave { bond, members })) if bond == draft.name => {
                members.iter().for_each(|member| draft.member(reading, member, &line.at));
            }
            Some(Ok(Command::Join { master, device })) if master == draft.name => {
                draft.member(reading, &device, &line.at);
            }
            Some(Ok(Command::Bond { bond, options, .. })) if bond == draft.name => {
                for (name, value) in options {
                    draft.as_in_sysfs(reading, &name, &value, &line.at);
                }
            }
            Some(Ok(Command::AddRoute(words))) if words.device.as_deref() == Some(&draft.name) => {
                words.routes().into_iter().for_each(|route| draft.add_route(route));
            }
            Some(Ok(Command::AddAddress { address, device: Some(device), .. })) if device == draft.name => {
                draft.add_address(address)
            }
            // A script goes on behind a command that fails.
            Some(Err((message, hint)) | Ok(Command::OtherRoute((message, hint)))) => {
                reading.left(&line.at, Some(&draft.name), format!("{message}: {hint}"));
                continue;
            }
            _ => {
                reading.left(
                    &line.at,
                    Some(&draft.name),
                    "a command that the script runs: look whether it is still wanted",
                );
                continue;
            }
        }
        comment_out_line(reading, &line.at);
    }
}

/// `GATEWAY=` of the whole host is by the device that has its network, or that `GATEWAYDEV=` names.
fn read_global(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &mut [Draft]) {
    let entries = part.assignments().0;
    let device = entries.iter().find(|entry| entry.key == "GATEWAYDEV" && !entry.value.is_empty());
    let gateway = entries.iter().find(|entry| entry.key == "GATEWAY" && !entry.value.is_empty());
    let Some(gateway) = gateway else { return };
    let Ok(via) = gateway.value.parse::<std::net::IpAddr>() else {
        return reading.left(&gateway.at, None, "it is no IP address");
    };
    let is_by = |draft: &&mut Draft| match device {
        Some(device) => device.value == draft.name,
        None => draft.addresses.iter().any(|address| address.contains(via)),
    };
    if let Some(draft) = drafts.iter_mut().find(is_by) {
        draft.add_route(Route { to: Address::any_like(via), via: Some(via), metric: None, table: None });
        comment_out_line(reading, &gateway.at);
    }
}

/// VLAN devices and bridges on a team, and more addresses of it.
fn on_top(reading: &mut Reading<'_>, interfaces: &Interfaces, drafts: &[Draft]) {
    let by_draft: BTreeMap<&str, &Draft> = drafts.iter().map(|draft| (draft.name.as_str(), draft)).collect();
    for interface in interfaces.iter() {
        let on = ["PHYSDEV", "ETHERDEVICE"].iter().find_map(|key| interface.entry(key));
        let on = on.map(|on| interfaces.with_uuid(&on.value).map_or(on.value.as_str(), |of| of.device.as_str()));
        let ports = interface.entry("BRIDGE_PORTS");
        let ports = ports.map(|ports| ports.value.split_whitespace()).into_iter().flatten();
        let by_name = interface.device.split(['.', '-']).next().filter(|base| base.len() < interface.device.len());
        let below: BTreeSet<&str> = on.into_iter().chain(by_name).chain(ports.clone()).collect();
        for draft in below.iter().filter_map(|name| by_draft.get(name)) {
            let behind = interface.device.strip_prefix(draft.name.as_str()).unwrap_or_default();
            let why = if behind.starts_with('.') || on == Some(draft.name.as_str()) {
                "a VLAN device on the team stays in the old place: its file works on the team as on a bond"
            } else if ports.clone().any(|port| port == draft.name) {
                BRIDGE_STAYS
            } else if behind.starts_with("-range") {
                "a range of addresses: give each of them to `addresses`"
            } else {
                continue;
            };
            reading.left_as(&interface.at, interface.device.clone(), Some(&draft.name), why);
        }
        if interface.entries.iter().any(|entry| entry.key == "TEAM_RUNNER" || entry.key.starts_with("TEAM_PORT_DEVICE"))
        {
            let why = "wicked's words for teamd are not read: import what `teamdctl NAME config dump` prints";
            reading.left_as(&interface.at, interface.device.clone(), None, why);
        }
    }
}
