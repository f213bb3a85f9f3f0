//! How evenly connections share.

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2),
/// from 1/n, where one has all, to 1, where all have the same. Nothing for no
/// rates, for rates that are all zero and for rates that are no numbers.
pub fn jain_index(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let index = sum * sum / (rates.len() as f64 * squares);
    index.is_finite().then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_one_has_all_to_all_have_the_same() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        let uneven = jain_index(&[3.0, 1.0]).unwrap();
        assert!((uneven - 0.8).abs() < 1e-12, "{uneven}");
    }

    #[test]
    fn no_traffic_has_no_index() {
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[f64::NAN, 1.0]), None);
    }
}
