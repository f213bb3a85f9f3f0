//! An MTU that is too small anywhere on the way: full packets are dropped there, in silence.

use nicteam_record::{Finding, Side};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::Limit;
use crate::mtu::{self, TooSmall};

/// Connections that deliver next to nothing, or one of several paths to a disk, by an end that does not take their packets.
pub(super) struct Mtu;

/// Who delivers less than that part of a link has no full packet through.
const STUCK: f64 = 0.01;

#[derive(Serialize, Deserialize)]
struct Details {
    /// Bytes of the packets.
    packet_bytes: u32,
    /// The end that does not take them.
    node: String,
    device: String,
    mtu: u32,
    /// Between which nodes its link lies, in the direction of the payload.
    from: String,
    to: String,
}

impl Rule for Mtu {
    fn cause(&self) -> &'static str {
        "mtu"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let picture = limit.picture;
        let narrowest = picture.run.topology.links.iter().map(|link| link.rate_bps).min()? as f64;
        let stuck =
            |index: &usize| picture.run.connections.get(*index).is_some_and(|of| of.delivered_bps < STUCK * narrowest);
        let mut stuck = limit.connections.iter().filter(|index| stuck(index)).peekable();
        // Of several paths to a disk one that is stuck holds the others back, or leaves them its share.
        let one_is_enough = limit.disk().is_some_and(|disk| disk.paths.len() > 1);
        if stuck.peek().is_none() || !one_is_enough && stuck.clone().count() < limit.connections.len() {
            return None;
        }
        let found = stuck.find_map(|index| mtu::too_small(picture, *index));
        let TooSmall { packet, from, to, node, device, mtu } = found?;
        let details = Details {
            packet_bytes: packet,
            node: node.to_owned(),
            device: device.to_owned(),
            mtu,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let finding = Finding { side: Side::Links, node: Some(node.to_owned()), ..limit.finding(self.cause()) };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { packet_bytes, node, device, mtu, from, to } = finding.details()?;
        Some(format!(
            "Links: packets of {packet_bytes} bytes do not pass from {from} to {to}, since {device} of {node} has an MTU of {mtu}. \
             Shorter packets pass, so connections open and then stall. Give every end on the way an MTU of {packet_bytes}."
        ))
    }
}
