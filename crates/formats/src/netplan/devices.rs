//! Which devices netplan's names stand for, and what files say of devices that are no bonds.

use std::collections::BTreeMap;

use nicteam_diagnostics::Problem;
use nicteam_drafts::Teams;
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Node, Value};

use super::definition::{Definition, Found, cloud_init, key, names};
use super::value::boolean;

/// The definitions of devices that are there without netplan.
pub(super) struct Devices<'a> {
    physical: BTreeMap<&'a str, Physical<'a>>,
}

/// A definition below `ethernets` or its kin.
struct Physical<'a> {
    /// Where `match` stands, if it has one.
    source: usize,
    /// What `match` asks for: each key with its value.
    matched: Vec<(&'a str, &'a Node)>,
    set_name: Option<&'a str>,
}

impl<'a> Devices<'a> {
    pub(super) fn of(found: &Found<'a>, teams: &mut Teams<'_>) -> Devices<'a> {
        let mut physical: BTreeMap<&'a str, Physical<'a>> = BTreeMap::new();
        for definition in found.definitions.iter().filter(|of| matches!(of.kind, "ethernets" | "wifis" | "modems")) {
            let (id, source) = (definition.entry.key.as_str(), definition.source);
            let mut device = Physical { source, matched: Vec::new(), set_name: None };
            let node = &definition.entry.value;
            let matched = node.get("match").map_or(Ok([].as_slice()), |node| node.entries("match"));
            match matched {
                Ok(entries) => {
                    device.matched = entries.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect()
                }
                Err(problem) => teams.problem(source, problem),
            }
            device.set_name = node.get("set-name").and_then(Node::scalar);
            match physical.get_mut(id) {
                Some(earlier) => {
                    earlier.set_name = device.set_name.or(earlier.set_name);
                    if !device.matched.is_empty() {
                        (earlier.matched, earlier.source) = (device.matched, source);
                    }
                }
                None => drop(physical.insert(id, device)),
            }
        }
        Devices { physical }
    }

    /// The device that a name stands for.
    ///
    /// # Errors
    /// No name of a device is in the files.
    pub(super) fn device(
        &self,
        id: &str,
        definition: &Definition<'_>,
        node: &Node,
        teams: &mut Teams<'_>,
    ) -> Result<String, Problem> {
        let Some(physical) = self.physical.get(id) else { return Ok(id.to_owned()) };
        let name = physical.matched.iter().find(|(key, _)| *key == "name");
        let name = name.and_then(|(_, value)| value.scalar()).filter(|name| !name.contains(['*', '?', '[']));
        match (physical.set_name, name, physical.matched.first()) {
            (Some(name), ..) | (None, Some(name), _) => Ok(name.to_owned()),
            (None, None, None) => Ok(id.to_owned()),
            (None, None, Some((key, value))) => {
                let by = format!("`{key}: {}`", value.scalar().unwrap_or("..."));
                let is_here = physical.source == definition.source;
                let place = teams.reading.place(&At::new(physical.source, value.span.clone()));
                let by = if is_here { by } else { format!("{by} at {place}") };
                let problem =
                    Problem::at(&node.span, format!("`{id}` is found by {by}, and no file says what it is called"));
                let problem = match is_here {
                    true => problem.also(&value.span, "this finds it"),
                    false => problem,
                };
                Err(problem.hint(
                    "a team needs its members' names: `ip -br link` shows them with their addresses; add `set-name`, or \
                     put the name in place of the match",
                ))
            }
        }
    }

    /// True of what netplan does not build itself.
    fn is_physical(&self, id: &str) -> bool {
        self.physical.contains_key(id)
    }
}

/// Keys of a member that say how it is found, and are in effect without netplan building anything.
const FINDING: &[&str] = &["match", "set-name", "renderer", "optional"];

/// What files say of devices that are no bonds, as far as it concerns teams and their members. Devices that have nothing to
/// do with a team stay netplan's.
pub(super) fn others(found: &Found<'_>, devices: &Devices<'_>, teams: &mut Teams<'_>) {
    for definition in found.definitions.iter().filter(|definition| definition.kind != "bonds") {
        let id = definition.id();
        if devices.is_physical(id) {
            if let Some(team) = found.bond_of.get(id) {
                member_of(definition, team, (found, devices), teams);
            }
            continue;
        }
        let named = ["interfaces", "link"].iter().filter_map(|key| definition.entry.value.get(key)).flat_map(names);
        if let Some(team) = named.into_iter().find(|id| found.by_id.contains_key(&("bonds", *id))) {
            let why = format!(
                "netplan goes on to build {id}, on the team's device: the commands that switch {team} off see to it"
            );
            teams.left(&definition.spot(), why, Some(team));
        }
    }
}

