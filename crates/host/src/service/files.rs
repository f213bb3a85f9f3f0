//! The files that say which teams boot.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nicteam_formats::{Source, Team};
use nix::fcntl::OFlag;
use toml::de::{DeTable, DeValue};

use super::Error;

/// Where the files are.
pub const FOLDER: &str = "/etc/nicteam";

/// The longest file that is read, bytes.
const LONGEST: u64 = 1 << 20;

/// The team of this name.
///
/// # Errors
/// No file has it, two have, or the one that has it is wrong.
pub fn named(folder: &Path, team: &str) -> Result<Team, Error> {
    let Texts { files, mut unreadable } = texts(folder);
    let has = |text: &str| names_in(text).iter().any(|name| name == team);
    let having: Vec<&(PathBuf, String)> = files.iter().filter(|(_, text)| has(text)).collect();
    match having.as_slice() {
        // It may stand there.
        [] if !unreadable.is_empty() => Err(unreadable.swap_remove(0)),
        [] => Err(Error::NoTeam { team: team.to_owned(), folder: folder.to_owned(), known: names_of(&files) }),
        [(path, text)] => read(path, text, team).and_then(|found| {
            found.ok_or_else(|| Error::NoTeam { team: team.to_owned(), folder: folder.to_owned(), known: Vec::new() })
        }),
        [(first, _), (second, _), ..] => {
            Err(Error::Twice { team: team.to_owned(), files: [first.clone(), second.clone()] })
        }
    }
}

/// The files of a folder whose names end in `.toml`, in the order of their names; none if there is no folder.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listed =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    let mut paths: Vec<PathBuf> = match listed {
        Ok(paths) => paths,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::Unreadable { path: folder.to_owned(), source }),
    };
    // An editor's hidden files are none of ours.
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml") && !is_hidden(path));
    paths.sort();
    Ok(paths)
}

/// What stands in a folder of files.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The files whose names end in `.toml`, in the order of their names, with their texts.
    pub(super) files: Vec<(PathBuf, String)>,
    /// What cannot be read. That there is no folder is no error.
    pub(super) unreadable: Vec<Error>,
}

/// Reads all that can be read.
pub(super) fn texts(folder: &Path) -> Texts {
    let mut texts = Texts::default();
    let unreadable = |path: &Path, source| Error::Unreadable { path: path.to_owned(), source };
    let paths = files(folder).unwrap_or_else(|error| {
        texts.unreadable.push(error);
        Vec::new()
    });
    for path in paths {
        match text_of(&path) {
            Ok(text) => texts.files.push((path, text)),
            Err(error) => texts.unreadable.push(unreadable(&path, error)),
        }
    }
    texts
}

/// The names of all teams, sorted, each once.
fn names_of(files: &[(PathBuf, String)]) -> Vec<String> {
    let mut names: Vec<String> = files.iter().flat_map(|(_, text)| names_in(text)).collect();
    names.sort();
    names.dedup();
    names
}

/// The names of the sections `[teams.NAME]`, as far as the text can be understood.
pub(super) fn names_in(text: &str) -> Vec<String> {
    let (file, _) = DeTable::parse_recoverable(text);
    let teams = file.get_ref().iter().find(|(name, _)| name.get_ref().as_ref() == "teams").map(|(_, value)| value);
    match teams.map(|value| value.get_ref()) {
        Some(DeValue::Table(teams)) => teams.keys().map(|name| name.get_ref().clone().into_owned()).collect(),
        _ => Vec::new(),
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    // A pipe in the place of a file must not hold up a boot.
    let file = fs::OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
    }
    if metadata.len() > LONGEST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is longer than {LONGEST} bytes")));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

fn read(path: &Path, text: &str, team: &str) -> Result<Option<Team>, Error> {
    let teams = |text: String| {
        let source = Source::new(path.display().to_string(), text);
        nicteam_formats::toml::read(&[source]).map(|network| network.teams).map_err(Error::Wrong)
    };
    let found = teams(text.to_owned()).or_else(|wrong| {
        // What is wrong with another team is no reason to keep this one down.
        let alone = teams(without_other_teams(text, team));
        alone.ok().filter(|teams| teams.iter().any(|found| found.name == team)).ok_or(wrong)
    });
    Ok(found?.into_iter().find(|found| found.name == team))
}

/// The text with empty lines in the place of the sections of other teams, so that all else keeps its place.
fn without_other_teams(text: &str, team: &str) -> String {
    let mut keeps = true;
    let kept = text.lines().map(|line| {
        if line.trim_start().starts_with('[') {
            let names = names_in(line);
            keeps = names.is_empty() || names.iter().any(|name| name == team);
        }
        if keeps { line } else { "" }
    });
    kept.collect::<Vec<_>>().join("\n") + "\n"
}
