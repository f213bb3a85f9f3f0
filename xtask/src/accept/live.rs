//! The live tests that kill teams and interrupt labs.

use super::arguments::Arguments;
use super::tested::{self, Tests};
use crate::part::Part;

/// The live tests that kill and clean up.
pub(super) const PART: Part<Arguments> = Part {
    prepare: || tested::build("nicteam"),
    ..Part::new("live", "killed teams and interrupted labs", |_| tested::figures(&TESTS))
};

const TESTS: [Tests; 2] = [
    Tests::of("nicteam", "quiet::kill::", "kill -9 of every team loses no frame, a new process takes over"),
    Tests::of("nicteam", "live::cleanup::", "Ctrl-C, kill -9, full disk, no privileges: a message, a clean machine"),
];
