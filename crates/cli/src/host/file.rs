//! Teams of a file, whatever its format.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use nicteam_formats::{FORMATS, Import, Source, Team};
use nicteam_host::check;
use nicteam_sys::Context;

use crate::failure::Failure;
use crate::say;

/// Where the teams are that this host has from its start on.
pub(super) const OWN: &str = "/etc/nicteam";

/// Reads a file, the files of a folder, or standard input (`-`), in any format that is known.
pub(super) fn read(path: &str) -> Result<Import, Failure> {
    let sources = sources(path)?;
    let format = FORMATS.iter().find(|format| sources.iter().any(|source| format.recognises(source)));
    let Some(format) = format else {
        let known: Vec<String> =
            FORMATS.iter().map(|format| format!("  {}: {}", format.name(), format.title())).collect();
        let failure = Failure::wrong_input(format!("no known format in `{path}`"));
        return Err(failure.hint(Some(format!("it is one of\n{}", known.join("\n")))));
    };
    let import = format.read(&sources)?;
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

fn sources(path: &str) -> Result<Vec<Source>, Failure> {
    if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context(|| "read standard input".to_owned())?;
        return Ok(vec![Source { path: path.to_owned(), text }]);
    }
    let paths = if Path::new(path).is_dir() { files_of(path)? } else { vec![PathBuf::from(path)] };
    if paths.is_empty() {
        let failure = Failure::wrong_input(format!("no file in the folder `{path}`"));
        return Err(failure.hint(Some("`nicteam import` makes one from the configuration that you have")));
    }
    let source = |path: &PathBuf| match fs::read_to_string(path) {
        Ok(text) => Ok(Source { path: path.display().to_string(), text }),
        Err(error) => Err(Failure::wrong_input(format!("cannot read `{}`: {error}", path.display()))),
    };
    paths.iter().map(source).collect()
}

/// Our own files of a folder, or if it has none, all its files.
fn files_of(folder: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).context(|| format!("read the folder {folder}"))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let own: Vec<PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")).cloned().collect();
    Ok(if own.is_empty() { files } else { own })
}
