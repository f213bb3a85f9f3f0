//! Files of configuration: which of those that a user names are read, and which format they are of.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use nicteam_formats::{FORMATS, Format, Left, Place, Source};

use crate::service;

/// What to do where there is no file of ours.
pub const MAKES_ONE: &str = "`nicteam import` makes one from the configuration that you have";

/// The largest file that is read, bytes: configurations of a network are small, and a device's file has no end.
const LARGEST: u64 = 4 * 1024 * 1024;
/// The most lines that are read of one: ten thousand bonds have a hundred thousand.
const MOST_LINES: usize = 250_000;

/// Texts of one format, and files beside them that could not be read.
#[derive(Debug)]
pub struct Found {
    /// The texts, in the order in which they were named; those of a folder by their names.
    pub sources: Vec<Source>,
    /// Files of folders that are no configuration, and why.
    pub left: Vec<Left>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Unreadable {
    fn new(message: impl Into<String>) -> Unreadable {
        Unreadable { message: message.into(), hint: None }
    }
}

/// Reads files, folders with files, and standard input (`-`).
///
/// # Errors
/// A file that cannot be opened, that is no text or too long (4 MiB, 250,000 lines), and a folder without a file of the
/// format.
pub fn sources(paths: &[String], format: Option<&'static dyn Format>) -> Result<Found, Unreadable> {
    let mut found = Found { sources: Vec::new(), left: Vec::new() };
    for path in paths {
        if path == "-" {
            let text = text(&mut std::io::stdin().lock(), "standard input").map_err(Unread::refused)?;
            found.sources.push(Source::new("-", text));
            continue;
        }
        let kind = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        match kind.is_dir() {
            true => folder(Path::new(path), format, &mut found)?,
            false => found.sources.push(file(Path::new(path)).map_err(Unread::refused)?),
        }
    }
    Ok(found)
}

/// Adds the files of a folder, in the order of their names; of a format that is not named, those that one recognises.
///
/// A file that cannot be opened may be a part of the configuration: it is an error. What is none by its size or its
/// bytes is named.
fn folder(path: &Path, format: Option<&'static dyn Format>, found: &mut Found) -> Result<(), Unreadable> {
    let shown = path.display();
    let mut paths = Vec::new();
    list(path, 0, &mut paths).map_err(|error| unreadable(&shown.to_string(), &error))?;
    paths.sort();
    let is_of_one = |source: &Source| match format {
        Some(format) => format.recognises(source),
        None => FORMATS.iter().any(|format| format.recognises(source)),
    };
    let mut sources = Vec::new();
    for path in &paths {
        match file(path) {
            Ok(source) if is_of_one(&source) => sources.push(source),
            Ok(_) => {}
            Err(Unread::NoConfiguration(why)) => found.left.push(not_read(path, &why)),
            Err(Unread::Encoding { rest, why }) if !is_of_one(&rest) => found.left.push(not_read(path, &why)),
            Err(unread) => return Err(unread.refused()),
        }
    }
    if format.is_none() {
        // Scripts that stand among files of another format are not its configuration.
        let is_script = |source: &Source| {
            FORMATS.iter().find(|format| format.recognises(source)).is_some_and(|format| format.is_script())
        };
        if !sources.iter().all(is_script) {
            sources.retain(|source| !is_script(source));
        }
    }
    if sources.is_empty() {
        let (of, hint) = match format {
            Some(format) => (format.title().to_owned(), "name the files themselves".to_owned()),
            None => {
                let is_own = path.components().eq(Path::new(service::FOLDER).components());
                ("a format that is read".to_owned(), if is_own { MAKES_ONE.to_owned() } else { formats() })
            }
        };
        return Err(Unreadable { message: format!("{shown} has no file of {of}"), hint: Some(hint) });
    }
    found.sources.append(&mut sources);
    Ok(())
}

/// A file of a folder that was not read.
fn not_read(path: &Path, why: &str) -> Left {
    let place = Place { path: path.display().to_string(), line: 1, column: 1 };
    let text = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Left { place, text, why: format!("not read: {}", why.replace("; hint: ", "; ")), team: None }
}

/// Why there is no text.
enum Unread {
    /// It cannot be opened.
    Shut(String),
    /// It is too large for a configuration, or a program.
    NoConfiguration(String),
    /// It has a byte outside comments that is not UTF-8; the rest of it shows its format.
    Encoding { rest: Box<Source>, why: String },
}

impl Unread {
    fn refused(self) -> Unreadable {
        match self {
            Unread::Shut(why) | Unread::NoConfiguration(why) | Unread::Encoding { why, .. } => Unreadable::new(why),
        }
    }
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

fn file(path: &Path) -> Result<Source, Unread> {
    let shown = path.display().to_string();
    let mut opened = fs::File::open(path).map_err(|error| Unread::Shut(cannot_read(&shown, &error)))?;
    let text = text(&mut opened, &shown)?;
    Ok(Source::new(shown, text))
}

fn text(of: &mut dyn Read, shown: &str) -> Result<String, Unread> {
    let mut bytes = Vec::new();
    let read = of.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Unread::Shut(cannot_read(shown, &error)))?;
    if bytes.len() as u64 > LARGEST {
        let why = format!("{shown} is larger than 4 MiB, and no configuration of a network is");
        return Err(Unread::NoConfiguration(why));
    }
    if bytes.iter().filter(|byte| **byte == b'\n').nth(MOST_LINES).is_some() {
        let why = format!("{shown} has more than {MOST_LINES} lines, and no configuration of a network has");
        return Err(Unread::NoConfiguration(why));
    }
    if bytes.contains(&0) {
        return Err(Unread::NoConfiguration(format!("{shown} is no text; hint: `file` tells what it is")));
    }
    String::from_utf8(bytes).or_else(|error| in_another_encoding(error.as_bytes(), shown))
}

/// A text with bytes that are not UTF-8: in comments they mean nothing to a machine, and are read as U+FFFD.
fn in_another_encoding(bytes: &[u8], shown: &str) -> Result<String, Unread> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let Err(error) = std::str::from_utf8(line) else { continue };
        let (before, rest) = line.split_at(error.valid_up_to());
        let before = String::from_utf8_lossy(before);
        if !is_in_comment(&before) {
            let place = format!("{shown}:{}:{}", number + 1, before.chars().count() + 1);
            let byte = rest.first().copied().unwrap_or_default();
            let hint = "in comments any encoding is read; `iconv -f LATIN1 -t UTF-8` makes UTF-8 of the whole file";
            let why = format!("{place}: the byte 0x{byte:02x} is not UTF-8; hint: {hint}");
            return Err(Unread::Encoding { rest: Box::new(Source::new(shown, text)), why });
        }
    }
    Ok(text)
}

