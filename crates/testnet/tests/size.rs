//! No crate and no source file is so long that nobody reads it as a whole.
//!
//! Lines of `src` count, tests within them included, folders `tests` not.

use std::fs;
use std::path::Path;

use super::{crates, name, project};

/// The most lines of a crate.
const CRATE: usize = 9000;
/// The most lines of a file.
const FILE: usize = 500;

#[test]
fn no_crate_is_too_long() {
    let found: Vec<(String, usize)> = crates()
        .iter()
        .map(|folder| (name(folder), files(&folder.join("src")).iter().map(|(_, lines)| lines).sum()))
        .collect();
    assert!(found.len() > 20 && found.iter().all(|(_, lines)| *lines > 0), "{found:?}");
    check(&found, CRATE);
}

#[test]
fn no_file_is_too_long() {
    let found: Vec<(String, usize)> = crates().iter().flat_map(|folder| files(&folder.join("src"))).collect();
    assert!(found.len() > 500, "{} files", found.len());
    check(&found, FILE);
}

#[track_caller]
fn check(found: &[(String, usize)], most: usize) {
    let long: Vec<_> = found.iter().filter(|(_, lines)| *lines > most).collect();
    assert!(long.is_empty(), "more than {most} lines, cut it: {long:?}");
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
