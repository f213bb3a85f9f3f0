//! How much longer frames are under way by one path than by another.
//!
//! The shortest of a path's round trips within some seconds is what is left when
//! nothing waits in a queue and no processor is late; half of it is the way there.
//! Only differences between the paths to one peer count, and only those
//! that last: each change is a new plan.

use std::time::Duration;

use nicteam_machine::{Time, state};

/// What is known of a path's delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delay {
    /// The shortest round trip of the window that runs, and of the one before.
    shortest: Option<Duration>,
    before: Option<Duration>,
    /// When the window began.
    since: Option<Time>,
    /// What the plan says: microseconds more than the quickest path.
    excess_us: u16,
}

state!(struct Delay { shortest, before, since, excess_us });

/// Long enough that each window sees short queues, whatever TCP does: a queue that
/// stands for seconds is no longer way, and its wire's time counts already.
const WINDOW: Duration = Duration::from_secs(10);
/// What a busy processor alone makes of equal paths; and by at least so much, or
/// by a fourth, has a delay to change.
const NOISE_US: u16 = 100;

impl Delay {
    /// A probe took so long.
    pub(super) fn take(&mut self, round_trip: Duration, now: Time) {
        if self.since.is_none_or(|since| now.since(since) >= WINDOW) {
            (self.before, self.shortest, self.since) = (self.shortest, None, Some(now));
        }
        self.shortest = Some(self.shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
    }

    /// Microseconds more than the quickest path, as last settled.
    pub(super) fn excess_us(&self) -> u16 {
        self.excess_us
    }

    fn round_trip(&self) -> Option<Duration> {
        self.shortest.into_iter().chain(self.before).min()
    }
}

/// Compares the paths to one peer; true if one's excess changed.
pub(super) fn settle<'a>(delays: impl Iterator<Item = &'a mut Delay>) -> bool {
    let mut delays: Vec<&mut Delay> = delays.collect();
    let Some(quickest) = delays.iter().filter_map(|delay| delay.round_trip()).min() else { return false };
    let mut changed = false;
    for delay in &mut delays {
        let Some(round_trip) = delay.round_trip() else { continue };
        let excess_us = u16::try_from(((round_trip - quickest) / 2).as_micros()).unwrap_or(u16::MAX);
        let excess_us = if excess_us < NOISE_US { 0 } else { excess_us };
        if excess_us.abs_diff(delay.excess_us) >= NOISE_US.max(delay.excess_us / 4) {
            delay.excess_us = excess_us;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// What each path's excess is after these round trips of all.
    fn settled(delays: &mut [Delay], round_trips_us: &[u64], now: Time) -> (bool, Vec<u16>) {
        for (delay, &round_trip_us) in delays.iter_mut().zip(round_trips_us) {
            delay.take(us(round_trip_us), now);
        }
        (settle(delays.iter_mut()), delays.iter().map(Delay::excess_us).collect())
    }

    #[test]
    fn half_of_what_the_round_trips_differ() {
        let mut delays = [Delay::default(); 4];
        let found = settled(&mut delays, &[100, 500, 2100, 10_100], at(0));
        assert_eq!(found, (true, vec![0, 200, 1000, 5000]));
        assert_eq!(settled(&mut delays, &[100, 500, 2100, 10_100], at(100)), (false, vec![0, 200, 1000, 5000]));
    }

    #[test]
    fn a_late_answer_changes_nothing_and_a_longer_way_does_after_a_while() {
        let mut delays = [Delay::default(); 2];
        settled(&mut delays, &[100, 1100], at(0));
        assert_eq!(settled(&mut delays, &[9000, 30_000], at(100)), (false, vec![0, 500]));
        let mut changed = None;
        for ms in (200..30_000).step_by(100) {
            if settled(&mut delays, &[100, 4100], at(ms)) == (true, vec![0, 2000]) {
                changed = Some(ms);
            }
        }
        assert!(changed.is_some_and(|ms| (10_000..=20_100).contains(&ms)), "{changed:?}");
    }

    #[test]
    fn a_shorter_way_is_taken_at_once() {
        let mut delays = [Delay::default(); 2];
        settled(&mut delays, &[100, 8100], at(0));
        assert_eq!(settled(&mut delays, &[100, 100], at(100)), (true, vec![0, 0]));
    }

    #[test]
    fn small_differences_are_none_and_large_ones_are_bounded() {
        let mut delays = [Delay::default(); 2];
        assert_eq!(settled(&mut delays, &[100, 290], at(0)), (false, vec![0, 0]));
        delays[1] = Delay::default();
        assert_eq!(settled(&mut delays, &[100, 3_000_000], at(0)), (true, vec![0, u16::MAX]));
        assert!(!settle([].iter_mut()));
    }
}
