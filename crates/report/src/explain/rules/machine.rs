//! The machine that ran the lab was the limit.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::explain::limits::{FilledBy, Limit};
use crate::units::percent;

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;

/// Busy processors and no full link.
pub(super) struct Machine;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Busy part of all processors.
    busy: f64,
    /// Part that a hypervisor took away.
    stolen: f64,
}

impl Rule for Machine {
    fn cause(&self) -> &'static str {
        "machine"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let cpu = &limit.picture.run.cpu;
        if cpu.busy <= BUSY || limit.filled_by != FilledBy::Nothing {
            return None;
        }
        let finding = Finding { side: Side::Machine, ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { busy: cpu.busy, stolen: cpu.stolen }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { busy, stolen } = finding.details()?;
        let stolen =
            if stolen > 0.02 { format!(", {} taken away by a hypervisor", percent(stolen)) } else { String::new() };
        Some(format!("The machine's processors were the limit ({} busy{stolen}); no link was full.", percent(busy)))
    }
}
