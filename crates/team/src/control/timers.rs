//! When a team wants to be called back: a table with a line for each reason.

use crate::{MAX_MEMBERS, MemberId, Time, TimerReason};

/// Lines before those of the members.
const FIXED: usize = 2;
/// One line for each reason that can be.
const LINES: usize = FIXED + 2 * MAX_MEMBERS;

/// The deadlines, by reason.
#[derive(Clone, Debug)]
pub(super) struct Timers([Option<Time>; LINES]);

impl Timers {
    /// Nothing is awaited.
    pub(super) fn new() -> Timers {
        Timers([None; LINES])
    }

    /// Sets or moves a deadline.
    pub(super) fn set(&mut self, reason: TimerReason, at: Time) {
        self.0[line(reason)] = Some(at);
    }

    /// Forgets a deadline, if it was set.
    pub(super) fn stop(&mut self, reason: TimerReason) {
        self.0[line(reason)] = None;
    }

    /// True if a deadline is set.
    pub(super) fn is_set(&self, reason: TimerReason) -> bool {
        self.0[line(reason)].is_some()
    }

    /// The earliest deadline; of equal ones the first line's.
    pub(super) fn next(&self) -> Option<(Time, TimerReason)> {
        let set = self.0.iter().enumerate().filter_map(|(line, at)| Some(((*at)?, line)));
        let (at, line) = set.min()?;
        Some((at, reason(line)?))
    }

    /// Takes out every deadline that has come.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<TimerReason> {
        let due = |at: &mut Option<Time>| at.take_if(|at| *at <= now).is_some();
        self.0.iter_mut().enumerate().filter_map(|(line, at)| if due(at) { reason(line) } else { None }).collect()
    }
}

fn line(reason: TimerReason) -> usize {
    match reason {
        TimerReason::MiiMon => 0,
        TimerReason::PeerNotify => 1,
        TimerReason::UpDelay(member) => FIXED + member.index(),
        TimerReason::DownDelay(member) => FIXED + MAX_MEMBERS + member.index(),
    }
}

fn reason(line: usize) -> Option<TimerReason> {
    match line {
        0 => Some(TimerReason::MiiMon),
        1 => Some(TimerReason::PeerNotify),
        _ if line < FIXED + MAX_MEMBERS => MemberId::new(line - FIXED).map(TimerReason::UpDelay),
        _ => MemberId::new(line - FIXED - MAX_MEMBERS).map(TimerReason::DownDelay),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_reasons_are_one_to_one() {
        for number in 0..LINES {
            assert_eq!(reason(number).map(line), Some(number));
        }
        assert_eq!(reason(LINES), None);
    }

    #[test]
    fn the_earliest_is_next_and_what_is_due_is_taken_once() {
        let member = MemberId::new(31).unwrap();
        let mut timers = Timers::new();
        assert_eq!(timers.next(), None);
        timers.set(TimerReason::DownDelay(member), Time::from_millis(3));
        timers.set(TimerReason::MiiMon, Time::from_millis(5));
        timers.set(TimerReason::PeerNotify, Time::from_millis(5));
        assert_eq!(timers.next(), Some((Time::from_millis(3), TimerReason::DownDelay(member))));
        assert_eq!(timers.take_due(Time::from_millis(2)), []);
        timers.stop(TimerReason::DownDelay(member));
        assert_eq!(timers.next(), Some((Time::from_millis(5), TimerReason::MiiMon)));
        assert_eq!(timers.take_due(Time::from_millis(5)), [TimerReason::MiiMon, TimerReason::PeerNotify]);
        assert_eq!(timers.take_due(Time::from_millis(9)), []);
    }
}
