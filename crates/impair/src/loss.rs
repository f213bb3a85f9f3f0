//! Which frames are lost.

use crate::impairments::Loss;
use crate::random::Random;

/// The loss of one direction, frame by frame.
#[derive(Clone, Debug)]
pub(crate) struct Losing {
    loss: Loss,
    /// Whether frames are lost.
    fate: Random,
    /// Whether the state changes.
    weather: Random,
    is_bad: bool,
}

impl Losing {
    pub fn new(loss: Loss, fate: Random, weather: Random) -> Losing {
        Losing { loss, fate, weather, is_bad: false }
    }

    /// From now on frames are lost so; random numbers go on where they are.
    pub fn change(&mut self, loss: Loss) {
        (self.loss, self.is_bad) = (loss, false);
    }

    /// True if the next frame is lost.
    pub fn takes_next(&mut self) -> bool {
        match self.loss {
            Loss::Independent(probability) => self.fate.happens(probability),
            Loss::Gemodel(model) => {
                let (lost, changes) = match self.is_bad {
                    true => (model.loss_in_bad, model.to_good),
                    false => (model.loss_in_good, model.to_bad),
                };
                let is_lost = self.fate.happens(lost);
                self.is_bad ^= self.weather.happens(changes);
                is_lost
            }
        }
    }
}
