//! How often paths are probed: peers with traffic often, and never more in all
//! than a segment and a process bear.

use std::time::Duration;

use super::neighbour::Neighbour;
use crate::Time;

/// Between two probes of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Paces {
    /// To a peer with traffic, or with a path of which something is to be known soon.
    pub(super) busy: Duration,
    /// To another.
    pub(super) idle: Duration,
    /// That failed.
    pub(super) retry: Duration,
}

/// To a peer without traffic.
const IDLE: Duration = Duration::from_secs(1);
/// Of a path that failed.
pub(super) const RETRY: Duration = Duration::from_millis(500);
/// Probes a second of all paths to peers with traffic, at most.
const BUSY_PER_S: u32 = 2000;
/// Of all others, and of all that failed.
const IDLE_PER_S: u32 = 200;

impl Paces {
    /// Of so many paths; `interval` is what the user wants for peers with traffic.
    pub(super) fn of<'a>(neighbours: impl Iterator<Item = &'a Neighbour>, interval: Duration, now: Time) -> Paces {
        let (mut busy, mut idle, mut failed) = (0, 0, 0);
        for neighbour in neighbours {
            let (regular, retried) = neighbour.probed();
            *(if neighbour.is_busy(now) { &mut busy } else { &mut idle }) += regular as u32;
            failed += retried as u32;
        }
        let second = Duration::from_secs(1);
        Paces {
            busy: interval.max(second * busy / BUSY_PER_S),
            idle: IDLE.max(second * idle / IDLE_PER_S),
            retry: RETRY.max(second * failed / IDLE_PER_S),
        }
    }

    /// The pace of a peer without traffic, longer or shorter by a half as `random`
    /// says, so that not all are probed at once.
    pub(super) fn idle_at(self, random: u64) -> Duration {
        self.idle / 2 + self.idle * u32::from(random as u8) / 255
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
