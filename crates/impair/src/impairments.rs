//! What is declared of one direction of a link.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::probability::Probability;

/// The longest delay and jitter that can be declared.
pub const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// The most that a link may be declared to hold in one direction, bytes: who carries frames over it has
/// twice that room.
pub const MOST_ON_THE_WAY: u64 = 128 << 20;

/// What one direction of a link does to frames. The default does nothing.
///
/// The terms are those of Linux's `netem` (tc-netem(8)); where this differs
/// from it is said with each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Impairments {
    /// How long each frame is on its way, at most [`LONGEST_DELAY`].
    pub delay: Duration,
    /// How much that varies.
    pub jitter: Jitter,
    /// Which frames are lost.
    pub loss: Loss,
    /// How often a frame arrives twice. The copy is right behind the original
    /// and meets the same delay; a lost frame has none. (`netem` lets the copy
    /// draw loss and delay anew.)
    pub duplicate: Probability,
    /// Which frames overtake those before them.
    pub reorder: Option<Reorder>,
    /// How often one bit of a frame, at a random place, arrives changed. The copy of a frame has the same change.
    /// (`netem` draws anew for the copy.)
    #[serde(default)]
    pub corrupt: Probability,
}

/// How much the delay varies from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// [`Distribution::Uniform`]: the greatest deviation from the delay, at most
    /// the delay. [`Distribution::Normal`]: the standard deviation. Each frame
    /// draws anew, without correlation.
    pub amount: Duration,
    /// How deviations are distributed.
    pub distribution: Distribution,
    /// Whether a frame with a shorter delay may overtake one before it, as in
    /// `netem`. If not, it waits for that one and leaves at the same moment
    /// behind it, as in the queues of real networks.
    pub may_reorder: bool,
}

/// How deviations from the delay are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Evenly between `delay - jitter` and `delay + jitter`.
    #[default]
    Uniform,
    /// Normally around `delay`, cut at six standard deviations and at no delay at all.
    Normal,
}

/// Which frames are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Each frame with the same probability, whatever became of others.
    Independent(Probability),
    /// In bursts.
    Gemodel(Gemodel),
}

/// The Gilbert-Elliott model, as `netem loss gemodel p r 1-h 1-k` has it: a
/// good and a bad state, each with a loss of its own. A frame is lost or not by
/// the state it meets; then the state may change. It begins in the good state.
///
/// With `1-h` 1 and `1-k` 0, bursts have a length of 1/`r` frames on average,
/// geometrically distributed, and `p / (p + r)` of all frames are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gemodel {
    /// `p`: from the good state to the bad one, each frame.
    pub to_bad: Probability,
    /// `r`: from the bad state to the good one, each frame.
    pub to_good: Probability,
    /// `1-h`: loss in the bad state.
    pub loss_in_bad: Probability,
    /// `1-k`: loss in the good state.
    pub loss_in_good: Probability,
}

/// Which frames overtake: `netem reorder PROBABILITY gap GAP`, without correlation.
///
/// A frame that overtakes is not delayed, so this needs a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a frame overtakes whose turn it is.
    pub probability: Probability,
    /// At least `gap - 1` frames are delayed after one that was not; 1: each frame has its turn.
    pub gap: u32,
}

/// Impairments that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImpairmentsError {
    /// Longer than [`LONGEST_DELAY`].
    #[error("a delay or jitter of more than {LONGEST_DELAY:?}")]
    TooLong,
    /// [`Distribution::Uniform`] would need frames to arrive before they are sent.
    #[error("the jitter is greater than the delay")]
    JitterBeyondDelay,
    /// Without a delay there is nothing that a frame could overtake.
    #[error("reordering without a delay")]
    ReorderWithoutDelay,
    /// A gap of zero.
    #[error("a reordering gap of 0")]
    NoGap,
    /// Once in the bad state it would stay there for ever.
    #[error("the bad state of the loss model has no end: `r` is 0")]
    EndlessBurst,
}

impl Impairments {
    /// Whether they make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), ImpairmentsError> {
        if self.delay > LONGEST_DELAY || self.jitter.amount > LONGEST_DELAY {
            return Err(ImpairmentsError::TooLong);
        }
        if self.jitter.distribution == Distribution::Uniform && self.jitter.amount > self.delay {
            return Err(ImpairmentsError::JitterBeyondDelay);
        }
        match self.reorder {
            Some(reorder) if reorder.gap == 0 => return Err(ImpairmentsError::NoGap),
            Some(_) if self.delay.is_zero() => return Err(ImpairmentsError::ReorderWithoutDelay),
            _ => {}
        }
        match self.loss {
            Loss::Gemodel(model) if model.is_endless() => Err(ImpairmentsError::EndlessBurst),
            _ => Ok(()),
        }
    }

    /// The longest that a frame can be on its way.
    pub fn longest_delay(&self) -> Duration {
        match self.jitter.distribution {
            Distribution::Uniform => self.delay + self.jitter.amount,
            Distribution::Normal => self.delay + 6 * self.jitter.amount,
        }
    }
}

impl Default for Loss {
    fn default() -> Loss {
        Loss::Independent(Probability::NEVER)
    }
}

impl Loss {
    /// The part of many frames that is lost, 0 to 1.
    pub fn mean(&self) -> f64 {
        match self {
            Loss::Independent(probability) => probability.as_f64(),
            Loss::Gemodel(model) => model.mean(),
        }
    }
}

impl Gemodel {
    /// The part of many frames that is lost, 0 to 1.
    pub fn mean(&self) -> f64 {
        let (p, r) = (self.to_bad.as_f64(), self.to_good.as_f64());
        // A model that never leaves the good state.
        let bad = if p > 0.0 { p / (p + r) } else { 0.0 };
        bad * self.loss_in_bad.as_f64() + (1.0 - bad) * self.loss_in_good.as_f64()
    }

    fn is_endless(&self) -> bool {
        self.to_bad > Probability::NEVER && self.to_good == Probability::NEVER
    }
}
