//! Frames that took turns over several links arrive out of order, and TCP slows down.

use nicteam_record::Finding;
use nicteam_team::Mode;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::explain::facts::RETRANSMITS_NOTABLE;
use crate::explain::limits::{FilledBy, Limit};
use crate::explain::words;
use crate::units::percent;

/// Many segments sent again behind a round robin, and connections that stayed below their limit.
pub(super) struct Reordering;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Part of the segments that was sent again.
    resent: f64,
}

impl Rule for Reordering {
    fn cause(&self) -> &'static str {
        "reordering"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let resent = limit.resent();
        let hop = limit.passed().find(|hop| hop.runs(Mode::BalanceRr) && hop.links.len() > 1)?;
        if limit.filled_by != FilledBy::Nothing || resent < RETRANSMITS_NOTABLE {
            return None;
        }
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(Mode::BalanceRr.name().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { resent }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { resent } = finding.details()?;
        Some(format!(
            "{}: {} sends frames in turn over {} links (mode balance-rr), they arrive out of order, \
             and TCP sent {} of its segments again and slowed down.",
            words::side(finding),
            words::node(finding),
            finding.hops.first()?.links.len(),
            percent(resent),
        ))
    }
}
