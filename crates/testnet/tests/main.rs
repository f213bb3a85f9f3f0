//! The source files of each crate as a graph.

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_testnet::imports::circles;

/// Crates that have circles yet.
const WITH_CIRCLES: [&str; 1] = ["team"];

#[test]
fn no_files_of_a_crate_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).expect("the crates").map(|entry| entry.expect("a crate").path());
    let mut crates: Vec<PathBuf> = crates.chain([root.join("xtask")]).collect();
    crates.sort();
    for folder in crates {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let circles = circles(&folder.join("src"));
        let may_have_some = WITH_CIRCLES.contains(&name.as_str());
        assert!(circles.is_empty() || may_have_some, "{name}: {circles:#?}");
        assert!(!circles.is_empty() || !may_have_some, "{name} has no circle any more: take it out of the list");
    }
}
