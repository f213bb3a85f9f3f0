//! Probabilities.

use serde::{Deserialize, Serialize};

/// A probability in parts of a thousand million: exact for every per cent with
/// up to seven decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Probability(u32);

impl Probability {
    /// Never.
    pub const NEVER: Probability = Probability(0);
    /// Always.
    pub const ALWAYS: Probability = Probability(PARTS);

    /// So many parts of a thousand million; `None` beyond all of them.
    pub const fn from_parts(parts: u32) -> Option<Probability> {
        if parts <= PARTS { Some(Probability(parts)) } else { None }
    }

    /// So many of a hundred; `None` beyond a hundred.
    pub const fn percent(percent: u32) -> Option<Probability> {
        if percent <= 100 { Some(Probability(percent * (PARTS / 100))) } else { None }
    }

    /// Parts of a thousand million.
    pub const fn parts(self) -> u32 {
        self.0
    }

    /// From 0 to 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(PARTS)
    }
}

impl From<Probability> for u32 {
    fn from(probability: Probability) -> u32 {
        probability.0
    }
}

impl TryFrom<u32> for Probability {
    type Error = String;

    fn try_from(parts: u32) -> Result<Probability, String> {
        Probability::from_parts(parts).ok_or_else(|| format!("{parts} parts of {PARTS} are no probability"))
    }
}

/// What is certain.
pub(crate) const PARTS: u32 = 1_000_000_000;
