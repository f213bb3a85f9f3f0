//! What may run beside what.

use std::fmt;

/// A lane: tests that go together with the same others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// Computes: a processor each.
    Plain,
    /// Mostly waits, for timers of hosts in namespaces: several at once.
    Live,
    /// Emulates a processor: one at a time.
    Guest,
    /// Counts lost frames at moments that a busy machine would move: a few at once, and nothing that computes beside them.
    Quiet,
    /// Measures a ratio or a time: nothing beside it.
    Alone,
}

/// Lanes that run side by side, one group after another.
pub(crate) const GROUPS: [&[Lane]; 3] = [&[Lane::Live, Lane::Guest, Lane::Plain], &[Lane::Quiet], &[Lane::Alone]];

impl Lane {
    /// The lane of a test, by the innermost of the modules it stands in that names one.
    pub(crate) fn of(name: &str) -> Lane {
        let named = |lane: &str| match lane {
            "alone" => Some(Lane::Alone),
            "quiet" => Some(Lane::Quiet),
            "guest" => Some(Lane::Guest),
            "live" => Some(Lane::Live),
            _ => None,
        };
        name.rsplit("::").find_map(named).unwrap_or(Lane::Plain)
    }

    /// Tests of this lane at once on so many processors: a live one waits most of its time.
    pub(crate) fn workers(self, processors: usize) -> usize {
        match self {
            Lane::Plain => processors,
            Lane::Live => 4 * processors,
            Lane::Quiet => 2 * processors,
            Lane::Guest | Lane::Alone => 1,
        }
    }

    /// By how much its tests give way to others (`nice`).
    pub(crate) fn niceness(self) -> i32 {
        match self {
            Lane::Plain => 10,
            Lane::Guest | Lane::Live | Lane::Quiet | Lane::Alone => 0,
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Lane::Plain => "plain",
            Lane::Live => "live",
            Lane::Guest => "guest",
            Lane::Quiet => "quiet",
            Lane::Alone => "alone",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_of_a_test_name_its_lane() {
        assert_eq!(Lane::of("live::stripe::both_ways"), Lane::Live);
        assert_eq!(Lane::of("a::alone::b"), Lane::Alone);
        assert_eq!(Lane::of("quiet::stripe::alone::b"), Lane::Alone);
        assert_eq!(Lane::of("hash::tests::alone_in_its_name"), Lane::Plain);
    }
}
