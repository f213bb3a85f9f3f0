//! What others took away from a team's devices: how often it was put back, and when it may be again.
//!
//! What is taken away [`MANY`] times within [`WINDOW`] is a conflict with another program. It is
//! named, and from then on put back once each [`PAUSE`], so that two that insist keep no processor busy, until it was
//! left alone for [`PEACE`].

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use nicteam_team::Time;

use crate::RepairState;

const MANY: usize = 5;
const WINDOW: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);
const PEACE: Duration = Duration::from_secs(60);

/// Counts of what was put back.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    lines: BTreeMap<(String, &'static str), Line>,
}

#[derive(Debug, Default)]
struct Line {
    times: u64,
    /// The last [`MANY`] times.
    recent: VecDeque<Time>,
    conflict: bool,
    /// It is missing, and may not be put back yet.
    waits: bool,
}

impl Line {
    fn last(&self) -> Option<Time> {
        self.recent.back().copied()
    }
}

impl Repairs {
    /// True if what is missing may be put back now; else it waits for [`Repairs::deadline`].
    pub(crate) fn may(&mut self, device: &str, what: &'static str, now: Time) -> bool {
        let Some(line) = self.lines.get_mut(&(device.to_owned(), what)) else { return true };
        line.conflict &= line.last().is_some_and(|last| now.since(last) < PEACE);
        line.waits = line.conflict && line.last().is_some_and(|last| now.since(last) < PAUSE);
        !line.waits
    }

    /// It was put back, or that was tried. True if this makes it a conflict.
    pub(crate) fn done(&mut self, device: &str, what: &'static str, now: Time) -> bool {
        let line = self.lines.entry((device.to_owned(), what)).or_default();
        line.times += 1;
        line.recent.push_back(now);
        if line.recent.len() > MANY {
            line.recent.pop_front();
        }
        let many = line.recent.len() == MANY && line.recent.front().is_some_and(|first| now.since(*first) < WINDOW);
        let begins = many && !line.conflict;
        line.conflict |= many;
        begins
    }

    /// When something that waits may be put back.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.lines.values().filter(|line| line.waits).filter_map(Line::last).map(|last| last + PAUSE).min()
    }

    /// Nothing waits any more: all is looked at anew.
    pub(crate) fn look(&mut self) {
        self.lines.values_mut().for_each(|line| line.waits = false);
    }

    /// All that was ever put back.
    pub(crate) fn states(&self, now: Time) -> Vec<RepairState> {
        let state = |((device, what), line): (&(String, &'static str), &Line)| {
            let quiet = line.last().map_or(Duration::ZERO, |last| now.since(last));
            RepairState {
                device: device.clone(),
                what: (*what).to_owned(),
                times: line.times,
                last_ms: u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX),
                conflict: line.conflict && quiet < PEACE,
            }
        };
        self.lines.iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: &str = "tc filter";

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn what_is_taken_away_now_and_then_is_put_back_at_once() {
        let mut repairs = Repairs::default();
        for turn in 0..100 {
            let now = at(turn * 2600);
            assert!(repairs.may("eth0", FILTER, now));
            assert!(!repairs.done("eth0", FILTER, now), "{turn}");
        }
        let [state] = &repairs.states(at(260_000))[..] else { panic!() };
        assert_eq!((state.times, state.conflict, state.last_ms), (100, false, 2600));
        assert_eq!((repairs.deadline(), state.problem()), (None, None));
    }

    #[test]
    fn what_is_taken_away_again_and_again_is_a_conflict_and_paced() {
        let mut repairs = Repairs::default();
        let (mut restored, mut begins) = (Vec::new(), Vec::new());
        for now in (0..300).step_by(10) {
            if repairs.may("eth0", FILTER, at(now)) {
                restored.push(now);
                if repairs.done("eth0", FILTER, at(now)) {
                    begins.push(now);
                }
            } else {
                assert_eq!(repairs.deadline(), Some(at(restored.last().unwrap() + 50)));
            }
            // Another device is another matter.
            assert!(repairs.may("eth1", FILTER, at(now)));
        }
        assert_eq!(restored, [0, 10, 20, 30, 40, 90, 140, 190, 240, 290]);
        assert_eq!(begins, [40], "named once");
        assert!(repairs.states(at(300))[0].problem().unwrap().text.contains("`eth0`"));
        // It was left alone.
        assert!(!repairs.states(at(66_000))[0].conflict);
        assert!(repairs.may("eth0", FILTER, at(66_000)));
        assert!(!repairs.done("eth0", FILTER, at(66_000)));
        assert!(repairs.may("eth0", FILTER, at(66_001)), "no conflict yet");
    }
}
