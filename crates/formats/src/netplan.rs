//! netplan's YAML (`/etc/netplan/*.yaml`), as netplan 0.106 reads and documents it (netplan(5)).

mod bond;
mod devices;
mod parameters;
mod value;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nicteam_diagnostics::{Diagnostics, Problem, nearest};

use crate::cloud_init::OFF;
use crate::reading::At;
use crate::teams::Teams;
use crate::tree::{Entry, Node, Value};
use crate::{Format, Import, Network, Source, Writer, Written, yaml};
use devices::Devices;

/// See the module.
pub struct Netplan;

const NAME: &str = "netplan";
const TITLE: &str = "netplan (/etc/netplan/*.yaml)";

/// The kinds of devices that `network` has (netplan 0.106, src/parse.c, `network_handlers`).
const KINDS: &[&str] = &[
    "bonds",
    "bridges",
    "ethernets",
    "modems",
    "nm-devices",
    "tunnels",
    "vlans",
    "vrfs",
    "wifis",
    "dummy-devices",
    "veths",
    "virtual-ethernets",
];
/// The other keys of `network`.
const KEYS: &[&str] = &["version", "renderer", "openvswitch"];

impl Format for Netplan {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn recognises(&self, source: &Source) -> bool {
        let extension = Path::new(&source.path).extension().and_then(|extension| extension.to_str());
        let begins = |line: &str| line.starts_with("network:") || line.starts_with("\"network\":");
        matches!(extension, Some("yaml" | "yml")) || source.text.lines().any(begins)
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut ordered: Vec<Source> = sources.to_vec();
        // As netplan: by the file's name, whatever folder it is in.
        ordered.sort_by_key(|source| Path::new(&source.path).file_name().map(|name| name.to_os_string()));
        let mut teams = Teams::new(&ordered).with_members(members);
        let mut roots = Vec::new();
        for (source, of) in ordered.iter().enumerate() {
            match yaml::parse(&of.text) {
                Ok(root) => roots.push((source, root)),
                Err(problem) => teams.problem(source, problem),
            }
        }
        let is_cloud_inits = |source: &Source| {
            source.path.ends_with("cloud-init.yaml")
                || source.text.lines().any(|line| line.starts_with('#') && line.contains("cloud-init"))
        };
        let of_cloud_init = ordered.iter().enumerate().filter(|(_, source)| is_cloud_inits(source));
        let mut found = Found { of_cloud_init: of_cloud_init.map(|(place, _)| place).collect(), ..Found::default() };
        for (source, root) in &roots {
            if let Err(problem) = collect(*source, root, &mut found, &mut teams) {
                teams.problem(*source, problem);
            }
        }
        found.sort();
        let devices = Devices::of(&found, &mut teams);
        for definition in found.of("bonds") {
            bond::read(definition, &found, &devices, &mut teams);
        }
        bond::by_network_manager(&found, &mut teams);
        devices::others(&found, &devices, &mut teams);
        teams.finish()
    }
}

impl Writer for Netplan {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn write(&self, network: &Network) -> Written {
        write::write(network)
    }
}

/// The definitions of all files, in netplan's order.
#[derive(Default)]
struct Found<'a> {
    definitions: Vec<Definition<'a>>,
    /// `renderer` of all, and of all bonds: the last one counts.
    renderer: Option<&'a str>,
    renderer_of_bonds: Option<&'a str>,
    /// Places of the definitions of one device, by its kind and its name.
    by_id: BTreeMap<(&'a str, &'a str), Vec<usize>>,
    /// The bond that a device is a member of.
    bond_of: BTreeMap<&'a str, &'a str>,
    /// Sources that cloud-init writes.
    of_cloud_init: BTreeSet<usize>,
    /// Places of the definitions of what stands on a bond: VLANs, bridges.
    above: BTreeMap<&'a str, Vec<usize>>,
}

/// What one file says of one device.
struct Definition<'a> {
    /// Its place among all.
    number: usize,
    source: usize,
    /// `bonds`, `ethernets` and so on.
    kind: &'a str,
    entry: &'a Entry,
}

impl<'a> Found<'a> {
    /// Finds what belongs together, when all definitions are there.
    fn sort(&mut self) {
        for (number, definition) in self.definitions.iter_mut().enumerate() {
            definition.number = number;
            self.by_id.entry((definition.kind, &definition.entry.key)).or_default().push(number);
        }
        for definition in &self.definitions {
            let named = |key| definition.entry.value.get(key).into_iter().flat_map(names);
            if definition.kind == "bonds" {
                for member in named("interfaces") {
                    self.bond_of.entry(member).or_insert(&definition.entry.key);
                }
            }
            for below in named("interfaces").chain(named("link")) {
                if self.by_id.contains_key(&("bonds", below)) {
                    self.above.entry(below).or_default().push(definition.number);
                }
            }
        }
    }

