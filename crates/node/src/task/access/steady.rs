//! From when on the figures of a closed loop count.
//!
//! The measured window is cut into intervals. Its steady state begins with the first three in a row whose mean rate is
//! within 10 % of the median of all of them: neither a start that is slow, nor one that is too fast because caches were
//! empty, counts. Where there are no such three, the whole window counts, and the record says so. `docs/storage.md` has
//! the rule for users.

/// Intervals of a window, where they are not shorter than a tenth of a second.
pub(super) const INTERVALS: u32 = 20;
/// How many in a row have to be near the median.
const IN_A_ROW: usize = 3;
/// How near, as a part of it.
const NEAR: f64 = 0.1;

/// The first interval of the steady state; none: there is none.
pub(super) fn steady_from(operations: &[u64]) -> Option<usize> {
    let mut sorted = operations.to_vec();
    sorted.sort_unstable();
    let median = match sorted.len() {
        0 => return None,
        even if even % 2 == 0 => (sorted[even / 2 - 1] + sorted[even / 2]) as f64 / 2.0,
        odd => sorted[odd / 2] as f64,
    };
    if median <= 0.0 {
        return None;
    }
    let is_near = |row: &[u64]| {
        let mean = row.iter().sum::<u64>() as f64 / IN_A_ROW as f64;
        (mean - median).abs() <= NEAR * median
    };
    operations.windows(IN_A_ROW).position(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_and_a_fast_one_do_not_count() {
        assert_eq!(steady_from(&[100; 20]), Some(0));
        assert_eq!(steady_from(&[0, 20, 60, 100, 101, 99, 100, 100, 100, 102]), Some(3));
        assert_eq!(steady_from(&[300, 250, 180, 104, 100, 99, 100, 100, 100, 102]), Some(3));
    }

    #[test]
    fn a_dip_later_changes_nothing() {
        assert_eq!(steady_from(&[100, 100, 100, 0, 0, 100, 100, 100, 100]), Some(0));
    }

    #[test]
    fn what_never_settles_is_not_steady() {
        assert_eq!(steady_from(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512]), None);
        assert_eq!(steady_from(&[0; 20]), None, "nothing is answered");
        assert_eq!(steady_from(&[100, 100]), None, "too few to tell");
        assert_eq!(steady_from(&[]), None);
    }

    #[test]
    fn ten_per_cent_is_near_enough() {
        // The median is 100; the first three have 110 on average, or 111.
        assert_eq!(steady_from(&[110, 110, 110, 100, 100, 100, 100, 100]), Some(0));
        assert_eq!(steady_from(&[111, 111, 111, 100, 100, 100, 100, 100]), Some(1));
    }
}
