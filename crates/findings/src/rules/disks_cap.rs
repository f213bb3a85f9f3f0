//! The disks behind a target, as they were modelled, took no more.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::storage::{self, milliseconds};
use crate::units::{percent, ratio, share};

/// Operations that filled no link, and that came as fast as the modelled disks let them.
pub(super) struct DisksCap;

/// From this part of what the disks can on, they were the limit.
const CAPPED: f64 = 0.8;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Operations a second in all, and those that went to the disks.
    rate_per_s: f64,
    misses_per_s: f64,
    /// Part that went to the disks.
    missed: f64,
    /// What holds them: operations that the disks take a second, or how long they take for one.
    ios_per_s: Option<f64>,
    latency_us: u64,
    outstanding: Option<u32>,
    /// How full the fullest link was.
    fullest: f64,
}

impl Rule for DisksCap {
    fn cause(&self) -> &'static str {
        "disks"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk().filter(|_| limit.filled_by == FilledBy::Nothing)?;
        let task = storage::operations_of(run, disk)?;
        let disks = task.disks.filter(|disks| disks.misses > 0)?;
        let missed = share(disks.misses as f64, task.completed as f64).min(1.0);
        let misses_per_s = task.rate_per_s * missed;
        let outstanding = task.outstanding.filter(|_| disks.latency_us > 0);
        let by_latency = outstanding.map(|count| f64::from(count) * 1e6 / disks.latency_us as f64);
        let most = [disks.ios_per_s, by_latency].into_iter().flatten().fold(f64::INFINITY, f64::min);
        if misses_per_s < CAPPED * most {
            return None;
        }
        let ios_per_s = disks.ios_per_s.filter(|rate| by_latency.is_none_or(|other| *rate <= other));
        let fullest = limit.fullest_load();
        let details = Details {
            rate_per_s: task.rate_per_s,
            misses_per_s,
            missed,
            ios_per_s,
            latency_us: disks.latency_us,
            outstanding: task.outstanding,
            fullest,
        };
        let finding = Finding { side: Side::Nowhere, node: Some(disk.target.clone()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { rate_per_s, misses_per_s, missed, ios_per_s, latency_us, outstanding, fullest } =
            finding.details()?;
        let what = match (ios_per_s, outstanding) {
            (Some(most), _) => format!("they take {most:.0} requests a second"),
            (None, Some(count)) => {
                format!("they take {} for a request, and {count} are outstanding", milliseconds(latency_us as f64))
            }
            (None, None) => format!("they take {} for a request", milliseconds(latency_us as f64)),
        };
        Some(format!(
            "The disks were the limit, as modelled: {what}. {} of {rate_per_s:.0} requests a second went to them \
             ({misses_per_s:.0}). No link was more than {} full, so a faster network does not help.",
            percent(missed),
            ratio(fullest),
        ))
    }
}
