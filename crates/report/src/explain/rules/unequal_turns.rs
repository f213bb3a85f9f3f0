//! balance-rr: equal numbers of frames, unequal bytes.

use nicteam_record::Finding;

use super::Rule;
use crate::explain::hop::Hop;
use crate::explain::limits::Limit;
use crate::explain::words;
use crate::team::TeamMode;

/// Full and not full links that took turns.
pub(super) struct UnequalTurns;

impl Rule for UnequalTurns {
    fn cause(&self) -> &'static str {
        "unequal-turns"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let uneven = |hop: &&&Hop<'_>| hop.has_mode(TeamMode::takes_turns) && hop.some_full() && !hop.all_full();
        let hop = limit.hops.iter().find(uneven)?;
        Some(Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        Some(format!(
            "{}: {} sends as many frames by each link, not as many bytes (mode balance-rr): the busiest was full, the least used at {}.",
            words::side(finding),
            words::node(finding),
            words::least(finding.hops.first()?),
        ))
    }
}
