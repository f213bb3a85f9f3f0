//! An Ethernet frame, seen as the kernel's transmit path sees it.

use crate::{Mac, constants};

/// EtherTypes this project names.
pub mod ethertype {
    use crate::constants;

    /// Loopback (`ETH_P_LOOPBACK`): learning packets.
    pub const LOOPBACK: u16 = 0x9000;
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// A customer VLAN tag (IEEE 802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// A service VLAN tag (IEEE 802.1ad).
    pub const QINQ: u16 = 0x88a8;
    /// Slow protocols (IEEE 802.3 annex 57A): LACP and markers.
    pub const SLOW: u16 = constants::TYPE_SLOW;
    /// Batman-adv.
    pub const BATMAN: u16 = 0x4305;
    /// A bridged Ethernet frame, in GRE (RFC 7637).
    pub const BRIDGED: u16 = 0x6558;
    /// Reverse ARP.
    pub const RARP: u16 = 0x8035;
    /// PPP, in GRE (RFC 2637).
    pub const PPP: u16 = 0x880b;
    /// Local experimental EtherType 1 (IEEE 802, 9.2.4): the hellos of teams that stripe.
    pub const HELLO: u16 = constants::TYPE_HELLO;
    /// MPLS (RFC 5332).
    pub const MPLS: u16 = 0x8847;
    /// MPLS with an upstream-assigned label (RFC 5332).
    pub const MPLS_MULTICAST: u16 = 0x8848;
    /// A PPPoE session (RFC 2516).
    pub const PPPOE: u16 = 0x8864;
    /// TIPC.
    pub const TIPC: u16 = 0x88ca;
    /// The precision time protocol (IEEE 1588).
    pub const PTP: u16 = 0x88f7;
    /// Parallel redundancy (IEC 62439-3).
    pub const PRP: u16 = 0x88fb;
    /// Fibre Channel over Ethernet.
    pub const FCOE: u16 = 0x8906;
    /// A redundancy tag (IEEE 802.1CB, 7.8).
    pub const RTAG: u16 = constants::TYPE_RTAG;
    /// A seamless-redundancy tag (IEC 62439-3).
    pub const HSR: u16 = 0x892f;
}

/// Bytes that are not what they were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than the header needs.
    #[error("{what}: {have} bytes where {need} are needed")]
    Short {
        /// The header.
        what: &'static str,
        /// Bytes needed.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
    /// A field holds what the decoder does not accept.
    #[error("{what}: {value:#x} is not accepted")]
    Field {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u32,
    },
}

impl Malformed {
    /// A byte that has no such value.
    pub(crate) fn field(what: &'static str, value: u8) -> Malformed {
        Malformed::Field { what, value: value.into() }
    }
}

/// A VLAN tag kept beside the frame, as the kernel keeps it
/// (`skb->vlan_proto`, `skb->vlan_tci`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// [`ethertype::VLAN`] or [`ethertype::QINQ`].
    pub protocol: u16,
    /// Priority (3 bits), drop eligibility (1), identifier (12).
    pub tci: u16,
}

/// A view of one Ethernet frame, without its check sequence.
///
/// The outermost VLAN tag is either still among the bytes, as in a frame that
/// a packet socket sends ([`Frame::parse`]), or beside them, as in a frame
/// that the kernel received and forwards ([`Frame::parse_untagged`]). The two
/// hash differently; see `nicteam_team::hash`.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    macs: &'a [u8; 12],
    rest: &'a [u8],
    vlan: Option<Vlan>,
    wire_bytes: Option<u32>,
    segments: u32,
}

/// Bytes of the two addresses.
const MACS: usize = 12;
/// Bytes of an Ethernet header.
const HEADER: usize = 14;
/// Bytes of a VLAN tag.
const TAG: usize = 4;
/// Bytes of the shortest frame without its check sequence.
const SHORTEST: usize = constants::SHORTEST;
/// Bytes of check sequence, preamble, start of frame and gap (IEEE 802.3, clause 4.2).
const WIRE_OVERHEAD: usize = constants::WIRE_OVERHEAD;

impl<'a> Frame<'a> {
    /// Takes the bytes as they are: a tag among them stays there.
    pub fn parse(bytes: &'a [u8]) -> Result<Frame<'a>, Malformed> {
        let short = Malformed::Short { what: "Ethernet header", need: HEADER, have: bytes.len() };
        if bytes.len() < HEADER {
            return Err(short);
        }
        let (macs, rest) = bytes.split_first_chunk::<MACS>().ok_or(short)?;
        Ok(Frame { macs, rest, vlan: None, wire_bytes: None, segments: 1 })
    }

    /// Takes the outermost VLAN tag, if there is one, off the bytes and puts it
    /// beside them, as the kernel does with every frame it receives
    /// (`skb_vlan_untag`).
    pub fn parse_untagged(bytes: &'a [u8]) -> Result<Frame<'a>, Malformed> {
        let frame = Frame::parse(bytes)?;
        let protocol = frame.ethertype();
        if !matches!(protocol, ethertype::VLAN | ethertype::QINQ) {
            return Ok(frame);
        }
        if bytes.len() < HEADER + TAG {
            return Err(Malformed::Short { what: "VLAN tag", need: HEADER + TAG, have: bytes.len() });
        }
        let tci = u16::from_be_bytes([frame.rest[2], frame.rest[3]]);
        Ok(Frame { rest: &frame.rest[TAG..], ..frame }.with_vlan(Vlan { protocol, tci }))
    }

    /// The frame without its tags and their identifiers, the outermost first: the
    /// one beside it and all that follow among the bytes. A tag that is cut off
    /// stays.
    pub fn without_tags(self) -> (Frame<'a>, Vec<u16>) {
        let id = |tci: u16| tci & 0x0fff;
        let mut ids: Vec<u16> = self.vlan.iter().map(|vlan| id(vlan.tci)).collect();
        let mut frame = Frame { vlan: None, ..self };
        while let ([_, _, high, low, _, _, ..], ethertype::VLAN | ethertype::QINQ) = (frame.rest, frame.ethertype()) {
            ids.push(id(u16::from_be_bytes([*high, *low])));
            frame.rest = &frame.rest[TAG..];
        }
        (frame, ids)
    }

    /// The frame without so many bytes behind its addresses; nothing if no EtherType is left.
    pub(crate) fn without(self, bytes: usize) -> Option<Frame<'a>> {
        let rest = self.rest.get(bytes..).filter(|rest| rest.len() >= HEADER - MACS)?;
        Some(Frame { rest, wire_bytes: None, ..self })
    }

    /// The same frame with this tag beside it.
    pub fn with_vlan(self, vlan: Vlan) -> Frame<'a> {
        Frame { vlan: Some(vlan), ..self }
    }

