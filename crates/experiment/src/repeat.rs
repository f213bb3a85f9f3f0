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

#[cfg(test)]
mod tests {
    use crate::{Overrides, parse};

    const FILE: &str = "title = \"x\"\nlinks = [{ between = [\"a\", \"b\"] }]\n[hosts]\na = {}\nb = {}\n[workloads.w]\nkind = \"tcp\"\n\
        from = \"a\"\nto = \"b\"\n[[runs]]\nname = \"one\"\nworkloads = \"w\"\n[[runs]]\nname = \"two\"\nworkloads = \"w\"\n";

    #[test]
    fn runs_go_forward_and_backward_in_turn() {
        let names = |text: &str| {
            let repeated = parse("x", "x.toml", text, &Overrides::default()).unwrap().repeated(3);
            assert_eq!((repeated.repeat, repeated.overrides.as_slice()), (3, &["repeat=3".to_owned()][..]));
            repeated.runs.into_iter().map(|run| run.name).collect::<Vec<_>>()
        };
        assert_eq!(names(FILE), ["two@1", "one@1", "one@2", "two@2", "two@3", "one@3"]);
        let other = FILE.replace("links =", "defaults = { seed = 2 }\nlinks =");
        assert_eq!(names(&other)[..4], ["one@1", "two@1", "two@2", "one@2"]);
        let later = parse("x", "x.toml", FILE, &Overrides::default()).unwrap().rounds(4, 1);
        assert_eq!(later.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["one@4", "two@4"]);
        assert!(later.runs.iter().all(|run| run.repetition.as_ref().is_some_and(|it| it.number == 4)));
        let once = parse("x", "x.toml", FILE, &Overrides::default()).unwrap();
        assert_eq!(once.clone().repeated(1), once);
    }
}
