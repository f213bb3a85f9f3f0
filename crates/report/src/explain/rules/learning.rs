//! Several plain ports to one host: a switch sends to the one on which it saw the address last.

use nicteam_record::Finding;

use super::Rule;
use crate::explain::hop::{Choice, Hop};
use crate::explain::limits::Limit;
use crate::explain::words;

/// A full link among several that no team spreads over.
pub(super) struct Learning;

impl Rule for Learning {
    fn cause(&self) -> &'static str {
        "learning"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let plain =
            |hop: &&&Hop<'_>| limit.chooser(hop).by == Choice::Learned && hop.links.len() > 1 && !hop.all_full();
        let hop = limit.hops.iter().find(plain)?;
        Some(Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let hop = finding.hops.first()?;
        Some(format!(
            "{}: {} has no group towards {}: of its {} links it uses the one on which it saw {}'s address last.",
            words::side(finding),
            hop.node,
            hop.peer,
            hop.links.len(),
            hop.peer,
        ))
    }
}