/// True if what follows these words of a line is in a comment, whatever the format.
fn is_in_comment(before: &str) -> bool {
    let line = before.trim_start();
    line.starts_with(['#', ';', '!']) || line.starts_with("//") || before.contains(" #") || before.contains("\t#")
}

fn unreadable(shown: &str, error: &std::io::Error) -> Unreadable {
    Unreadable::new(cannot_read(shown, error))
}

fn cannot_read(shown: &str, error: &std::io::Error) -> String {
    let hint = if error.kind() == ErrorKind::PermissionDenied { "; hint: run this as root" } else { "" };
    format!("cannot read {shown}: {error}{hint}")
}

/// The format that all of these texts are of.
///
/// # Errors
/// An empty text, and texts of no format or of several.
pub fn recognise(sources: &[Source]) -> Result<&'static dyn Format, Unreadable> {
    let shown = |source: &Source| if source.path == "-" { "standard input".to_owned() } else { source.path.clone() };
    if let [source] = sources
        && source.text.trim().is_empty()
    {
        return Err(Unreadable::new(format!("{} is empty", shown(source))));
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
    let message = format!("{these}{}", shown.join(", "));
    Err(Unreadable { message, hint: Some(format!("`--from FORMAT` says which it is; {}", formats())) })
}

/// The formats in a sentence.
pub fn formats() -> String {
    format!("formats are {}", FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>().join(", "))
}
