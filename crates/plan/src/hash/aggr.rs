//! The policies of illumos `aggr`.
//!
//! As illumos-gate `uts/common/io/mac/mac_util.c` (`mac_pkt_hash`, which
//! `uts/common/io/aggr/aggr_send.c` calls) computes them for a packet that lies
//! in one piece. The hash is one byte: all bytes below, XORed.
//!
//! - **L2**: both MAC addresses.
//! - **L3**: of IPv4 both addresses, of IPv6 their last four bytes.
//! - **L4**: of TCP, UDP, ESP and SCTP the first four bytes: the ports, or the index.
//! - A fragment counts by its addresses and its identification (two bytes of IPv4,
//!   four of IPv6) as soon as L3 or L4 is in the policy, and by no ports. IPv4's
//!   first fragment is none here, its offset being 0; IPv6's is one.
//!
//! The outermost tag, beside the frame or among its bytes, is looked behind if it
//! is 802.1Q; behind any other tag there is neither L3 nor L4. IPv6 extension
//! headers (0, 43, 44, 60) and AH are gone over: at most eight and four, where
//! illumos has no bound. If an extension header is not there whole, the packet
//! has neither L3 nor L4; if what L4 reads is not there, it has no L4.

use nicteam_wire::{Frame, ethertype};

use super::headers::{IPV4_HEADER, IPV6_HEADER, protocol};
use nicteam_options::AggrLayers;

/// The hash: 0 to 255.
pub(super) fn hash(layers: AggrLayers, frame: &Frame<'_>) -> u32 {
    let mut hash = 0;
    if layers.contains(AggrLayers::L2) {
        hash = xor(&frame.src().0) ^ xor(&frame.dst().0);
    }
    if layers != AggrLayers::L2
        && let Some(packet) = Packet::parse(frame)
    {
        hash ^= packet.hash(layers);
    }
    u32::from(hash)
}

/// Extension headers gone over.
const MOST_EXTENSIONS: usize = nicteam_machine::constants::MOST_EXTENSIONS;
/// Authentication headers gone over.
const MOST_AUTHENTICATIONS: usize = nicteam_machine::constants::MOST_AUTHENTICATIONS;
/// The part of IPv4's flags and fragment offset that is the offset (`IPH_OFFSET`).
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// An IP packet, as far as a policy looks.
struct Packet<'a> {
    /// Both addresses, XORed.
    addresses: u8,
    /// The identification, XORed, if it is a fragment.
    fragment: Option<u8>,
    protocol: u8,
    /// The bytes from the transport header on; empty if the frame ends before.
    transport: &'a [u8],
}

impl<'a> Packet<'a> {
    fn parse(frame: &Frame<'a>) -> Option<Packet<'a>> {
        let (ethertype, bytes) = match (frame.vlan(), frame.ethertype()) {
            (Some(tag), _) if tag.protocol != ethertype::VLAN => return None,
            (None, ethertype::VLAN) => {
                let (&[_, _, high, low], rest) = frame.payload().split_first_chunk()?;
                (u16::from_be_bytes([high, low]), rest)
            }
            (_, ethertype) => (ethertype, frame.payload()),
        };
        match ethertype {
            ethertype::IPV4 => Packet::ipv4(bytes),
            ethertype::IPV6 => Packet::ipv6(bytes),
            _ => None,
        }
    }

    fn ipv4(bytes: &'a [u8]) -> Option<Packet<'a>> {
        let header = bytes.first_chunk::<IPV4_HEADER>()?;
        let offset = u16::from_be_bytes([header[6], header[7]]) & FRAGMENT_OFFSET;
        Some(Packet {
            addresses: xor(&header[12..]),
            fragment: (offset != 0).then(|| xor(&header[4..6])),
            protocol: header[9],
            transport: bytes.get(usize::from(header[0] & 0xf) * 4..).unwrap_or_default(),
        })
    }

    /// `mac_ip_hdr_length_v6`: an extension header has eight bytes at least.
    fn ipv6(bytes: &'a [u8]) -> Option<Packet<'a>> {
        use protocol::{DESTINATION, FRAGMENT, HOP_BY_HOP, ROUTING};
        let (header, mut rest) = bytes.split_first_chunk::<IPV6_HEADER>()?;
        let (mut protocol, mut fragment) = (header[6], None);
        for _ in 0..=MOST_EXTENSIONS {
            let units = match (protocol, rest) {
                (FRAGMENT, &[_, _, _, _, a, b, c, d, ..]) => {
                    fragment = Some(a ^ b ^ c ^ d);
                    0
                }
                (HOP_BY_HOP | ROUTING | DESTINATION, &[_, units, ..]) => usize::from(units),
                (HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT, _) => return None,
                _ => {
                    let addresses = xor(&header[20..24]) ^ xor(&header[36..40]);
                    return Some(Packet { addresses, fragment, protocol, transport: rest });
                }
            };
            protocol = rest[0];
            rest = rest.get((units + 1) * 8..)?;
        }
        None
    }

    fn hash(&self, layers: AggrLayers) -> u8 {
        match self.fragment {
            Some(identification) => self.addresses ^ identification,
            None => {
                let addresses = if layers.contains(AggrLayers::L3) { self.addresses } else { 0 };
                addresses ^ if layers.contains(AggrLayers::L4) { self.ports() } else { 0 }
            }
        }
    }

    fn ports(&self) -> u8 {
        use protocol::{AH, ESP, SCTP, TCP, UDP};
        let (mut protocol, mut rest) = (self.protocol, self.transport);
        for _ in 0..=MOST_AUTHENTICATIONS {
            match (protocol, rest) {
                (TCP | UDP | ESP | SCTP, &[a, b, c, d, ..]) => return a ^ b ^ c ^ d,
                (AH, &[next, words, ..]) if rest.len() >= AH_HEADER => {
                    protocol = next;
                    rest = rest.get(usize::from(words) * 4 + 8..).unwrap_or_default();
                }
                _ => return 0,
            }
        }
        0
    }
}

/// Bytes of an authentication header without its check value (`ah_t`).
const AH_HEADER: usize = 12;

fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}
