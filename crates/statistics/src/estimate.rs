//! The middle of repeated measurements, and how far it can be trusted.

/// The median of some samples with an interval.
///
/// A median, since a machine that others use spoils single samples, always to
/// one side. The interval needs no assumption about how samples scatter: it
/// lies between two samples, as close as they hold the true median between them
/// with a probability of 95 % or more (sign test). Five samples or fewer cannot
/// say that much; then it is the lowest and the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Estimate {
    /// Of these samples; `None` if there are none or one is not a number.
    pub fn of(samples: &[f64]) -> Option<Estimate> {
        let count = samples.len();
        if count == 0 || samples.iter().any(|sample| !sample.is_finite()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
        let cut = samples_to_cut(count);
        Some(Estimate { median, low: sorted[cut], high: sorted[count - 1 - cut], samples: count })
    }

    /// Of the quotients of paired samples.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Option<Estimate> {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Estimate::of(&ratios)
    }

    /// Of what the one of paired samples has more than the other.
    pub fn of_differences(ours: &[f64], theirs: &[f64]) -> Option<Estimate> {
        let differences: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours - theirs).collect();
        Estimate::of(&differences)
    }
}

/// How many samples may be left out at each end: the most for which the true
/// median lies outside with a probability of at most 5 %. Each sample is above
/// it or below it with the same chance, so that is twice the chance of `cut` or
/// fewer heads in `count` throws.
fn samples_to_cut(count: usize) -> usize {
    let mut term = 0.5f64.powi(count as i32); // the chance of exactly `cut` heads
    let mut sum = term;
    let mut cut = 0;
    loop {
        term *= (count - cut) as f64 / (cut + 1) as f64;
        sum += term;
        if 2.0 * sum > 0.05 {
            return cut;
        }
        cut += 1;
    }
}

/// The median alone; not a number if there are no samples.
pub fn median(samples: &[f64]) -> f64 {
    Estimate::of(samples).map_or(f64::NAN, |estimate| estimate.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_ten_leaves_one_out_at_each_end() {
        // Tables of the sign test: n = 10 cuts 1, n = 20 cuts 5 (the 6th), n = 30 cuts 9.
        for (count, cut) in [(1, 0), (3, 0), (5, 0), (6, 0), (8, 0), (9, 1), (10, 1), (20, 5), (30, 9)] {
            assert_eq!(samples_to_cut(count), cut, "{count} samples");
        }
        let samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let expected = Estimate { median: 5.5, low: 2.0, high: 9.0, samples: 10 };
        assert_eq!(Estimate::of(&samples), Some(expected));
    }

    #[test]
    fn one_bad_sample_in_ten_moves_neither_the_median_nor_the_interval() {
        let mut samples = [0.97; 10];
        samples[4] = 5.0;
        let estimate = Estimate::of(&samples).unwrap();
        assert_eq!((estimate.median, estimate.low, estimate.high), (0.97, 0.97, 0.97));
    }

    #[test]
    fn what_cannot_be_estimated_is_not() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of_ratios(&[1.0, 1.0], &[1.0, 0.0]), None);
    }

    #[test]
    fn ratios_are_of_pairs() {
        let estimate = Estimate::of_ratios(&[1.0, 20.0, 300.0], &[2.0, 40.0, 600.0]).unwrap();
        assert_eq!((estimate.low, estimate.high), (0.5, 0.5));
    }
}
