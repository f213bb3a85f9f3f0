//! Disks behind a cache, as a simple model: a share of all operations is answered from the cache, and every other one
//! waits for disks that do so many a second and take so long for each.
//!
//! No I/O and no clock: the caller says when an operation came, and keeps its completion back until the model has it
//! ready. The operation itself is made all the same.

use std::time::Duration;

use crate::mix::mix;

/// What stands between the network and the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskModel {
    /// Share of operations that the cache answers at once, 0 to 1.
    pub hit: f64,
    /// What the disks take for an operation, beside waiting for others.
    pub latency: Duration,
    /// Operations a second that the disks do; no bound if none is given.
    pub iops: Option<f64>,
    /// Which operations hit.
    pub seed: u64,
}

/// A model that operations come to.
#[derive(Clone, Debug)]
pub struct Model {
    terms: DiskModel,
    operations: u64,
    hits: u64,
    /// When the disks have done what came so far.
    free_at: Duration,
}

impl Model {
    /// With idle disks.
    pub fn new(terms: DiskModel) -> Model {
        Model { terms, operations: 0, hits: 0, free_at: Duration::ZERO }
    }

    /// When an operation that came at `now` is ready; `now` if the cache has it. Times count from a start that the
    /// caller chose.
    pub fn ready_at(&mut self, now: Duration) -> Duration {
        let draw = mix(mix(self.terms.seed).wrapping_add(self.operations));
        self.operations += 1;
        // 53 bits: what a double holds.
        let is_hit = ((draw >> 11) as f64) < self.terms.hit * (1_u64 << 53) as f64;
        if is_hit {
            self.hits += 1;
            return now;
        }
        let turn = self
            .terms
            .iops
            .filter(|iops| *iops > 0.0)
            .map_or(Duration::ZERO, |iops| Duration::try_from_secs_f64(1.0 / iops).unwrap_or(Duration::ZERO));
        self.free_at = self.free_at.max(now) + turn;
        self.free_at + self.terms.latency
    }

    /// Operations so far, and how many of them the cache had.
    pub fn counts(&self) -> (u64, u64) {
        (self.operations, self.hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(hit: f64, latency_ms: u64, iops: Option<f64>) -> Model {
        Model::new(DiskModel { hit, latency: Duration::from_millis(latency_ms), iops, seed: 1 })
    }

    #[test]
    fn the_cache_has_its_share_and_answers_at_once() {
        let mut half = model(0.5, 10, None);
        let at_once = (0..10_000).filter(|_| half.ready_at(Duration::ZERO) == Duration::ZERO).count();
        assert!((4800..5200).contains(&at_once), "{at_once}");
        assert_eq!(half.counts(), (10_000, at_once as u64));
        let now = Duration::from_secs(3);
        assert!((0..1000).all(|_| model(1.0, 10, Some(1.0)).ready_at(now) == now));
        assert!((0..1000).all(|_| model(0.0, 10, None).ready_at(now) == now + Duration::from_millis(10)));
    }

    #[test]
    fn disks_do_so_many_a_second_whoever_waits() {
        // T4's random reads: 64 outstanding, 141 a second, 412 ms each.
        let mut disks = model(0.0, 5, Some(141.0));
        let mut outstanding: Vec<Duration> = (0..64).map(|_| disks.ready_at(Duration::ZERO)).collect();
        let mut took = Vec::new();
        for _ in 0..1000 {
            let ready = outstanding.remove(0);
            let next = disks.ready_at(ready);
            took.push(next - ready);
            outstanding.push(next);
        }
        let last = outstanding[0].as_secs_f64();
        assert!((140.0..142.0).contains(&(1000.0 / last)), "{last}");
        let waited = took.last().unwrap().as_secs_f64();
        assert!((0.44..0.46).contains(&waited), "64 of 141 a second: {waited}");
    }

    #[test]
    fn disks_that_were_idle_have_saved_nothing() {
        let mut disks = model(0.0, 0, Some(10.0));
        let (early, late) = (Duration::from_secs(1), Duration::from_secs(100));
        assert_eq!(disks.ready_at(early), early + Duration::from_millis(100));
        assert_eq!(disks.ready_at(late), late + Duration::from_millis(100));
        assert_eq!(disks.ready_at(late), late + Duration::from_millis(200));
    }
}
