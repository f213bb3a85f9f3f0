//! How often paths are probed: peers with traffic often, and never more in all
//! than a segment and a process bear.

use std::time::Duration;

use nicteam_machine::state;

/// Between two probes of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paces {
    /// To a peer with traffic whose paths are proven.
    pub(super) busy: Duration,
    /// To any other of which something is to be known soon: whether it works, or still does.
    pub(super) trial: Duration,
    /// To another.
    pub(super) idle: Duration,
    /// That failed, to a peer that is proven.
    pub(super) retry: Duration,
    /// That failed, to one that is not.
    pub(super) unproven_retry: Duration,
}

state!(struct Paces { busy, trial, idle, retry, unproven_retry });

/// Paths by how they are to be probed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// To neighbours with traffic, of which something is to be known soon, and to others.
    pub(super) busy: u32,
    pub(super) trial: u32,
    pub(super) idle: u32,
    /// That failed, to neighbours that are proven, and to others.
    pub(super) failed: u32,
    pub(super) unproven: u32,
}

state!(struct Load { busy, trial, idle, failed, unproven });

impl Load {
    /// Of one neighbour, by whether it is proven: paths that are probed at its pace, and that failed.
    pub(super) fn new(wanted: Wanted, is_proven: bool, (regular, retried): (usize, usize)) -> Load {
        let mut load = Load::default();
        let of = match wanted {
            Wanted::Busy => &mut load.busy,
            Wanted::Trial => &mut load.trial,
            Wanted::Idle => &mut load.idle,
        };
        *of = regular as u32;
        *(if is_proven { &mut load.failed } else { &mut load.unproven }) = retried as u32;
        load
    }

    pub(super) fn plus(self, other: Load) -> Load {
        self.each(other, |own, other| own + other)
    }

    pub(super) fn minus(self, other: Load) -> Load {
        self.each(other, |own, other| own - other)
    }

    fn each(self, other: Load, of: fn(u32, u32) -> u32) -> Load {
        Load {
            busy: of(self.busy, other.busy),
            trial: of(self.trial, other.trial),
            idle: of(self.idle, other.idle),
            failed: of(self.failed, other.failed),
            unproven: of(self.unproven, other.unproven),
        }
    }
}

/// How often a neighbour's paths are to be probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// As [`Paces::busy`].
    Busy,
    /// As [`Paces::trial`].
    Trial,
    /// As [`Paces::idle`].
    Idle,
}

state!(
    enum Wanted {
        Busy,
        Trial,
        Idle,
    }
);

/// To a peer without traffic.
const IDLE: Duration = Duration::from_secs(1);
/// Of a path that failed.
pub(super) const RETRY: Duration = Duration::from_millis(500);
/// Probes a second of all paths to peers with traffic, at most.
const BUSY_PER_S: u32 = 2000;
/// Of all others of which something is to be known soon.
const TRIAL_PER_S: u32 = 500;
/// Of all others; of all that failed, to peers that are proven; of those to peers that are not.
const IDLE_PER_S: u32 = 30;
const RETRY_PER_S: u32 = 100;

impl Paces {
    /// Of so many paths; `interval` is what the user wants for peers with traffic.
    pub(super) fn of(load: Load, interval: Duration) -> Paces {
        let Load { busy, trial, idle, failed, unproven } = load;
        let second = Duration::from_secs(1);
        Paces {
            busy: interval.max(second * busy / BUSY_PER_S),
            trial: interval.max(second * trial / TRIAL_PER_S),
            idle: IDLE.max(second * idle / IDLE_PER_S),
            retry: RETRY.max(second * failed / RETRY_PER_S),
            unproven_retry: RETRY.max(second * unproven / RETRY_PER_S),
        }
    }

    /// Between two probes of a path of which something is to be known soon.
    pub(super) fn quick(self, wanted: Wanted) -> Duration {
        if wanted == Wanted::Busy { self.busy } else { self.trial }
    }

    /// The pace of a peer without traffic, longer or shorter by a half as `random`
    /// says, so that not all are probed at once.
    pub(super) fn idle_at(self, random: u64) -> Duration {
        self.idle / 2 + self.idle * u32::from(random as u8) / 255
    }
}
