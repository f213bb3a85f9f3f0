//! A frame with what stands beside it, and its bytes as they leave.

/// A frame of a [`super::Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// From the destination address to the end of the payload, the tag beside it left out.
    pub bytes: &'a [u8],
    /// The tag beside it.
    pub tag: Option<Tag>,
    /// What is left to do before it is fit for a wire.
    pub offload: Offload,
}

/// A VLAN tag beside a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// EtherType of the tag: 0x8100 or 0x88a8.
    pub protocol: u16,
    /// Priority (3 bits), drop eligibility (1), identifier (12).
    pub tci: u16,
}

/// What is left to do before a frame is fit for a wire: `struct virtio_net_hdr`,
/// field by field. All zero: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// [`Offload::NEEDS_CHECKSUM`]; other bits of a received frame are of no consequence.
    pub flags: u8,
    /// `VIRTIO_NET_HDR_GSO_*`; 0 for a frame that is one packet.
    pub gso_type: u8,
    /// Bytes of the headers in front of the payload that is to be cut, a hint.
    pub hdr_len: u16,
    /// Payload bytes of each packet after the cut.
    pub gso_size: u16,
    /// Where the checksum begins, bytes from the start of the frame.
    pub csum_start: u16,
    /// Where it is stored, bytes from `csum_start`.
    pub csum_offset: u16,
}

/// A frame of a [`super::Batch`] that is to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// Its place in the batch.
    pub place: usize,
    /// A source address to write into it.
    pub src: Option<[u8; 6]>,
    /// A destination address to write into it.
    pub dst: Option<[u8; 6]>,
    /// What to put behind its addresses and the tag beside it, or to take away there.
    pub shim: Shim,
}

/// Bytes between the addresses of a frame, with the tag beside it, and its EtherType.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shim {
    /// As they are.
    #[default]
    Keep,
    /// These are put in.
    Put([u8; SHIM]),
    /// The first [`SHIM`] of what is there are left out.
    Take,
}

/// Bytes of a [`Shim`].
pub const SHIM: usize = 6;

/// Bytes of `struct virtio_net_hdr`.
pub(super) const OFFLOAD: usize = 10;
/// Bytes of the two addresses.
pub(super) const MACS: usize = 12;
/// Bytes of a VLAN tag.
pub(super) const TAG: usize = 4;
/// Bytes in front of the payload of an outgoing frame: offload header, addresses, tag, shim.
pub(super) const HEAD: usize = OFFLOAD + MACS + TAG + SHIM;

impl Offload {
    /// In `flags`: the checksum is still to be computed.
    pub const NEEDS_CHECKSUM: u8 = 1;

    /// The same for a frame whose Ethernet header is so many bytes longer.
    pub(super) fn moved(self, bytes: i16) -> Offload {
        let shift = |offset: u16, applies: bool| if applies { offset.saturating_add_signed(bytes) } else { offset };
        Offload {
            hdr_len: shift(self.hdr_len, self.gso_type != 0),
            csum_start: shift(self.csum_start, self.flags & Offload::NEEDS_CHECKSUM != 0),
            ..self
        }
    }

