//! One path: what its probes say.
//!
//! Whether a path is dead is said in probes, not in time that has passed: a
//! process that did not run sent none, and a peer that is late is late on all
//! paths. So a path is dead when probes are missing on it whose like, which left
//! with them by other paths to the same peer, came back ([`Probing::misses`]);
//! and without another path, after very many ([`Probing::is_alone_and_silent`]).

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use nicteam_machine::{Time, state};

use super::delay::Delay;

/// What is known of a path.
#[derive(Clone, Debug)]
pub(super) struct Probing {
    works: bool,
    /// It was found dead, and is tried now and then.
    failed: bool,
    /// The probes since the last that came back, the oldest first.
    under_way: VecDeque<Probe>,
    /// How many they are, those that are not remembered included.
    missing: u32,
    round_trip: Option<RoundTrip>,
    pub(super) delay: Delay,
    /// Echoes that came without a gap.
    in_a_row: u32,
    /// So many are needed before the path is used.
    needed: u32,
    /// Since when it works.
    since: Time,
    /// How often it failed soon after it worked.
    strikes: u32,
    /// Failed: when it is tried next.
    pub(super) retry_at: Time,
}

state!(struct Probing { works, failed, under_way, missing, round_trip, delay, in_a_row, needed, since, strikes, retry_at });

/// A probe that has not come back.
#[derive(Clone, Copy, Debug)]
struct Probe {
    stamp: u64,
    left: Time,
}

state!(struct Probe { stamp, left });

/// How long probes take (RFC 6298, section 2).
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    smoothed: Duration,
    deviation: Duration,
}

state!(struct RoundTrip { smoothed, deviation });

/// Missing probes that make a dead path, if the peer is heard by another one.
const MISSING: usize = 3;
/// And never within so short a time, however close probes follow one another.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(10);
/// All paths to a peer are silent: it is taken for gone after this time.
const ALL_SILENT: Duration = Duration::from_millis(300);
/// And not before so many probes.
const ALL_SILENT_MISSING: u32 = 4;
/// Probes that are remembered: more than are sent within the longest patience.
pub(super) const REMEMBERED: usize = 64;
/// A path that works for so long has no strikes.
const FORGIVEN: Duration = Duration::from_secs(10);
/// Strikes that count: 64 echoes in a row are the most that are asked for.
const MAX_STRIKES: u32 = 6;

impl Probing {
    /// Nothing is known.
    pub(super) fn new(now: Time) -> Probing {
        Probing {
            works: false,
            failed: false,
            under_way: VecDeque::new(),
            missing: 0,
            round_trip: None,
            delay: Delay::default(),
            in_a_row: 0,
            needed: 1,
            since: now,
            strikes: 0,
            retry_at: now,
        }
    }

    /// True if frames go by it.
    pub(super) fn works(&self) -> bool {
        self.works
    }

    /// True if it was found dead, and nothing else since.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// True if something is not as it was a moment ago, and is to be known soon.
    pub(super) fn is_urgent(&self) -> bool {
        match self.failed {
            true => self.in_a_row > 0,
            false => !self.works || self.under_way.len() > 1,
        }
    }

    /// How long probes took lately.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.map(|times| times.smoothed)
    }

    /// A probe leaves.
    pub(super) fn send(&mut self, stamp: u64, now: Time) {
        if self.under_way.len() == REMEMBERED {
            // The first says since when, the last may still come back.
            self.under_way.remove(1);
        }
        self.under_way.push_back(Probe { stamp, left: now });
        self.missing = self.missing.saturating_add(1);
    }

    /// An echo came; when its probe left. One that nobody sent, or that came
    /// before, says nothing.
    pub(super) fn take_echo(&mut self, stamp: u64, now: Time) -> Option<Time> {
        let place = self.under_way.iter().position(|probe| probe.stamp == stamp)?;
        let Probe { left, .. } = self.under_way.drain(..=place).next_back()?;
        self.missing = self.under_way.len() as u32;
        self.in_a_row = if place == 0 { self.in_a_row + 1 } else { 1 };
        RoundTrip::take(&mut self.round_trip, now.since(left));
        self.delay.take(now.since(left), now);
        if self.works && now.since(self.since) >= FORGIVEN {
            self.strikes = 0;
        }
        if !self.works && self.in_a_row >= self.needed {
            (self.works, self.failed, self.since) = (true, false, now);
        }
        Some(left)
    }

    /// True if probes are missing whose like came back by other paths: [`MISSING`]
    /// at least, the first of them longer before the last than the path's probes take.
    /// `answered`: when probes left that came back by any path. `interval`: between two probes.
    pub(super) fn misses(&self, answered: &BTreeSet<Time>, interval: Duration) -> bool {
        let mut missing = self.under_way.iter().map(|probe| probe.left).filter(|left| answered.contains(left));
        let Some(first) = missing.next() else { return false };
        let (count, last) = missing.fold((1, first), |(count, _), left| (count + 1, left));
        count >= MISSING && last.since(first) >= self.patience(interval)
    }

    /// True if so much is missing that a peer that is merely late would have
    /// answered. The probes are counted that were sent for it, so the time in
    /// which the process did not run is not.
    pub(super) fn is_alone_and_silent(&self, interval: Duration) -> bool {
        let needed = ALL_SILENT.as_nanos().div_ceil(interval.as_nanos().max(1)) as u32;
        self.missing >= needed.max(ALL_SILENT_MISSING)
    }

    /// The path is dead.
    pub(super) fn fail(&mut self, retry_at: Time) {
        if self.works {
            self.strikes = (self.strikes + 1).min(MAX_STRIKES);
        }
        self.needed = 1 << self.strikes;
        (self.works, self.failed, self.in_a_row) = (false, true, 0);
        self.retry_at = retry_at;
    }

    /// How long probes may be missing that come back by other paths: a path whose queue is long is not dead.
    fn patience(&self, interval: Duration) -> Duration {
        let usual = self.round_trip.map_or(Duration::ZERO, |times| times.smoothed + 4 * times.deviation);
        let least = SHORTEST_PATIENCE.max(MISSING as u32 * interval);
        usual.clamp(least, ALL_SILENT.max(least))
    }
}

