//! Teams of a file, whatever its format.

use std::fs;

use nicteam_formats::{Format, Import, Team, toml};
use nicteam_host::check;

use crate::convert;
use crate::failure::Failure;
use crate::say;

/// Where the teams are that this host has from its start on.
pub(super) const OWN: &str = "/etc/nicteam";

/// What a command line says of the file.
#[derive(Debug, clap::Args)]
pub(super) struct File {
    /// File, folder or `-`, in any format that `nicteam import` reads.
    #[arg(default_value = OWN)]
    pub(super) file: String,
    /// Its format; found out by default.
    #[arg(long, value_name = "FORMAT", value_parser = convert::named)]
    pub(super) from: Option<&'static dyn Format>,
}

/// Reads a file, the files of a folder, or standard input (`-`), as `nicteam import` does; of a folder that has files of
/// ours, these alone.
pub(super) fn read(path: &str, from: Option<&'static dyn Format>) -> Result<Import, Failure> {
    let import = convert::read(&[path.to_owned()], from.or_else(|| ours(path)))?;
    if import.network.teams.is_empty() {
        return Err(Failure::wrong_input(format!("no team in `{path}`")).hint(Some("docs/up.md shows a file with one")));
    }
    for left in &import.left {
        say::line(format_args!("note: {}: `{}` is not taken over: {}", left.place, say::visible(&left.text), left.why));
    }
    Ok(import)
}

/// The teams of these names, or all; they go together.
pub(super) fn teams(import: &Import, names: &[String]) -> Result<Vec<Team>, Failure> {
    let all = &import.network.teams;
    for name in names {
        if !all.iter().any(|team| team.name == *name) {
            let known: Vec<&str> = all.iter().map(|team| team.name.as_str()).collect();
            let failure = Failure::wrong_input(format!("no team `{name}` in the file"));
            return Err(failure.hint(Some(format!("it has {}", known.join(", ")))));
        }
    }
    let wanted = all.iter().filter(|team| names.is_empty() || names.contains(&team.name));
    let teams: Vec<Team> = wanted.cloned().collect();
    match check::between(&teams) {
        refusals if refusals.is_empty() => Ok(teams),
        refusals => Err(Failure::wrong_input(super::refused(&refusals))),
    }
}

/// Our own format, where the path is a folder that has a file of it.
fn ours(path: &str) -> Option<&'static dyn Format> {
    let is_ours = |entry: fs::DirEntry| entry.path().extension().is_some_and(|end| end == "toml");
    fs::read_dir(path).ok()?.flatten().any(is_ours).then_some(&toml::Toml as _)
}
