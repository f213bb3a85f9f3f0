//! The lab did something to the network, or to the target, under the requests to a disk.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use super::full::Full;
use super::waste::Waste;
use crate::facts::faults;
use crate::limits::Limit;
use crate::storage;
use crate::units::list;

/// Requests to a disk in a run with faults.
pub(super) struct CutPaths;

/// Events named one by one; of more, the number.
const NAMED: usize = 2;

#[derive(Serialize, Deserialize)]
struct Details {
    /// What was done, in words.
    events: Vec<String>,
    /// The longest time without an answer, milliseconds; none if it was not measured.
    stall_ms: Option<f64>,
    /// Whether all that was carried is as it was sent; none if not all of it was compared.
    intact: Option<bool>,
    /// Why the task ended early, if it did.
    error: Option<String>,
}

impl Rule for CutPaths {
    fn cause(&self) -> &'static str {
        "faults"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk()?;
        let events: Vec<String> = faults(run).into_iter().map(str::to_owned).collect();
        if events.is_empty() {
            return None;
        }
        let ended_early = storage::transfer_of(run, disk).is_some_and(|transfer| transfer.error.is_some());
        // Full links are why it was no faster, and not why it ended.
        if !ended_early && (Full.find(limit).is_some() || Waste.find(limit).is_some()) {
            return None;
        }
        let (transfer, operations) = (storage::transfer_of(run, disk), storage::operations_of(run, disk));
        let stall = transfer.and_then(|of| of.stall).or(operations.and_then(|of| of.stall));
        let details = Details {
            events,
            stall_ms: stall.map(|stall| stall.took_ms),
            intact: transfer.and_then(|transfer| transfer.is_intact()),
            error: transfer.and_then(|transfer| transfer.error.clone()),
        };
        let finding = Finding { side: Side::Links, node: Some(disk.host.clone()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { events, stall_ms, intact, error } = finding.details()?;
        let mut named: Vec<String> = events.iter().take(NAMED).cloned().collect();
        if events.len() > NAMED {
            named.push(format!("{} more", events.len() - NAMED));
        }
        let stall = stall_ms.map_or_else(String::new, |ms| format!("; nothing was answered for {ms:.0} ms at most"));
        let content = match intact {
            Some(true) => ", and every byte arrived as it was sent",
            Some(false) => ", and the content changed on the way",
            None => "",
        };
        let error = error.map_or_else(String::new, |error| format!("; it ended early: {error}"));
        Some(format!("Links: {}{stall}{content}{error}.", list(&named)))
    }
}
