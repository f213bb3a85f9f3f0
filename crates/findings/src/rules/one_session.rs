//! A disk by one session, which is one TCP connection and so stays on one link.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop, HopLink, is_idle};
use crate::limits::Limit;
use crate::{storage, words};

/// One link of several in use, as good as full, and one session alone.
pub(super) struct OneSession;

/// A copy that takes a few seconds does not fill its link from its first moment to its last.
const AS_GOOD_AS_FULL: f64 = 0.8;

#[derive(Serialize, Deserialize)]
struct Details {
    /// What it is a session of: `iSCSI`, `NFS`.
    protocol: String,
    /// How the links are chosen: `sw spreads by layer2+3`.
    how: String,
    /// Node towards which they lead.
    peer: String,
}

impl Rule for OneSession {
    fn cause(&self) -> &'static str {
        "one-session"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = limit.disk().filter(|disk| disk.paths.len() == 1)?;
        let hop = limit.suspects().into_iter().find(|hop| carries_by_one(hop))?;
        let chooser = limit.chooser(hop);
        if chooser.by.is_joint() {
            return None;
        }
        let how = match chooser.by {
            Choice::Hash(policy) => format!("{} spreads by {policy}", chooser.node),
            Choice::Address => format!("each link of {} has an address of its own", chooser.node),
            Choice::Learned => format!("{} sends to the port on which it learned the address", chooser.node),
            Choice::Unknown => format!("how {} chooses is not known", chooser.node),
            by => format!("{} sends by {}", chooser.node, by.words()),
        };
        let kind = storage::target_of(limit.picture.run, disk).map_or("iscsi", |target| target.kind.as_str());
        let protocol = if kind == "nfs" { "NFS mount" } else { "iSCSI session" }.to_owned();
        let finding = Finding {
            side: hop.side,
            node: Some(chooser.node.to_owned()),
            policy: Some(chooser.by.words().to_owned()).filter(|words| !words.is_empty()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { protocol, how, peer: hop.peer.to_owned() }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { protocol, how, peer } = finding.details()?;
        let hop = finding.hops.first()?;
        Some(format!(
            "{}: one {protocol} is one TCP connection, and {how}, so it used {} of {} towards {peer}. Cure: a session a link \
             (multipath over several subnets), or mode stripe at both ends.",
            words::side(finding),
            words::numbers(hop.links.iter().filter(|link| !is_idle(link.load))),
            hop.links.len(),
        ))
    }
}

/// Whether one of a hop's links is as good as full, and the others are idle.
fn carries_by_one(hop: &Hop<'_>) -> bool {
    let used: Vec<&HopLink<'_>> = hop.links.iter().filter(|link| !is_idle(link.load())).collect();
    hop.links.len() > 1 && matches!(used.as_slice(), [one] if one.load() >= AS_GOOD_AS_FULL)
}
