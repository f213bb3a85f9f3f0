//! What the command line changes of an experiment.

use std::time::Duration;

use crate::units::{parse_duration, parse_rate, show_duration, show_rate};

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
    /// The overrides that a record has. Those of another version that are unknown here are left out.
    pub fn of_record(notes: &[String]) -> Overrides {
        let mut overrides = Overrides::default();
        for (key, value) in notes.iter().filter_map(|note| note.split_once('=')) {
            let names = || value.split(',').map(str::to_owned).collect::<Vec<String>>();
            match key {
                "rate" => overrides.rate_bps = parse_rate(value).ok(),
                "duration" => overrides.duration = parse_duration(value).ok(),
                "only" => overrides.only = Some(names()),
                "engine" => overrides.engines = names(),
                _ => {}
            }
        }
        overrides
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gives_back_what_it_notes() {
        let overrides = Overrides {
            rate_bps: Some(1_000_000_000),
            duration: Some(Duration::from_millis(1500)),
            only: Some(vec!["a".to_owned(), "b".to_owned()]),
            engines: vec!["kernel".to_owned()],
        };
        assert_eq!(Overrides::of_record(&overrides.notes()), overrides);
        assert_eq!(Overrides::of_record(&["other=1".to_owned()]), Overrides::default());
    }
}
