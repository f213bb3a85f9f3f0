//! Files -> teams, what stays, and what to switch off.

use nicteam_diagnostics::Diagnostics;

use super::interface::{Interface, read_options};
use super::parts::{Assignment, Kind, Line, Part, assignment, parts};
use crate::commands::{self, Command};
use crate::draft::{Conflicts, Draft, check_together};
use crate::reading::{At, Reading};
use crate::shell::quoted;
use crate::{Address, Import, Network, Route, Source};

pub(super) fn read(sources: &[Source]) -> Result<Import, Diagnostics> {
    let mut reading = Reading::new(sources);
    let parts = parts(sources);
    let interfaces: Vec<Interface> = parts.iter().filter_map(Interface::read).collect();
    let mut drafts = bonds(&parts, &interfaces);
    for draft in &mut drafts {
        read_members(&mut reading, &interfaces, draft);
        let name = draft.name.clone();
        for interface in interfaces.iter().filter(|interface| interface.device == name) {
            interface.read_into(&mut reading, draft);
            disable(&mut reading, interface, &format!("the bond `{name}`"));
        }
    }
    for part in &parts {
        match &part.kind {
            Kind::Modprobe => read_modprobe(&mut reading, part, &mut drafts),
            Kind::Script => read_script(&mut reading, part, &mut drafts),
            Kind::Routes(device) => read_routes(&mut reading, part, device, &mut drafts),
            Kind::Global => read_global(&mut reading, part, &mut drafts),
            Kind::Interface(_) => {}
        }
    }
    on_top(&mut reading, &interfaces, &drafts);
    check_together(&mut reading, &drafts);
    let teams = drafts.into_iter().map(|draft| draft.finish(&mut reading, Conflicts::Leave)).collect();
    reading.finish(Network { teams })
}

/// A draft for each bond, in the order in which they first appear.
fn bonds(parts: &[Part<'_>], interfaces: &[Interface]) -> Vec<Draft> {
    let mut names: Vec<(String, At)> = Vec::new();
    let mut add = |name: &str, at: &At| match names.iter_mut().find(|(known, _)| known == name) {
        Some(_) => {}
        None => names.push((name.to_owned(), at.clone())),
    };
    for interface in interfaces {
        if interface.is_bond() {
            add(&interface.device, &interface.at);
        }
        if let Some(master) = interface.master() {
            let own = interfaces.iter().find(|own| own.device == master.value);
            add(&master.value, own.map_or(&master.value_at, |own| &own.at));
        }
    }
    for (part, line) in parts.iter().flat_map(|part| part.lines().into_iter().map(move |line| (part, line))) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match (&part.kind, words.as_slice()) {
            (Kind::Modprobe, ["alias", bond, "bonding"]) => add(bond, &line.at),
            (Kind::Script, _) => {
                if let Some(Ok(Command::Enslave { bond, .. })) = commands::read(line.text, "") {
                    add(&bond, &line.at);
                }
            }
            _ => {}
        }
    }
    names.into_iter().map(|(name, at)| Draft::new(&name, at)).collect()
}

fn read_members(reading: &mut Reading<'_>, interfaces: &[Interface], draft: &mut Draft) {
    for interface in interfaces {
        if interface.master().is_some_and(|master| master.value == draft.name) {
            draft.member(reading, &interface.device, &interface.at);
            interface.leave_members(reading, draft);
            disable(reading, interface, &format!("the member `{}`", interface.device));
        }
    }
    let own = interfaces.iter().filter(|interface| interface.device == draft.name);
    let slaves: Vec<&Assignment> =
        own.flat_map(|own| &own.entries).filter(|entry| entry.key.starts_with("BONDING_SLAVE")).collect();
    for entry in slaves {
        entry.value.split_whitespace().for_each(|device| draft.member(reading, device, &entry.value_at));
    }
}

/// Nothing brings the device up at boot any more.
fn disable(reading: &mut Reading<'_>, interface: &Interface, what: &str) {
    let path = reading.place(&interface.at).path;
    let is_file = super::parts::kind(&path).is_some();
    let command = match interface.entry("ONBOOT") {
        _ if !is_file => None,
        Some(_) => Some(format!("sed -i 's/^ONBOOT=.*/ONBOOT=no/' {}", quoted(&path))),
        None => Some(format!("echo ONBOOT=no >> {}", quoted(&path))),
    };
    reading.disable(&interface.at, format!("set `ONBOOT=no` in the file of {what}"), command);
}

