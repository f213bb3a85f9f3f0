//! A bound on how often something happens.

use std::time::Duration;

use crate::time::Time;

/// A token bucket: `burst` at once, and one more each `interval`.
///
/// Kept as the time at which it is full again (the generic cell rate algorithm of ITU-T I.371), exact to the
/// nanosecond. In any span of time at most `burst + span / interval` tokens are taken.
/// `bpf/echoes.h` is a twin of this in C.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    burst: u32,
    interval: Duration,
    full_at: Time,
}

impl TokenBucket {
    /// A full one. A `burst` of 0 counts as 1; with an `interval` of zero it is never empty.
    pub const fn new(burst: u32, interval: Duration) -> TokenBucket {
        TokenBucket { burst: if burst == 0 { 1 } else { burst }, interval, full_at: Time::ZERO }
    }

    /// A full one that gives `per_s` a second in the long run; 0 counts as 1.
    pub fn per_second(burst: u32, per_s: u32) -> TokenBucket {
        TokenBucket::new(burst, Duration::from_secs(1) / per_s.max(1))
    }

    /// Burst, interval, and when it is full again.
    pub(crate) fn parts(self) -> (u32, Duration, Time) {
        (self.burst, self.interval, self.full_at)
    }

    /// The one that [`TokenBucket::parts`] came from.
    pub(crate) fn from_parts((burst, interval, full_at): (u32, Duration, Time)) -> TokenBucket {
        TokenBucket { burst, interval, full_at }
    }

    /// Takes a token; false if there is none.
    pub fn take(&mut self, now: Time) -> bool {
        let has = self.next(now) == now;
        if has {
            self.full_at = now.max(self.full_at) + self.interval;
        }
        has
    }

    /// When there is a token: `now`, or later.
    pub fn next(&self, now: Time) -> Time {
        // With less than this to come, there is a token.
        let room = self.interval.saturating_mul(self.burst - 1);
        now + self.full_at.since(now).saturating_sub(room)
    }

    /// True if it is as a new one.
    pub fn is_full(&self, now: Time) -> bool {
        self.full_at <= now
    }

    /// Gets the burst and the interval of `other` and keeps what it has, as the time in which that came.
    pub fn set_rate(&mut self, other: TokenBucket) {
        let whole = |bucket: TokenBucket| bucket.interval.saturating_mul(bucket.burst);
        let full_at = (self.full_at + whole(other)).since(Time::ZERO).saturating_sub(whole(*self));
        *self = TokenBucket { full_at: Time::ZERO + full_at, ..other };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn taken(bucket: &mut TokenBucket, at_ms: u64) -> usize {
        (0..500).filter(|_| bucket.take(Time::from_millis(at_ms))).count()
    }

    #[test]
    fn it_gives_its_burst_and_then_its_rate() {
        let mut bucket = TokenBucket::per_second(100, 1000);
        assert_eq!(taken(&mut bucket, 0), 100);
        assert_eq!(taken(&mut bucket, 7), 7);
        assert_eq!(taken(&mut bucket, 3), 0, "time does not go back");
        assert_eq!(bucket.next(Time::from_millis(3)), Time::from_millis(8));
        assert!(!bucket.is_full(Time::from_millis(106)) && bucket.is_full(Time::from_millis(107)));
        assert_eq!(taken(&mut bucket, 60_000), 100);
    }

    #[test]
    fn with_another_rate_it_keeps_what_it_has() {
        let mut bucket = TokenBucket::new(100, MS);
        assert_eq!(taken(&mut bucket, 1000), 100);
        bucket.set_rate(TokenBucket::new(200, 2 * MS));
        assert_eq!(taken(&mut bucket, 1010), 5);
        bucket.set_rate(TokenBucket::new(10, MS));
        assert_eq!((taken(&mut bucket, 1010), taken(&mut bucket, 1013)), (0, 3));
        assert_eq!(taken(&mut bucket, 2000), 10);
    }

    proptest! {
        /// The same as whole tokens counted one by one.
        #[test]
        fn it_is_as_tokens_that_are_counted(burst in 1..20_u32, interval in 1..50_u64, steps in prop::collection::vec(0..60_u64, 1..200)) {
            let mut bucket = TokenBucket::new(burst, Duration::from_nanos(interval));
            let (mut tokens, mut since, mut now) = (u64::from(burst), 0, 0);
            for step in steps {
                now += step;
                tokens += (now - since) / interval;
                since += (now - since) / interval * interval;
                if tokens >= u64::from(burst) {
                    (tokens, since) = (u64::from(burst), now);
                }
                prop_assert_eq!(bucket.is_full(Time::from_nanos(now)), tokens == u64::from(burst));
                let next = if tokens > 0 { now } else { since + interval };
                prop_assert_eq!(bucket.next(Time::from_nanos(now)), Time::from_nanos(next));
                prop_assert_eq!(bucket.take(Time::from_nanos(now)), tokens > 0);
                tokens = tokens.saturating_sub(1);
            }
        }
    }
}
