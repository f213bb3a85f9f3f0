//! Hash policies in words.

use nicteam_team::{AggrLayers, HashPolicy};

/// What a policy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Something of the sending end alone.
    Source,
    /// Something of the receiving end alone.
    Destination,
    /// Something of both ends, the same for all connections between them.
    Ends,
    /// Something of each connection.
    Connection,
}

/// What a policy looks at, and its name in plain words: `sw spreads by ...`.
pub(super) fn key(policy: HashPolicy) -> (Key, &'static str) {
    match policy {
        HashPolicy::SrcMac => (Key::Source, "source MAC address"),
        HashPolicy::DstMac => (Key::Destination, "destination MAC address"),
        HashPolicy::Layer2 | HashPolicy::SrcDstMac => (Key::Ends, "MAC address"),
        HashPolicy::Layer23 => (Key::Ends, "MAC and IP address"),
        HashPolicy::Encap23 => (Key::Ends, "MAC and inner IP address"),
        HashPolicy::VlanSrcMac => (Key::Source, "VLAN and source MAC address"),
        HashPolicy::SrcDstIp | HashPolicy::SrcXorDstIp => (Key::Ends, "IP address"),
        HashPolicy::SrcIp => (Key::Source, "source IP address"),
        HashPolicy::DstIp => (Key::Destination, "destination IP address"),
        HashPolicy::Layer34 | HashPolicy::SrcDstPort => (Key::Connection, "IP address and port"),
        HashPolicy::Encap34 => (Key::Connection, "inner IP address and port"),
        HashPolicy::Aggr(layers) => aggr(layers),
    }
}

/// Whether a policy looks at MAC addresses and nothing else.
pub(super) fn looks_at_macs_alone(policy: HashPolicy) -> bool {
    use HashPolicy::{Aggr, DstMac, Layer2, SrcDstMac, SrcMac, VlanSrcMac};
    matches!(policy, Layer2 | SrcMac | DstMac | SrcDstMac | VlanSrcMac | Aggr(AggrLayers::L2))
}

fn aggr(layers: AggrLayers) -> (Key, &'static str) {
    let has = |layer| layers.contains(layer);
    match (has(AggrLayers::L2), has(AggrLayers::L3), has(AggrLayers::L4)) {
        (true, false, false) => (Key::Ends, "MAC address"),
        (true, true, false) => (Key::Ends, "MAC and IP address"),
        (false, true, false) => (Key::Ends, "IP address"),
        (true, false, true) => (Key::Connection, "MAC address and port"),
        (true, true, true) => (Key::Connection, "MAC address, IP address and port"),
        (false, true, true) => (Key::Connection, "IP address and port"),
        (false, false, _) => (Key::Connection, "port"),
    }
}
