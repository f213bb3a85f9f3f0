//! The machine that ran the lab was the limit.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::{FilledBy, Limit};
use crate::units::percent;
use crate::words;

/// From this part on processors count as busy.
const BUSY: f64 = 0.9;

/// Where both ends use links together, they are as good as full from this load on.
const ALMOST_FULL: f64 = 0.8;

/// From this part on they have no time left.
const EXHAUSTED: f64 = 0.98;

/// Busy processors and no full link; or links that both ends use together, none of them far from full.
pub(super) struct Machine;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Busy part of all processors.
    busy: f64,
    /// Steal time: the part that a hypervisor gave to others.
    stolen: f64,
    /// Whose links the finding shows, if some were full.
    host: Option<String>,
}

/// Whether both ends use these links together, and the processors have no time left to fill them further.
pub(super) fn has_no_more(limit: &Limit<'_, '_>) -> bool {
    is_joint(limit) && limit.picture.run.cpu.busy >= EXHAUSTED
}

/// Whether both ends use the links together that hold these connections.
fn is_joint(limit: &Limit<'_, '_>) -> bool {
    match limit.filled_by {
        FilledBy::Payload => limit.hops.iter().all(|hop| limit.chooser(hop).by.is_joint()),
        _ => limit.filled_by.chosen_by().is_some_and(Choice::is_joint),
    }
}

impl Rule for Machine {
    fn cause(&self) -> &'static str {
        "machine"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let cpu = &limit.picture.run.cpu;
        let almost_full = |hop: &&&Hop<'_>| hop.links.iter().all(|link| link.load() >= ALMOST_FULL);
        let hop = limit.hops.first().filter(|_| is_joint(limit)).filter(almost_full);
        if cpu.busy <= BUSY || hop.is_none() && limit.filled_by != FilledBy::Nothing {
            return None;
        }
        let finding = Finding {
            side: Side::Machine,
            hops: hop.iter().map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        let host = hop.map(|hop| hop.host().to_owned());
        Some(finding.with_details(&Details { busy: cpu.busy, stolen: cpu.stolen, host }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { busy, stolen, host } = finding.details()?;
        let stolen = if stolen > 0.02 { format!(", {} steal time", percent(stolen)) } else { String::new() };
        let links = match (host, finding.hops.first()) {
            (Some(host), Some(hop)) => {
                format!("the least used link of {host} carried {} of what it can", words::least(hop))
            }
            _ => "no link was full".to_owned(),
        };
        Some(format!("The machine's processors were the limit ({} busy{stolen}); {links}.", percent(busy)))
    }
}
