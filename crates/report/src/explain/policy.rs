//! Hash policies in words.

use nicteam_team::HashPolicy;

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
        HashPolicy::SrcDstIp => (Key::Ends, "IP address"),
        HashPolicy::Layer34 | HashPolicy::SrcDstPort => (Key::Connection, "IP address and port"),
    }
}
