//! Replays the corpus through properties, in ordinary tests: what holds for any
//! bytes holds for these, and for these cut off and changed.

use std::fs;
use std::path::Path;

use super::properties::Property;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
/// Places at which a long input is cut and changed: in a soak, and else.
const PLACES: [usize; 2] = [256, 48];

/// Every input of every property. Says which it is, so that a panic has a name.
pub fn replay(all: &[(&str, Property)]) {
    let places = PLACES[usize::from(std::env::var_os("NICTEAM_SOAK").is_none())];
    for (name, property) in all {
        let folder = Path::new(CORPUS).join(name);
        let (mut inputs, mut taken) = (0, 0);
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            eprintln!("{}", path.display());
            let bytes = fs::read(&path).unwrap();
            taken += usize::from(property(&bytes));
            // Cut and changed inputs reach the refusals next to each of them.
            let step = bytes.len() / places + 1;
            for place in (0..bytes.len()).step_by(step) {
                property(&bytes[..place]);
                let mut changed = bytes.clone();
                changed[place] ^= 0xff;
                property(&changed);
            }
            inputs += 1;
        }
        assert!(inputs >= 3 && taken >= 1, "{}: {inputs} inputs, {taken} of them taken", folder.display());
    }
}
