//! What the command line changes of an experiment.

use std::time::Duration;

use crate::units::{show_duration, show_rate};

/// What the command line changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Rate of every link that names none, bit/s.
    pub rate_bps: Option<u64>,
    /// How long every run is measured.
    pub duration: Option<Duration>,
    /// Only these runs.
    pub only: Option<Vec<String>>,
    /// Engines of the hosts' teams, instead of those of the file; each run is carried out once by each. Empty: as the
    /// file says.
    pub engines: Vec<String>,
}

impl Overrides {
    /// As the record has them: `rate=1gbit`.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.rate_bps.map(|rate_bps| format!("rate={}", show_rate(rate_bps))));
        notes.extend(self.duration.map(|duration| format!("duration={}", show_duration(duration))));
        notes.extend(self.only.as_ref().map(|only| format!("only={}", only.join(","))));
        notes.extend((!self.engines.is_empty()).then(|| format!("engine={}", self.engines.join(","))));
        notes
    }
}
