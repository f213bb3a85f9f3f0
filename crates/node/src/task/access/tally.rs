//! What was answered in a measured window, interval by interval.

use std::time::{Duration, Instant};

use nicteam_record::{Histogram, Operations};
use nicteam_storage::Kind;

use super::steady::{INTERVALS, steady_from};
use crate::task::storage::{Measured, Stalls};

/// The shortest interval: fewer operations would scatter too much.
const SHORTEST: Duration = Duration::from_millis(100);

/// What was answered in a window.
#[derive(Debug)]
pub(super) struct Tally {
    window: Measured,
    interval: Duration,
    intervals: Vec<Interval>,
    stalls: Stalls,
}

/// What was answered in an interval.
#[derive(Clone, Debug, Default)]
struct Interval {
    reads: Histogram,
    writes: Histogram,
    read_bytes: u64,
    written_bytes: u64,
    errors: u64,
    /// Requests that the model of disks had at its end, and how many of them its cache answered.
    model: (u64, u64),
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// To what.
    pub(super) kind: Kind,
    /// Bytes that were read or written.
    pub(super) bytes: u64,
    /// From the question on.
    pub(super) took: Duration,
    /// Whether it was done.
    pub(super) is_good: bool,
}

impl Tally {
    /// Nothing yet.
    pub(super) fn new(window: Measured) -> Tally {
        let interval = (window.length / INTERVALS).max(SHORTEST);
        let count = window.length.as_nanos().div_ceil(interval.as_nanos().max(1)) as usize;
        let intervals = vec![Interval::default(); count.max(1)];
        Tally { window, interval, intervals, stalls: Stalls::new(window.from) }
    }

    /// True once the window is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.window.from) >= self.window.length
    }

    /// Counts an answer; what comes before the window or behind it does not count.
    pub(super) fn add(&mut self, now: Instant, answer: Answer) {
        let Some(since) = now.checked_duration_since(self.window.from).filter(|since| *since < self.window.length)
        else {
            return;
        };
        self.stalls.answered(now);
        let place = (since.as_nanos() / self.interval.as_nanos().max(1)) as usize;
        let Some(interval) = self.intervals.get_mut(place) else { return };
        if !answer.is_good {
            interval.errors += 1;
            return;
        }
        let us = answer.took.as_micros() as u64;
        if answer.kind == Kind::Read {
            interval.reads.add(us);
            interval.read_bytes += answer.bytes;
        } else {
            interval.writes.add(us);
            interval.written_bytes += answer.bytes;
        }
    }

    /// Notes how far the model of disks is, at any time within an interval; the last one counts.
    pub(super) fn model(&mut self, now: Instant, counts: (u64, u64)) {
        let since = now.saturating_duration_since(self.window.from);
        let place = (since.as_nanos() / self.interval.as_nanos().max(1)) as usize;
        if let Some(later) = self.intervals.get_mut(place..) {
            later.iter_mut().for_each(|interval| interval.model = counts);
        }
    }

    /// The figures of the steady state, or of the whole window; and the requests that the model's disks had in it.
    pub(super) fn operations(&self, begun_model: (u64, u64)) -> (Operations, u64) {
        let counts: Vec<u64> = self.intervals.iter().map(|of| of.reads.count + of.writes.count).collect();
        let found = steady_from(&counts);
        let from = found.unwrap_or(0);
        let (mut reads, mut writes) = (Histogram::default(), Histogram::default());
        let (mut read_bytes, mut written_bytes, mut errors) = (0, 0, 0);
        for interval in &self.intervals[from..] {
            reads.merge(&interval.reads);
            writes.merge(&interval.writes);
            read_bytes += interval.read_bytes;
            written_bytes += interval.written_bytes;
            errors += interval.errors;
        }
        let mut latency = reads.clone();
        latency.merge(&writes);
        let skipped = self.interval * from as u32;
        let counted_s = self.window.length.saturating_sub(skipped).as_secs_f64();
        let misses = |(all, hits): (u64, u64)| all.saturating_sub(hits);
        let before = if from == 0 { begun_model } else { self.intervals[from - 1].model };
        let after = self.intervals.last().map_or(begun_model, |interval| interval.model);
        let operations = Operations {
            completed: latency.count,
            rate_per_s: if counted_s > 0.0 { latency.count as f64 / counted_s } else { 0.0 },
            errors,
            latency,
            read_latency: reads,
            write_latency: writes,
            read_bytes,
            written_bytes,
            steady_from_ms: found.map(|_| skipped.as_secs_f64() * 1e3),
            unsteady: found.is_none(),
            stall: self.stalls.until(self.window.from + self.window.length),
            ..Operations::default()
        };
        (operations, misses(after).saturating_sub(misses(before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: Kind, is_good: bool) -> Answer {
        Answer { kind, bytes: 8192, took: Duration::from_millis(5), is_good }
    }

    #[test]
    fn the_steady_state_alone_counts_and_stalls_are_those_of_the_window() {
        let from = Instant::now();
        let mut tally = Tally::new(Measured { from, length: Duration::from_secs(2) });
        let at = |ms: u64| from + Duration::from_millis(ms);
        // Too early and too late.
        tally.add(at(2000), answer(Kind::Read, true));
        // 20 intervals of 100 ms: nothing in the first three, then a read and a write each 10 ms.
        for ms in (300..2000).step_by(10) {
            tally.add(at(ms), answer(Kind::Read, true));
            tally.add(at(ms), answer(Kind::Write, ms != 1000));
        }
        let (operations, _) = tally.operations((0, 0));
        assert_eq!((operations.steady_from_ms, operations.unsteady), (Some(300.0), false));
        assert_eq!((operations.completed, operations.errors), (170 + 169, 1));
        assert_eq!((operations.read_bytes, operations.written_bytes), (170 * 8192, 169 * 8192));
        assert_eq!((operations.read_latency.count, operations.write_latency.count), (170, 169));
        assert!((operations.rate_per_s - 339.0 / 1.7).abs() < 1e-9);
        let stall = operations.stall.unwrap();
        assert_eq!((stall.from_ms, stall.took_ms), (0.0, 300.0));
    }

    #[test]
    fn what_is_not_steady_counts_whole() {
        let from = Instant::now();
        let mut tally = Tally::new(Measured { from, length: Duration::from_secs(1) });
        for interval in 0..10_u64 {
            for _ in 0..1 << interval {
                tally.add(from + Duration::from_millis(interval * 100), answer(Kind::Read, true));
            }
        }
        tally.model(from + Duration::from_millis(950), (1023, 23));
        let (operations, misses) = tally.operations((0, 0));
        assert_eq!((operations.steady_from_ms, operations.unsteady, operations.completed), (None, true, 1023));
        assert_eq!(misses, 1000);
    }
}
