//! What payload takes on an Ethernet wire.

use crate::resolved::Topology;

/// Bytes of a frame on the wire beyond its IP packet: Ethernet header and check sequence (18), preamble (8),
/// gap (12).
const OVERHEAD_BYTES: u32 = 38;
const UDP_HEADER_BYTES: u32 = 8;
/// With timestamps.
const TCP_HEADER_BYTES: u32 = 32;

/// A full IP packet of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    bytes: f64,
    headers: f64,
}

impl Packet {
    /// Of so many bytes, its headers included.
    pub(crate) fn of(topology: &Topology, bytes: f64) -> Packet {
        Packet { bytes, headers: f64::from(TCP_HEADER_BYTES + ip_header_bytes(is_ipv6(topology))) }
    }

    /// Of the topology's mean MTU.
    pub(crate) fn mean(topology: &Topology) -> Packet {
        let sum: f64 = topology.cables.iter().map(|cable| f64::from(cable.mtu())).sum();
        Packet::of(topology, sum / topology.cables.len().max(1) as f64)
    }

    /// Of the bytes on the wire, the part that is payload.
    pub(crate) fn payload_share(self) -> f64 {
        (self.bytes - self.headers) / self.on_wire()
    }

    /// What the packet takes, bytes.
    pub(crate) fn on_wire(self) -> f64 {
        self.bytes + f64::from(OVERHEAD_BYTES)
    }

    /// What an acknowledgement without payload takes, bytes.
    pub(crate) fn ack_on_wire(self) -> f64 {
        self.headers + f64::from(OVERHEAD_BYTES)
    }
}

/// Bytes of a VLAN tag, which is no part of the MTU.
pub(crate) const TAG_BYTES: u32 = 4;

/// What a datagram of UDP with so much payload takes, bytes.
pub(crate) fn datagram_bytes(size_bytes: u32, ipv6: bool) -> u32 {
    size_bytes + udp_headers_bytes(ipv6) + OVERHEAD_BYTES
}

/// Its headers in its IP packet, bytes.
pub(crate) fn udp_headers_bytes(ipv6: bool) -> u32 {
    UDP_HEADER_BYTES + ip_header_bytes(ipv6)
}

/// True if hosts have IPv6 addresses; all of an experiment are of one family.
pub(crate) fn is_ipv6(topology: &Topology) -> bool {
    topology.hosts.iter().any(|host| host.address.is_ipv6())
}

fn ip_header_bytes(ipv6: bool) -> u32 {
    if ipv6 { 40 } else { 20 }
}
