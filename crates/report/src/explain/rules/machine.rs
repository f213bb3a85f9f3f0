//! The machine that ran the lab was the limit.

use super::because;
use crate::explain::limits::{Cause, Limit};
use crate::explain::{Explanation, Side};
use crate::units::percent;

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;

/// Busy processors and no full link.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let cpu = &limit.picture.run.cpu;
    if cpu.busy <= BUSY || limit.cause != Cause::Nothing {
        return None;
    }
    let stolen =
        if cpu.stolen > 0.02 { format!(", {} taken away by a hypervisor", percent(cpu.stolen)) } else { String::new() };
    because(
        Side::Machine,
        None,
        format!("The machine's processors were the limit ({} busy{stolen}); no link was full.", percent(cpu.busy)),
    )
}
