//! One of the machine's processors was busy all the time, and others were not.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::percent;

/// No full link, and a processor without a moment to spare.
pub(super) struct OneProcessor;

/// From this part on a processor counts as busy all the time.
const BUSY: f64 = 0.95;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Which, counted from 0 in the kernel's order, and its busy part.
    processor: usize,
    busy: f64,
    /// How many there are, and the busy part of all together.
    of: usize,
    all_busy: f64,
}

impl Rule for OneProcessor {
    fn cause(&self) -> &'static str {
        "one-processor"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let cpu = &limit.picture.run.cpu;
        let (processor, busy) =
            cpu.cores.iter().copied().enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        if busy < BUSY || limit.filled_by != FilledBy::Nothing {
            return None;
        }
        let details = Details { processor, busy, of: cpu.cores.len(), all_busy: cpu.busy };
        Some(Finding { side: Side::Machine, ..limit.finding(self.cause()) }.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { processor, busy, of, all_busy } = finding.details()?;
        Some(format!(
            "No link was full, and processor {processor} of the machine was {} busy (all {of} together {}): one thread, or the soft \
             interrupts of one queue, did as much as a processor can.",
            percent(busy),
            percent(all_busy)
        ))
    }
}