    pub(super) fn from_bytes(bytes: [u8; OFFLOAD]) -> Offload {
        let [flags, gso_type, a, b, c, d, e, f, g, h] = bytes;
        Offload {
            flags,
            gso_type,
            hdr_len: u16::from_ne_bytes([a, b]),
            gso_size: u16::from_ne_bytes([c, d]),
            csum_start: u16::from_ne_bytes([e, f]),
            csum_offset: u16::from_ne_bytes([g, h]),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; OFFLOAD] {
        let [a, b] = self.hdr_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        // That a checksum was found right is of no use to a sender.
        [self.flags & Offload::NEEDS_CHECKSUM, self.gso_type, a, b, c, d, e, f, g, h]
    }
}

impl Outgoing {
    /// Writes what stands in front of the payload and returns the part in use.
    pub(super) fn head<'a>(&self, received: &Received<'_>, head: &'a mut [u8; HEAD]) -> &'a [u8] {
        let (dst, src) = received.bytes[..MACS].split_at(MACS / 2);
        let (dst, src) = (self.dst.as_ref().map_or(dst, |mac| mac), self.src.as_ref().map_or(src, |mac| mac));
        let tag = received.tag.map(|tag| [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()]);
        let tag = tag.as_ref().map_or(&[][..], |tag| tag.as_flattened());
        let (shim, moved) = match &self.shim {
            Shim::Keep => (&[][..], 0),
            Shim::Put(bytes) => (&bytes[..], SHIM as i16),
            Shim::Take => (&[][..], -(SHIM as i16)),
        };
        let offload = received.offload.moved(tag.len() as i16 + moved).to_bytes();
        let mut len = 0;
        for part in [&offload[..], dst, src, tag, shim] {
            head[len..][..part.len()].copy_from_slice(part);
            len += part.len();
        }
        &head[..len]
    }

    /// What follows it; nothing of a frame that ends within what is to be taken away.
    pub(super) fn rest<'a>(&self, received: &Received<'a>) -> &'a [u8] {
        let taken = if self.shim == Shim::Take { SHIM } else { 0 };
        received.bytes.get(MACS + taken..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::{FRAME, OFFLOADED, received};

    #[test]
    fn a_tag_goes_behind_the_addresses_and_moves_the_offsets() {
        let mut head = [0; HEAD];
        let tagged = received(Some(Tag { protocol: 0x8100, tci: 0x6005 }));
        let bytes = Outgoing::default().head(&tagged, &mut head);
        let (offload, rest) = bytes.split_first_chunk::<OFFLOAD>().unwrap();
        assert_eq!(Offload::from_bytes(*offload), Offload { hdr_len: 58, csum_start: 38, ..OFFLOADED });
        assert_eq!(rest, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0x60, 5]);
    }

    #[test]
    fn offsets_that_say_nothing_stay() {
        assert_eq!(Offload::default().moved(4), Offload::default());
    }

    #[test]
    fn a_shim_is_put_behind_the_tag_and_taken_away_again() {
        let (mut head, shim) = ([0; HEAD], [0xf1, 0xc1, 0, 0, 1, 2]);
        let tagged = received(Some(Tag { protocol: 0x8100, tci: 5 }));
        let put = Outgoing { shim: Shim::Put(shim), ..Outgoing::default() };
        let bytes = [put.head(&tagged, &mut head), put.rest(&tagged)].concat();
        let (offload, bytes) = bytes.split_first_chunk::<OFFLOAD>().unwrap();
        assert_eq!(Offload::from_bytes(*offload), Offload { hdr_len: 64, csum_start: 44, ..OFFLOADED });
        assert_eq!(bytes[12..], [0x81, 0, 0, 5, 0xf1, 0xc1, 0, 0, 1, 2, 0x08, 0, 0xaa, 0xbb]);

        let received = Received { bytes: &bytes[4..], tag: None, offload: OFFLOADED.moved(6) };
        let taken = Outgoing { shim: Shim::Take, ..Outgoing::default() };
        let whole = [taken.head(&received, &mut head), taken.rest(&received)].concat();
        assert_eq!(Offload::from_bytes(*whole.first_chunk().unwrap()), OFFLOADED);
        assert_eq!(whole[OFFLOAD + MACS..], FRAME[MACS..]);
    }

    #[test]
    fn addresses_are_written_into_the_head_alone() {
        let mut head = [0; HEAD];
        let outgoing = Outgoing { src: Some([0xa; 6]), dst: Some([0xb; 6]), ..Outgoing::default() };
        let bytes = outgoing.head(&received(None), &mut head);
        assert_eq!(bytes[OFFLOAD..], [0xb, 0xb, 0xb, 0xb, 0xb, 0xb, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa]);
        assert_eq!(Offload::from_bytes(*bytes.first_chunk().unwrap()), OFFLOADED);
    }
}
