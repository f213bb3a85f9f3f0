//! netplan's YAML (`/etc/netplan/*.yaml`), as netplan 0.106 reads and documents it (netplan(5)).

mod bond;
mod devices;
mod parameters;
mod value;
mod write;

use std::path::Path;

use nicteam_diagnostics::{Diagnostics, Problem, nearest};

use crate::reading::At;
use crate::teams::Teams;
use crate::tree::{Entry, Node};
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
        let mut found = Found::default();
        for (source, root) in &roots {
            if let Err(problem) = collect(*source, root, &mut found, &mut teams) {
                teams.problem(*source, problem);
            }
        }
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
}

/// What one file says of one device.
struct Definition<'a> {
    source: usize,
    /// `bonds`, `ethernets` and so on.
    kind: &'a str,
    entry: &'a Entry,
}

impl<'a> Found<'a> {
    /// True if a later definition of this device has this key, too: of single values that one counts.
    fn has_later(&self, definition: &Definition<'_>, key: &str) -> bool {
        let later = self.definitions.iter().skip_while(|of| !std::ptr::eq(of.entry, definition.entry)).skip(1);
        let is_it = |of: &Definition<'_>| of.kind == definition.kind && of.id() == definition.id();
        later.filter(|of| is_it(of)).any(|of| of.entry.value.get(key).is_some())
    }

    /// True if NetworkManager builds this bond, and not networkd.
    fn is_network_managers(&self, bond: &str) -> bool {
        let own = self.of("bonds").filter(|definition| definition.id() == bond);
        let own = own.filter_map(|definition| definition.entry.value.get("renderer")?.scalar()).last();
        own.or(self.renderer_of_bonds).or(self.renderer) == Some("NetworkManager")
    }

    fn of(&self, kind: &'static str) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions.iter().filter(move |definition| definition.kind == kind)
    }
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
fn cloud_init(definition: &Definition<'_>, teams: &mut Teams<'_>) {
    const OFF: &str = "echo 'network: {config: disabled}' > /etc/cloud/cloud.cfg.d/99-disable-network-config.cfg";
    let Some(source) = teams.reading.sources().get(definition.source) else { return };
    let is_its = source.path.ends_with("cloud-init.yaml")
        || source.text.lines().any(|line| line.starts_with('#') && line.contains("cloud-init"));
    if is_its && !teams.reading.has_to_disable(OFF) {
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
                    found.definitions.extend(definitions.map(|entry| Definition { source, kind: known, entry }));
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
