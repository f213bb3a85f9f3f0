//! `tagged`: numbered datagrams in raw Ethernet frames with a VLAN tag.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Kind, Said};
use super::udp::{Udp, resolve_datagrams};
use crate::keys::{self, Key, Need};
use crate::on_wire::{TAG_BYTES, datagram_bytes};
use crate::traffic::Task;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[
        Key {
            name: "vlan",
            kind: keys::Kind::Numbers(1..=4094),
            need: Need::Otherwise("required by `tagged`"),
            doc: "`tagged`: VLAN of the frames' IEEE 802.1Q tag. Connections take the VLANs of a list in turn.",
        },
        Key {
            name: "pcp",
            kind: keys::Kind::Integer(0..=7),
            need: Need::Default("0"),
            doc: "`tagged`: priority in the tag.",
        },
    ],
    also: &["rate", "size"],
    takes_every_path: |_| None,
    keeps_to_a_processor: false,
    stays_in_segment: true,
    resolve,
};

const NAME: &str = "tagged";

/// Numbered datagrams in tagged frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// What they are without their tags. The rate counts these, too.
    pub datagrams: Udp,
    /// VLANs, 1 to 4094, for connections in turn; at least one.
    pub vlans: Vec<u16>,
    /// Priority in the tag, 0 to 7.
    pub pcp: u8,
}

impl Tagged {
    /// What a datagram takes on the wire, bytes.
    fn wire_bytes(&self, ipv6: bool) -> u32 {
        datagram_bytes(self.datagrams.size_bytes, ipv6) + TAG_BYTES
    }
}

impl Task for Tagged {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn datagram_payload(&self) -> Option<u32> {
        self.datagrams.datagram_payload()
    }

    fn words(&self) -> (&'static str, String) {
        let vlans: Vec<String> = self.vlans.iter().map(u16::to_string).collect();
        let which = if vlans.len() == 1 { "VLAN" } else { "VLANs" };
        ("tagged UDP", format!("{}, {which} {}", self.datagrams.words().1, vlans.join(", ")))
    }

    /// Nanoseconds from one datagram to the next, their size, and the tags' priority.
    fn each(&self, connections: u32, ipv6: bool) -> Value {
        let each_bps = (self.datagrams.rate_bps / u64::from(connections.max(1))).max(1);
        let bits = u64::from(self.wire_bytes(ipv6)) * 8;
        let interval_ns = bits * 1_000_000_000 / each_bps;
        json!({ "interval_ns": interval_ns, "size_bytes": self.datagrams.size_bytes, "pcp": self.pcp })
    }

    fn asked_bps(&self, ipv6: bool) -> Option<f64> {
        let payload_share = f64::from(self.datagrams.size_bytes) / f64::from(self.wire_bytes(ipv6));
        Some(self.datagrams.rate_bps as f64 * payload_share)
    }

    fn vlan(&self, number: u32) -> Option<u16> {
        self.vlans.get(number as usize % self.vlans.len().max(1)).copied()
    }
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    if !said.record.has("vlan") {
        let message = format!("workload `{}` does not say in which `vlan` it sends", said.name.value);
        let hint = "add, for example, `vlan = 10`; without a tag it is `kind = \"udp\"`";
        said.problems.push(Problem::at(&said.name.span, message).hint(hint));
    }
    let vlans = said.record.get::<&[u64]>("vlan");
    if let Some(vlans) = vlans.as_ref().filter(|vlans| vlans.value.len() > said.connections as usize) {
        let (many, few) = (vlans.value.len(), said.connections);
        let message = format!("workload `{}` has {many} VLANs and fewer connections: {few}", said.name.value);
        let hint = format!("a connection sends in one VLAN: add `connections = {many}`");
        said.problems.push(Problem::at(&vlans.span, message).hint(hint));
    }
    let pcp = said.record.get::<u64>("pcp").map_or(0, |at| at.value as u8);
    let datagrams = resolve_datagrams(said);
    let vlans = vlans?.value.iter().map(|vlan| *vlan as u16).collect();
    Some(Arc::new(Tagged { datagrams: datagrams?, vlans, pcp }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_takes_its_part_of_the_wire_and_connections_take_vlans_in_turn() {
        let datagrams = Udp { rate_bps: 1_000_000_000, size_bytes: 1472 };
        let tagged = Tagged { datagrams, vlans: vec![10, 20], pcp: 5 };
        // 1542 bytes on the wire, at half a bit a nanosecond.
        assert_eq!(tagged.each(2, false), json!({ "interval_ns": 1542 * 16, "size_bytes": 1472, "pcp": 5 }));
        assert_eq!(tagged.asked_bps(false), Some(1e9 * 1472.0 / 1542.0));
        assert_eq!([0, 1, 2, 3].map(|number| tagged.vlan(number)), [Some(10), Some(20), Some(10), Some(20)]);
        let other: &dyn Task = &Tagged { vlans: vec![10, 21], ..tagged.clone() };
        assert!(&tagged as &dyn Task != other);
    }
}
