//! A write-back cache of the initiator: what the program saw is not what the wire carried.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::Limit;
use crate::units::megabytes;
use crate::{storage, words};

/// Writes that a cache in memory took much faster than the wire did; what held the wire is a finding inside it.
pub(super) struct WriteBack {
    /// All rules: one of the others explains what limited the wire.
    pub(super) rules: fn() -> &'static [&'static dyn Rule],
}

#[derive(Serialize, Deserialize)]
struct Details {
    /// What the program saw, and what arrived, bit/s.
    program_bps: f64,
    wire_bps: f64,
    /// What held the wire.
    behind: Finding,
}

impl Rule for WriteBack {
    fn cause(&self) -> &'static str {
        "write-back"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = limit.disk()?;
        let transfer = storage::transfer_of(limit.picture.run, disk).filter(|transfer| storage::is_ahead(transfer))?;
        let (program_bps, wire_bps) = (transfer.program_bps()?, transfer.wire_bps()?);
        let behind = self.others().find_map(|rule| rule.find(limit))?;
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
        let rule = self.others().find(|rule| rule.cause() == behind.cause)?;
        Some(format!(
            "The program saw {} because the initiator's write-back cache took the writes; the wire carried {}. {}",
            megabytes(program_bps),
            megabytes(wire_bps),
            words::upper_first(&rule.sentence(&behind)?),
        ))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let Some(Details { behind, .. }) = finding.details() else { return Vec::new() };
        let rule = self.others().find(|rule| rule.cause() == behind.cause);
        rule.map_or_else(Vec::new, |rule| rule.facts(&behind))
    }
}

impl WriteBack {
    fn others(&self) -> impl Iterator<Item = &'static dyn Rule> {
        let own = self.cause();
        (self.rules)().iter().copied().filter(move |rule| rule.cause() != own)
    }
}
