//! No crate and no source file is so long that nobody reads it as a whole.
//!
//! Lines of `src` count, tests within them included, folders `tests` not. What is longer today is in a table with its bound.
//! A bound may only fall: it is a multiple of a step, and has to be lowered once the length is a step below it.

use std::fs;
use std::path::Path;

use super::{crates, name, project};

/// The most lines of a crate.
const CRATE: usize = 9000;
/// The most lines of a file.
const FILE: usize = 500;
/// The steps of bounds of crates, and of files.
const CRATE_STEP: usize = 500;
const FILE_STEP: usize = 20;

/// Crates that are longer, and their bounds.
const LONG_CRATES: &[(&str, usize)] = &[("cli", 9_500), ("experiment", 13_000)];

/// Files that are longer, and their bounds.
const LONG_FILES: &[(&str, usize)] = &[
    ("crates/experiment/src/sections.rs", 520),
    ("crates/iscsi/src/session.rs", 520),
    ("crates/syntax/src/shell/lex.rs", 520),
    ("crates/wire/src/hello.rs", 520),
];

#[test]
fn no_crate_is_too_long() {
    let found: Vec<(String, usize)> = crates()
        .iter()
        .map(|folder| (name(folder), files(&folder.join("src")).iter().map(|(_, lines)| lines).sum()))
        .collect();
    assert!(found.len() > 20 && found.iter().all(|(_, lines)| *lines > 0), "{found:?}");
    let wrong = wrong(&found, LONG_CRATES, CRATE, CRATE_STEP);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let found: Vec<(String, usize)> = crates().iter().flat_map(|folder| files(&folder.join("src"))).collect();
    assert!(found.len() > 500, "{} files", found.len());
    let wrong = wrong(&found, LONG_FILES, FILE, FILE_STEP);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bounds_may_only_fall() {
    let found = |lines: usize| [("a".to_owned(), lines), ("b".to_owned(), 100)];
    let wrong = |lines: usize, long: &[(&str, usize)]| wrong(&found(lines), long, 100, 20).len();
    assert_eq!((wrong(100, &[]), wrong(101, &[])), (0, 1), "more than all may have");
    assert_eq!((wrong(140, &[("a", 140)]), wrong(121, &[("a", 140)])), (0, 0), "within its bound");
    assert_eq!(wrong(141, &[("a", 140)]), 1, "more than its bound");
    assert_eq!(wrong(120, &[("a", 140)]), 1, "the bound is to fall");
    assert_eq!(wrong(100, &[("a", 120)]), 1, "the table need not name it");
    assert_eq!(wrong(100, &[("c", 120)]), 1, "there is none");
}

/// What is longer than it may be, and bounds that have to fall, a line each.
fn wrong(found: &[(String, usize)], long: &[(&str, usize)], most: usize, step: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, lines) in found {
        let bound = long.iter().find(|(of, _)| of == name).map_or(most, |(_, bound)| *bound);
        if *lines > bound {
            wrong.push(format!("{name} has {lines} lines, at most {bound}: cut it"));
        } else if bound > most && lines + step <= bound {
            wrong.push(format!("{name} has {lines} lines: lower its bound of {bound}, or take it out of the table"));
        }
    }
    let is_gone = |of: &&(&str, usize)| !found.iter().any(|(name, _)| name == of.0);
    wrong.extend(long.iter().filter(is_gone).map(|(name, _)| format!("{name} is not there: take it out of the table")));
    wrong
}

/// The Rust files below a folder, from the project's folder on, with their lines.
fn files(folder: &Path) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let path = entry.strip_prefix(project()).expect("a file of the project").to_string_lossy().into_owned();
            found.push((path, fs::read_to_string(&entry).expect("a text").lines().count()));
        }
    }
    found
}
