//! What is known of the runs.

use std::time::Duration;

/// A run that is to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// How long its traffic flows, as the file says it; the longest time, if it ends by itself.
    pub declared: Duration,
    /// It ends by itself, perhaps earlier.
    pub is_finite: bool,
}

/// The run that is carried out now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Now {
    /// What it does, in words.
    pub phase: String,
    /// Its links, in order.
    pub links: Vec<LinkLoad>,
}

/// What a link carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// Its host and device.
    pub name: String,
    /// Bit/s sent and received.
    pub bps: [f64; 2],
    /// Its rate, bit/s; infinite if it has none.
    pub rate_bps: f64,
}

/// All runs, in their order. Times count from when the board was made.
#[derive(Clone, Debug, Default)]
pub struct Board {
    pub(super) title: String,
    pub(super) runs: Vec<(Planned, State)>,
    pub(super) now: Now,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum State {
    #[default]
    Waits,
    Runs {
        since: Duration,
    },
    Ended {
        share: f64,
        took: Duration,
    },
    Skipped,
}

/// How long what is left will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) time: Duration,
    /// No run has ended yet: it is the declared time alone.
    pub(super) is_declared: bool,
}

impl Board {
    /// Of these runs.
    pub fn new(title: &str, runs: impl IntoIterator<Item = Planned>) -> Board {
        let runs = runs.into_iter().map(|run| (run, State::Waits)).collect();
        Board { title: title.to_owned(), runs, now: Now::default() }
    }

    /// A run begins; its number counts from 1.
    pub fn begins(&mut self, number: usize, at: Duration) {
        self.set(number, State::Runs { since: at });
        self.now = Now { phase: "is built".to_owned(), links: Vec::new() };
    }

    /// A run is left out.
    pub fn skips(&mut self, number: usize) {
        self.set(number, State::Skipped);
    }

    /// What the run does now.
    pub fn does(&mut self, now: Now) {
        self.now = now;
    }

    /// The run has ended, with this share of its limit.
    pub fn ends(&mut self, share: f64, at: Duration) {
        if let Some((_, state)) = self.runs.iter_mut().find(|(_, state)| matches!(state, State::Runs { .. }))
            && let State::Runs { since } = *state
        {
            *state = State::Ended { share, took: at.saturating_sub(since) };
        }
        self.now = Now::default();
    }

    fn set(&mut self, number: usize, to: State) {
        if let Some((_, state)) = number.checked_sub(1).and_then(|place| self.runs.get_mut(place)) {
            *state = to;
        }
    }

    /// How long what is left will take: the declared times, and what the runs that have ended took beyond theirs. A run
    /// that may end earlier is expected to take the same part of its time as those of its kind took.
    pub(super) fn left(&self, at: Duration) -> Left {
        let ended = |is_finite: bool| {
            let took = move |(run, state): &(Planned, State)| match state {
                State::Ended { took, .. } if run.is_finite == is_finite => {
                    Some((run.declared.as_secs_f64(), took.as_secs_f64()))
                }
                _ => None,
            };
            self.runs.iter().filter_map(took).collect::<Vec<_>>()
        };
        let (fixed, finite) = (ended(false), ended(true));
        let beyond = mean(fixed.iter().map(|(declared, took)| took - declared)).unwrap_or(0.0);
        let part = mean(finite.iter().filter(|(declared, _)| *declared > 0.0).map(|(declared, took)| took / declared));
        let expected = |run: &Planned| match run.is_finite {
            true => run.declared.as_secs_f64() * part.unwrap_or(1.0),
            false => run.declared.as_secs_f64() + beyond,
        };
        let left = |(run, state): &(Planned, State)| match state {
            State::Waits => expected(run).max(0.0),
            State::Runs { since } => (expected(run) - at.saturating_sub(*since).as_secs_f64()).max(0.0),
            State::Ended { .. } | State::Skipped => 0.0,
        };
        let seconds: f64 = self.runs.iter().map(left).sum();
        Left {
            time: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            is_declared: fixed.is_empty() && finite.is_empty(),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn board(runs: &[bool]) -> Board {
        let run = |(place, is_finite): (usize, &bool)| Planned {
            name: format!("r{place}"),
            declared: seconds(10),
            is_finite: *is_finite,
        };
        Board::new("x", runs.iter().enumerate().map(run))
    }

    #[test]
    fn what_is_left_is_the_declared_time_until_runs_have_ended() {
        let mut board = board(&[false; 4]);
        assert_eq!(board.left(seconds(0)), Left { time: seconds(40), is_declared: true });
        board.begins(1, seconds(0));
        assert_eq!(board.left(seconds(4)).time, seconds(36));
        // It took 3 s more.
        board.ends(0.9, seconds(13));
        board.begins(2, seconds(13));
        assert_eq!(board.left(seconds(14)), Left { time: seconds(12 + 2 * 13), is_declared: false });
        board.skips(4);
        assert_eq!(board.left(seconds(14)).time, seconds(12 + 13));
        // One that takes longer than expected has nothing left.
        assert_eq!(board.left(seconds(90)).time, seconds(13));
    }

    #[test]
    fn runs_that_end_by_themselves_take_the_part_that_others_took() {
        let mut board = board(&[true, true, false]);
        board.begins(1, seconds(0));
        board.ends(0.9, seconds(5));
        assert_eq!(board.left(seconds(5)).time, seconds(5 + 10));
        board.begins(9, seconds(5));
        board.ends(0.5, seconds(6));
        assert_eq!(board.runs[1].1, State::Waits, "there is no run 9");
    }
}
