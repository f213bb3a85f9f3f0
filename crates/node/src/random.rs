//! Numbers that look random, and are the same everywhere for a seed.

use nicteam_machine::{SPLIT_MIX_STEP, split_mix};

/// SplitMix64 (Steele, Lea, Flood 2014): good enough to choose places and sizes.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// Those of a seed; tasks with other numbers draw others.
    pub fn of(seed: u64, number: u32) -> Random {
        Random(seed.wrapping_add(u64::from(number)).wrapping_mul(SPLIT_MIX_STEP))
    }

    /// The next one.
    pub fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// A number below this one, which is not 0: by the high half of a product (Lemire 2019), whose bias is below 2^-32 for
    /// disks of this world.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to 1, without 1.
    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
