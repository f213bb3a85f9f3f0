//! What payload takes on an Ethernet wire.

/// Bytes of a frame on the wire beyond its IP packet: Ethernet header and check sequence (18), preamble (8), gap (12).
const OVERHEAD_BYTES: u32 = 38;
const UDP_HEADER_BYTES: u32 = 8;
/// With timestamps.
const TCP_HEADER_BYTES: u32 = 32;
/// Bytes of a VLAN tag, which is no part of the MTU.
pub const TAG_BYTES: u32 = 4;
/// Segments that one acknowledgement answers.
pub const SEGMENTS_PER_ACK: f64 = 2.0;

/// A full IP packet of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    bytes: f64,
    headers: f64,
}

impl Packet {
    /// Of so many bytes, its headers included.
    pub fn of(bytes: f64, ipv6: bool) -> Packet {
        Packet { bytes, headers: f64::from(TCP_HEADER_BYTES + ip_header_bytes(ipv6)) }
    }

    /// Of the bytes on the wire, the part that is payload.
    pub fn payload_share(self) -> f64 {
        self.payload() / self.on_wire()
    }

    /// Its payload, bytes.
    pub fn payload(self) -> f64 {
        self.bytes - self.headers
    }

    /// What the packet takes, bytes.
    pub fn on_wire(self) -> f64 {
        self.bytes + f64::from(OVERHEAD_BYTES)
    }

    /// What an acknowledgement without payload takes, bytes.
    pub fn ack_on_wire(self) -> f64 {
        self.headers + f64::from(OVERHEAD_BYTES)
    }
}

/// What a datagram of UDP with so much payload takes, bytes.
pub fn datagram_bytes(size_bytes: u32, ipv6: bool) -> u32 {
    size_bytes + udp_headers_bytes(ipv6) + OVERHEAD_BYTES
}

/// Its headers in its IP packet, bytes.
pub fn udp_headers_bytes(ipv6: bool) -> u32 {
    UDP_HEADER_BYTES + ip_header_bytes(ipv6)
}

fn ip_header_bytes(ipv6: bool) -> u32 {
    if ipv6 { 40 } else { 20 }
}
