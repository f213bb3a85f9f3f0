//! Full links that carried little payload.

use super::because;
use crate::explain::facts::retransmit_share;
use crate::explain::limits::{Cause, Limit};
use crate::explain::{Explanation, Side};
use crate::units::{list, percent, ratio, share};

/// Links all full, and of what they carried too little arrived as payload.
pub(super) fn rule(limit: &Limit<'_, '_>) -> Option<Explanation> {
    let Cause::Waste { .. } = limit.cause else { return None };
    let mut hosts: Vec<&str> = limit.hops.iter().map(|hop| hop.host()).collect();
    hosts.dedup();
    let payload: f64 = limit.hops.iter().map(|hop| hop.payload_bps()).sum();
    let carried: f64 = limit.hops.iter().map(|hop| hop.carried_bps()).sum();
    let connections = limit.connections.iter().map(|index| &limit.picture.run.connections[*index]);
    let sentence = format!(
        "All links of {} were full, but {} alone of what they carried arrived as payload; TCP sent {} of its segments again.",
        list(&hosts),
        ratio(share(payload, carried)),
        percent(retransmit_share(&connections.collect::<Vec<_>>())),
    );
    because(Side::Unknown, None, sentence)
}
