//! Probabilities.

/// A probability in parts of a thousand million: exact for every per cent with
/// up to seven decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// What is certain.
pub(crate) const PARTS: u32 = 1_000_000_000;
