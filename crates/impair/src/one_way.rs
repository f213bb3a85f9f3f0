//! One direction of a link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::impairments::{Distribution, Impairments, ImpairmentsError};
use crate::loss::Losing;
use crate::random::Random;

/// One direction of a link: frames go in, and come out late, twice, in another
/// order, or not at all. Deterministic for a seed and the moments of the frames.
///
/// `F` is a frame or a handle on one; only duplicates are cloned. Times count
/// from a start that the caller chose; one that is earlier than a time before
/// it counts as that one. Frames that are on their way take at most [`Room`]:
/// one that finds none is dropped and counted.
#[derive(Clone, Debug)]
pub struct OneWay<F> {
    impairments: Impairments,
    room: Room,
    losing: Losing,
    jitter: Random,
    duplicate: Random,
    reorder: Random,
    corrupt: Random,
    /// By when they are due, then by when they came.
    on_the_way: BinaryHeap<Reverse<Held<F>>>,
    bytes_on_the_way: usize,
    arrivals: u64,
    /// The latest time seen.
    now: Duration,
    /// When the last frame that keeps its place is due.
    last_due: Duration,
    /// Frames delayed since the last that overtook.
    since_reordered: u32,
    counts: Counts,
}

/// How much may be on its way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Frames.
    pub frames: usize,
    /// Bytes of frames: the lengths that [`OneWay::handle_frame`] gets.
    pub bytes: usize,
}

/// 65,536 frames, 64 MiB.
impl Default for Room {
    fn default() -> Room {
        Room { frames: 1 << 16, bytes: 64 << 20 }
    }
}

/// A frame that has arrived at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<F> {
    /// The frame.
    pub frame: F,
    /// When it was due; how much later it is now is the caller's doing.
    pub due: Duration,
    /// The bit that is changed, counted over the frame's bits again and again; none: it arrives as it was sent.
    pub flip: Option<u64>,
}

/// What became of frames. Every frame taken in is in `frames` and, as soon as
/// it has left, in exactly one of `lost`, `crowded_out`, `cleared` and
/// `delivered`; every copy in `duplicated` and in one of the last three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Taken in.
    pub frames: u64,
    /// Lost as declared.
    pub lost: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Not delayed, so that they overtake those before them.
    pub reordered: u64,
    /// With a changed bit, copies left out.
    pub corrupted: u64,
    /// Dropped, copies included, because there was no [`Room`].
    pub crowded_out: u64,
    /// Dropped by [`OneWay::clear`].
    pub cleared: u64,
    /// Given out, copies included.
    pub delivered: u64,
}

impl<F: Clone> OneWay<F> {
    /// With nothing on its way.
    ///
    /// # Errors
    /// Impairments that make no sense.
    pub fn new(impairments: Impairments, seed: u64, room: Room) -> Result<OneWay<F>, ImpairmentsError> {
        impairments.check()?;
        let [fate, weather, jitter, duplicate, reorder, corrupt] =
            [0, 1, 2, 3, 4, 5].map(|stream| Random::new(seed, stream));
        Ok(OneWay {
            impairments,
            room,
            losing: Losing::new(impairments.loss, fate, weather),
            jitter,
            duplicate,
            reorder,
            corrupt,
            on_the_way: BinaryHeap::new(),
            bytes_on_the_way: 0,
            arrivals: 0,
            now: Duration::ZERO,
            last_due: Duration::ZERO,
            since_reordered: 0,
            counts: Counts::default(),
        })
    }

    /// From the next frame on it does this instead. What is on its way is due as before; random numbers go on where they are.
    ///
    /// # Errors
    /// Impairments that make no sense; then nothing changes.
    pub fn change(&mut self, impairments: Impairments) -> Result<(), ImpairmentsError> {
        impairments.check()?;
        self.losing.change(impairments.loss);
        self.impairments = impairments;
        Ok(())
    }

    /// Takes in a frame of so many bytes that was sent at `now`.
    pub fn handle_frame(&mut self, now: Duration, frame: F, bytes: usize) {
        self.now = self.now.max(now);
        self.counts.frames += 1;
        // Every draw is made for every frame, so that no impairment shifts the numbers of another.
        let deviation_ns = self.draw_deviation();
        let is_doubled = self.duplicate.happens(self.impairments.duplicate);
        let may_overtake = self.reorder.happens(self.impairments.reorder.map(|r| r.probability).unwrap_or_default());
        let is_corrupted = self.corrupt.happens(self.impairments.corrupt);
        let flip = is_corrupted.then(|| self.corrupt.number());
        if self.losing.takes_next() {
            self.counts.lost += 1;
            return;
        }
        let overtakes = self.takes_turn(may_overtake);
        let due = self.due(deviation_ns, overtakes);
        self.counts.reordered += u64::from(overtakes);
        self.counts.corrupted += u64::from(is_corrupted);
        if is_doubled {
            self.counts.duplicated += 1;
            self.hold(due, frame.clone(), bytes, flip);
        }
        self.hold(due, frame, bytes, flip);
    }

