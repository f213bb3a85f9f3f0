//! Files that import each other cannot be read or tested one by one.

#[test]
fn no_two_files_import_each_other() {
    let circles = nicteam_testnet::imports::circles(concat!(env!("CARGO_MANIFEST_DIR"), "/src").as_ref());
    assert!(circles.is_empty(), "{circles:#?}");
}
