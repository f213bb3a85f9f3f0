//! What comparisons say of measurements whose truth is known.

use nicteam_statistics::{Comparison, Scale, Verdict, hold_together};
use proptest::prelude::*;

/// Numbers that look random, the same ones each time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About a normal distribution: twelve uniform ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }

    /// A measurement of 100: noise of one per cent, and three in a hundred spoiled, to one side.
    fn measurement(&mut self) -> f64 {
        let spoiled = if self.next() < 0.03 { 1.0 - 0.3 * self.next() } else { 1.0 };
        100.0 * (1.0 + 0.01 * self.normal()) * spoiled
    }

    fn measurements(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.measurement()).collect()
    }
}

type Compare = fn(&[f64], &[f64]) -> Option<Comparison>;
const BOTH: [Compare; 2] = [Comparison::of_pairs, Comparison::of_sets];

#[test]
fn no_difference_is_seldom_said_to_be_one() {
    for compare in BOTH {
        let mut numbers = Numbers(1);
        let shown = (0..2000).filter(|_| {
            let comparison = compare(&numbers.measurements(10), &numbers.measurements(10)).unwrap();
            comparison.verdict(Comparison::HEADLINE) != Verdict::NotShown
        });
        let shown = shown.count();
        assert!(shown <= 2000 / 32 + 25, "{shown} of 2000");
    }
}

#[test]
fn five_per_cent_are_found_in_ten_pairs_and_lie_in_the_interval() {
    let mut numbers = Numbers(2);
    let (mut found, mut within) = (0, 0);
    for _ in 0..200 {
        let first = numbers.measurements(10);
        let second: Vec<f64> = numbers.measurements(10).into_iter().map(|value| value * 1.05).collect();
        let comparison = Comparison::of_pairs(&first, &second).unwrap();
        found += u32::from(comparison.verdict(Comparison::HEADLINE) == Verdict::Higher);
        within += u32::from((comparison.low.unwrap()..=comparison.high.unwrap()).contains(&1.05));
    }
    assert!(found >= 160, "{found} of 200: some are spoiled by up to 30 %");
    assert!(within >= 185, "{within} of 200");
}

#[test]
fn few_pairs_show_nothing_and_say_so() {
    assert_eq!(Comparison::fewest_pairs(Comparison::HEADLINE), 6);
    for (count, verdict) in [(1, Verdict::TooFew), (5, Verdict::TooFew), (6, Verdict::Higher)] {
        let first: Vec<f64> = (0..count).map(|place| 10.0 + f64::from(place) / 10.0).collect();
        let second: Vec<f64> = first.iter().map(|value| value * 2.0).collect();
        let comparison = Comparison::of_pairs(&first, &second).unwrap();
        assert_eq!((comparison.verdict(Comparison::HEADLINE), comparison.scale), (verdict, Scale::Ratio), "{count}");
        assert!((comparison.middle - 2.0).abs() < 1e-9);
        assert_eq!(comparison.low.is_some(), count > 5);
    }
}

#[test]
fn what_may_be_zero_is_compared_by_its_difference() {
    let comparison = Comparison::of_pairs(&[0.0; 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
    assert_eq!((comparison.scale, comparison.middle), (Scale::Difference, 4.5));
    assert_eq!(comparison.verdict(Comparison::HEADLINE), Verdict::Higher);
    let same = Comparison::of_pairs(&[0.0; 8], &[0.0; 8]).unwrap();
    assert_eq!((same.verdict(Comparison::HEADLINE), same.middle), (Verdict::NotShown, 0.0));
}

#[test]
fn what_cannot_be_compared_is_not() {
    assert_eq!(Comparison::of_pairs(&[], &[]), None);
    assert_eq!(Comparison::of_pairs(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(Comparison::of_sets(&[1.0], &[f64::NAN]), None);
}

#[test]
fn of_many_figures_fewer_hold() {
    assert_eq!(hold_together(&[0.001, 0.02, 0.5], 0.05), [true, true, false]);
    assert_eq!(hold_together(&[0.04, 0.03, 0.5], 0.05), [false, false, false]);
    assert_eq!(hold_together(&[0.03, 0.03, 0.5], 0.05), [true, true, false], "two of them carry each other");
    assert_eq!(hold_together(&[], 0.05), [false; 0]);
}

proptest! {
    #[test]
    fn the_other_way_round_is_the_reverse(
        first in proptest::collection::vec(0.1f64..1e6, 1..12),
        factor in 0.5f64..2.0,
    ) {
        let second: Vec<f64> = first.iter().rev().map(|value| value * factor).collect();
        for compare in BOTH {
            let there = compare(&first, &second).unwrap();
            let back = compare(&second, &first).unwrap();
            prop_assert!((there.middle * back.middle - 1.0).abs() < 1e-6);
            prop_assert!((there.chance - back.chance).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&there.chance) && there.chance >= there.least_chance - 1e-9 || there.chance == 1.0);
            if let (Some(low), Some(high)) = (there.low, there.high) {
                prop_assert!(low <= there.middle * (1.0 + 1e-9) && there.middle <= high * (1.0 + 1e-9));
            }
        }
    }
}
