//! Full links that carried little payload.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::{self, percent, ratio, share};

/// Links all full, and of what they carried too little arrived as payload.
pub(super) struct Waste;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Whose links these are.
    hosts: Vec<String>,
    /// Part of what they carried that arrived as payload.
    payload: f64,
    /// Part of the segments that was sent again.
    resent: f64,
}

impl Rule for Waste {
    fn cause(&self) -> &'static str {
        "waste"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let FilledBy::Waste { node } = limit.filled_by else { return None };
        let mut hosts: Vec<String> = limit.hops.iter().map(|hop| hop.host().to_owned()).collect();
        hosts.dedup();
        let payload: f64 = limit.hops.iter().map(|hop| hop.payload_bps()).sum();
        let carried: f64 = limit.hops.iter().map(|hop| hop.carried_bps()).sum();
        let details = Details { hosts, payload: share(payload, carried), resent: limit.resent() };
        let finding = Finding {
            node: Some(node.to_owned()),
            hops: limit.hops.iter().map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { hosts, payload, resent } = finding.details()?;
        Some(format!(
            "All links of {} were full, but only {} of what they carried arrived as payload. TCP sent {} of its segments again.",
            units::hosts(&hosts),
            ratio(payload),
            percent(resent),
        ))
    }
}
