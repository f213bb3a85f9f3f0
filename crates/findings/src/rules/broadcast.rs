//! broadcast: every link carries the same frames.

use nicteam_record::{Finding, LinkLoads};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::{FilledBy, Limit};
use crate::units::{names, number, ratio, share};
use crate::words;

/// Links that are full of copies: the team's own, which a finding shows alone, or
/// those where the copies meet again, which it shows behind the team's.
pub(super) struct Broadcast;

#[derive(Serialize, Deserialize)]
struct Details {
    /// How many of each frame leave.
    copies: usize,
    /// Part of what the full links carried that is payload, each frame once.
    payload: f64,
}

impl Rule for Broadcast {
    fn cause(&self) -> &'static str {
        "broadcast"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let FilledBy::Copies { node } = limit.filled_by else { return None };
        let sender = limit.passed().find(|hop| hop.node == node && hop.copies_made > 1.0)?;
        let its_own = limit.hops.iter().any(|hop| hop.node == node);
        let meet = limit.hops.iter().filter(|_| !its_own);
        let carried: f64 = limit.hops.iter().map(|hop| hop.carried_bps()).sum();
        let payload: f64 = limit.hops.iter().map(|hop| hop.payload_bps()).sum();
        let details = Details { copies: sender.copies_made as usize, payload: share(payload, carried) };
        let finding = Finding {
            side: sender.side,
            node: Some(node.to_owned()),
            policy: sender.team.map(|team| team.mode_name.to_owned()),
            hops: [sender].iter().chain(meet).map(|hop| hop.as_found()).collect(),
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let details: Details = finding.details()?;
        let (sender, full) = finding.hops.split_first()?;
        let what = match full {
            [] => format!("its {} links carry what one can", number(sender.links.len())),
            full => format!(
                "{} copies of each fill {}; {} of that traffic is payload",
                number(details.copies),
                names(&full.iter().map(full_links).collect::<Vec<_>>()),
                ratio(details.payload),
            ),
        };
        let (side, node) = (words::side(finding), words::node(finding));
        Some(format!("{side}: {node} sends every frame by every member (mode broadcast), so {what}."))
    }
}

/// `link 1 of 2 towards b`, `the link towards b`.
fn full_links(hop: &LinkLoads) -> String {
    match hop.links.len() {
        1 => format!("the link towards {}", hop.peer),
        count if words::full(hop).count() == count => format!("all {count} links towards {}", hop.peer),
        count => format!("{} of {count} towards {}", words::numbers(words::full(hop)), hop.peer),
    }
}
