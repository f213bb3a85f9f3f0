//! A member that should have carried its turn and carried nothing.

use nicteam_record::Finding;

use super::Rule;
use crate::hop::{Hop, is_idle};
use crate::limits::Limit;
use crate::team::TeamMode;
use crate::units::names;
use crate::words;

/// A silent member in a mode that uses every member that is up.
pub(super) struct Down;

impl Rule for Down {
    fn cause(&self) -> &'static str {
        "down"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let down = |hop: &&Hop<'_>| {
            hop.has_mode(TeamMode::takes_turns)
                && hop.links.iter().any(|link| link.silent)
                && hop.links.iter().any(|link| !is_idle(link.load()))
        };
        let hop = limit.suspects().into_iter().find(down)?;
        Some(Finding {
            side: hop.side,
            node: Some(hop.node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let silent = finding.hops.first()?.links.iter().filter(|link| link.silent);
        let devices: Vec<&str> = silent.map(|link| link.device.as_str()).collect();
        let (side, node) = (words::side(finding), words::node(finding));
        let were = if devices.len() == 1 { "it was" } else { "they were" };
        Some(format!(
            "{side}: {node} uses every member that is up (mode balance-rr). {} of {node} sent no frame, so {were} down.",
            names(&devices)
        ))
    }
}
