//! stripe: a member by which not a frame went, though others were full.

use nicteam_record::Finding;

use super::Rule;
use crate::hop::{Choice, Hop, HopLink};
use crate::limits::Limit;
use crate::units::names;
use crate::words;

/// Full links of hosts that stripe beside silent ones of the same rate. A link that takes longer
/// than the others is silent for another reason: frames arrive first by those.
pub(super) struct Silent;

impl Rule for Silent {
    fn cause(&self) -> &'static str {
        "silent-member"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let hop = limit.hops.iter().find(|hop| limit.chooser(hop).by == Choice::Striped && has_silent_one(hop))?;
        if !limit.passed().all(takes_alike) {
            return None;
        }
        Some(Finding {
            side: hop.side,
            node: Some(hop.host().to_owned()),
            policy: Some(Choice::Striped.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        })
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let silent = hop.links.iter().filter(|link| link.silent);
        let devices: Vec<&str> = silent.map(|link| words::device(hop, link, node)).collect();
        let (were, them) = if devices.len() == 1 { ("it was", "it") } else { ("they were", "them") };
        Some(format!(
            "{side}: {node} uses every member that receives frames (mode stripe). {} carried none: {were} down, or nothing came \
             through {them}.",
            names(&devices)
        ))
    }
}

/// Whether a hop has a silent link beside one of the same rate that was full.
fn has_silent_one(hop: &Hop<'_>) -> bool {
    let has_full_twin =
        |link: &HopLink<'_>| hop.links.iter().any(|other| other.is_full() && other.rate_bps == link.rate_bps);
    let mut silent = hop.links.iter().filter(|link| link.silent).peekable();
    silent.peek().is_some() && silent.all(has_full_twin)
}

/// Whether none of a hop's links was declared to take longer than another.
fn takes_alike(hop: &Hop<'_>) -> bool {
    hop.links.windows(2).all(|pair| pair[0].delay_ms == pair[1].delay_ms)
}
