//! The machine that ran the lab was the limit.

use super::because;
use crate::explain::path::Flow;
use crate::explain::{Explanation, Side};
use crate::units::percent;

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;

/// Busy processors and no full link.
pub(super) fn rule(flow: &Flow<'_>) -> Option<Explanation> {
    let cpu = &flow.run.cpu;
    if cpu.busy <= BUSY || flow.hops.iter().any(|hop| hop.some_full()) {
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