    /// The definitions of one device.
    fn own(&self, kind: &str, id: &str) -> Vec<&Definition<'a>> {
        let numbers = self.by_id.get(&(kind, id)).into_iter().flatten();
        numbers.map(|number| &self.definitions[*number]).collect()
    }

    /// True if a later definition of this device has this key, too: of single values that one counts.
    fn has_later(&self, definition: &Definition<'_>, key: &str) -> bool {
        let own = self.own(definition.kind, definition.id());
        own.iter().filter(|of| of.number > definition.number).any(|of| of.entry.value.get(key).is_some())
    }

    /// The definitions of what stands on a bond.
    fn above(&self, bond: &str) -> impl Iterator<Item = &Definition<'a>> {
        self.above.get(bond).into_iter().flatten().map(|number| &self.definitions[*number])
    }

    /// True if NetworkManager builds this bond, and not networkd.
    fn is_network_managers(&self, bond: &str) -> bool {
        let own = self.own("bonds", bond);
        let own = own.iter().filter_map(|definition| definition.entry.value.get("renderer")?.scalar()).next_back();
        own.or(self.renderer_of_bonds).or(self.renderer) == Some("NetworkManager")
    }

    fn of(&self, kind: &'static str) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions.iter().filter(move |definition| definition.kind == kind)
    }
}

/// The names in a value: one, or a list.
fn names(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::List(elements) => elements.iter().filter_map(Node::scalar).collect(),
        _ => node.scalar().into_iter().collect(),
    }
}

/// A key of `netplan set` for one device: a dot in its name would part it.
fn key(kind: &str, id: &str) -> String {
    format!("{kind}.{}", id.replace('.', "\\."))
}

impl Definition<'_> {
    /// Its name among netplan's, which need not be the device's.
    fn id(&self) -> &str {
        &self.entry.key
    }

    fn spot(&self) -> At {
        At::new(self.source, self.entry.key_span.clone())
    }

    /// Of one of its keys.
    fn spot_of(&self, entry: &Entry) -> At {
        At::new(self.source, entry.span())
    }

    fn spot_at(&self, node: &Node) -> At {
        At::new(self.source, node.span.clone())
    }
}

/// cloud-init writes its file again: what is taken out of it would come back.
fn cloud_init(definition: &Definition<'_>, found: &Found<'_>, teams: &mut Teams<'_>) {
    if found.of_cloud_init.contains(&definition.source) && !teams.reading.has_to_disable(OFF) {
        let what = "keep cloud-init from writing this file again, with what is removed below";
        teams.disable(&At::new(definition.source, 0..0), what, Some(OFF.to_owned()));
    }
}

fn collect<'a>(source: usize, root: &'a Node, found: &mut Found<'a>, teams: &mut Teams<'_>) -> Result<(), Problem> {
    for entry in root.entries("the file")? {
        if entry.key != "network" {
            let problem = Problem::at(&entry.key_span, format!("unknown key `{}`", entry.key));
            return Err(problem.hint("everything stands below `network:`"));
        }
        for kind in entry.value.entries("network")? {
            match kind.key.as_str() {
                "version" if kind.value.scalar() != Some("2") => {
                    let problem = Problem::at(&kind.value.span, "only version 2 of netplan's format is there");
                    return Err(problem.hint("`version: 2`"));
                }
                "openvswitch" => {
                    teams.left(&At::new(source, kind.span()), value::OPENVSWITCH, None);
                }
                "renderer" => found.renderer = kind.value.scalar(),
                "version" => {}
                known if KINDS.contains(&known) => {
                    let definitions = kind.value.entries(&kind.key)?.iter();
                    // `renderer` may stand beside the definitions of a kind.
                    let (renderer, definitions): (Vec<_>, Vec<_>) =
                        definitions.partition(|entry| entry.key == "renderer");
                    if let Some(renderer) = renderer.first().filter(|_| known == "bonds") {
                        found.renderer_of_bonds = renderer.value.scalar();
                    }
                    let definitions = definitions.into_iter();
                    found.definitions.extend(definitions.map(|entry| Definition {
                        number: 0,
                        source,
                        kind: known,
                        entry,
                    }));
                }
                unknown => {
                    let problem = Problem::at(&kind.key_span, format!("unknown key `{unknown}` below `network`"));
                    return Err(match nearest(unknown, KINDS.iter().chain(KEYS).copied()) {
                        Some(near) => problem.hint(format!("did you mean `{near}`?")),
                        None => {
                            problem.hint(format!("netplan has {}", nicteam_diagnostics::list(KINDS.iter().copied())))
                        }
                    });
                }
            }
        }
    }
    Ok(())
}
