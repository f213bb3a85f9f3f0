//! A bound on what may happen in any second.

use nicteam_machine::Time;
use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;

use super::timer::FAST_PERIODIC;

/// Remembers the last `N` times of something that may happen `N` times a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateLimit<const N: usize>([Option<Time>; N]);

impl<const N: usize> State for RateLimit<N> {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        State::take(from).map(RateLimit)
    }
}

impl<const N: usize> Default for RateLimit<N> {
    fn default() -> RateLimit<N> {
        RateLimit([None; N])
    }
}

impl<const N: usize> RateLimit<N> {
    /// Counts one more, or says from when on it may happen.
    pub(super) fn take(&mut self, now: Time) -> Result<(), Time> {
        match self.0[0].map(|oldest| oldest + FAST_PERIODIC) {
            Some(free) if free > now => Err(free),
            _ => {
                self.0.rotate_left(1);
                self.0[N - 1] = Some(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_holds_more_than_the_limit() {
        let mut limit = RateLimit::<3>::default();
        let taken: Vec<u64> = (0..4000).step_by(100).filter(|&ms| limit.take(Time::from_millis(ms)).is_ok()).collect();
        assert_eq!(taken, [0, 100, 200, 1000, 1100, 1200, 2000, 2100, 2200, 3000, 3100, 3200]);
        assert_eq!(limit.take(Time::from_millis(3999)), Err(Time::from_millis(4000)));
    }
}