    /// The same frame, taking so many bytes on the wire ([`Frame::wire_bytes`]).
    pub fn with_wire_bytes(self, bytes: u32) -> Frame<'a> {
        Frame { wire_bytes: Some(bytes), ..self }
    }

    /// The same frame as a GSO frame with so many segments ([`Frame::segments`]).
    pub fn with_segments(self, segments: u32) -> Frame<'a> {
        Frame { segments, ..self }
    }

    /// Destination address.
    pub fn dst(&self) -> Mac {
        let [a, b, c, d, e, f, ..] = *self.macs;
        Mac([a, b, c, d, e, f])
    }

    /// Source address.
    pub fn src(&self) -> Mac {
        let [.., a, b, c, d, e, f] = *self.macs;
        Mac([a, b, c, d, e, f])
    }

    /// The EtherType behind the addresses (and behind the tag that was taken off).
    pub fn ethertype(&self) -> u16 {
        u16::from_be_bytes([self.rest[0], self.rest[1]])
    }

    /// What follows the EtherType.
    pub fn payload(&self) -> &'a [u8] {
        &self.rest[2..]
    }

    /// The tag beside the frame.
    pub fn vlan(&self) -> Option<Vlan> {
        self.vlan
    }

    /// Bytes that it takes on the wire: with check sequence, preamble and gap, filled up to the shortest frame. Of a
    /// GSO frame it is the number that the caller gave, because only the caller knows the segments.
    pub fn wire_bytes(&self) -> u32 {
        let bytes = || (MACS + self.rest.len()).max(SHORTEST) + WIRE_OVERHEAD;
        self.wire_bytes.unwrap_or_else(|| u32::try_from(bytes()).unwrap_or(u32::MAX))
    }

    /// Into how many segments it is cut on its way out: one, and of a GSO frame what the caller gave.
    pub fn segments(&self) -> u32 {
        self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAGGED: [u8; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0x60, 5, 0x08, 0, 0xaa, 0xbb];

    #[test]
    fn a_tag_stays_or_is_taken_off() {
        let as_is = Frame::parse(&TAGGED).unwrap();
        assert_eq!((as_is.ethertype(), as_is.vlan()), (ethertype::VLAN, None));
        let untagged = Frame::parse_untagged(&TAGGED).unwrap();
        assert_eq!(untagged.ethertype(), ethertype::IPV4);
        assert_eq!(untagged.vlan(), Some(Vlan { protocol: ethertype::VLAN, tci: 0x6005 }));
        assert_eq!(untagged.payload(), [0xaa, 0xbb]);
        assert_eq!(untagged.dst(), Mac([1, 2, 3, 4, 5, 6]));
        assert_eq!(untagged.src(), Mac([7, 8, 9, 10, 11, 12]));
    }

    #[test]
    fn all_tags_are_taken_off() {
        let mut bytes = TAGGED.to_vec();
        let tags = [Vlan { protocol: ethertype::QINQ, tci: 0x2009 }, Vlan { protocol: ethertype::VLAN, tci: 7 }];
        bytes = crate::tagged(bytes, &tags);
        assert_eq!(bytes[12..20], [0x88, 0xa8, 0x20, 9, 0x81, 0, 0, 7]);
        for frame in [Frame::parse(&bytes).unwrap(), Frame::parse_untagged(&bytes).unwrap()] {
            let (frame, ids) = frame.without_tags();
            assert_eq!((frame.ethertype(), frame.payload(), ids), (ethertype::IPV4, &[0xaa, 0xbb][..], vec![9, 7, 5]));
            assert_eq!((frame.vlan(), frame.src()), (None, Mac([7, 8, 9, 10, 11, 12])));
        }
        let (frame, ids) = Frame::parse(&bytes[..23]).unwrap().without_tags();
        assert_eq!((frame.ethertype(), ids), (ethertype::VLAN, vec![9, 7]), "the third is cut off");
        assert_eq!(crate::tagged(vec![1, 2], &tags), [1, 2], "no frame");
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(Frame::parse(&bytes).is_ok(), bytes.len() >= HEADER);
            if let Ok(frame) = Frame::parse_untagged(&bytes) {
                prop_assert!(frame.payload().len() <= bytes.len() - HEADER);
                let (untagged, ids) = frame.without_tags();
                prop_assert!(untagged.payload().len() + TAG * ids.len() <= bytes.len() - HEADER);
            }
        }
    }
}
