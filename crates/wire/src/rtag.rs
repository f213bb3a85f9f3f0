//! The redundancy tag (R-TAG) of IEEE 802.1CB-2017, 7.8: which frame of its
//! stream this is.
//!
//! It stands where the EtherType would, behind the outermost VLAN tag if there is
//! one: EtherType `f1 c1`, two reserved bytes (sent as zero, not looked at), the
//! sequence number (big-endian), then the EtherType of what it was put before.

use crate::constants;
use crate::frame::{Frame, Malformed, ethertype};

/// A redundancy tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtag {
    /// Counts the frames of a stream, wrapping.
    pub sequence: u16,
}

impl Rtag {
    /// Bytes by which it makes a frame longer.
    pub const LEN: usize = constants::RTAG_LEN;

    /// The tag as it stands in front of the EtherType.
    pub fn encode(self) -> [u8; Rtag::LEN] {
        let [a, b] = ethertype::RTAG.to_be_bytes();
        let [high, low] = self.sequence.to_be_bytes();
        [a, b, 0, 0, high, low]
    }

    /// A frame's tag, and the frame without it, if it has one.
    ///
    /// # Errors
    /// The frame ends within the tag, or before the EtherType behind it.
    pub fn take<'a>(frame: &Frame<'a>) -> Option<Result<(Rtag, Frame<'a>), Malformed>> {
        const BEHIND: usize = 2;
        const NEED: usize = Rtag::LEN + BEHIND;
        (frame.ethertype() == ethertype::RTAG).then(|| {
            // The EtherType of the tag is no part of what it carries.
            let short = Malformed::Short { what: "redundancy tag", need: NEED, have: BEHIND + frame.payload().len() };
            let &[_, _, high, low, ..] = frame.payload() else { return Err(short) };
            let rest = frame.without(Rtag::LEN).ok_or(short)?;
            Ok((Rtag { sequence: u16::from_be_bytes([high, low]) }, rest))
        })
    }

    /// A frame with this tag behind its addresses; as it is if it is shorter than those.
    pub fn put(self, frame: &[u8]) -> Vec<u8> {
        const MACS: usize = 12;
        match frame.split_at_checked(MACS) {
            Some((macs, rest)) => [macs, &self.encode(), rest].concat(),
            None => frame.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mac;
    use proptest::prelude::*;

    const FRAME: [u8; 18] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0, 0xaa, 0xbb, 0xcc, 0xdd];

    #[test]
    fn it_stands_in_front_of_the_ethertype() {
        let tagged = Rtag { sequence: 0x0102 }.put(&FRAME);
        assert_eq!(tagged[..12], FRAME[..12]);
        assert_eq!(tagged[12..], [0xf1, 0xc1, 0, 0, 1, 2, 0x08, 0, 0xaa, 0xbb, 0xcc, 0xdd]);
        let frame = Frame::parse(&tagged).unwrap();
        let (tag, inner) = Rtag::take(&frame).unwrap().unwrap();
        assert_eq!((tag.sequence, inner.ethertype(), inner.payload()), (0x0102, ethertype::IPV4, &FRAME[14..]));
        assert_eq!((inner.dst(), inner.src()), (Mac([1, 2, 3, 4, 5, 6]), Mac([7, 8, 9, 10, 11, 12])));
    }

    #[test]
    fn reserved_bytes_are_not_looked_at() {
        let mut tagged = Rtag { sequence: 7 }.put(&FRAME);
        tagged[14..16].fill(0xff);
        let frame = Frame::parse(&tagged).unwrap();
        assert_eq!(Rtag::take(&frame).unwrap().unwrap().0.sequence, 7);
    }

    #[test]
    fn one_that_is_cut_off_is_refused() {
        let tagged = Rtag { sequence: 7 }.put(&FRAME);
        for end in 14..20 {
            let frame = Frame::parse(&tagged[..end]).unwrap();
            let refused = Malformed::Short { what: "redundancy tag", need: 8, have: end - 12 };
            assert_eq!(Rtag::take(&frame).unwrap().unwrap_err(), refused);
        }
        let frame = Frame::parse(&tagged[..20]).unwrap();
        assert_eq!(Rtag::take(&frame).unwrap().unwrap().1.payload(), []);
        assert_eq!(Rtag { sequence: 7 }.put(&FRAME[..11]), FRAME[..11]);
    }

    proptest! {
        #[test]
        fn what_was_put_is_taken(bytes in proptest::collection::vec(any::<u8>(), 14..80), sequence: u16) {
            let tagged = Rtag { sequence }.put(&bytes);
            let frame = Frame::parse(&tagged).unwrap();
            let (tag, inner) = Rtag::take(&frame).unwrap().unwrap();
            let plain = Frame::parse(&bytes).unwrap();
            prop_assert_eq!(tag, Rtag { sequence });
            prop_assert_eq!((inner.dst(), inner.src(), inner.ethertype()), (plain.dst(), plain.src(), plain.ethertype()));
            prop_assert_eq!(inner.payload(), plain.payload());
        }

        #[test]
        fn any_bytes_have_a_tag_or_none(bytes in proptest::collection::vec(any::<u8>(), 14..40)) {
            let mut bytes = bytes;
            bytes[12..14].copy_from_slice(&ethertype::RTAG.to_be_bytes());
            let frame = Frame::parse(&bytes).unwrap();
            prop_assert_eq!(Rtag::take(&frame).unwrap().is_ok(), bytes.len() >= 20);
        }
    }
}
