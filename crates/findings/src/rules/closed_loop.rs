//! Too few requests outstanding to fill the links at the time that each takes.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::storage::{self, milliseconds};
use crate::units::{percent, ratio};

/// Operations that filled no link, with as many always outstanding as were asked for.
pub(super) struct ClosedLoop;

#[derive(Serialize, Deserialize)]
struct Details {
    outstanding: u32,
    /// Mean time of a request, microseconds.
    latency_us: f64,
    rate_per_s: f64,
    fullest: f64,
    busy: f64,
}

impl Rule for ClosedLoop {
    fn cause(&self) -> &'static str {
        "closed-loop"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk().filter(|_| limit.filled_by == FilledBy::Nothing)?;
        let task = storage::operations_of(run, disk)?;
        let (outstanding, latency_us) = (task.outstanding?, task.latency.mean_us()?);
        let fullest = limit.fullest_load();
        let details = Details { outstanding, latency_us, rate_per_s: task.rate_per_s, fullest, busy: run.cpu.busy };
        let finding = Finding { side: Side::Unknown, ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { outstanding, latency_us, rate_per_s, fullest, busy } = finding.details()?;
        Some(format!(
            "No link was full (the fullest {}), and the processors were {} busy. {outstanding} requests were outstanding, and each took \
             {}: that makes {rate_per_s:.0} requests a second. Cure: more outstanding requests, or less time for each.",
            ratio(fullest),
            percent(busy),
            milliseconds(latency_us),
        ))
    }
}
