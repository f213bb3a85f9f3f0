//! How many frames of a kind the control side takes in, however many arrive. No I/O; time is an argument.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_sys::listen::MOST_KNOWN;
use nicteam_team::{Time, TokenBucket};

/// How many frames are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// A second, in the long run; at least 1.
    pub(crate) per_s: u32,
    /// At once; at least 1.
    pub(crate) burst: u32,
}

/// Bounds the frames of a kind, and says what share of them the kernel is to let through.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    limit: Limit,
    bucket: TokenBucket,
    /// One frame in 2^n is let through to here.
    halvings: u8,
    /// What it was before, which frames that still wait in the socket have passed, and until when they are read.
    halvings_before: u8,
    settles: Time,
    /// Frames that came here since then.
    arrived: u64,
    counted_from: Time,
    handled: u64,
    dropped: u64,
    /// When a frame was refused last.
    refused: Option<Time>,
}

/// Source addresses that spoke for a while when there was no flood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// When each spoke last.
    known: BTreeMap<[u8; 6], Time>,
    /// When each spoke first of those that are not known yet.
    new: BTreeMap<[u8; 6], Time>,
}

/// So long frames are counted before more of them are let through.
pub(crate) const WINDOW: Duration = Duration::from_millis(100);
/// A time in which frames are counted is taken to last that long at least: they come in bursts.
const SHORTEST_WINDOW: Duration = Duration::from_millis(2);
/// So long what waits in a socket is read after another share is let through.
const SETTLING: Duration = Duration::from_millis(5);
/// So long after a frame was refused a flood counts as one.
pub(crate) const QUIET: Duration = Duration::from_secs(5);
/// So long after it spoke first an address is known.
const PROBATION: Duration = Duration::from_secs(5);
/// The most halvings: a frame in two million.
const MOST_HALVINGS: u8 = 21;
/// And so many are taken back at once.
const STEP: u8 = 2;

impl Limit {
    fn bucket(self) -> TokenBucket {
        TokenBucket::per_second(self.burst, self.per_s)
    }
}

impl Gate {
    /// One that lets all through.
    pub(crate) fn new(limit: Limit, now: Time) -> Gate {
        Gate {
            limit,
            bucket: limit.bucket(),
            halvings: 0,
            halvings_before: 0,
            settles: now,
            arrived: 0,
            counted_from: now,
            handled: 0,
            dropped: 0,
            refused: None,
        }
    }

    /// Another limit, from now on.
    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
        self.bucket.set_rate(limit.bucket());
    }

    /// A frame came; true if it is to be handled.
    pub(crate) fn admit(&mut self, now: Time) -> bool {
        let is_old = now < self.settles;
        self.arrived += u64::from(!is_old);
        let admitted = self.bucket.take(now);
        // Each stands for those that the kernel did not let through.
        let halvings = if is_old { self.halvings_before } else { self.halvings };
        self.dropped += (1 << halvings) - u64::from(admitted);
        self.handled += u64::from(admitted);
        if !admitted {
            self.refused = Some(now);
        }
        admitted
    }

    /// So many more were dropped unseen.
    pub(crate) fn add_dropped(&mut self, frames: u64) {
        self.dropped += frames;
    }

    /// After frames came, and each [`WINDOW`] while the gate thins out: true if the kernel
    /// is to let another share through.
    pub(crate) fn adapt(&mut self, now: Time) -> bool {
        let counted = now.since(self.counted_from);
        let rate = (self.arrived << self.halvings) as f64 / counted.max(SHORTEST_WINDOW).as_secs_f64();
        let is_refusing = self.refused.is_some_and(|at| at >= self.counted_from) && self.arrived > 0;
        let enough = f64::from(self.limit.per_s);
        let wanted = (0..MOST_HALVINGS).find(|&n| rate / f64::from(1 << n) <= enough).unwrap_or(MOST_HALVINGS);
        let before = self.halvings;
        if is_refusing && wanted > before {
            self.halvings = wanted;
        } else if counted >= WINDOW {
            // A burst that the bucket has tokens for is no flood.
            self.halvings = wanted.clamp(before.saturating_sub(STEP), before);
        } else {
            return false;
        }
        (self.arrived, self.counted_from) = (0, now);
        if self.halvings > before {
            (self.halvings_before, self.settles, self.counted_from) = (before, now + SETTLING, now + SETTLING);
        }
        if self.halvings > 0 {
            self.refused = Some(now);
        }
        self.halvings != before
    }

    /// One frame in 2^n is to be let through.
    pub(crate) fn halvings(&self) -> u8 {
        self.halvings
    }

    /// Frames that were handled, and about how many were not.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.handled, self.dropped)
    }

    /// True while more come than are handled, and for a while after.
    pub(crate) fn is_flooded(&self, now: Time) -> bool {
        self.refused.is_some_and(|at| now.since(at) < QUIET)
    }
}

