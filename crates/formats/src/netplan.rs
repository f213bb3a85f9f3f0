//! netplan's YAML (`/etc/netplan/*.yaml`), as netplan 0.106 reads and documents it (netplan(5)).

mod bond;
mod definition;
mod devices;
mod parameters;
mod value;
mod write;

use std::path::Path;

use definition::{Definition, Found};
use devices::Devices;
use nicteam_diagnostics::{Diagnostics, Problem, nearest};
use nicteam_drafts::Teams;
use nicteam_drafts::{Format, Import, Network, Writer, Written};
use nicteam_syntax::At;
use nicteam_syntax::tree::Node;
use nicteam_syntax::{Source, yaml};

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
