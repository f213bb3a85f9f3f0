//! The program of a target serves by one thread, and that thread was busy.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::storage;
use crate::units::ratio;

/// A disk's requests that filled no link, while the host of its target used a whole processor.
pub(super) struct Target;

/// The program whose connections are all served by one thread (tgt 1.0.85, usr/tgtd.c `event_loop`).
const ONE_THREAD: &str = "tgtd";

/// From so many processors on the thread was busy: the host has little else to do.
const BUSY: f64 = 1.0;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The target's program, and the host that it ran on.
    program: String,
    host: String,
    /// Processors that this host used.
    processors: f64,
    /// How full the fullest link was.
    fullest: f64,
}

impl Rule for Target {
    fn cause(&self) -> &'static str {
        "target"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk().filter(|_| limit.filled_by == FilledBy::Nothing)?;
        let target = storage::target_of(run, disk).filter(|target| target.program == ONE_THREAD)?;
        let used = run.cpu.seconds.iter().find(|of| of.host == target.host)?;
        let processors = used.seconds / (run.measured_ms / 1e3);
        if !processors.is_finite() || processors < BUSY {
            return None;
        }
        let fullest = limit.fullest_load();
        let (program, host) = (target.program.clone(), target.host.clone());
        let finding = Finding { side: Side::Nowhere, node: Some(disk.target.clone()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { program, host, processors, fullest }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { program, host, processors, fullest } = finding.details()?;
        Some(format!(
            "The target was the limit: {program} serves all connections by one thread, and its host {host} used {} \
             processors. No link was more than {} full. Cure: several targets, or larger requests.",
            ratio(processors),
            ratio(fullest),
        ))
    }
}
