//! Frames that took turns over several links arrive out of order, and TCP slows down.

use super::because;
use crate::explain::Explanation;
use crate::explain::facts::{RETRANSMITS_NOTABLE, retransmit_share};
use crate::explain::limits::{Cause, Limit};
use crate::units::percent;

/// Many segments sent again behind a round robin, and connections that stayed below their limit.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let connections = limit.connections.iter().map(|index| &limit.picture.run.connections[*index]);
    let again = retransmit_share(&connections.collect::<Vec<_>>());
    let hop = limit.passed().find(|hop| hop.mode() == "balance-rr" && hop.links.len() > 1)?;
    if limit.cause != Cause::Nothing || again < RETRANSMITS_NOTABLE {
        return None;
    }
    let sentence = format!(
        "{}: {} sends frames in turn over {} links (mode balance-rr), they arrive out of order, \
         and TCP sent {} of its segments again and slowed down.",
        hop.side_words(),
        hop.node,
        hop.links.len(),
        percent(again),
    );
    because(hop.side, Some("balance-rr"), sentence)
}
