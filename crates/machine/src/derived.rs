//! What follows from secrets, so that a recording has it and not the secrets.
//!
//! Stamps of probes and challenges, and whether a tag is by one of our keys, are all that a secret decides of a team's
//! course. While a team is recorded they are noted; where a recording is replayed, they are given.

use std::collections::VecDeque;

/// Where such numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// They are computed.
    #[default]
    Secrets,
    /// They are computed, and noted.
    Noted,
    /// They are those of a recording.
    Recording,
}

/// The numbers, in the order in which they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    source: Source,
    numbers: VecDeque<u64>,
}

impl Derived {
    /// The next one. Where a recording lacks it, its team took another course, and it is computed.
    pub fn number(&mut self, compute: impl FnOnce() -> u64) -> u64 {
        match self.source {
            Source::Secrets => compute(),
            Source::Noted => {
                let number = compute();
                self.numbers.push_back(number);
                number
            }
            Source::Recording => self.numbers.pop_front().unwrap_or_else(compute),
        }
    }

    /// Numbers come from there from now on.
    pub fn set_source(&mut self, source: Source) {
        (self.source, self.numbers) = (source, VecDeque::new());
    }

    /// Those that were noted, or not asked for, since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = u64> {
        self.numbers.drain(..)
    }

    /// The next ones of a recording.
    pub fn give(&mut self, numbers: &[u64]) {
        self.numbers = numbers.iter().copied().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_given_again() {
        let mut derived = Derived::default();
        assert_eq!((derived.number(|| 7), derived.take().count()), (7, 0));
        derived.set_source(Source::Noted);
        assert_eq!([derived.number(|| 8), derived.number(|| 9)], [8, 9]);
        let noted: Vec<u64> = derived.take().collect();
        assert_eq!(noted, [8, 9]);
        derived.set_source(Source::Recording);
        derived.give(&noted);
        assert_eq!([derived.number(|| 1), derived.number(|| 1), derived.number(|| 1)], [8, 9, 1]);
    }
}
