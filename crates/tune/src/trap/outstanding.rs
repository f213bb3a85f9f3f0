//! Too few requests under way: links stand idle while the next request is made.

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::Seen;

/// Too few requests under way.
#[derive(Debug)]
pub(super) struct Outstanding;

/// What IOmeter's specification of the published test has.
const USUAL: i64 = 64;
/// Requests that keep a link busy beside those that the round trip takes: one on the wire, one in each host, one to
/// spare.
const A_PATH: f64 = 4.0;
/// An IOmeter request of the published test, bytes.
const BLOCK_BYTES: f64 = 32_768.0;

impl Trap for Outstanding {
    fn name(&self) -> &'static str {
        "outstanding"
    }

    fn title(&self) -> &'static str {
        "Requests under way"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        format!("{} requests under way over {} paths; {} keep them busy", under_way(seen), paths(seen), needed(seen))
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let (under_way, needed) = (under_way(seen), needed(seen));
        if under_way >= needed {
            return Vec::new();
        }
        let more = needed.max(USUAL);
        vec![Finding {
            trap: self.name(),
            place: format!("initiator {}", seen.workload_text("from").unwrap_or_default()),
            wrong: format!(
                "{under_way} requests under way do not keep {} paths busy: at least {needed} do.",
                paths(seen)
            ),
            cures: vec![
                Cure::new("open-iscsi", format!("node.session.cmds_max = 128, node.session.queue_depth = {more}")),
                Cure::new(
                    "ESXi",
                    format!("esxcli system module parameters set -m iscsi_vmk -p iscsivmk_LunQDepth={more}"),
                ),
                Cure::new("IOmeter", format!("# of Outstanding I/Os: {more} per target")),
            ],
            edits: vec![Edit::Workload { key: "outstanding", value: Some(more.into()) }],
            must: true,
        }]
    }
}

fn under_way(seen: &Seen<'_>) -> i64 {
    seen.workload_number("outstanding").unwrap_or(USUAL)
}

fn paths(seen: &Seen<'_>) -> usize {
    seen.paths.len().max(1)
}

/// A few a path, and what the round trip of each takes at its rate.
fn needed(seen: &Seen<'_>) -> i64 {
    let rate_bps = seen.cables().iter().map(|(_, cable)| cable.rate_bps).max().unwrap_or(0) as f64;
    let round_trip_s = seen.paths.iter().filter_map(|path| path.round_trip_us).max().unwrap_or(0) as f64 / 1e6;
    let on_the_way = rate_bps / 8.0 * round_trip_s / BLOCK_BYTES;
    ((A_PATH + on_the_way) * paths(seen) as f64).ceil() as i64
}
