//! The faults of a run, as they happen.

use nicteam_chaos::effects;
use nicteam_experiment::Timed;
use nicteam_record::{Fault, Sample};

use crate::event::Place;

/// Faults as they happen.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(usize, Fault)>);

impl Faults {
    /// Something was done at a moment of the measured window, milliseconds.
    pub(crate) fn note(&mut self, timed: &Timed, t_ms: f64, place: &Place, text: &str) {
        if timed.ends {
            let begun = self.0.iter_mut().find(|(number, _)| *number == timed.fault);
            if let Some((_, fault)) = begun {
                fault.over_ms = Some(t_ms);
            }
            return;
        }
        let fault = Fault {
            t_ms,
            kind: timed.event.kind().to_owned(),
            node: place.node.clone(),
            team: place.team.clone(),
            member: place.member.clone(),
            text: text.to_owned(),
            ..Fault::default()
        };
        self.0.push((timed.fault, fault));
    }

    /// Each with what it did, in order of time.
    pub(crate) fn with_effects(&self, samples: &[Sample], measured_ms: f64) -> Vec<Fault> {
        effects(self.0.iter().map(|(_, fault)| fault.clone()).collect(), samples, measured_ms)
    }
}
