//! The fewest faults with which a run fails.

use std::collections::BTreeSet;
use std::convert::Infallible;

use nicteam_chaos::shrink;
use proptest::prelude::*;

fn found(all: usize, fails: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
    let mut tries = 0;
    let all: Vec<usize> = (0..all).collect();
    let fewest = shrink(&all, |some| {
        tries += 1;
        Ok::<bool, Infallible>(fails(some))
    });
    (fewest.unwrap_or_else(|never| match never {}), tries)
}

proptest! {
    /// Those that fail together are planted, and found, whatever stands between them.
    #[test]
    fn a_planted_set_is_found(all in 1..200_usize, planted in prop::collection::btree_set(0..200_usize, 1..=3)) {
        let planted: BTreeSet<usize> = planted.into_iter().map(|place| place % all).collect();
        let (fewest, tries) = found(all, |some| planted.iter().all(|fault| some.contains(fault)));
        prop_assert_eq!(fewest, planted.iter().copied().collect::<Vec<_>>());
        prop_assert!(tries <= 40 + 20 * planted.len() * usize::BITS as usize, "{} tries", tries);
    }

    /// Of several ways to fail one is found, and nothing beside it.
    #[test]
    fn one_of_several_sets_is_found(
        all in 10..100_usize,
        sets in prop::collection::vec(prop::collection::btree_set(0..100_usize, 1..=3), 1..4),
    ) {
        let sets: Vec<BTreeSet<usize>> =
            sets.into_iter().map(|set| set.into_iter().map(|place| place % all).collect()).collect();
        let fails = |some: &[usize]| sets.iter().any(|set| set.iter().all(|fault| some.contains(fault)));
        let (fewest, _) = found(all, fails);
        prop_assert!(fails(&fewest) && fewest.len() <= 3);
        for left_out in &fewest {
            let without: Vec<usize> = fewest.iter().copied().filter(|fault| fault != left_out).collect();
            prop_assert!(!fails(&without), "{:?} fails without {}", fewest, left_out);
        }
    }

    /// It need not be monotonous: more faults may hide a failure.
    #[test]
    fn what_is_found_fails(all in 2..60_usize, modulus in 2..7_usize) {
        let fails = |some: &[usize]| !some.is_empty() && some.iter().sum::<usize>() % modulus == 0 || some.len() == all;
        let (fewest, _) = found(all, fails);
        prop_assert!(fails(&fewest));
    }
}

#[test]
fn the_order_stays_and_an_error_ends_it() {
    let wanted = ["c", "a", "d"];
    let found = shrink(&["x", "c", "y", "a", "d"], |some| {
        Ok::<_, Infallible>(some.iter().filter(|it| wanted.contains(it)).eq(wanted.iter()))
    });
    assert_eq!(found.unwrap(), wanted);
    assert_eq!(shrink(&[1, 2, 3], |_| Err("no machine")), Err("no machine"));
    assert_eq!(shrink(&[1], |_| Err("nobody is asked")), Ok(vec![1]));
}
