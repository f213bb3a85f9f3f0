//! A slow host's processor, as a model: so many bytes a second, sent and received together, one after another.
//!
//! An agent is one host. Its generators charge what they send and take off sockets here, and wait until the processor would be
//! done with it. What is not read closes TCP's window, so the other end waits, too. It needs no privilege and no cgroup, and
//! is the same on every machine and in every run. A share of the machine's processors would not be: the kernel does most of
//! a host's work in whoever's time it happens to run, which a team changes, so runs with a team and without could not be compared.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::lock;

/// What may be done in a row after a pause.
const BURST: Duration = Duration::from_millis(20);
/// The longest sleep before it is looked at again, so that the end of the traffic is seen.
const LONGEST: Duration = Duration::from_millis(20);
/// What is done at once takes no longer than this.
const PIECE: Duration = Duration::from_millis(1);
/// The least that is done at once, bytes.
const LEAST_PIECE: usize = 2048;

/// The processor of this process's host, if it is slow.
static OF_HOST: OnceLock<Mutex<Processor>> = OnceLock::new();

/// A processor that is busy until a moment.
#[derive(Clone, Copy, Debug)]
struct Processor {
    bytes_per_s: f64,
    busy_until: Instant,
}

impl Processor {
    fn new(bps: u64, now: Instant) -> Processor {
        Processor { bytes_per_s: bps.max(8) as f64 / 8.0, busy_until: now }
    }

    /// Gives it so many bytes to do.
    fn charge(&mut self, now: Instant, bytes: usize) {
        let takes = Duration::from_secs_f64(bytes as f64 / self.bytes_per_s);
        self.busy_until = self.busy_until.max(now.checked_sub(BURST).unwrap_or(now)) + takes;
    }

    /// How long until it takes more; none: at once.
    fn wait(&self, now: Instant) -> Option<Duration> {
        self.busy_until.checked_duration_since(now).filter(|time| !time.is_zero()).map(|time| time.min(LONGEST))
    }
}

/// Makes this process's host a slow one: so many bit/s, sent and received together.
pub fn bound(bps: u64) {
    // An agent is one host, and is set up once.
    let _ = OF_HOST.set(Mutex::new(Processor::new(bps, Instant::now())));
}

/// Waits until the processor takes more, or until `is_over`; at once where it is not bounded.
pub fn wait(is_over: impl Fn() -> bool) {
    let Some(processor) = OF_HOST.get() else { return };
    while !is_over() {
        let wait = lock(processor).wait(Instant::now());
        match wait {
            Some(time) => std::thread::sleep(time),
            None => return,
        }
    }
}

/// The processor has sent or received so many bytes.
pub fn charge(bytes: usize) {
    if let Some(processor) = OF_HOST.get() {
        lock(processor).charge(Instant::now(), bytes);
    }
}

/// At most so many bytes are to be sent or received at once.
pub fn piece(most: usize) -> usize {
    OF_HOST.get().map_or(most, |processor| {
        let piece = lock(processor).bytes_per_s * PIECE.as_secs_f64();
        (piece as usize).max(LEAST_PIECE).min(most)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_over_time_and_not_saved_up() {
        let begin = Instant::now();
        let mut processor = Processor::new(80_000_000, begin);
        let (mut now, mut bytes) = (begin, 0);
        let mut work = |processor: &mut Processor, now: &mut Instant, until: Instant| {
            while *now < until {
                match processor.wait(*now) {
                    Some(time) => *now += time,
                    None => {
                        processor.charge(*now, 10_000);
                        bytes += 10_000;
                    }
                }
            }
            std::mem::take(&mut bytes)
        };
        let first = work(&mut processor, &mut now, begin + Duration::from_secs(1));
        assert!((9_900_000..=10_300_000).contains(&first), "{first} of 10 MB/s");
        now += Duration::from_secs(60);
        let until = now + Duration::from_secs(1);
        let second = work(&mut processor, &mut now, until);
        assert!((9_900_000..=10_300_000).contains(&second), "{second}: a minute's pause is worth twenty milliseconds");
    }
}
