//! Deadlines as a table with a line for each reason to wait.

use std::marker::PhantomData;

use crate::bytes::{Reader, Unreadable};
use crate::state::State;
use crate::time::Time;

/// A reason to wait that owns one of `LINES` lines of a table.
pub trait Reason<const LINES: usize>: Copy {
    /// Its line, below `LINES`.
    fn line(self) -> usize;

    /// The reason that owns a line.
    fn of_line(line: usize) -> Option<Self>;
}

/// The deadlines, by reason.
#[derive(Clone, Debug)]
pub struct Timers<R, const LINES: usize> {
    lines: [Option<Time>; LINES],
    reasons: PhantomData<R>,
}

impl<R, const LINES: usize> State for Timers<R, LINES> {
    fn put(&self, to: &mut Vec<u8>) {
        self.lines.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(Timers { lines: State::take(from)?, reasons: PhantomData })
    }
}

impl<R: Reason<LINES>, const LINES: usize> Default for Timers<R, LINES> {
    fn default() -> Self {
        Timers::new()
    }
}

impl<R: Reason<LINES>, const LINES: usize> Timers<R, LINES> {
    /// Nothing is awaited.
    pub fn new() -> Timers<R, LINES> {
        Timers { lines: [None; LINES], reasons: PhantomData }
    }

    /// Sets or moves a deadline.
    pub fn set(&mut self, reason: R, at: Time) {
        self.lines[reason.line()] = Some(at);
    }

    /// Forgets a deadline, if it was set.
    pub fn stop(&mut self, reason: R) {
        self.lines[reason.line()] = None;
    }

    /// True if a deadline is set.
    pub fn is_set(&self, reason: R) -> bool {
        self.at(reason).is_some()
    }

    /// The deadline, if it is set.
    pub fn at(&self, reason: R) -> Option<Time> {
        self.lines[reason.line()]
    }

    /// The earliest deadline; of equal ones the first line's.
    pub fn next(&self) -> Option<(Time, R)> {
        let set = self.lines.iter().enumerate().filter_map(|(line, at)| Some(((*at)?, line)));
        let (at, line) = set.min()?;
        Some((at, R::of_line(line)?))
    }

    /// Takes out every deadline that has come.
    pub fn take_due(&mut self, now: Time) -> Vec<R> {
        let due = |at: &mut Option<Time>| at.take_if(|at| *at <= now).is_some();
        self.lines
            .iter_mut()
            .enumerate()
            .filter_map(|(line, at)| if due(at) { R::of_line(line) } else { None })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Line(usize);

    impl Reason<3> for Line {
        fn line(self) -> usize {
            self.0
        }

        fn of_line(line: usize) -> Option<Line> {
            (line < 3).then_some(Line(line))
        }
    }

    #[test]
    fn the_earliest_is_next_and_what_is_due_is_taken_once() {
        let mut timers = Timers::<Line, 3>::new();
        assert_eq!(timers.next(), None);
        timers.set(Line(2), Time::from_millis(3));
        timers.set(Line(0), Time::from_millis(5));
        timers.set(Line(1), Time::from_millis(5));
        assert_eq!(timers.next(), Some((Time::from_millis(3), Line(2))));
        assert_eq!(timers.take_due(Time::from_millis(2)), []);
        timers.stop(Line(2));
        assert!(timers.is_set(Line(0)) && !timers.is_set(Line(2)));
        assert_eq!(timers.next(), Some((Time::from_millis(5), Line(0))));
        assert_eq!(timers.take_due(Time::from_millis(5)), [Line(0), Line(1)]);
        assert_eq!(timers.take_due(Time::from_millis(9)), []);
    }
}
