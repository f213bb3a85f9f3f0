//! When what discovery found becomes a plan.
//!
//! A plan costs a process milliseconds, and anybody on the segment can say
//! something new. So plans are some time apart, and few in the long run; what is
//! found meanwhile is in the next one. A path to a peer with traffic that dies or
//! comes back does not wait.

use std::time::Duration;

use nicteam_machine::Time;
pub(super) use nicteam_machine::TokenBucket as Bucket;
use nicteam_machine::state;

/// Says when the next plan is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanPace {
    due: Option<Time>,
    last: Option<Time>,
    /// Plans that somebody new, or somebody's news, may cause.
    usual: Bucket,
    /// Plans at once that the announcements of peers with traffic may cause.
    announced: Bucket,
}

state!(struct PlanPace { due, last, usual, announced });

/// Between two plans that wait, at least.
const APART: Duration = Duration::from_millis(20);

impl Default for PlanPace {
    fn default() -> PlanPace {
        PlanPace {
            due: None,
            last: None,
            usual: Bucket::new(10, Duration::from_millis(500)),
            announced: Bucket::new(10, Duration::from_millis(100)),
        }
    }
}

impl PlanPace {
    /// A plan is due now.
    pub(super) fn at_once(&mut self, now: Time) {
        self.due = Some(now);
    }

    /// A peer with traffic announces something: a plan is due now, unless that happens all the time.
    pub(super) fn announced(&mut self, now: Time) {
        match self.announced.take(now) {
            true => self.at_once(now),
            false => self.soon(now),
        }
    }

    /// A plan is due when the last is long enough ago.
    pub(super) fn soon(&mut self, now: Time) {
        let apart = self.last.map_or(now, |last| last + APART);
        let earliest = now.max(apart).max(self.usual.next(now));
        self.due = Some(self.due.map_or(earliest, |due| due.min(earliest)));
    }

    /// When a plan is due, if something changed.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// True once a plan is due.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            (self.due, self.last) = (None, Some(now));
            self.usual.take(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans in ten seconds in which something happens each millisecond.
    fn plans(note: impl Fn(&mut PlanPace, Time)) -> usize {
        let mut pace = PlanPace::default();
        let plans = (1..=10_000).map(Time::from_millis).filter(|&now| {
            note(&mut pace, now);
            pace.take(now)
        });
        plans.count()
    }

    #[test]
    fn the_first_is_due_now_and_many_are_few() {
        let (mut pace, now) = (PlanPace::default(), Time::from_millis(1000));
        pace.soon(now);
        assert_eq!(pace.due(), Some(now));
        assert!(pace.take(now) && !pace.take(now));
        pace.soon(now);
        assert_eq!(pace.due(), Some(now + APART));
        pace.at_once(now);
        assert!(pace.take(now));
        assert!((20..=10 + 20).contains(&plans(PlanPace::soon)), "{}", plans(PlanPace::soon));
        assert!((100..=10 + 100 + 30).contains(&plans(PlanPace::announced)), "{}", plans(PlanPace::announced));
        assert_eq!(plans(PlanPace::at_once), 10_000);
    }
}
