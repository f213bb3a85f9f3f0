//! Other people's configuration, as our own file shows it.

mod carrier;

mod dladm;
mod errors;
mod errors_files;
mod ifcfg;
mod ifupdown;
mod iproute2;
mod keyfile;
mod netplan;
mod networkd;
mod openvswitch;
mod other_systems;
mod own;
pub mod roundtrip;
mod switches;
mod t1;
mod t3;
mod team_devices;
mod teamd;
mod without_members;
mod written;

use nicteam_diagnostics::Diagnostics;
use nicteam_formats::{FORMATS, Format, Import, Network, Source, WRITERS, Written, toml};

/// The format of this name.
pub fn format(name: &str) -> &'static dyn Format {
    *FORMATS.iter().find(|format| format.name() == name).unwrap()
}

/// Reads texts, each with its path.
pub fn read_all(name: &str, sources: &[(&str, &str)]) -> Result<Import, Diagnostics> {
    let source = |(path, text): &(&str, &str)| Source::new(*path, *text);
    format(name).read(&sources.iter().map(source).collect::<Vec<_>>())
}

/// Reads a text.
pub fn read(name: &str, text: &str) -> Import {
    read_all(name, &[("a", text)]).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// A text as our own file, without its heading.
pub fn shown(name: &str, text: &str) -> String {
    toml::write(&Import { network: read(name, text).network, ..Import::default() })
}

/// What stays: line, words, reason.
pub fn left(import: &Import) -> Vec<String> {
    import.left.iter().map(|left| format!("{} {} | {}", left.place.line, left.text, left.why)).collect()
}

/// What to switch off: what to do, and the command that does it.
pub fn switched_off(import: &Import) -> Vec<String> {
    import.disable.iter().map(|of| format!("{} | {}", of.what, of.command.as_deref().unwrap_or(""))).collect()
}

/// Writes teams.
pub fn write(name: &str, network: &Network) -> Written {
    WRITERS.iter().find(|writer| writer.name() == name).unwrap().write(network)
}
