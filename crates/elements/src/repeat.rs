//! Each run several times, in an order in which what the machine does meanwhile meets all alike.

use crate::resolved::{Experiment, Repetition, Run};

/// The most times that a run is carried out.
pub const MOST_REPETITIONS: u32 = 200;

impl Experiment {
    /// The same with each run so many times: forward, then backward, and so on (A B B A), so that a machine that gets
    /// slower does so for all. The seed says which of the two comes first.
    pub fn repeated(self, times: u32) -> Experiment {
        if times <= 1 { self } else { self.rounds(1, times) }
    }

    /// The same for repetitions from number `first` on, also of one alone.
    pub fn rounds(self, first: u32, times: u32) -> Experiment {
        let names = |run: &Run, number: u32| Run {
            name: format!("{}@{number}", run.name),
            repetition: Some(Repetition { of: run.name.clone(), number }),
            ..run.clone()
        };
        let mut runs = Vec::new();
        for number in first..first + times {
            let is_backward = (u64::from(number) + self.seed).is_multiple_of(2);
            let mut round: Vec<Run> = self.runs.iter().map(|run| names(run, number)).collect();
            if is_backward {
                round.reverse();
            }
            runs.append(&mut round);
        }
        let mut overrides = self.overrides;
        overrides.push(format!("repeat={times}"));
        Experiment { repeat: times, overrides, runs, ..self }
    }
}
