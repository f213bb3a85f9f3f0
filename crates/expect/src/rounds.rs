//! How often runs are carried out until everything is decided.

use crate::judge::Judged;

/// How often runs are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// How often so far.
    pub done: u32,
    /// How often at most.
    pub most: u32,
}

impl Rounds {
    /// How many more there should be; 0: all is decided, or no more are allowed.
    pub fn next(&self, judged: &[Judged<'_>]) -> u32 {
        let left = self.most.saturating_sub(self.done);
        if judged.iter().any(Judged::wants_more) { self.done.max(1).min(left) } else { 0 }
    }
}