    /// The next frame that is due at `now`, if one is; call until none is.
    pub fn poll_output(&mut self, now: Duration) -> Option<Output<F>> {
        self.now = self.now.max(now);
        if self.on_the_way.peek()?.0.due > self.now {
            return None;
        }
        let Reverse(Held { due, bytes, frame, flip, .. }) = self.on_the_way.pop()?;
        self.bytes_on_the_way -= bytes;
        self.counts.delivered += 1;
        Some(Output { frame, due, flip })
    }

    /// When the next frame is due: the one reason to be called.
    pub fn poll_timeout(&self) -> Option<Duration> {
        Some(self.on_the_way.peek()?.0.due)
    }

    /// Drops what is on its way: the cable was cut.
    pub fn clear(&mut self) {
        self.counts.cleared += self.on_the_way.len() as u64;
        self.on_the_way.clear();
        self.bytes_on_the_way = 0;
    }

    /// What became of frames so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Frames that are on their way, and their bytes.
    pub fn on_the_way(&self) -> Room {
        Room { frames: self.on_the_way.len(), bytes: self.bytes_on_the_way }
    }

    fn hold(&mut self, due: Duration, frame: F, bytes: usize, flip: Option<u64>) {
        if self.on_the_way.len() >= self.room.frames || bytes > self.room.bytes - self.bytes_on_the_way {
            self.counts.crowded_out += 1;
            return;
        }
        self.bytes_on_the_way += bytes;
        self.on_the_way.push(Reverse(Held { due, arrival: self.arrivals, bytes, frame, flip }));
        self.arrivals += 1;
    }

    fn due(&mut self, deviation_ns: i64, overtakes: bool) -> Duration {
        if overtakes {
            return self.now;
        }
        let delay_ns = self.impairments.delay.as_nanos() as i64;
        let delay_ns = u64::try_from(delay_ns.saturating_add(deviation_ns)).unwrap_or(0);
        let mut due = self.now + Duration::from_nanos(delay_ns);
        if !self.impairments.jitter.may_reorder {
            due = due.max(self.last_due);
        }
        self.last_due = due;
        due
    }

    fn draw_deviation(&mut self) -> i64 {
        let jitter = self.impairments.jitter;
        // At most `LONGEST_DELAY`, far below 2^63 ns.
        let amount_ns = jitter.amount.as_nanos() as u64;
        match jitter.distribution {
            Distribution::Uniform => self.jitter.evenly(amount_ns),
            Distribution::Normal => self.jitter.normally(amount_ns),
        }
    }

    /// Whether a frame overtakes that may: the `gap`th at the earliest
    /// (netem_enqueue in Linux `net/sched/sch_netem.c`).
    fn takes_turn(&mut self, may_overtake: bool) -> bool {
        let delayed_between = self.impairments.reorder.map_or(0, |reorder| reorder.gap - 1);
        let overtakes = may_overtake && self.since_reordered >= delayed_between;
        self.since_reordered = if overtakes { 0 } else { self.since_reordered.saturating_add(1) };
        overtakes
    }
}

/// A frame on its way; compared by when it is due and when it came.
#[derive(Clone, Debug)]
struct Held<F> {
    due: Duration,
    arrival: u64,
    bytes: usize,
    frame: F,
    flip: Option<u64>,
}

impl<F> Held<F> {
    fn place(&self) -> (Duration, u64) {
        (self.due, self.arrival)
    }
}

impl<F> PartialEq for Held<F> {
    fn eq(&self, other: &Held<F>) -> bool {
        self.place() == other.place()
    }
}

impl<F> Eq for Held<F> {}

impl<F> PartialOrd for Held<F> {
    fn partial_cmp(&self, other: &Held<F>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<F> Ord for Held<F> {
    fn cmp(&self, other: &Held<F>) -> std::cmp::Ordering {
        self.place().cmp(&other.place())
    }
}
