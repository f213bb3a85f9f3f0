//! Where a value must lie.

/// A lowest value, a highest one, or both; both belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound {
    /// The lowest value.
    pub at_least: Option<f64>,
    /// The highest value.
    pub at_most: Option<f64>,
}

impl Bound {
    /// Whether a value lies in it.
    pub fn has(&self, value: f64) -> bool {
        self.at_least.is_none_or(|low| value >= low) && self.at_most.is_none_or(|high| value <= high)
    }

    /// Whether no value from `low` to `high` lies in it.
    pub fn misses(&self, low: f64, high: f64) -> bool {
        self.at_least.is_some_and(|least| high < least) || self.at_most.is_some_and(|most| low > most)
    }
}