impl RoundTrip {
    fn take(times: &mut Option<RoundTrip>, took: Duration) {
        *times = Some(match *times {
            None => RoundTrip { smoothed: took, deviation: took / 2 },
            Some(RoundTrip { smoothed, deviation }) => RoundTrip {
                smoothed: (7 * smoothed + took) / 8,
                deviation: (3 * deviation + smoothed.abs_diff(took)) / 4,
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(5);

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Probes from 0 to `until` ms; those up to `answered` come back after a millisecond.
    fn path(until: u64, answered: u64) -> Probing {
        let mut path = Probing::new(at(0));
        for ms in (0..=until).step_by(5) {
            path.send(ms, at(ms));
            if ms <= answered {
                path.take_echo(ms, at(ms + 1));
            }
        }
        path
    }

    fn answered(times: impl IntoIterator<Item = u64>) -> BTreeSet<Time> {
        times.into_iter().map(at).collect()
    }

    #[test]
    fn those_count_that_others_had_back() {
        let path = path(40, 5);
        assert!(path.works());
        assert!(!path.misses(&answered([5, 10, 15, 20]), INTERVAL), "three, 10 ms from first to last");
        assert!(path.misses(&answered([5, 10, 15, 20, 25]), INTERVAL));
        assert!(path.misses(&answered([10, 15, 40]), INTERVAL));
        assert!(!path.misses(&answered([10, 40]), INTERVAL), "two, however far from each other");
        assert!(!path.misses(&answered([]), INTERVAL), "nobody had any");
    }

    #[test]
    fn a_path_on_which_all_takes_long_is_waited_for() {
        let mut path = Probing::new(at(0));
        for ms in (0..400).step_by(5) {
            path.send(ms, at(ms));
            if ms >= 40 {
                path.take_echo(ms - 40, at(ms));
            }
        }
        assert_eq!(path.under_way.len(), 8);
        assert!(!path.misses(&answered(0..400), INTERVAL));
        assert!((39..42).contains(&path.round_trip().unwrap().as_millis()));
    }

    #[test]
    fn what_fails_again_and_again_has_to_prove_more() {
        let (mut path, mut stamp) = (path(20, 20), 100);
        for needed in [2, 4, 8, 16, 32, 64, 64] {
            path.fail(at(0));
            let mut echoes = 0;
            while !path.works() {
                stamp += 1;
                path.send(stamp, at(stamp));
                path.take_echo(stamp, at(stamp));
                echoes += 1;
            }
            assert_eq!(echoes, needed);
        }
        path.send(1, at(60_000));
        path.take_echo(1, at(60_000));
        path.fail(at(60_000));
        assert_eq!(path.needed, 2, "forgiven");
    }

    #[test]
    fn a_gap_begins_the_row_anew_and_what_nobody_sent_is_no_echo() {
        let mut path = path(20, 20);
        path.fail(at(20));
        path.fail(at(20));
        for stamp in 1..=3 {
            path.send(stamp, at(30));
        }
        assert_eq!(path.take_echo(1, at(31)), Some(at(30)));
        assert_eq!(path.take_echo(1, at(31)), None, "a second time");
        assert_eq!(path.take_echo(77, at(31)), None);
        path.take_echo(3, at(31));
        assert!(!path.works(), "one is missing between");
        path.send(4, at(32));
        path.take_echo(4, at(33));
        assert!(path.works());
    }

    #[test]
    fn without_another_path_a_peer_has_300_ms() {
        assert!(!path(300, 5).is_alone_and_silent(INTERVAL));
        assert!(path(305, 5).is_alone_and_silent(INTERVAL));
        assert!(path(2000, 5).under_way.len() <= REMEMBERED);
        assert!(!path(30, 15).is_alone_and_silent(Duration::from_secs(1)));
        assert!(path(30, 10).is_alone_and_silent(Duration::from_secs(1)));
    }
}
