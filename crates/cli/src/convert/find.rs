//! Which files a command line means, and which format they are of.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use nicteam_formats::{FORMATS, Format, Source};
use nicteam_host::service;

use super::MAKES_ONE;
use crate::failure::Failure;
use crate::value::OneOf;

/// The largest file that is read, bytes: configurations of a network are small, and a device's file has no end.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Reads what a command line names: files, folders with files, `-` for standard input.
pub(super) fn sources(paths: &[String], format: Option<&'static dyn Format>) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        if path == "-" {
            sources.push(Source::new("-", text(&mut std::io::stdin().lock(), "standard input")?));
            continue;
        }
        let kind = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        match kind.is_dir() {
            true => sources.extend(folder(Path::new(path), format)?),
            false => sources.push(file(Path::new(path))?),
        }
    }
    Ok(sources)
}

/// The files of a folder, in the order of their names; of a format that is not named, those that one recognises.
fn folder(path: &Path, format: Option<&'static dyn Format>) -> Result<Vec<Source>, Failure> {
    let shown = path.display();
    let mut paths = Vec::new();
    list(path, 0, &mut paths).map_err(|error| unreadable(&shown.to_string(), &error))?;
    paths.sort();
    let sources = paths.iter().map(|path| file(path)).collect::<Result<Vec<_>, _>>();
    let mut sources = sources.or_else(|failure| if format.is_some() { Err(failure) } else { readable(&paths) })?;
    let of = |source: &Source| FORMATS.iter().copied().find(|format| format.recognises(source));
    match format {
        Some(format) => sources.retain(|source| format.recognises(source)),
        None => {
            // Scripts that stand among files of another format are not its configuration.
            let has_other = sources.iter().any(|source| of(source).is_some_and(|format| !format.is_script()));
            sources.retain(|source| of(source).is_some_and(|format| !has_other || !format.is_script()));
        }
    }
    match (sources.is_empty(), format) {
        (false, _) => Ok(sources),
        (true, Some(format)) => Err(Failure::wrong_input(format!("{shown} has no file of {}", format.title()))
            .hint(Some("name the files themselves"))),
        (true, None) => {
            let is_own = path.components().eq(Path::new(service::FOLDER).components());
            let hint = if is_own { MAKES_ONE.to_owned() } else { formats() };
            Err(Failure::wrong_input(format!("{shown} has no file of a format that is read")).hint(Some(hint)))
        }
    }
}

/// Those of the files that are texts: programs may stand among them.
fn readable(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    Ok(paths.iter().filter_map(|path| file(path).ok()).collect())
}

/// Files and those of folders below, as `interfaces.d`; hidden ones and backups are not read.
fn list(folder: &Path, depth: u32, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.')
            || [".bak", ".orig", ".rpmsave", ".rpmnew", ".dpkg-old", ".dpkg-new", "~"]
                .iter()
                .any(|end| name.ends_with(end))
        {
            continue;
        }
        match fs::metadata(entry.path()) {
            Ok(kind) if kind.is_dir() && depth == 0 => list(&entry.path(), depth + 1, paths)?,
            Ok(kind) if kind.is_file() => paths.push(entry.path()),
            // A link to nothing, or something that is no file.
            _ => {}
        }
    }
    Ok(())
}

fn file(path: &Path) -> Result<Source, Failure> {
    let shown = path.display().to_string();
    let mut opened = fs::File::open(path).map_err(|error| unreadable(&shown, &error))?;
    let text = text(&mut opened, &shown)?;
    Ok(Source::new(shown, text))
}

fn text(of: &mut dyn Read, shown: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    of.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(shown, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::wrong_input(format!(
            "{shown} is larger than 4 MiB, and no configuration of a network is"
        )));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::wrong_input(format!("{shown} is no text"))
            .hint(Some("configurations are text in UTF-8; `file` tells what it is"))
    })
}

fn unreadable(shown: &str, error: &std::io::Error) -> Failure {
    Failure::wrong_input(format!("cannot read {shown}: {error}"))
}

/// A format on the command line.
pub(crate) const FORMAT: OneOf<&'static dyn Format> =
    OneOf { parse: named, names: || FORMATS.iter().map(|format| format.name()).collect() };

/// The format of this name.
fn named(name: &str) -> Result<&'static dyn Format, String> {
    let known = FORMATS.iter().find(|format| format.name() == name);
    known.copied().ok_or_else(|| {
        let names = || FORMATS.iter().map(|format| format.name());
        match nicteam_team::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => formats(),
        }
    })
}

/// The format that all of these texts are of.
pub(super) fn recognise(sources: &[Source]) -> Result<&'static dyn Format, Failure> {
    let shown = |source: &Source| if source.path == "-" { "standard input".to_owned() } else { source.path.clone() };
    if let [source] = sources
        && source.text.trim().is_empty()
    {
        return Err(Failure::wrong_input(format!("{} is empty", shown(source))));
    }
    let all = |format: &&&'static dyn Format| sources.iter().all(|source| format.recognises(source));
    if let Some(format) = FORMATS.iter().find(all) {
        return Ok(*format);
    }
    let of_each = |source: &Source| {
        let of = FORMATS
            .iter()
            .find(|format| format.recognises(source))
            .map_or("no format that is read", |format| format.name());
        format!("{} is {of}", shown(source))
    };
    let shown: Vec<String> = sources.iter().take(4).map(of_each).collect();
    let these = if sources.len() == 1 { "" } else { "these are not of one format: " };
    Err(Failure::wrong_input(format!("{these}{}", shown.join(", ")))
        .hint(Some(format!("`--from FORMAT` says which it is; {}", formats()))))
}

/// The formats in a sentence.
pub(super) fn formats() -> String {
    format!("formats are {}", FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", "))
}
