//! What is measured of a path: latency, and delivery rate while it is busy.
//!
//! Each direction of a path is taken for a queue with one server behind a latency. The delivery rate is the sum of
//! bytes over the time in which anything was outstanding; so it is right when several answers are read at once, and it
//! is what the path was used for where that is less than what it can carry. A better measurement needs more requests:
//! [`Measure::has_room`] always leaves room for some more than was delivered.

use std::time::Duration;

use crate::Kind;

/// After so many answers an old one counts for about a third.
const MEMORY: f64 = 32.0;
/// What was measured so long ago counts for a quarter of it.
const STALE: Duration = Duration::from_millis(200);
/// The least latency is that of the last one to two of these in which a command met an idle path.
const LATENCY_WINDOW: Duration = Duration::from_secs(1);
/// An answer is late when it takes twice as long as expected, and so long.
const LATE: Duration = Duration::from_millis(5);
/// So much more than it delivers within its latency a path may have outstanding: where it is not yet full it delivers
/// more then.
const ABOVE: f64 = 1.25;
/// What is assumed of a path before its first answer, in bytes a second; a gigabit link's.
const ASSUMED_RATE: f64 = 117e6;

/// One path's measurements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measure {
    reads: Direction,
    writes: Direction,
    /// The last time that anything was sent or answered.
    used: Duration,
}

/// One direction: data come by reads, go by writes.
#[derive(Clone, Debug, Default)]
struct Direction {
    /// Outstanding commands.
    commands: usize,
    /// Their bytes.
    bytes: u64,
    /// From this time on the server works at what is outstanding.
    busy_since: Duration,
    /// The last answer.
    answered: Duration,
    /// Bytes that were delivered.
    delivered: f64,
    /// In so many seconds.
    seconds: f64,
    /// The quickest answers of this window and of the last one.
    quickest: [Option<Answer>; 2],
    window_ends: Duration,
    /// When a command was sent last while nothing was outstanding.
    sent_alone: Option<Duration>,
}

/// How long a command took.
#[derive(Clone, Copy, Debug)]
struct Answer {
    took: Duration,
    bytes: u64,
    /// Nothing else was outstanding in its direction when it was sent.
    alone: bool,
}

impl Measure {
    /// A command is sent. Flushes move no data and are not measured.
    pub(crate) fn sent(&mut self, kind: Kind, bytes: u64, now: Duration) {
        self.used = now;
        let Some(direction) = self.direction_mut(kind) else { return };
        if direction.commands == 0 {
            direction.busy_since = now + direction.base().unwrap_or_default();
            direction.sent_alone = Some(now);
        }
        direction.commands += 1;
        direction.bytes += bytes;
    }

    /// It was answered; `good`: it was executed.
    pub(crate) fn answered(&mut self, kind: Kind, bytes: u64, sent: Duration, good: bool, now: Duration) {
        self.used = now;
        let Some(direction) = self.direction_mut(kind) else { return };
        direction.commands = direction.commands.saturating_sub(1);
        direction.bytes = direction.bytes.saturating_sub(bytes);
        if good && bytes > 0 {
            let busy = now.saturating_sub(direction.answered.max(sent));
            let keep = if now.saturating_sub(direction.answered) > STALE { 0.25 } else { 1.0 - 1.0 / MEMORY };
            direction.delivered = direction.delivered * keep + bytes as f64;
            direction.seconds = direction.seconds * keep + busy.as_secs_f64();
            let alone = direction.sent_alone.take_if(|at| *at == sent).is_some();
            direction.take_answer(Answer { took: now.saturating_sub(sent), bytes, alone }, now);
        }
        direction.answered = now;
        direction.busy_since = now;
    }

    /// When a command that is sent now would be answered, as time from now.
    ///
    /// If the next answer of a path is overdue, the path is assumed to need as long again as it is late.
    pub(crate) fn finish(&self, kind: Kind, bytes: u64, assumed: f64, now: Duration) -> Duration {
        let Some(direction) = self.direction(kind) else { return Duration::ZERO };
        let base = direction.base().unwrap_or_default();
        let start = if direction.commands == 0 {
            base
        } else {
            let work = direction.time_for(direction.bytes as f64, assumed);
            let first = direction.time_for(direction.first(), assumed);
            let elapsed = now.saturating_sub(direction.busy_since);
            let ahead = direction.busy_since.saturating_sub(now);
            let late = elapsed.saturating_sub(first);
            base.max(ahead + work.saturating_sub(elapsed.min(first)) + late)
        };
        start + direction.time_for(bytes as f64, assumed)
    }

    /// The same of a path with nothing to do.
    pub(crate) fn unloaded(&self, kind: Kind, bytes: u64, assumed: f64) -> Duration {
        let Some(direction) = self.direction(kind) else { return Duration::ZERO };
        direction.base().unwrap_or_default() + direction.time_for(bytes as f64, assumed)
    }

