//! Experiment files (crate `experiment`).

use nicteam_experiment::{Overrides, parse, parse_duration, parse_rate};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("experiment", experiment)];

/// A file is refused with reasons that can be shown, or is an experiment.
pub fn experiment(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_rate(&text), parse_duration(&text));
    match parse("fuzzed", "fuzzed.toml", &text, &Overrides::default()) {
        Ok(experiment) => !experiment.runs.is_empty(),
        Err(diagnostics) => {
            assert!(!diagnostics.entries().is_empty());
            assert!(!diagnostics.render(false).is_empty() && !diagnostics.render(true).is_empty());
            false
        }
    }
}
