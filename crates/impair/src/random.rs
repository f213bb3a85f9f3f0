//! Random numbers that depend on a seed alone.

use nicteam_machine::split_mix;

use crate::probability::{PARTS, Probability};

/// Draws from [`split_mix`].
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Streams of one seed are independent of each other.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut mixed = Random(seed);
        let start = mixed.next() ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93);
        Random(Random(start).next())
    }

    /// True with this probability. Takes a number even if there is nothing to decide.
    pub fn happens(&mut self, probability: Probability) -> bool {
        self.below(PARTS) < probability.parts()
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.next()
    }

    /// From 0 to `bound`, the latter left out; by multiplication, off by less than `bound` / 2^64.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }

    /// Evenly from `-most` to `most`.
    pub fn evenly(&mut self, most: u64) -> i64 {
        let width = u128::from(most) * 2 + 1;
        let offset = (u128::from(self.next()) * width) >> 64;
        (offset as i128 - i128::from(most)) as i64
    }

    /// About normally with this standard deviation: the sum of twelve even
    /// numbers (Irwin-Hall), so never further than six deviations. Whole
    /// numbers alone, so that every machine computes the same.
    pub fn normally(&mut self, deviation: u64) -> i64 {
        // Each is even over a width of one deviation and so has a variance of a twelfth.
        let sum: u128 = (0..12).map(|_| (u128::from(self.next()) * u128::from(deviation)) >> 64).sum();
        (sum as i128 - 6 * i128::from(deviation)) as i64
    }

    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut random = Random::new(1, 0);
        let even: Vec<i64> = (0..1000).map(|_| random.evenly(2)).collect();
        assert_eq!((even.iter().min(), even.iter().max()), (Some(&-2), Some(&2)));
        assert_eq!((random.evenly(0), random.normally(0)), (0, 0));
        assert!((0..1000).all(|_| !random.happens(Probability::NEVER) && random.happens(Probability::ALWAYS)));
        assert!((0..1000).all(|_| random.normally(1000).abs() <= 6000));
        // The longest that a duration of ten seconds can ask for is far inside.
        assert!(random.evenly(u64::from(u32::MAX)).unsigned_abs() <= u64::from(u32::MAX));
    }

    #[test]
    fn streams_and_seeds_differ() {
        let mut first: Vec<u64> = Vec::new();
        for seed in 0..10 {
            first.extend((0..10).map(|stream| Random::new(seed, stream).next()));
        }
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 100);
    }
}
