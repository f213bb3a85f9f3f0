//! What comes next: the steps, one after the other, as a machine without a network.

use nicteam_record as record;
use serde::Serialize;

use crate::error::Error;
use crate::file::{File, NETWORK};
use crate::finding::{Edit, Finding};
use crate::seen::{ENOUGH, Figures, Seen};
use crate::trap::Trap;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Build the network step's topology, and look at it: [`Tuning::looked`].
    Look,
    /// Run this run of [`Tuning::file`]: [`Tuning::measured`] or [`Tuning::failed`].
    Measure(String),
    /// Evaluate what is known: [`Tuning::evaluate`].
    Evaluate,
    /// Nothing: [`Tuning::outcome`].
    Finish,
}

/// Where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// A first look, before anything is measured: what is wrong with the network is known within seconds.
    FirstLook,
    /// So many runs of the baseline are measured.
    Baseline(usize),
    Network(Next),
    /// So many runs of production are measured.
    Production(usize),
    Over,
}

/// What the network step needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Look,
    Measure,
    Evaluate,
}

/// A measurement of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub run: String,
    /// What it is, in the words of the file.
    pub description: Option<String>,
    /// What the published test found.
    pub published: Option<String>,
    /// What came out; none: it did not end.
    pub figures: Option<Figures>,
    /// Why it did not.
    pub error: Option<String>,
}

/// A cure of the network step: what was wrong, and what that cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// What was wrong.
    pub finding: Finding,
    /// Before it was cured; none: it could not be measured.
    pub before: Option<Figures>,
    /// After it was.
    pub after: Option<Figures>,
    /// Why it could not be measured after it.
    pub error: Option<String>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The network was looked at, and nothing measured: that was all that was asked for.
    Looked,
    /// The network step reached [`ENOUGH`], and production was measured.
    Tuned,
    /// The network step did not, and nothing is left to cure.
    Stopped,
}

/// A tuning.
#[derive(Debug)]
pub struct Tuning {
    file: File,
    traps: &'static [&'static dyn Trap],
    state: State,
    baseline: Vec<Measured>,
    rounds: Vec<Round>,
    advice: Vec<Finding>,
    /// What each trap looked at, at the end of the network step.
    looked: Vec<(&'static str, String)>,
    /// The last measurement of the network step.
    last: Option<record::Run>,
    production: Vec<Measured>,
    outcome: Outcome,
}

