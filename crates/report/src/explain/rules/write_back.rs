//! A write-back cache of the initiator: what the program saw is not what the wire carried.

use nicteam_record::{Finding, Transfer};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::explain::limits::Limit;
use crate::explain::{storage, words};
use crate::units::megabytes;

/// Writes that a cache in memory took much faster than the wire did; what held the wire is a finding inside it.
pub(super) struct WriteBack;

/// The program saw another rate than the wire if it was so many times as high.
const FASTER: f64 = 1.2;

#[derive(Serialize, Deserialize)]
struct Details {
    /// What the program saw, and what arrived, bit/s.
    program_bps: f64,
    wire_bps: f64,
    /// What held the wire.
    behind: Finding,
}

/// Whether a program was told of more than the wire carried.
pub(in crate::explain) fn is_ahead(transfer: &Transfer) -> bool {
    let rates = transfer.program_bps().zip(transfer.wire_bps());
    !transfer.cache.is_empty() && rates.is_some_and(|(program, wire)| program >= FASTER * wire)
}

impl Rule for WriteBack {
    fn cause(&self) -> &'static str {
        "write-back"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = storage::disk_of(limit)?;
        let transfer = storage::transfer_of(limit.picture.run, disk).filter(|transfer| is_ahead(transfer))?;
        let (program_bps, wire_bps) = (transfer.program_bps()?, transfer.wire_bps()?);
        let others = super::RULES.iter().filter(|rule| rule.cause() != self.cause());
        let behind = others.into_iter().find_map(|rule| rule.find(limit))?;
        let finding = Finding {
            side: behind.side,
            node: behind.node.clone(),
            policy: behind.policy.clone(),
            hops: behind.hops.clone(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { program_bps, wire_bps, behind }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { program_bps, wire_bps, behind } = finding.details()?;
        let rule = super::RULES.iter().find(|rule| rule.cause() == behind.cause && behind.cause != self.cause())?;
        Some(format!(
            "The program saw {} because the initiator's write-back cache took the writes; the wire carried {}. {}",
            megabytes(program_bps),
            megabytes(wire_bps),
            words::upper_first(&rule.sentence(&behind)?),
        ))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let Some(Details { behind, .. }) = finding.details() else { return Vec::new() };
        let rule = super::RULES.iter().find(|rule| rule.cause() == behind.cause && behind.cause != self.cause());
        rule.map_or_else(Vec::new, |rule| rule.facts(&behind))
    }
}
