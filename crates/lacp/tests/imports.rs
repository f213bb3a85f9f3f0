//! The crate's source files as a graph.

use nicteam_testnet::imports::circles;

#[test]
fn no_files_import_each_other() {
    let circles = circles(concat!(env!("CARGO_MANIFEST_DIR"), "/src").as_ref());
    assert!(circles.is_empty(), "{circles:#?}");
}