    /// How long the path needs for what is outstanding in a direction and a command of so many bytes.
    pub(crate) fn service_time(&self, kind: Kind, bytes: u64, assumed: f64) -> Duration {
        let Some(direction) = self.direction(kind) else { return Duration::ZERO };
        direction.time_for((direction.bytes + bytes) as f64, assumed)
    }

    /// True if a command of so many bytes would add to what the path delivers, or might: it has not much more
    /// outstanding than it delivers within the least latency, and no answer is long overdue.
    pub(crate) fn has_room(&self, kind: Kind, bytes: u64, assumed: f64, now: Duration) -> bool {
        let Some(direction) = self.direction(kind) else { return true };
        let rate = direction.rate().unwrap_or(assumed);
        let pipe = rate * direction.quickest().map_or(0.0, |answer| answer.took.as_secs_f64());
        let fits = (direction.bytes as f64) < pipe * ABOVE + bytes as f64 / 2.0;
        fits && ![&self.reads, &self.writes].iter().any(|direction| direction.is_late(assumed, now))
    }

    /// The delivery rate while busy, in bytes a second; none before the first answer.
    pub(crate) fn rate(&self, kind: Kind) -> Option<f64> {
        self.direction(kind)?.rate()
    }

    /// The least latency of late, without the time that the data take.
    pub(crate) fn latency(&self) -> Option<Duration> {
        let both = [&self.reads, &self.writes];
        both.iter().filter_map(|direction| direction.base()).min()
    }

    /// The last time that a command was sent or answered.
    pub(crate) fn used(&self) -> Duration {
        self.used
    }

    fn direction(&self, kind: Kind) -> Option<&Direction> {
        match kind {
            Kind::Read => Some(&self.reads),
            Kind::Write => Some(&self.writes),
            Kind::Flush => None,
        }
    }

    fn direction_mut(&mut self, kind: Kind) -> Option<&mut Direction> {
        match kind {
            Kind::Read => Some(&mut self.reads),
            Kind::Write => Some(&mut self.writes),
            Kind::Flush => None,
        }
    }
}

impl Direction {
    fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.delivered / self.seconds)
    }

    /// How long it delivers so many bytes.
    fn time_for(&self, bytes: f64, assumed: f64) -> Duration {
        seconds(bytes / self.rate().unwrap_or(assumed))
    }

    /// The latency of an answer without the time that its data took.
    fn without_data(&self, answer: Answer) -> Duration {
        answer.took.saturating_sub(self.time_for(answer.bytes as f64, f64::INFINITY))
    }

    /// The quickest answer of late.
    fn quickest(&self) -> Option<Answer> {
        self.quickest.iter().flatten().copied().min_by_key(|answer| self.without_data(*answer))
    }

    /// The least latency of late.
    fn base(&self) -> Option<Duration> {
        self.quickest().map(|answer| self.without_data(answer))
    }

    fn take_answer(&mut self, answer: Answer, now: Duration) {
        // So much was certainly delivered while it was on its way: one answer is enough to see that a path is fast
        // again.
        let took = answer.took.as_secs_f64();
        if self.rate().is_some_and(|rate| rate * took < answer.bytes as f64) && took > 0.0 {
            (self.delivered, self.seconds) = (answer.bytes as f64, took);
        }
        // Answers to commands that had to queue say nothing against a latency that was seen before.
        if answer.alone && now >= self.window_ends {
            let follows = now < self.window_ends + LATENCY_WINDOW;
            self.quickest = [None, self.quickest[0].filter(|_| follows)];
            self.window_ends = now + LATENCY_WINDOW;
        }
        let least = self.quickest[0].filter(|least| self.without_data(*least) <= self.without_data(answer));
        self.quickest[0] = Some(least.unwrap_or(answer));
    }

    /// The bytes of the command that is served, on average.
    fn first(&self) -> f64 {
        self.bytes as f64 / self.commands.max(1) as f64
    }

    fn is_late(&self, assumed: f64, now: Duration) -> bool {
        let expected = self.time_for(self.first(), assumed) + self.base().unwrap_or_default();
        self.commands > 0 && now.saturating_sub(self.busy_since) > expected * 2 + LATE
    }
}

/// What to assume of paths that have not answered yet: what the others reach.
pub(crate) fn assumed_rate<'a>(measures: impl Iterator<Item = &'a Measure>, kind: Kind) -> f64 {
    let rates = measures.filter_map(|measure| measure.rate(kind));
    let (sum, count) = rates.fold((0.0, 0), |(sum, count), rate| (sum + rate, count + 1));
    if count == 0 { ASSUMED_RATE } else { sum / f64::from(count) }
}

/// So many seconds, at most an hour.
fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))
}