impl Tuning {
    /// One of this file, with these traps.
    pub fn new(file: File, traps: &'static [&'static dyn Trap]) -> Tuning {
        Tuning {
            file,
            traps,
            state: State::FirstLook,
            baseline: Vec::new(),
            rounds: Vec::new(),
            advice: Vec::new(),
            looked: Vec::new(),
            last: None,
            production: Vec::new(),
            outcome: Outcome::Stopped,
        }
    }

    /// The file as it is now.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// What is to be done.
    pub fn next(&self) -> Action {
        match &self.state {
            State::FirstLook | State::Network(Next::Look) => Action::Look,
            State::Baseline(measured) => Action::Measure(self.file.baseline()[*measured].clone()),
            State::Network(Next::Measure) => Action::Measure(NETWORK.to_owned()),
            State::Network(Next::Evaluate) => Action::Evaluate,
            State::Production(measured) => Action::Measure(self.file.production()[*measured].clone()),
            State::Over => Action::Finish,
        }
    }

    /// The network was examined; the first time, errors are reported at once.
    pub fn looked(&mut self, seen: &Seen<'_>) -> Vec<Finding> {
        match self.state {
            State::FirstLook => {
                self.state = State::Baseline(0);
                self.traps.iter().flat_map(|trap| trap.check(seen)).filter(|finding| finding.must).collect()
            }
            State::Network(Next::Look) => {
                self.state = State::Network(Next::Evaluate);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The run that was to be measured has ended.
    pub fn measured(&mut self, run: record::Run) {
        let figures = Figures::of(&run);
        let measured = Measured {
            run: run.name.clone(),
            description: run.description.clone(),
            published: run.published.clone(),
            figures: Some(figures),
            error: None,
        };
        match self.state {
            State::Baseline(number) => {
                self.baseline.push(measured);
                if number == 0 && self.file.begins_as_baseline() {
                    self.last = Some(run);
                }
                self.after_baseline(number);
            }
            State::Network(Next::Measure) => {
                self.last = Some(run);
                if let Some(round) = self.rounds.last_mut() {
                    round.after = Some(figures);
                }
                self.state = State::Network(self.after_cure());
            }
            State::Production(number) => {
                self.production.push(measured);
                self.after_production(number);
            }
            _ => {}
        }
    }

    /// The run that was to be measured did not end, and why.
    pub fn failed(&mut self, run: &str, error: String) {
        let measured = Measured {
            run: run.to_owned(),
            description: None,
            published: None,
            figures: None,
            error: Some(error.clone()),
        };
        match self.state {
            State::Baseline(number) => {
                self.baseline.push(measured);
                self.after_baseline(number);
            }
            State::Network(Next::Measure) => {
                self.last = None;
                if let Some(round) = self.rounds.last_mut() {
                    round.error = Some(error);
                }
                self.state = State::Network(self.after_cure());
            }
            State::Production(number) => {
                self.production.push(measured);
                self.after_production(number);
            }
            _ => {}
        }
    }

    /// A network that was changed is looked at again.
    fn after_cure(&self) -> Next {
        let edits = self.rounds.last().map_or(&[][..], |round| &round.finding.edits);
        let changed = edits.iter().any(|edit| matches!(edit, Edit::LinkMtu { .. }));
        if changed { Next::Look } else { Next::Evaluate }
    }

    fn after_baseline(&mut self, number: usize) {
        let is_last = number + 1 == self.file.baseline().len();
        let measure = if self.last.is_some() { Next::Evaluate } else { Next::Measure };
        self.state = if is_last { State::Network(measure) } else { State::Baseline(number + 1) };
    }

    fn after_production(&mut self, number: usize) {
        let is_last = number + 1 == self.file.production().len();
        self.state = if is_last { State::Over } else { State::Production(number + 1) };
    }

    /// Evaluates what is known of the network step: cures what is wrong, one thing at a time, or goes on, or stops.
    ///
    /// # Errors
    /// A cure cannot be applied.
    pub fn evaluate(&mut self, seen: &Seen<'_>) -> Result<(), Error> {
        let seen = Seen { measured: self.last.as_ref(), ..*seen };
        let found: Vec<Finding> = self.traps.iter().flat_map(|trap| trap.check(&seen)).collect();
        self.advice = found.iter().filter(|finding| !finding.must).cloned().collect();
        self.looked = self.traps.iter().map(|trap| (trap.title(), trap.looked(&seen))).collect();
        let tried = |finding: &Finding| self.rounds.iter().any(|round| round.finding.edits == finding.edits);
        let next = found.into_iter().find(|finding| finding.must && !finding.edits.is_empty() && !tried(finding));
        if let Some(finding) = next {
            for edit in &finding.edits {
                self.file.apply(edit)?;
            }
            let before = self.last.as_ref().map(Figures::of);
            self.rounds.push(Round { finding, before, after: None, error: None });
            self.state = State::Network(Next::Measure);
            return Ok(());
        }
        if !self.is_enough() {
            self.state = State::Over;
            return Ok(());
        }
        self.outcome = Outcome::Tuned;
        self.state = if self.file.production().is_empty() { State::Over } else { State::Production(0) };
        Ok(())
    }

    /// Whether the network step is right.
    pub fn is_enough(&self) -> bool {
        self.last.as_ref().is_some_and(|run| run.of_limit >= ENOUGH)
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The measurements of step 1.
    pub fn baseline(&self) -> &[Measured] {
        &self.baseline
    }

    /// What was cured in step 2, in order.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// What is advised beside.
    pub fn advice(&self) -> &[Finding] {
        &self.advice
    }

    /// What each trap looked at, and how it was at the end of step 2.
    pub fn looks(&self) -> &[(&'static str, String)] {
        &self.looked
    }

    /// Figures at the end of step 2; none: it could not be measured.
    pub fn network(&self) -> Option<Figures> {
        self.last.as_ref().map(Figures::of)
    }

    /// The measurements of step 3.
    pub fn production(&self) -> &[Measured] {
        &self.production
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::file::tests::TEXT;
    use crate::finding::Cure;

    /// Wrong until its key is cured; looked at from the file, as all traps.
    #[derive(Debug)]
    struct Key(&'static str);

    impl Trap for Key {
        fn name(&self) -> &'static str {
            self.0
        }

        fn title(&self) -> &'static str {
            self.0
        }

        fn looked(&self, seen: &Seen<'_>) -> String {
            format!("{:?}", seen.file.network(self.0))
        }

        fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
            let is_wrong = seen.file.network(self.0).and_then(toml::Value::as_integer) != Some(1);
            let edits = vec![Edit::Workload { key: self.0, value: Some(1.into()) }];
            let (place, wrong) = ("here".to_owned(), "It is not 1.".to_owned());
            let cures = vec![Cure::new("any", "make it 1")];
            let finding = Finding { trap: self.0, place, wrong, cures, edits, must: true };
            if is_wrong { vec![finding] } else { Vec::new() }
        }
    }

    static TWO: [&dyn Trap; 2] = [&Key("iops"), &Key("outstanding")];

    /// Says so whatever is done.
    #[derive(Debug)]
    struct Stubborn;

    impl Trap for Stubborn {
        fn name(&self) -> &'static str {
            "stubborn"
        }

        fn title(&self) -> &'static str {
            "stubborn"
        }

        fn looked(&self, _seen: &Seen<'_>) -> String {
            String::new()
        }

        fn check(&self, _seen: &Seen<'_>) -> Vec<Finding> {
            let edits = vec![Edit::Workload { key: "iops", value: Some(7.into()) }];
            let (place, wrong, cures) = (String::new(), String::new(), Vec::new());
            vec![Finding { trap: "stubborn", place, wrong, cures, edits, must: true }]
        }
    }

    static STUBBORN: [&dyn Trap; 1] = [&Stubborn];

    /// A run that delivered this part of its limit.
    pub(crate) fn run(name: &str, of_limit: f64) -> record::Run {
        serde_json::from_value(serde_json::json!({
            "name": name, "description": null, "published": null, "published_of_limit": null,
            "topology": { "hosts": [], "switches": [], "links": [], "teams": [] },
            "delivered_bps": of_limit * 1e8, "limit_bps": 1e8, "of_limit": of_limit, "limit_reason": "",
            "members": [], "connections": [], "cpu": { "busy": 0.5, "stolen": 0.0, "seconds": [] },
            "measured_ms": 1000.0, "warmup_ms": 0.0, "delivered_counted_at": "", "members_counted_at": "",
            "samples": "", "samples_sha256": ""
        }))
        .unwrap()
    }

    /// Goes through the steps; runs of the network step deliver these parts, then the last of them again and again.
    fn tuned(traps: &'static [&'static dyn Trap], network: &[f64]) -> (Tuning, Vec<String>) {
        let mut tuning = Tuning::new(File::read(TEXT).unwrap(), traps);
        let (mut done, mut network) = (Vec::new(), network.iter().copied().cycle());
        for _ in 0..30 {
            let action = tuning.next();
            let file = tuning.file().clone();
            let experiment = nicteam_experiment::parse("t", "t", &file.text(), &Default::default()).unwrap();
            let seen = Seen { file: &file, run: &experiment.runs[0], devices: &[], paths: &[], measured: None };
            done.push(match &action {
                Action::Look => "look".to_owned(),
                Action::Measure(run) => run.clone(),
                Action::Evaluate => "evaluate".to_owned(),
                Action::Finish => return (tuning, done),
            });
            match action {
                Action::Look => drop(tuning.looked(&seen)),
                Action::Measure(name) if name == NETWORK => tuning.measured(run(&name, network.next().unwrap())),
                Action::Measure(name) => tuning.measured(run(&name, 0.1)),
                Action::Evaluate => tuning.evaluate(&seen).unwrap(),
                Action::Finish => {}
            }
        }
        panic!("it does not end: {done:?}");
    }

    #[test]
    fn steps_come_in_their_order_and_each_cure_is_measured() {
        let (tuning, done) = tuned(&TWO, &[0.2, 0.5, 0.95]);
        let expected =
            ["look", "baseline", "network", "evaluate", "network", "evaluate", "network", "evaluate", "raid"];
        assert_eq!(done, expected);
        assert_eq!(tuning.outcome(), Outcome::Tuned);
        let of = |figures: Option<Figures>| figures.map(|figures| figures.of_limit);
        let rounds: Vec<_> = tuning.rounds().iter().map(|it| (it.finding.trap, of(it.before), of(it.after))).collect();
        assert_eq!(rounds, [("iops", Some(0.2), Some(0.5)), ("outstanding", Some(0.5), Some(0.95))]);
        assert_eq!((tuning.baseline().len(), tuning.production().len()), (1, 1));
        assert_eq!(tuning.looks()[0].1, "Some(Integer(1))", "as it is at the end");
    }

    #[test]
    fn it_does_not_go_on_before_the_network_is_right() {
        let (tuning, done) = tuned(&TWO, &[0.2, 0.5, 0.899]);
        assert_eq!(tuning.outcome(), Outcome::Stopped);
        assert!(tuning.production().is_empty() && !done.contains(&"raid".to_owned()), "{done:?}");
        // Enough from the start, and yet what is wrong is cured.
        let (tuning, _) = tuned(&TWO, &[0.95]);
        assert_eq!((tuning.outcome(), tuning.rounds().len()), (Outcome::Tuned, 2));
    }

    #[test]
    fn a_cure_that_does_not_help_is_tried_once() {
        let (tuning, _) = tuned(&STUBBORN, &[0.5]);
        assert_eq!((tuning.outcome(), tuning.rounds().len()), (Outcome::Stopped, 1));
    }

    /// One end of one cable.
    #[derive(Debug)]
    struct OneEnd;

    impl Trap for OneEnd {
        fn name(&self) -> &'static str {
            "mtu"
        }

        fn title(&self) -> &'static str {
            "mtu"
        }

        fn looked(&self, _seen: &Seen<'_>) -> String {
            String::new()
        }

        fn check(&self, _seen: &Seen<'_>) -> Vec<Finding> {
            let edits = vec![Edit::LinkMtu { section: 2, mtu: 1500 }];
            let (place, wrong, cures) = (String::new(), String::new(), Vec::new());
            vec![Finding { trap: "mtu", place, wrong, cures, edits, must: true }]
        }
    }

    static ONE_END: [&dyn Trap; 1] = [&OneEnd];

    #[test]
    fn a_network_that_was_changed_is_looked_at_again() {
        let (_, done) = tuned(&ONE_END, &[0.95]);
        assert_eq!(done, ["look", "baseline", "network", "evaluate", "network", "look", "evaluate", "raid"]);
    }

    #[test]
    fn what_cannot_be_measured_is_told_and_no_end() {
        let mut tuning = Tuning::new(File::read(TEXT).unwrap(), &TWO);
        let file = tuning.file().clone();
        let experiment = nicteam_experiment::parse("t", "t", &file.text(), &Default::default()).unwrap();
        let seen = Seen { file: &file, run: &experiment.runs[0], devices: &[], paths: &[], measured: None };
        assert_eq!(tuning.looked(&seen).len(), 2, "what is wrong is told before anything is measured");
        tuning.failed("baseline", "no way".to_owned());
        assert_eq!(tuning.next(), Action::Measure(NETWORK.to_owned()));
        tuning.failed(NETWORK, "no way".to_owned());
        tuning.evaluate(&seen).unwrap();
        assert_eq!((tuning.rounds()[0].before, tuning.baseline()[0].error.as_deref()), (None, Some("no way")));
        assert_eq!(tuning.next(), Action::Measure(NETWORK.to_owned()));
    }
}
