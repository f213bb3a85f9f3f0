//! Verdicts of values, by examples and by properties.

use nicteam_expect::{Bound, Certainty, Interval, Scale, Verdict};
use proptest::prelude::*;

fn bound(at_least: Option<f64>, at_most: Option<f64>) -> Bound {
    Bound { at_least, at_most }
}

fn verdict(values: &[f64], at_least: f64) -> Verdict {
    Interval::of(values).unwrap().verdict(&bound(Some(at_least), None))
}

#[test]
fn the_whole_interval_decides() {
    let values = [0.95, 0.96, 0.97, 0.96, 0.94, 0.98];
    assert_eq!(verdict(&values, 0.9), Verdict::Holds);
    assert_eq!(verdict(&values, 0.94), Verdict::Holds, "a bound belongs to itself");
    assert_eq!(verdict(&values, 0.96), Verdict::Undecided);
    assert_eq!(verdict(&values, 0.99), Verdict::Missed);
    let between = Interval::of(&values).unwrap().verdict(&bound(Some(0.9), Some(0.95)));
    assert_eq!(between, Verdict::Undecided);
}

#[test]
fn a_bad_repetition_in_ten_decides_nothing() {
    let mut values = [0.97; 10];
    values[3] = 0.2;
    assert_eq!(verdict(&values, 0.9), Verdict::Holds);
    values[4] = 0.2;
    assert_eq!(verdict(&values, 0.9), Verdict::Undecided);
}

#[test]
fn what_few_values_say_is_called_so() {
    let certainty = |values: &[f64]| Interval::of(values).unwrap().certainty;
    assert_eq!(certainty(&[1.0]), Certainty::OneValue);
    assert_eq!(certainty(&[1.0; 5]), Certainty::LowestAndHighest);
    assert_eq!(certainty(&[1.0; 6]), Certainty::NinetyFive);
    let pairs = |count: usize| Interval::of_pairs(Scale::Ratio, &vec![2.0; count], &vec![1.0; count]).unwrap();
    assert_eq!([1, 5, 6].map(|count| pairs(count).certainty), [1, 5, 6].map(|count| certainty(&vec![1.0; count])));
    assert_eq!(verdict(&[0.5], 0.9), Verdict::Missed);
}

#[test]
fn two_runs_are_paired_by_repetition() {
    // Both get slower; the ratio stays.
    let by: Vec<f64> = (1..=8).map(|number| 100.0 / f64::from(number)).collect();
    let values: Vec<f64> = by.iter().map(|value| value * 3.0).collect();
    let ratio = Interval::of_pairs(Scale::Ratio, &values, &by).unwrap();
    assert_eq!(ratio.verdict(&bound(Some(2.999), Some(3.001))), Verdict::Holds);
    let unpaired = Interval::of_sets(Scale::Ratio, &values, &by).unwrap();
    assert_eq!(unpaired.verdict(&bound(Some(2.999), Some(3.001))), Verdict::Undecided);
    let difference = Interval::of_pairs(Scale::Difference, &[5.0, 6.0], &[3.0, 3.0]).unwrap();
    assert_eq!((difference.low, difference.high), (2.0, 3.0));
}

#[test]
fn there_is_no_ratio_to_nothing() {
    assert_eq!(Interval::of_pairs(Scale::Ratio, &[1.0, 2.0], &[0.0, 1.0]), None);
    assert!(Interval::of_pairs(Scale::Difference, &[1.0, 2.0], &[0.0, 1.0]).is_some());
    assert_eq!(Interval::of_sets(Scale::Ratio, &[], &[1.0]), None);
    assert_eq!(Interval::of(&[]), None);
    assert_eq!(Interval::of(&[f64::NAN]), None);
}

#[test]
fn the_worst_verdict_is_that_on_all() {
    use Verdict::{Holds, Missed, Undecided};
    assert_eq!(Verdict::of_all([Holds, Undecided, Holds]), Undecided);
    assert_eq!(Verdict::of_all([Undecided, Missed]), Missed);
    assert_eq!(Verdict::of_all([]), Holds);
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(0.01f64..100.0, 1..30)
}

fn bounds() -> impl Strategy<Value = Bound> {
    (proptest::option::of(0.01f64..100.0), proptest::option::of(0.01f64..100.0)).prop_map(|(one, other)| {
        match (one, other) {
            (Some(one), Some(other)) => bound(Some(one.min(other)), Some(one.max(other))),
            (one, other) => bound(one, other),
        }
    })
}

proptest! {
    #[test]
    fn the_order_of_values_does_not_matter(mut values in values(), bound in bounds()) {
        let before = Interval::of(&values).unwrap().verdict(&bound);
        values.reverse();
        prop_assert_eq!(before, Interval::of(&values).unwrap().verdict(&bound));
    }

    #[test]
    fn values_that_are_all_inside_hold_and_all_outside_are_missed(values in values(), bound in bounds()) {
        let verdict = Interval::of(&values).unwrap().verdict(&bound);
        if values.iter().all(|value| bound.has(*value)) {
            prop_assert_eq!(verdict, Verdict::Holds);
        }
        if values.iter().all(|value| bound.at_least.is_some_and(|least| *value < least)) {
            prop_assert_eq!(verdict, Verdict::Missed);
        }
    }

    #[test]
    fn a_wider_bound_is_never_missed_sooner(values in values(), bound in bounds(), more in 0.0f64..50.0) {
        let wider = Bound {
            at_least: bound.at_least.map(|least| least - more),
            at_most: bound.at_most.map(|most| most + more),
        };
        let interval = Interval::of(&values).unwrap();
        prop_assert!(interval.verdict(&wider) <= interval.verdict(&bound));
    }

    #[test]
    fn a_ratio_does_not_depend_on_the_unit(pairs in proptest::collection::vec((0.01f64..100.0, 0.01f64..100.0), 1..12),
                                            factor in 0.1f64..10.0) {
        let (one, other): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let scaled = |values: &[f64]| values.iter().map(|value| value * factor).collect::<Vec<f64>>();
        let plain = Interval::of_pairs(Scale::Ratio, &one, &other).unwrap();
        let other_unit = Interval::of_pairs(Scale::Ratio, &scaled(&one), &scaled(&other)).unwrap();
        for (a, b) in [(plain.low, other_unit.low), (plain.middle, other_unit.middle), (plain.high, other_unit.high)] {
            prop_assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
        }
    }

    #[test]
    fn the_middle_lies_in_the_interval(pairs in proptest::collection::vec((0.01f64..100.0, 0.01f64..100.0), 1..12)) {
        let (one, other): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        for interval in [
            Interval::of(&one),
            Interval::of_pairs(Scale::Difference, &one, &other),
            Interval::of_sets(Scale::Ratio, &one, &other),
        ] {
            let Interval { middle, low, high, .. } = interval.unwrap();
            prop_assert!(low <= middle + 1e-9 && middle <= high + 1e-9, "{low} {middle} {high}");
        }
    }
}
