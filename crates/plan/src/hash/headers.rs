//! The headers that the policies look at.

use nicteam_wire::{Frame, Vlan, ethertype};

/// Bytes of an IPv4 header without options.
pub(super) const IPV4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
pub(super) const IPV6_HEADER: usize = 40;
/// Bytes of an ICMP or ICMPv6 header, and so where an error's IP header begins.
const ICMP_HEADER: usize = 8;

/// IP protocol numbers that the policies know.
pub(super) mod protocol {
    pub const ICMP: u8 = 1;
    pub const IGMP: u8 = 2;
    pub const IPIP: u8 = 4;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const DCCP: u8 = 33;
    pub const IPV6: u8 = 41;
    pub const GRE: u8 = 47;
    pub const ESP: u8 = 50;
    pub const AH: u8 = 51;
    pub const ICMPV6: u8 = 58;
    pub const SCTP: u8 = 132;
    pub const UDPLITE: u8 = 136;
    pub const MPLS: u8 = 137;

    /// IPv6 extension headers (RFC 8200, 4).
    pub const HOP_BY_HOP: u8 = 0;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const DESTINATION: u8 = 60;
}

/// `VLAN_MAX_DEPTH` of include/linux/if_vlan.h: one more than the tags that are looked behind.
const MOST_TAGS: usize = 8;

/// The tag beside an MPLS frame: a bond cannot offload it, so the kernel puts
/// it back among the bytes before it asks for the hash.
pub(super) fn tag_put_back(frame: &Frame<'_>) -> Option<Vlan> {
    let network = network_protocol(frame);
    frame.vlan().filter(|_| matches!(network, Some(ethertype::MPLS | ethertype::MPLS_MULTICAST)))
}

/// The EtherType behind the tags among the bytes (`skb_network_protocol`,
/// `__vlan_get_protocol`); `None` if the frame ends before, or has too many tags.
fn network_protocol(frame: &Frame<'_>) -> Option<u16> {
    let (mut ethertype, mut rest) = (frame.ethertype(), frame.payload());
    for _ in 0..MOST_TAGS {
        if !matches!(ethertype, ethertype::VLAN | ethertype::QINQ) {
            return Some(ethertype);
        }
        let ([_, _, high, low], behind) = rest.split_first_chunk::<4>()?;
        (ethertype, rest) = (u16::from_be_bytes([*high, *low]), behind);
    }
    None
}

/// An IP header, as far as a policy looks.
pub(super) struct Ip<'a> {
    /// All words of both addresses, XORed byte by byte in the order of the wire.
    pub(super) addresses: [u8; 4],
    /// The transport protocol; none in a fragment.
    protocol: Option<u8>,
    /// The bytes from the transport header on; empty if the frame ends before.
    transport: &'a [u8],
}

impl<'a> Ip<'a> {
    /// The header at the start of these bytes, if they are IP and long enough.
    pub(super) fn parse(ethertype: u16, bytes: &'a [u8]) -> Option<Ip<'a>> {
        let (addresses, protocol, offset) = match ethertype {
            ethertype::IPV4 => {
                let header = bytes.first_chunk::<IPV4_HEADER>()?;
                let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
                (&header[12..], (!fragment).then_some(header[9]), usize::from(header[0] & 0xf) * 4)
            }
            ethertype::IPV6 => {
                let header = bytes.first_chunk::<IPV6_HEADER>()?;
                (&header[8..], Some(header[6]), IPV6_HEADER)
            }
            _ => return None,
        };
        Some(Ip { addresses: xor_words(addresses), protocol, transport: bytes.get(offset..).unwrap_or_default() })
    }

    /// The header whose addresses the kernel hashes, and what it takes from the
    /// transport header (`bond_flow_dissect`): of an ICMP error those of the
    /// packet it complains about, so that they follow that packet's flow.
    pub(super) fn of_flow(frame: &Frame<'a>) -> Option<(Ip<'a>, u32)> {
        let outer = Ip::parse(frame.ethertype(), frame.payload())?;
        match Icmp::parse(&outer) {
            None => {
                let ports = outer.ports();
                Some((outer, ports))
            }
            Some(icmp) if icmp.is_error() => {
                let inner = Ip::parse(frame.ethertype(), &outer.transport[ICMP_HEADER..])?;
                let ports = inner.ports();
                Some((inner, ports))
            }
            Some(icmp) => Some((outer, icmp.word())),
        }
    }

    /// Both ports as the kernel reads them, in its own byte order
    /// (`skb_flow_get_ports`); of ESP and AH the security parameters index.
    fn ports(&self) -> u32 {
        self.protocol.map_or(0, |protocol| ports(protocol, self.transport))
    }

    /// Source port XOR destination port, 0 where there are none.
    pub(super) fn ports_xor(&self) -> u32 {
        use protocol::{SCTP, TCP, UDP};
        match (self.protocol, self.transport) {
            (Some(TCP | UDP | SCTP), &[a, b, c, d, ..]) => u32::from(u16::from_be_bytes([a ^ c, b ^ d])),
            _ => 0,
        }
    }
}

/// The ports at the start of these bytes, if the protocol has them there.
pub(super) fn ports(protocol: u8, transport: &[u8]) -> u32 {
    use protocol::{AH, DCCP, ESP, SCTP, TCP, UDP, UDPLITE};
    let offset = match protocol {
        TCP | UDP | DCCP | ESP | SCTP | UDPLITE => 0,
        AH => 4,
        _ => return 0,
    };
    let ports = transport.get(offset..).and_then(|bytes| bytes.first_chunk());
    ports.map_or(0, |ports| u32::from_le_bytes(*ports))
}

/// XOR of the 32-bit words, byte by byte.
pub(super) fn xor_words(words: &[u8]) -> [u8; 4] {
    let mut sum = [0; 4];
    for word in words.chunks_exact(4) {
        for (sum, byte) in sum.iter_mut().zip(word) {
            *sum ^= byte;
        }
    }
    sum
}

/// An ICMP or ICMPv6 header.
pub(super) struct Icmp {
    v6: bool,
    kind: u8,
    code: u8,
    id: u16,
}

impl Icmp {
    /// The header behind this IP header, if it is one and 8 bytes of it are there.
    fn parse(ip: &Ip<'_>) -> Option<Icmp> {
        Icmp::of(ip.protocol?, ip.transport)
    }

    /// The same for a transport protocol and the bytes behind the IP header.
    pub(super) fn of(protocol: u8, transport: &[u8]) -> Option<Icmp> {
        let v6 = match protocol {
            protocol::ICMP => false,
            protocol::ICMPV6 => true,
            _ => return None,
        };
        let &[kind, code, _, _, id_high, id_low, _, _] = transport.first_chunk::<ICMP_HEADER>()?;
        Some(Icmp { v6, kind, code, id: u16::from_be_bytes([id_high, id_low]) })
    }

    /// `icmp_is_err`, `icmpv6_is_err`.
    pub(super) fn is_error(&self) -> bool {
        if self.v6 { matches!(self.kind, 1..=4) } else { matches!(self.kind, 3 | 4 | 5 | 11 | 12) }
    }

    /// `struct flow_dissector_key_icmp` as one word, 0 for a message without
    /// identifier. Which messages have one is asked without regard to the
    /// family, as the kernel does.
    pub(super) fn word(&self) -> u32 {
        match self.kind {
            0 | 8 | 13 | 14 | 128 | 129 => {
                u32::from(self.kind) | u32::from(self.code) << 8 | u32::from(self.id.max(1)) << 16
            }
            _ => 0,
        }
    }
}
