//! Sources as text: what remains of a file without comments and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
#[derive(Debug)]
pub struct Source {
    /// Below the folder that was asked for, with slashes.
    pub path: String,
    /// Its code, without comments and what only tests have.
    pub code: String,
}

/// The folder of the whole project.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust files below a folder, by path.
pub fn below(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no sources in {}", folder.display());
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            collect(root, &entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let path = entry.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(Source { path, code: code(&fs::read_to_string(&entry).unwrap()) });
        }
    }
}

/// Lines without comments, up to the tests at the end. (A comment's sign in a text ends its line, too: rare, and of no matter here.)
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| !["mod tests {", "mod live {"].contains(line));
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}
