//! When a team wants to be called back.

use nicteam_machine::deadlines::Reason;
use nicteam_machine::{MAX_MEMBERS, MemberId};

use crate::TimerReason;

/// The team's deadlines.
pub(super) type Timers = nicteam_machine::deadlines::Timers<TimerReason, LINES>;

/// Lines before those of the members.
const FIXED: usize = 11;
/// One line for each reason that can be.
const LINES: usize = FIXED + 2 * MAX_MEMBERS;

impl Reason<LINES> for TimerReason {
    fn line(self) -> usize {
        match self {
            TimerReason::MiiMon => 0,
            TimerReason::PeerNotify => 1,
            TimerReason::ArpMon => 2,
            TimerReason::ResendIgmp => 3,
            TimerReason::Learning => 4,
            TimerReason::Rebalance => 5,
            TimerReason::ClientUpdate => 6,
            TimerReason::Lacp => 7,
            TimerReason::Inheritance => 8,
            TimerReason::Discovery => 9,
            TimerReason::Plain => 10,
            TimerReason::UpDelay(member) => FIXED + member.index(),
            TimerReason::DownDelay(member) => FIXED + MAX_MEMBERS + member.index(),
        }
    }

    fn of_line(line: usize) -> Option<TimerReason> {
        match line {
            0 => Some(TimerReason::MiiMon),
            1 => Some(TimerReason::PeerNotify),
            2 => Some(TimerReason::ArpMon),
            3 => Some(TimerReason::ResendIgmp),
            4 => Some(TimerReason::Learning),
            5 => Some(TimerReason::Rebalance),
            6 => Some(TimerReason::ClientUpdate),
            7 => Some(TimerReason::Lacp),
            8 => Some(TimerReason::Inheritance),
            9 => Some(TimerReason::Discovery),
            10 => Some(TimerReason::Plain),
            _ if line < FIXED + MAX_MEMBERS => MemberId::new(line - FIXED).map(TimerReason::UpDelay),
            _ => MemberId::new(line - FIXED - MAX_MEMBERS).map(TimerReason::DownDelay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_reasons_are_one_to_one() {
        for number in 0..LINES {
            assert_eq!(TimerReason::of_line(number).map(TimerReason::line), Some(number));
        }
        assert_eq!(TimerReason::of_line(LINES), None);
    }
}
