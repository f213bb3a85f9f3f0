//! Writes in many small PDUs, because the target takes no larger ones.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::storage::{self, SHORT_BYTES};
use crate::units::{bytes, percent, ratio};

/// Writes that filled no link, to a target that takes short PDUs.
pub(super) struct Segments;

/// A link that carried more than this was the limit rather.
const NOT_FULL: f64 = 0.8;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The most in a PDU towards the target, and bytes of a request, if known.
    max_recv_data_bytes: u32,
    block_bytes: Option<u64>,
    /// How full the fullest link was, and how busy the processors.
    fullest: f64,
    busy: f64,
}

impl Rule for Segments {
    fn cause(&self) -> &'static str {
        "segments"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let run = limit.picture.run;
        let disk = limit.disk().filter(|_| limit.filled_by == FilledBy::Nothing)?;
        let writes = limit.connections().all(|connection| connection.from == disk.host);
        let negotiated = disk.paths.iter().filter_map(|path| path.negotiated.as_ref());
        let max_recv_data_bytes = negotiated.map(|of| of.max_recv_data_bytes).min()?;
        let block_bytes = storage::transfer_of(run, disk).and_then(|task| task.block_bytes);
        let block_bytes = block_bytes.or(storage::operations_of(run, disk).and_then(|task| task.block_bytes));
        let several = block_bytes.is_none_or(|block| block > u64::from(max_recv_data_bytes));
        if !writes || max_recv_data_bytes > SHORT_BYTES || !several {
            return None;
        }
        let fullest = limit.fullest_load();
        if fullest > NOT_FULL {
            return None;
        }
        let finding = Finding { side: Side::Receiving, node: Some(disk.target.clone()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&Details { max_recv_data_bytes, block_bytes, fullest, busy: run.cpu.busy }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { max_recv_data_bytes, block_bytes, fullest, busy } = finding.details()?;
        let each = match block_bytes {
            Some(block) => {
                format!(
                    "a write of {} goes in {} PDUs",
                    bytes(block),
                    block.div_ceil(u64::from(max_recv_data_bytes.max(1)))
                )
            }
            None => "each write goes in several PDUs".to_owned(),
        };
        Some(format!(
            "No link was full (the fullest {}), and the processors were {} busy. The target takes {} in a PDU at most \
             (MaxRecvDataSegmentLength), so {each}, each handled by itself. Cure: max_recv_data = \"256kib\" at the target.",
            ratio(fullest),
            percent(busy),
            bytes(u64::from(max_recv_data_bytes)),
        ))
    }
}
