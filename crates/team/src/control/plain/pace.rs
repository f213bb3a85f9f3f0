//! How often the dataplane is asked.

use std::time::Duration;

use nicteam_machine::{Time, state};
use nicteam_plan::stripe::PlainReport;

/// Between two reports while hosts are striped to.
const OFTEN: Duration = Duration::from_millis(250);
/// And else.
const SELDOM: Duration = Duration::from_secs(1);
/// So long after a host was striped to, hosts are.
const LATELY: Duration = Duration::from_secs(1);

/// When the next report is due.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    next: Option<Time>,
    /// When a report last had a host that was striped to.
    striped: Option<Time>,
}

state!(struct Pace { next, striped });

impl Pace {
    /// Reports are wanted from now on.
    pub(super) fn begin(&mut self, now: Time) {
        self.next.get_or_insert(now + SELDOM);
    }

    /// When the next one is.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// True if a report is due, and then the next one has its time.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let is_due = self.next.is_some_and(|at| at <= now);
        if is_due {
            self.next = Some(now + self.interval(now));
        }
        is_due
    }

    /// One has come.
    pub(super) fn reported(&mut self, report: &PlainReport, now: Time) {
        if report.hosts.iter().any(|host| host.striped) {
            self.striped = Some(now);
            self.next = self.next.map(|at| at.min(now + OFTEN));
        }
    }

    fn interval(&self, now: Time) -> Duration {
        if self.striped.is_some_and(|at| now.since(at) < LATELY) { OFTEN } else { SELDOM }
    }
}