/// What a file says of a member itself.
fn member_of(
    definition: &Definition<'_>,
    team: &str,
    (found, devices): (&Found<'_>, &Devices<'_>),
    teams: &mut Teams<'_>,
) {
    let id = definition.id();
    let number = teams.find(team);
    let mtu = number.and_then(|number| teams.drafts[number].mtu);
    let is_named = definition.entry.value.get("set-name").is_some();
    let mut wake = false;
    for entry in definition.entry.value.entries(id).unwrap_or_default() {
        let is = |wanted| entry.value.scalar().and_then(boolean) == Some(wanted);
        let why = match entry.key.as_str() {
            key if FINDING.contains(&key) || found.has_later(definition, key) => continue,
            "dhcp4" | "dhcp6" | "accept-ra" | "wakeonlan" if is(false) => continue,
            // Of a member nothing else holds.
            "link-local" if entry.value.elements("link-local").is_ok_and(<[Node]>::is_empty) => continue,
            "mtu" if number.zip(entry.value.scalar()).is_some_and(|(of, text)| teams.drafts[of].has_mtu(text)) => {
                continue;
            }
            "dhcp4" | "dhcp6" | "addresses" | "routes" | "gateway4" | "gateway6" | "nameservers" => {
                format!("{id} is a member and has no addresses of its own: they are the team's")
            }
            "mtu" => match mtu {
                Some(mtu) => format!("members have the MTU of their team, and {team} has {mtu}"),
                None => format!("members have the MTU of their team: give {team} an `mtu`"),
            },
            "networkmanager" => "it is NetworkManager's, and goes with the definition".to_owned(),
            "wakeonlan" if !is_named => {
                format!("a team does not set it: `ethtool -s {} wol g` does, until the next boot", quoted(id))
            }
            "wakeonlan" => {
                wake = true;
                format!("it is kept by `WakeOnLan=magic` in the `.link` file of {id}, which is listed below")
            }
            _ => format!("netplan sets it on {id} itself, and a team does not: `ethtool` does, until the next boot"),
        };
        teams.left(&definition.spot_of(entry), why, Some(team));
    }
    cloud_init(definition, found, teams);
    keep_name(definition, devices, wake, teams);
    let what = format!("remove `{id}` from `{}`: netplan's renderer would manage the member", definition.kind);
    let command = Some(format!("netplan set {}", quoted(&format!("{}=null", key(definition.kind, id)))))
        .filter(|command| !teams.reading.has_to_disable(command));
    teams.disable(&definition.spot(), what, command);
}

/// netplan gives a device its name by a `.link` file of systemd's, which goes with the definition: one by hand does the same.
fn keep_name(definition: &Definition<'_>, devices: &Devices<'_>, wake: bool, teams: &mut Teams<'_>) {
    let id = definition.id();
    let Some(physical) = devices.physical.get(id) else { return };
    // Several files may say something of it: one of them names it.
    let said = definition.entry.value.get("set-name").and_then(Node::scalar);
    let Some(name) = physical.set_name.filter(|name| said == Some(*name)) else { return };
    // Without a match netplan takes the definition's name for the device's.
    let first = format!("OriginalName={id}\\n");
    let (mut found, mut unknown) = (if physical.matched.is_empty() { first } else { String::new() }, false);
    for (key, value) in &physical.matched {
        let words: Vec<&str> = match &value.value {
            Value::List(elements) => elements.iter().filter_map(Node::scalar).collect(),
            _ => value.scalar().into_iter().collect(),
        };
        match *key {
            "macaddress" => found.push_str(&format!("MACAddress={}\\n", words.join(" "))),
            "driver" => found.push_str(&format!("Driver={}\\n", words.join(" "))),
            "name" => found.push_str(&format!("OriginalName={}\\n", words.join(" "))),
            _ => unknown = true,
        }
    }
    let wake = if wake { "WakeOnLan=magic\\n" } else { "" };
    let path = format!("/etc/systemd/network/10-{name}.link");
    let text = format!("[Match]\\n{found}\\n[Link]\\nName={name}\\n{wake}");
    let command = format!("printf {} > {}", quoted(&text), quoted(&path));
    let what = format!("keep the name {name}, which netplan gave the member: write {path}");
    let is_safe = !unknown && !text.contains(['%', '\'', '\n']);
    teams.disable(&definition.spot(), what, is_safe.then_some(command));
}
