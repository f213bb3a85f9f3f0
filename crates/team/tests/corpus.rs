//! Replays the fuzz corpus: what must hold for any bytes holds for these.

#[path = "../../../fuzz/src/lib.rs"]
mod properties;

use std::fs;
use std::path::Path;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");

#[test]
fn the_corpus_holds() {
    for (name, property) in properties::ALL {
        let folder = Path::new(CORPUS).join(name);
        let mut inputs = 0;
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            eprintln!("{}", path.display());
            let bytes = fs::read(&path).unwrap();
            // Cut and changed inputs reach the refusals next to each of them.
            for end in 0..=bytes.len() {
                property(&bytes[..end]);
            }
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 0xff;
                property(&changed);
            }
            inputs += 1;
        }
        assert!(inputs >= 3, "{}: {inputs} inputs", folder.display());
    }
}
