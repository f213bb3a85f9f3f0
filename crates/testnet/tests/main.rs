//! The source files of each crate: which import each other, and how long they are.

mod size;

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_testnet::imports::circles;

#[test]
fn no_files_of_a_crate_import_each_other() {
    let found = crates().into_iter().map(|folder| (name(&folder), circles(&folder.join("src"))));
    let found: Vec<_> = found.filter(|(_, circles)| !circles.is_empty()).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Fuzz targets are built by hand alone, so a property that gets another name is missed there.
#[test]
fn every_fuzz_target_calls_a_property_that_is_there() {
    let fuzz = project().join("fuzz");
    let mut count = 0;
    for target in fs::read_dir(fuzz.join("fuzz_targets")).expect("the targets") {
        let text = fs::read_to_string(target.expect("a target").path()).expect("a text");
        let call = text.split("nicteam_fuzz::").nth(1).and_then(|call| call.split('(').next()).expect("a call");
        let (module, function) = call.split_once("::").expect("a module");
        let source = fs::read_to_string(fuzz.join(format!("src/{module}.rs"))).expect("its source");
        assert!(source.contains(&format!("pub fn {function}(")), "no {call}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// The project's folder.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let root = project();
    let crates = fs::read_dir(root.join("crates")).expect("the crates").map(|entry| entry.expect("a crate").path());
    let mut crates: Vec<PathBuf> = crates.chain([root.join("xtask")]).collect();
    crates.sort();
    crates
}

fn name(folder: &Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}