impl Sources {
    /// An address spoke, and there is no flood.
    pub(crate) fn hear(&mut self, source: [u8; 6], now: Time) {
        let first = self.new.get(&source).copied();
        if self.knows(source) || first.is_some_and(|first| now.since(first) >= PROBATION) {
            self.new.remove(&source);
            remember(&mut self.known, source, now);
        } else if first.is_none() {
            remember(&mut self.new, source, now);
        }
    }

    /// A flood begins: who spoke but lately may be its sender.
    pub(crate) fn forget_new(&mut self) {
        self.new.clear();
    }

    /// True if it is known.
    pub(crate) fn knows(&self, source: [u8; 6]) -> bool {
        self.known.contains_key(&source)
    }

    /// Those that are known.
    pub(crate) fn known(&self) -> Vec<[u8; 6]> {
        self.known.keys().copied().collect()
    }
}

/// Enters an address; the eldest gives way if there are too many.
fn remember(sources: &mut BTreeMap<[u8; 6], Time>, source: [u8; 6], now: Time) {
    if sources.insert(source, now).is_none() && sources.len() > MOST_KNOWN {
        let eldest = sources.iter().min_by_key(|(_, at)| **at).map(|(source, _)| *source);
        eldest.map(|source| sources.remove(&source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { per_s: 1000, burst: 100 };
    const MS: Duration = Duration::from_millis(1);

    /// Floods a gate at this rate for so long. What it lets through waits in a queue, which holds 300 frames, and
    /// of which 64 are read at once, as often as it takes, each millisecond. How many came to it, and were handled.
    fn flood(gate: &mut Gate, per_ms: u64, ms: u64, now: &mut Time) -> (u64, u64) {
        let (mut came, mut handled, mut odd) = (0, 0, 0_u64);
        for _ in 0..ms {
            *now = *now + MS;
            let mut queue = 0;
            for _ in 0..per_ms {
                odd += 1;
                queue += u64::from(odd % (1 << gate.halvings()) == 0 && queue < 300);
            }
            while queue > 0 {
                let at_once = queue.min(64);
                queue -= at_once;
                came += at_once;
                handled += (0..at_once).filter(|_| gate.admit(*now)).count() as u64;
                gate.adapt(*now);
            }
            gate.adapt(*now);
        }
        (came, handled)
    }

    #[test]
    fn a_flood_is_thinned_out_to_the_limit_and_let_through_again() {
        // What overflows the queue is counted elsewhere.
        for per_ms in [2, 20, 200] {
            let (mut gate, mut now) = (Gate::new(LIMIT, Time::ZERO), Time::ZERO);
            flood(&mut gate, per_ms, 500, &mut now);
            assert!(gate.is_flooded(now));
            let (came, handled) = flood(&mut gate, per_ms, 1000, &mut now);
            // The gate lets one frame in 2^n through, but never less than half the limit.
            assert!((400..=2200).contains(&came) && handled <= 1001, "{per_ms} a ms: {came} came, {handled} handled");
            let (handled, dropped) = gate.counts();
            let counted = (handled + dropped) as f64 / (per_ms * 1500) as f64;
            assert!((0.7..1.3).contains(&counted), "{per_ms} a ms: {counted} of them counted");
            for _ in 0..20 {
                now = now + WINDOW;
                gate.adapt(now);
            }
            assert_eq!(gate.halvings(), 0, "{per_ms} a ms");
            now = now + QUIET;
            assert!(!gate.is_flooded(now) && gate.admit(now));
        }
    }

    #[test]
    fn what_keeps_to_the_limit_is_all_handled() {
        let (mut gate, mut now) = (Gate::new(LIMIT, Time::ZERO), Time::ZERO);
        // A burst, then the rate itself.
        let (came, handled) = flood(&mut gate, 90, 1, &mut now);
        let (more, also) = flood(&mut gate, 1, 3000, &mut now);
        assert_eq!((came + more, gate.halvings()), (handled + also, 0));
        assert!(!gate.is_flooded(now));
    }

    #[test]
    fn sources_that_spoke_for_a_while_are_known_the_latest_of_them() {
        let source = |n: usize| [2, 0, 0, 0, (n >> 8) as u8, n as u8];
        let (mut sources, long) = (Sources::default(), PROBATION.as_millis() as u64);
        for n in 0..MOST_KNOWN as u64 + 10 {
            let at = n * 2 * long;
            for (n, at) in [(n, at), (n, at + long), (0, at)] {
                sources.hear(source(n as usize), Time::from_millis(at));
            }
        }
        assert!(sources.knows(source(0)) && !sources.knows(source(1)) && sources.knows(source(MOST_KNOWN)));
        assert_eq!(sources.known().len(), MOST_KNOWN);
    }

    #[test]
    fn who_spoke_only_just_before_a_flood_is_not_known() {
        let (mut sources, at) = (Sources::default(), Time::from_millis);
        let long = PROBATION.as_millis() as u64;
        sources.hear([2; 6], at(0));
        sources.hear([2; 6], at(long - 1));
        sources.forget_new();
        sources.hear([2; 6], at(long));
        assert!(!sources.knows([2; 6]));
        sources.hear([2; 6], at(2 * long));
        assert!(sources.knows([2; 6]));
    }
}
