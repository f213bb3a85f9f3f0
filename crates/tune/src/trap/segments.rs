//! Short data segments: a PDU, its header and its interrupt for every 8 KiB.

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::Seen;

/// `MaxRecvDataSegmentLength` as targets have it by default.
#[derive(Debug)]
pub(super) struct Segments;

/// Shorter ones are worth a change, bytes. RFC 7143 has 8192 as the default, and so has tgt.
const SHORT: u32 = 64 << 10;
/// What open-iscsi has by default, bytes.
const LONG: u32 = 256 << 10;

impl Trap for Segments {
    fn name(&self) -> &'static str {
        "segments"
    }

    fn title(&self) -> &'static str {
        "Lengths that initiator and target agreed on"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let Some(agreed) = agreed(seen) else { return "nothing was agreed on yet".to_owned() };
        format!(
            "MaxRecvDataSegmentLength {} of the target, {} of the initiator; FirstBurstLength {}, MaxBurstLength {}, \
             ImmediateData {}, InitialR2T {}, digests {}/{}",
            agreed.max_recv_data_bytes,
            agreed.own_max_recv_data_bytes,
            agreed.first_burst_bytes,
            agreed.max_burst_bytes,
            yes(agreed.immediate_data),
            yes(agreed.initial_r2t),
            agreed.header_digest,
            agreed.data_digest
        )
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let Some(agreed) = agreed(seen).filter(|agreed| agreed.max_recv_data_bytes < SHORT) else { return Vec::new() };
        vec![Finding {
            trap: self.name(),
            place: format!("target {}", seen.workload_text("target").unwrap_or_default()),
            wrong: format!(
                "The target takes {} bytes in a PDU (MaxRecvDataSegmentLength; 8192 is the default of RFC 7143 and of tgt): a \
                 write of 32 KiB is {} PDUs.",
                agreed.max_recv_data_bytes,
                32_768 / agreed.max_recv_data_bytes.max(1)
            ),
            cures: vec![
                Cure::new(
                    "tgt",
                    format!(
                        "tgtadm --lld iscsi --op update --mode target --tid N --name MaxRecvDataSegmentLength --value {LONG}"
                    ),
                ),
                Cure::new("open-iscsi", format!("node.conn[0].iscsi.MaxRecvDataSegmentLength = {LONG}")),
                Cure::new("ESXi", format!("esxcli iscsi adapter param set -A vmhbaN -k MaxRecvDataSegment -v {LONG}")),
            ],
            edits: vec![Edit::Target { key: "max_recv_data", value: "256kib".into() }],
            must: true,
        }]
    }
}

/// What the first session that was set up agreed on.
fn agreed<'a>(seen: &Seen<'a>) -> Option<&'a nicteam_record::Negotiated> {
    seen.measured?.disks.iter().flat_map(|disk| &disk.paths).find_map(|path| path.negotiated.as_ref())
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
