//! The schema and the key reference are what the key table says.

use std::fs;

use nicteam_experiment::{key_reference, schema};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
const BEGIN: &str = "<!-- keys: written by `UPDATE_GOLDEN=1 cargo test -p nicteam-experiment docs` -->\n";
const END: &str = "<!-- end of keys -->";

fn compare(file: &str, wanted: &str) {
    let path = format!("{DOCS}/{file}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{file} is stale; rewrite it: UPDATE_GOLDEN=1 cargo test -p nicteam-experiment docs");
}

#[test]
fn the_schema_is_fresh() {
    compare("experiment.schema.json", &schema());
}

#[test]
fn the_key_reference_is_fresh() {
    let text = fs::read_to_string(format!("{DOCS}/experiment.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/experiment.md has the mark where the keys begin");
    let (_, after) = rest.split_once(END).expect("docs/experiment.md has the mark where the keys end");
    compare("experiment.md", &format!("{before}{BEGIN}{}\n{END}{after}", key_reference()));
}

#[test]
fn the_figures_are_fresh() {
    const BEGIN: &str = "<!-- figures: written by `UPDATE_GOLDEN=1 cargo test -p nicteam-experiment docs` -->\n";
    const END: &str = "<!-- end of figures -->";
    let text = fs::read_to_string(format!("{DOCS}/check.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/check.md has the mark where the figures begin");
    let (_, after) = rest.split_once(END).expect("docs/check.md has the mark where the figures end");
    compare("check.md", &format!("{before}{BEGIN}{}{END}{after}", nicteam_expect::reference()));
}
