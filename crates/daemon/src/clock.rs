//! The clock behind the team's idea of time.

use std::time::{Duration, Instant};

use nicteam_team::Time;

/// Counts a team's time from when it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// Time begins now.
    pub(crate) fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    /// The time now.
    pub(crate) fn now(self) -> Time {
        Time::ZERO + self.start.elapsed()
    }

    /// How long until `deadline`; zero if it has passed.
    pub(crate) fn until(self, deadline: Time) -> Duration {
        deadline.since(self.now())
    }
}
