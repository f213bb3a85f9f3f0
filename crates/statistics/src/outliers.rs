//! Which measurements stand apart from the others.

use crate::median;

/// Fewer do not say what is usual.
const FEWEST: usize = 5;
/// Bound of the modified z-score (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993).
const MOST: f64 = 3.5;
/// Median absolute deviation of a normal distribution, in its standard deviations.
const OF_NORMAL: f64 = 0.6745;
/// Where nearly all are alike, what differs by less than this part of the median is no outlier.
const LEAST_PART: f64 = 0.02;

/// Places of the samples that stand apart, by their distance from the median in median absolute deviations; none of
/// fewer than five samples.
pub fn outliers(samples: &[f64]) -> Vec<usize> {
    if samples.len() < FEWEST || samples.iter().any(|sample| !sample.is_finite()) {
        return Vec::new();
    }
    let middle = median(samples);
    let distances: Vec<f64> = samples.iter().map(|sample| (sample - middle).abs()).collect();
    let usual = median(&distances);
    let stands_apart =
        |distance: f64| OF_NORMAL * distance > MOST * usual && distance > LEAST_PART * middle.abs() && distance > 0.0;
    (0..samples.len()).filter(|place| stands_apart(distances[*place])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_apart_is_named_and_noise_is_not() {
        assert_eq!(outliers(&[94.0, 94.2, 93.9, 70.0, 94.1, 94.0]), [3]);
        assert_eq!(outliers(&[94.0, 94.2, 93.9, 94.3, 94.1, 94.0]), [0; 0]);
        assert_eq!(
            outliers(&[1.0, 1.0, 1.0, 1.0, 1.001]),
            [0; 0],
            "a thousandth is nothing, though all others are alike"
        );
        assert_eq!(outliers(&[1.0, 1.0, 9.0, 1.0]), [0; 0], "too few to say what is usual");
        assert_eq!(outliers(&[0.0, 0.0, 0.0, 0.0, 7.0]), [4]);
    }
}
