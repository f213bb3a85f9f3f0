//! Which devices netplan's names stand for, and what files say of devices that are no bonds.

use nicteam_diagnostics::Problem;

use super::{Definition, Found};
use crate::reading::At;
use crate::teams::Teams;
use crate::tree::{Node, Value};

/// The definitions of devices that are there without netplan.
pub(super) struct Devices<'a> {
    physical: Vec<Physical<'a>>,
}

/// A definition below `ethernets` or its kin.
struct Physical<'a> {
    id: &'a str,
    source: usize,
    /// What `match` asks for: each key with its value.
    matched: Vec<(&'a str, &'a Node)>,
    set_name: Option<&'a str>,
}

impl<'a> Devices<'a> {
    pub(super) fn of(found: &Found<'a>, teams: &mut Teams<'_>) -> Devices<'a> {
        let mut physical: Vec<Physical<'a>> = Vec::new();
        for definition in found.definitions.iter().filter(|of| matches!(of.kind, "ethernets" | "wifis" | "modems")) {
            let (id, source) = (definition.entry.key.as_str(), definition.source);
            let mut device = Physical { id, source, matched: Vec::new(), set_name: None };
            let node = &definition.entry.value;
            let matched = node.get("match").map_or(Ok([].as_slice()), |node| node.entries("match"));
            match matched {
                Ok(entries) => {
                    device.matched = entries.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect()
                }
                Err(problem) => teams.problem(source, problem),
            }
            device.set_name = node.get("set-name").and_then(Node::scalar);
            match physical.iter_mut().find(|earlier| earlier.id == id) {
                Some(earlier) if device.matched.is_empty() && device.set_name.is_none() => earlier.source = source,
                Some(earlier) => *earlier = device,
                None => physical.push(device),
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
        let Some(physical) = self.physical.iter().find(|physical| physical.id == id) else { return Ok(id.to_owned()) };
        let name = physical.matched.iter().find(|(key, _)| *key == "name");
        let name = name.and_then(|(_, value)| value.scalar()).filter(|name| !name.contains(['*', '?', '[']));
        match (physical.set_name, name, physical.matched.first()) {
            (Some(name), ..) | (None, Some(name), _) => Ok(name.to_owned()),
            (None, None, None) => Ok(id.to_owned()),
            (None, None, Some((key, value))) => {
                let by = format!("`{key}: {}`", value.scalar().unwrap_or("..."));
                if physical.source != definition.source {
                    let spot = At::new(physical.source, value.span.clone());
                    teams.left(
                        &spot,
                        format!("{id} is found by it, and no file says what that device is called"),
                        None,
                    );
                }
                let problem =
                    Problem::at(&node.span, format!("`{id}` is found by {by}, and no file says what it is called"));
                let problem = match physical.source == definition.source {
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
        self.physical.iter().any(|physical| physical.id == id)
    }
}

/// Keys of a member that say how it is found, and are in effect without netplan building anything.
const FINDING: &[&str] = &["match", "set-name", "renderer", "optional"];

/// What files say of devices that are no bonds, as far as it concerns teams and their members. Devices that have nothing to
/// do with a team stay netplan's.
pub(super) fn others(found: &Found<'_>, devices: &Devices<'_>, teams: &mut Teams<'_>) {
    for definition in found.definitions.iter().filter(|definition| definition.kind != "bonds") {
        let id = definition.id();
        let bond = |id: &str| found.of("bonds").any(|bond| bond.id() == id);
        if devices.is_physical(id) {
            let member = found.of("bonds").find_map(|bond| {
                let interfaces = bond.entry.value.get("interfaces")?.elements("interfaces").ok()?;
                interfaces.iter().any(|of| of.scalar() == Some(id)).then(|| bond.id().to_owned())
            });
            if let Some(team) = member {
                member_of(definition, &team, teams);
            }
            continue;
        }
        for key in ["interfaces", "link"] {
            let Some(node) = definition.entry.value.get(key) else { continue };
            let named: Vec<&str> = match &node.value {
                Value::List(elements) => elements.iter().filter_map(Node::scalar).collect(),
                _ => node.scalar().into_iter().collect(),
            };
            if let Some(team) = named.into_iter().find(|id| bond(id)) {
                let why = format!(
                    "netplan goes on to build {id}: let it find the team's device by `ethernets: {{{team}: {{}}}}`"
                );
                teams.left(&definition.spot(), why, Some(team));
            }
        }
    }
}

/// What a file says of a member itself.
fn member_of(definition: &Definition<'_>, team: &str, teams: &mut Teams<'_>) {
    let id = definition.id();
    if let Ok(entries) = definition.entry.value.entries(id) {
        for entry in entries.iter().filter(|entry| !FINDING.contains(&entry.key.as_str())) {
            let why = match entry.key.as_str() {
                "dhcp4" | "dhcp6" if entry.value.scalar().and_then(super::value::boolean) == Some(false) => continue,
                "dhcp4" | "dhcp6" | "addresses" | "routes" | "gateway4" | "gateway6" | "nameservers" => {
                    format!("{id} is a member and has no addresses of its own: they are the team's")
                }
                "mtu" => format!("members have the MTU of their team: give {team} an `mtu`"),
                _ => {
                    format!("netplan sets it on {id} itself; a team does not: keep it in a `.link` file or by ethtool")
                }
            };
            teams.left(&definition.spot_of(entry), why, Some(team));
        }
    }
    let what = format!("remove `{id}` from `{}`: netplan's renderer would manage the member", definition.kind);
    teams.disable(&definition.spot(), what, Some(format!("netplan set {}.{id}=null", definition.kind)));
}
