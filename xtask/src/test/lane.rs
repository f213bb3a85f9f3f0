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
    /// Measures a ratio or a time: nothing beside it.
    Alone,
}

/// Lanes that run side by side.
pub(crate) const TOGETHER: [Lane; 3] = [Lane::Live, Lane::Guest, Lane::Plain];
/// Lanes that run after them.
pub(crate) const APART: [Lane; 1] = [Lane::Alone];

impl Lane {
    /// The lane of a test, by the innermost of the modules it stands in that names one.
    pub(crate) fn of(name: &str) -> Lane {
        let named = |lane: &str| match lane {
            "alone" => Some(Lane::Alone),
            "guest" => Some(Lane::Guest),
            "live" => Some(Lane::Live),
            _ => None,
        };
        name.rsplit("::").find_map(named).unwrap_or(Lane::Plain)
    }

    /// Tests of this lane at once.
    pub(crate) fn workers(self) -> usize {
        match self {
            Lane::Plain => 2,
            Lane::Live => 6,
            Lane::Guest | Lane::Alone => 1,
        }
    }

    /// By how much its tests give way to others (`nice`).
    pub(crate) fn niceness(self) -> i32 {
        match self {
            Lane::Plain => 10,
            Lane::Guest => 5,
            Lane::Live | Lane::Alone => 0,
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Lane::Plain => "plain",
            Lane::Live => "live",
            Lane::Guest => "guest",
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
        assert_eq!(Lane::of("live::stall::alone::b"), Lane::Alone);
        assert_eq!(Lane::of("hash::tests::alone_in_its_name"), Lane::Plain);
    }
}
