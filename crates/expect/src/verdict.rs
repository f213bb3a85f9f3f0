//! From repeated values to a verdict.

use nicteam_statistics::{Comparison, Estimate, Scale};

use crate::bound::Bound;

/// What became of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is as expected.
    Holds,
    /// It may be either.
    Undecided,
    /// It is not as expected.
    Missed,
}

/// A middle, and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median; of two runs the Hodges-Lehmann estimate.
    pub middle: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What the ends are.
    pub certainty: Certainty,
}

/// What the ends of an interval are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// There is one value.
    OneValue,
    /// The lowest and the highest value: there are too few for an interval of 95 %.
    LowestAndHighest,
    /// An interval that holds the true value with a probability of 95 %.
    NinetyFive,
}

/// So few values have no interval of 95 %.
const FEW: usize = 5;

impl Verdict {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Undecided => "undecided",
            Verdict::Missed => "missed",
        }
    }

    /// Of several: one that is missed, or else undecided, is the verdict on all.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max().unwrap_or(Verdict::Holds)
    }
}

impl Interval {
    /// Of the values of one run; none if there are none.
    pub fn of(values: &[f64]) -> Option<Interval> {
        let Estimate { median, low, high, samples } = Estimate::of(values)?;
        let certainty = match samples {
            1 => Certainty::OneValue,
            ..=FEW => Certainty::LowestAndHighest,
            _ => Certainty::NinetyFive,
        };
        Some(Interval { middle: median, low, high, certainty })
    }

    /// Of a run expressed by another one, in pairs; none if there are no pairs, or no ratio because a value is not above zero.
    pub fn of_pairs(scale: Scale, values: &[f64], by: &[f64]) -> Option<Interval> {
        let comparison = Comparison::of_pairs_on(scale, by, values)?;
        Interval::compared(&comparison, values.iter().zip(by).map(|(value, by)| scale.apart(*by, *value)))
    }

    /// Of a run expressed by one that was carried out at another time.
    pub fn of_sets(scale: Scale, values: &[f64], by: &[f64]) -> Option<Interval> {
        let comparison = Comparison::of_sets_on(scale, by, values)?;
        Interval::compared(&comparison, values.iter().flat_map(|value| by.iter().map(|by| scale.apart(*by, *value))))
    }

    fn compared(comparison: &Comparison, all: impl Iterator<Item = f64> + Clone) -> Option<Interval> {
        let middle = comparison.middle;
        if let Some((low, high)) = comparison.low.zip(comparison.high) {
            return Some(Interval { middle, low, high, certainty: Certainty::NinetyFive });
        }
        let (low, high) = (all.clone().reduce(f64::min)?, all.clone().reduce(f64::max)?);
        let certainty = if all.count() == 1 { Certainty::OneValue } else { Certainty::LowestAndHighest };
        Some(Interval { middle, low, high, certainty })
    }

    /// Whether it lies in a bound.
    pub fn verdict(&self, bound: &Bound) -> Verdict {
        match () {
            () if bound.has(self.low) && bound.has(self.high) => Verdict::Holds,
            () if bound.misses(self.low, self.high) => Verdict::Missed,
            () => Verdict::Undecided,
        }
    }
}
