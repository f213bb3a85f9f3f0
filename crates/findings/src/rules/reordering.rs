//! Frames that took turns over several links arrive out of order, and TCP slows down.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::facts::RETRANSMITS_NOTABLE;
use crate::hop::{Choice, Hop};
use crate::limits::{FilledBy, Limit};
use crate::team::TeamMode;
use crate::units::percent;
use crate::words;

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
        let by_frame = |hop: &Hop<'_>| hop.has_mode(TeamMode::takes_turns) || limit.chooser(hop).by == Choice::Striped;
        let hop = limit.passed().find(|hop| by_frame(hop) && hop.links.len() > 1)?;
        if limit.filled_by != FilledBy::Nothing || resent < RETRANSMITS_NOTABLE {
            return None;
        }
        let finding = Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { resent }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { resent } = finding.details()?;
        let (side, node, links) = (words::side(finding), words::node(finding), finding.hops.first()?.links.len());
        let out_of_order = if finding.policy.as_deref() == Some(Choice::Striped.words()) {
            format!(
                "sends each frame over the one of {links} links on which it arrives first (mode stripe). Some were overtaken or lost"
            )
        } else {
            format!("sends frames in turn over {links} links (mode balance-rr). They arrive out of order")
        };
        let again = percent(resent);
        Some(format!("{side}: {node} {out_of_order}, and TCP sent {again} of its segments again and slowed down."))
    }
}
