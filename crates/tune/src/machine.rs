//! What comes next: the steps, one after the other, as a machine without a network.

use nicteam_record as record;
use serde::Serialize;

use crate::error::Error;
use crate::file::{File, NETWORK};
use crate::finding::Finding;
use crate::seen::{ENOUGH, Figures, Seen};
use crate::trap::Trap;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Build the network step's topology, and look at it: [`Tuning::looked`].
    Look,
    /// Run this run of [`Tuning::file`]: [`Tuning::measured`] or [`Tuning::failed`].
    Measure(String),
    /// Judge what is known: [`Tuning::judge`].
    Judge,
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
    Judge,
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
            State::Network(Next::Judge) => Action::Judge,
            State::Production(measured) => Action::Measure(self.file.production()[*measured].clone()),
            State::Over => Action::Finish,
        }
    }

    /// The network was looked at; the first time, what is wrong is told at once.
    pub fn looked(&mut self, seen: &Seen<'_>) -> Vec<Finding> {
        match self.state {
            State::FirstLook => {
                self.state = State::Baseline(0);
                self.traps.iter().flat_map(|trap| trap.check(seen)).filter(|finding| finding.must).collect()
            }
            State::Network(Next::Look) => {
                self.state = State::Network(Next::Judge);
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
                self.state = State::Network(Next::Look);
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
                self.state = State::Network(Next::Look);
            }
            State::Production(number) => {
                self.production.push(measured);
                self.after_production(number);
            }
            _ => {}
        }
    }

    fn after_baseline(&mut self, number: usize) {
        let is_last = number + 1 == self.file.baseline().len();
        let measure = if self.last.is_some() { Next::Look } else { Next::Measure };
        self.state = if is_last { State::Network(measure) } else { State::Baseline(number + 1) };
    }

    fn after_production(&mut self, number: usize) {
        let is_last = number + 1 == self.file.production().len();
        self.state = if is_last { State::Over } else { State::Production(number + 1) };
    }

    /// Judges what is known of the network step: cures what is wrong, one thing at a time, or goes on, or stops.
    ///
    /// # Errors
    /// A cure cannot be applied.
    pub fn judge(&mut self, seen: &Seen<'_>) -> Result<(), Error> {
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
