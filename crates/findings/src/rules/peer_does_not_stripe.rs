//! stripe and a host that does not, where the host sends, or nothing is known of one-sided striping: one member for it, as in balance-alb.

use nicteam_record::{Finding, Side};
use nicteam_team::Mode;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop};
use crate::limits::Limit;
use crate::units::hosts;
use crate::words;

/// Full and not full links of a team that stripes, towards hosts that do not.
pub(super) struct PeerDoesNotStripe;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The hosts that do not stripe.
    peers: Vec<String>,
}

impl Rule for PeerDoesNotStripe {
    fn cause(&self) -> &'static str {
        "peer-does-not-stripe"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let alone =
            |hop: &&&Hop<'_>| limit.chooser(hop).by == Choice::Mode(Mode::Stripe) && hop.some_full() && !hop.all_full();
        let hop = limit.hops.iter().find(alone)?;
        let node = limit.chooser(hop).node;
        let mut peers: Vec<String> = Vec::new();
        for connection in limit.connections() {
            let sends = limit.picture.run.topology.links_of(&connection.from) == node;
            let peer = if sends { &connection.to } else { &connection.from };
            if !peers.contains(peer) {
                peers.push(peer.clone());
            }
        }
        let finding = Finding {
            side: hop.side,
            node: Some(node.to_owned()),
            policy: Some(limit.chooser(hop).by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&Details { peers }))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { peers } = finding.details()?;
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let (does, each) = if peers.len() == 1 { ("does", "it") } else { ("do", "each") };
        let how = match finding.side {
            Side::Receiving => format!("announces one member's address to {each}"),
            _ => format!("sends to {each} by one member"),
        };
        Some(format!(
            "{side}: {} {does} not stripe, so {node} {how}, as in balance-alb (mode stripe): \
             the busiest was full, the least used at {}.",
            hosts(&peers),
            words::least(hop),
        ))
    }

    fn facts(&self, finding: &Finding) -> Vec<String> {
        let Some(node) = finding.node.as_ref().filter(|_| finding.side == Side::Receiving) else { return Vec::new() };
        vec![format!(
            "Hosts that do not stripe share the members of {node}, each by one. One host sends to all of them if nicteam runs there, too."
        )]
    }
}
