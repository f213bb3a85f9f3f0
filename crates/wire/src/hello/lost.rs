//! A member that lost its carrier, as the dataplane reports it.

use super::{HEADER, Times, VERSION, says};
use crate::constants;
use crate::ethernet::header;
use crate::frame::{Frame, ethertype};
use crate::mac::Mac;

/// A report to one member of one peer, sent by a member that has carrier: another member has none. The dataplane writes
/// it, at once, without a key and without knowing the number of its team. It is a hint for the frames of the next
/// moments, until the team's announcement arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The address of the member that has none.
    pub mac: Mac,
    /// A number that nobody without the key knows, and that counts once; 0 without a key.
    pub token: u64,
}

impl Lost {
    /// Beside [`super::HelloKind`]'s, which processes write.
    const KIND: u8 = constants::HELLO_LOST;
    /// Where the token, and the address, stand in an untagged frame.
    const TOKEN: usize = constants::HELLO_LOST_TOKEN;
    const MAC: usize = constants::HELLO_LOST_MAC;

    /// In a frame, without check sequence.
    pub fn frame(self, dst: Mac, src: Mac) -> Vec<u8> {
        let mut frame = header(dst, src, None, ethertype::HELLO, Times::END - HEADER);
        frame.extend_from_slice(&[VERSION, Lost::KIND]);
        frame.resize(Times::END, 0);
        frame[Lost::TOKEN..Lost::TOKEN + 8].copy_from_slice(&self.token.to_be_bytes());
        frame[Lost::MAC..Lost::MAC + 6].copy_from_slice(&self.mac.0);
        frame
    }

    /// What a frame says, if it is one. What stands behind the address is not looked at: a
    /// device may have computed a checksum there.
    pub fn of_frame(frame: &Frame<'_>) -> Option<Lost> {
        let payload = frame.payload();
        let is_lost = frame.ethertype() == ethertype::HELLO && frame.vlan().is_none() && says(payload, Lost::KIND);
        let token = payload.get(Lost::TOKEN - HEADER..)?.first_chunk()?;
        let mac = payload.get(Lost::MAC - HEADER..)?.first_chunk()?;
        is_lost.then_some(Lost { mac: Mac(*mac), token: u64::from_be_bytes(*token) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hello;

    #[test]
    fn it_is_understood_by_those_who_look_for_it_and_by_nobody_else() {
        let (lost, dst, src) =
            (Lost { mac: Mac([2, 0, 0, 0, 7, 7]), token: 0x0102 }, Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 0, 0]));
        let mut frame = lost.frame(dst, src);
        assert_eq!(frame[12..38], [&[0x88, 0xb5, 1, 6][..], &[0; 12], &[1, 2], &[2, 0, 0, 0, 7, 7], &[0; 2]].concat());
        let of = |frame: &[u8]| Lost::of_frame(&Frame::parse(frame).unwrap());
        assert_eq!(of(&frame), Some(lost));
        assert!(Hello::of_frame(&Frame::parse(&frame).unwrap()).is_some_and(|hello| hello.is_err()));
        frame[36..].fill(0xff);
        assert_eq!((of(&frame), of(&frame[..36])), (Some(lost), Some(lost)));
        for end in 14..36 {
            assert_eq!(of(&frame[..end]), None, "{end} bytes");
        }
        for (place, value) in [(13, 0xb6), (14, 0), (15, 2), (15, 7)] {
            let mut other = frame.clone();
            other[place] = value;
            assert_eq!(of(&other), None, "byte {place}");
        }
    }
}
