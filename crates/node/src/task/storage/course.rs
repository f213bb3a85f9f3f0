//! What the agent's thread and a task's say to each other.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nicteam_record::{EventKind, Stall};

use super::medium::Medium;
use crate::clock;
use crate::lock;
use crate::protocol::{Notice, TaskSample};

/// How often the connections of a disk are looked up.
const LOOK_EACH: Duration = Duration::from_millis(50);

/// How far a run is, and how far its task.
#[derive(Debug)]
pub(in crate::task) struct Course {
    index: u32,
    phase: Mutex<Phase>,
    changed: Condvar,
    progress: Mutex<Option<TaskSample>>,
    sockets: Mutex<Sockets>,
    notices: Mutex<Vec<Notice>>,
    started_ns: AtomicU64,
}

/// Both ends of each connection of a disk, its own first, and when they were looked up.
#[derive(Debug, Default)]
struct Sockets {
    looked: Option<Instant>,
    ends: Vec<(SocketAddr, SocketAddr)>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    started: bool,
    window: Option<Measured>,
    stopped: bool,
}

/// The measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::task) struct Measured {
    /// When it began.
    pub(in crate::task) from: Instant,
    /// How long it is at most.
    pub(in crate::task) length: Duration,
}

impl Course {
    /// Of the task of this number.
    pub(in crate::task) fn new(index: u32) -> Course {
        Course {
            index,
            phase: Mutex::default(),
            changed: Condvar::new(),
            progress: Mutex::default(),
            sockets: Mutex::default(),
            notices: Mutex::default(),
            started_ns: AtomicU64::new(u64::MAX),
        }
    }

    /// The task's number in the run.
    pub(in crate::task) fn index(&self) -> u32 {
        self.index
    }

    /// The payload may flow.
    pub(super) fn start(&self) {
        self.started_ns.store(clock::monotonic_ns(), Ordering::Relaxed);
        lock(&self.phase).started = true;
        self.changed.notify_all();
    }

    /// The measured window begins.
    pub(super) fn begin(&self, length: Duration) {
        lock(&self.phase).window = Some(Measured { from: Instant::now(), length });
        self.changed.notify_all();
    }

    /// The run is over.
    pub(super) fn stop(&self) {
        lock(&self.phase).stopped = true;
        self.changed.notify_all();
    }

    /// Waits until the payload may flow; false: the run is over before.
    pub(in crate::task) fn wait_for_start(&self) -> bool {
        !self.wait_until(|phase| phase.started).stopped
    }

    /// Waits until the measured window begins; none: the run is over before.
    pub(in crate::task) fn wait_for_window(&self) -> Option<Measured> {
        let phase = self.wait_until(|phase| phase.window.is_some());
        phase.window.filter(|_| !phase.stopped)
    }

    /// The measured window, if it has begun.
    pub(in crate::task) fn window(&self) -> Option<Measured> {
        lock(&self.phase).window
    }

    /// True once the run is over.
    pub(in crate::task) fn is_stopped(&self) -> bool {
        lock(&self.phase).stopped
    }

    fn wait_until(&self, is_it: impl Fn(&Phase) -> bool) -> Phase {
        let mut phase = lock(&self.phase);
        while !is_it(&phase) && !phase.stopped {
            phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
        *phase
    }

    /// Tells how far the task is.
    pub(in crate::task) fn tell(&self, progress: TaskSample) {
        *lock(&self.progress) = Some(TaskSample { index: self.index, ..progress });
    }

    pub(super) fn progress(&self) -> Option<TaskSample> {
        lock(&self.progress).clone()
    }

    /// Notes the connections of a disk from time to time, as sessions come and go, and what happened to its paths.
    pub(in crate::task) fn look_at(&self, medium: &mut dyn Medium) {
        let is_due = lock(&self.sockets).looked.is_none_or(|looked| looked.elapsed() >= LOOK_EACH);
        if is_due {
            self.uses(medium);
            self.hear(medium);
        }
    }

    /// Notes what happened to a disk's paths.
    pub(super) fn hear(&self, medium: &mut dyn Medium) {
        let news = medium.notices().into_iter().filter(|notice| self.is_worth_telling(notice));
        lock(&self.notices).extend(news);
    }

    /// What happened since this was asked last.
    pub(super) fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *lock(&self.notices))
    }

    /// Notes the connections of a disk.
    pub(super) fn uses(&self, medium: &dyn Medium) {
        let ends = medium.sockets();
        *lock(&self.sockets) = Sockets { looked: Some(Instant::now()), ends };
    }

    pub(super) fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)> {
        lock(&self.sockets).ends.clone()
    }

    /// Whether something happened since the payload may flow. Before that paths come up, which is nothing to tell.
    fn is_worth_telling(&self, notice: &Notice) -> bool {
        notice.at_ns >= self.started_ns.load(Ordering::Relaxed)
    }
}

/// Something that went wrong, now.
pub(in crate::task) fn trouble(text: String) -> Notice {
    Notice { at_ns: clock::monotonic_ns(), kind: EventKind::Trouble, team: None, member: None, text }
}

/// The longest time in which nothing was answered, in a window of which nothing counts beyond its ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::task) struct Stalls {
    from: Instant,
    last: Instant,
    longest: Option<(Duration, Duration)>,
}

impl Stalls {
    /// From the beginning of a window.
    pub(in crate::task) fn new(from: Instant) -> Stalls {
        Stalls { from, last: from, longest: None }
    }

    /// Something was answered.
    pub(in crate::task) fn answered(&mut self, now: Instant) {
        let took = now.saturating_duration_since(self.last);
        if self.longest.is_none_or(|(_, longest)| took > longest) {
            self.longest = Some((self.last.saturating_duration_since(self.from), took));
        }
        self.last = self.last.max(now);
    }

    /// The longest, where the window ends now and something is outstanding.
    pub(in crate::task) fn until(mut self, end: Instant) -> Option<Stall> {
        self.answered(end);
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        self.longest.map(|(from, took)| Stall { from_ms: milliseconds(from), took_ms: milliseconds(took) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_without_an_answer_is_found_at_the_ends_too() {
        let from = Instant::now();
        let at = |ms| from + Duration::from_millis(ms);
        let stall = |answers: &[u64], end| {
            let mut stalls = Stalls::new(from);
            answers.iter().for_each(|ms| stalls.answered(at(*ms)));
            stalls.until(at(end)).map(|stall| (stall.from_ms, stall.took_ms))
        };
        assert_eq!(stall(&[10, 20, 80, 90], 100), Some((20.0, 60.0)));
        assert_eq!(stall(&[70, 80, 90], 100), Some((0.0, 70.0)));
        assert_eq!(stall(&[10, 20], 100), Some((20.0, 80.0)));
        assert_eq!(stall(&[], 100), Some((0.0, 100.0)));
    }

    #[test]
    fn who_waits_is_let_through_when_the_run_is_over() {
        let course = std::sync::Arc::new(Course::new(3));
        let waits = std::sync::Arc::clone(&course);
        let thread = std::thread::spawn(move || (waits.wait_for_start(), waits.wait_for_window()));
        course.start();
        course.stop();
        assert_eq!(thread.join().unwrap().1, None);
        assert!(course.is_stopped());
    }
}