/// `alias bond0 bonding`, `options bond0 mode=0`.
fn read_modprobe(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &mut [Draft]) {
    for line in part.lines() {
        let mut words = line.text.split_whitespace();
        let (verb, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let concerned = |draft: &&mut Draft| draft.name == name || name == "bonding";
        match verb {
            "alias" if line.text.ends_with("bonding") && drafts.iter().any(|draft| draft.name == name) => {}
            "options" if name == "bonding" || drafts.iter().any(|draft| draft.name == name) => {
                let rest = words.collect::<Vec<_>>().join(" ");
                drafts.iter_mut().filter(concerned).for_each(|draft| add_options(reading, draft, &rest, &line));
            }
            _ if line.text.contains("bonding") => {
                reading.left(&line.at, None, "nicteam needs no driver, and has nothing for this");
                continue;
            }
            _ => continue,
        }
        let what = format!("comment out line {} (`{}`)", reading.line(&line.at), line.text);
        reading.disable(&line.at, what, None);
    }
}

/// Options of the driver hold where the bond itself does not say them.
fn add_options(reading: &mut Reading<'_>, draft: &mut Draft, text: &str, line: &Line<'_>) {
    for word in text.split_whitespace() {
        let name = word.split('=').next().unwrap_or("");
        let held =
            nicteam_team::ConfigOption::named(name).and_then(|option| draft.value(option.name)).map(str::to_owned);
        match held {
            Some(held) => {
                let why = format!("`{name}` of {} is `{held}`", draft.name);
                reading.left_as(&line.at, word.to_owned(), Some(&draft.name), why);
            }
            None => read_options(reading, draft, word, &line.at),
        }
    }
}

/// `ifenslave bond0 eth0 eth1`, routes.
fn read_script(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &mut [Draft]) {
    for line in part.lines() {
        let names_it = |draft: &&mut Draft| line.text.split_whitespace().any(|word| word == draft.name);
        let Some(draft) = drafts.iter_mut().find(names_it) else { continue };
        match commands::read(line.text, "") {
            Some(Ok(Command::Enslave { bond, members })) if bond == draft.name => {
                members.iter().for_each(|member| draft.member(reading, member, &line.at));
            }
            Some(Ok(Command::AddRoute(words))) if words.device.as_deref() == Some(&draft.name) => {
                words.routes().into_iter().for_each(|route| draft.add_route(route));
            }
            Some(Ok(Command::AddAddress(address, Some(device)))) if device == draft.name => draft.add_address(address),
            Some(Err((message, hint))) => {
                reading.wrong(&line.at, message, hint);
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
        let what = format!("comment out line {} (`{}`)", reading.line(&line.at), line.text);
        reading.disable(&line.at, what, None);
    }
}

/// `10.9.0.0/16 via 10.0.0.9`, or `ADDRESS0=10.9.0.0`, `NETMASK0=`, `GATEWAY0=`, `METRIC0=`.
fn read_routes(reading: &mut Reading<'_>, part: &Part<'_>, device: &str, drafts: &mut [Draft]) {
    let Some(draft) = drafts.iter_mut().find(|draft| draft.name == device) else { return };
    let mut assignments = Vec::new();
    for line in part.lines() {
        if let Some(assignment) = assignment(&line) {
            assignments.push(assignment);
            continue;
        }
        match Route::parse(line.text) {
            Ok(words) if words.device.as_ref().is_some_and(|other| other != device) => {
                reading.left(&line.at, None, "a route by another device");
            }
            Ok(words) => {
                if let Some(word) = words.ignored.first() {
                    reading.left(&line.at, Some(device), format!("the route is taken over without `{word}`"));
                }
                words.routes().into_iter().for_each(|route| draft.add_route(route));
            }
            Err(error) => reading.wrong(&line.at, error.to_string(), error.hint()),
        }
    }
    let find = |key: String| assignments.iter().find(|assignment| assignment.key == key);
    for entry in &assignments {
        let Some(number) = entry.key.strip_prefix("ADDRESS") else { continue };
        let text = |key: &str| find(format!("{key}{number}")).map(|assignment| assignment.value.clone());
        let netmask = text("NETMASK").or_else(|| text("PREFIX")).unwrap_or_else(|| "32".to_owned());
        let to = entry.value.parse().map(|address| Address::with_netmask(address, &netmask).map(Address::network));
        let words = match to {
            Ok(Ok(to)) => {
                let via = text("GATEWAY").map(|via| format!(" via {via}")).unwrap_or_default();
                let metric = text("METRIC").map(|metric| format!(" metric {metric}")).unwrap_or_default();
                Route::parse(&format!("{to}{via}{metric}")).map_err(|error| (error.to_string(), error.hint()))
            }
            Ok(Err(error)) => Err((error.to_string(), error.hint())),
            Err(_) => Err(("the destination is no IP address".to_owned(), "`ADDRESS0=10.9.0.0`".to_owned())),
        };
        match words {
            Ok(words) => draft.add_route(words.route),
            Err((message, hint)) => reading.wrong(&entry.value_at, message, hint),
        }
    }
    let what = format!("take the file of routes of `{device}` away: the team has them now");
    reading.disable(&part.at(), what, None);
}

/// `GATEWAY=` of the whole host is by the device that has its network, or that `GATEWAYDEV=` names.
fn read_global(reading: &mut Reading<'_>, part: &Part<'_>, drafts: &mut [Draft]) {
    let entries: Vec<Assignment> = part.lines().iter().filter_map(assignment).collect();
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
        let what = format!("comment out line {} (`{}`)", reading.line(&gateway.at), reading.text(&gateway.at));
        reading.disable(&gateway.at, what, None);
    }
}

/// VLAN devices on a team.
fn on_top(reading: &mut Reading<'_>, interfaces: &[Interface], drafts: &[Draft]) {
    for interface in interfaces {
        let is_on = |draft: &&Draft| {
            let by_name = interface.device.strip_prefix(draft.name.as_str()).is_some_and(|rest| rest.starts_with('.'));
            by_name || interface.entry("PHYSDEV").is_some_and(|physical| physical.value == draft.name)
        };
        if let Some(draft) = drafts.iter().find(is_on) {
            let why = "a VLAN device on the team stays in the old place: its file works on the team as on a bond";
            reading.left(&interface.at, Some(&draft.name), why);
        }
    }
}
