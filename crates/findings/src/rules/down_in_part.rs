//! A link was down for a part of the run.

use nicteam_record::{Fault, Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::rate;

/// Kinds of faults that take carrier from a link.
const KINDS: [&str; 2] = ["cable", "cables"];
/// A fault that leaves at least this part of the rate before is no cause.
const LEFT: f64 = 0.95;

/// From this part of what is missing on a fault is its cause, whatever else left links idle.
const MOST: f64 = 0.4;

/// Pulled cables, and less payload meanwhile.
pub(super) struct DownInPart;

#[derive(Serialize, Deserialize)]
struct Details {
    node: String,
    device: String,
    from_ms: f64,
    until_ms: f64,
    #[serde(alias = "before_bps")]
    otherwise_bps: f64,
    during_bps: f64,
}

impl Rule for DownInPart {
    fn cause(&self) -> &'static str {
        "down-in-part"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        if limit.filled_by == FilledBy::Payload {
            return None;
        }
        let run = limit.picture.run;
        let fault = run.faults.iter().filter_map(details);
        let details = fault.max_by(|one, other| one.lost_bits().total_cmp(&other.lost_bits()))?;
        let missing = limit.lost * run.limit_bps * run.measured_ms;
        if details.lost_bits() < MOST * missing {
            return None;
        }
        let finding = Finding { side: Side::Links, node: Some(details.node.clone()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { node, device, from_ms, until_ms, otherwise_bps, during_bps } = finding.details()?;
        Some(format!(
            "{device} of {node} was down from {:.1} s to {:.1} s: {} arrived meanwhile, {} otherwise.",
            from_ms / 1e3,
            until_ms / 1e3,
            rate(during_bps),
            rate(otherwise_bps)
        ))
    }
}

impl Details {
    fn lost_bits(&self) -> f64 {
        (self.otherwise_bps - self.during_bps) * (self.until_ms - self.from_ms)
    }
}

/// What a fault cost, if it took carrier from a link and cost something.
fn details(fault: &Fault) -> Option<Details> {
    let (before_bps, during_bps) = (fault.before_bps?, fault.during_bps?);
    // One of the two may have been measured for a moment alone.
    let otherwise_bps = before_bps.max(fault.after_bps.unwrap_or(0.0));
    let costs = KINDS.contains(&fault.kind.as_str()) && during_bps < otherwise_bps * LEFT;
    let (node, device) = (fault.node.clone(), fault.member.clone()?);
    let until_ms = fault.over_ms.unwrap_or(fault.until_ms);
    costs.then_some(Details { node, device, from_ms: fault.t_ms, until_ms, otherwise_bps, during_bps })
}
