//! What a port waits for.

use std::time::Duration;

use nicteam_machine::deadlines::{Reason, Timers};

/// Seconds between two PDUs to a partner with the short timeout.
const FAST_PERIODIC_S: u64 = 1;
/// Seconds between two PDUs to a partner with the long timeout.
const SLOW_PERIODIC_S: u64 = 30;

/// `Fast_Periodic_Time` of IEEE 802.1AX-2014, 6.4.4, as the others here.
pub(super) const FAST_PERIODIC: Duration = Duration::from_secs(FAST_PERIODIC_S);
/// `Slow_Periodic_Time`.
pub(super) const SLOW_PERIODIC: Duration = Duration::from_secs(SLOW_PERIODIC_S);
/// `Short_Timeout_Time`.
pub(super) const SHORT_TIMEOUT: Duration = Duration::from_secs(3 * FAST_PERIODIC_S);
/// `Long_Timeout_Time`.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(3 * SLOW_PERIODIC_S);
/// `Churn_Detection_Time`.
pub(super) const CHURN_DETECTION: Duration = Duration::from_secs(60);
/// How long the answer to a marker is waited for. The standard names no time;
/// an answer comes as soon as the partner has taken in what was before it.
pub(super) const MARKER_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a port wants to be called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortTimer {
    /// `current_while_timer`: the partner has been silent for too long.
    CurrentWhile,
    /// `periodic_timer`: the next PDU is due.
    Periodic,
    /// `wait_while_timer`: it has waited long enough for others to join.
    WaitWhile,
    /// `actor_churn_timer`: this end has not come into sync in time.
    ActorChurn,
    /// `partner_churn_timer`: the partner has not come into sync in time.
    PartnerChurn,
    /// A PDU was held back by the limit of three a second.
    Transmit,
    /// `wait_to_restore_ms` is over.
    Restore,
    /// A marker was not answered in time.
    Marker,
    /// The partner has not followed to the aggregator that this end prefers.
    Insist,
    /// Our own PDUs have not come back for as long as the long timeout.
    Loop,
}

/// Every reason, in the order of the table.
const ALL: [PortTimer; 10] = [
    PortTimer::CurrentWhile,
    PortTimer::Periodic,
    PortTimer::WaitWhile,
    PortTimer::ActorChurn,
    PortTimer::PartnerChurn,
    PortTimer::Transmit,
    PortTimer::Restore,
    PortTimer::Marker,
    PortTimer::Insist,
    PortTimer::Loop,
];

/// The deadlines of one port.
pub(super) type PortTimers = Timers<PortTimer, { ALL.len() }>;

impl Reason<{ ALL.len() }> for PortTimer {
    fn line(self) -> usize {
        self as usize
    }

    fn of_line(line: usize) -> Option<PortTimer> {
        ALL.get(line).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_reasons_are_one_to_one() {
        assert!(ALL.iter().enumerate().all(|(line, timer)| timer.line() == line));
    }
}
