//! The hello: how teams that stripe find each other and know which paths work.
//!
//! `docs/hello.md` describes it byte by byte. All numbers are big-endian. A
//! receiver looks at no reserved byte and at nothing behind the members and the
//! tag, so that a later version, which only appends, is understood.
//!
//! What a tag is computed by is not this file's business: it says where the tag
//! stands and what it covers.

mod fields;
mod kind;
mod lost;
mod times;

use std::ops::Range;

use fields::{checked_mac, checked_place, mac, number};
pub use kind::HelloKind;
use kind::{HEADER, KIND, PAYLOAD_KIND};
pub use lost::Lost;
pub use times::Times;

use crate::constants;
use crate::ethernet::header;
use crate::frame::{Frame, Malformed, ethertype};
use crate::mac::Mac;

/// What one member of a team says, of itself and of its team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// What is said with it.
    pub kind: HelloKind,
    /// The team that speaks: the same number in every hello of a team, and no other's.
    pub system: u64,
    /// Counts the hellos of a system, wrapping.
    pub sequence: u32,
    /// The team's address: what its stack sends from.
    pub team: Mac,
    /// Place of the member that sent it.
    pub place: u8,
    /// Probe: anything; its echo brings it back. Challenge: the same, and its answer. Announcement with a
    /// tag: the number from which follows with which tokens a lost member is reported ([`Lost::token`]).
    pub stamp: u64,
    /// Announcement: the next one follows within this time, milliseconds; a
    /// multiple of 100, at most 25,500. Otherwise 0.
    pub next_ms: u32,
    /// True if it takes frames with a redundancy tag ([`crate::Rtag`]).
    pub takes_rtags: bool,
    /// Announcement: how many teams it has traffic with, at most
    /// [`Hello::MAX_RIVALS`]. Otherwise 0.
    pub rivals: u8,
    /// Announcement: all members; otherwise none. At most [`Hello::MAX_MEMBERS`].
    pub members: Vec<HelloMember>,
}

/// A hello that carries a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// What the tag is computed over.
    pub covered: Vec<u8>,
    /// The tag.
    pub tag: [u8; Hello::TAG],
    /// What would be a second one, behind it, by another key; of a probe and its echo never.
    pub second: Option<[u8; Hello::TAG]>,
}

/// One member, as its team announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloMember {
    /// Its place in its team.
    pub place: u8,
    /// True if frames may be sent to it.
    pub usable: bool,
    /// What it can carry, Mbit/s; 0: unknown.
    pub rate_mbps: u32,
    /// Its own address.
    pub mac: Mac,
}

impl Hello {
    /// Where announcements are sent to: a locally administered group address,
    /// which bridges flood.
    pub const GROUP: Mac = Mac([0x03, 0x6e, 0x69, 0x63, 0x00, 0x01]);
    /// The most members that an announcement may name.
    pub const MAX_MEMBERS: usize = fields::MAX_MEMBERS;
    /// The most teams that an announcement counts.
    pub const MAX_RIVALS: u8 = 63;
    /// Bytes of a tag.
    pub const TAG: usize = 16;

    /// The hello as the payload of a frame of EtherType [`ethertype::HELLO`].
    /// Members beyond [`Hello::MAX_MEMBERS`] are left out.
    pub fn encode(&self) -> Vec<u8> {
        let members = &self.members[..self.members.len().min(Hello::MAX_MEMBERS)];
        let mut bytes = vec![VERSION, self.kind.number(), members.len() as u8, self.place];
        bytes.extend_from_slice(&self.sequence.to_be_bytes());
        bytes.extend_from_slice(&self.system.to_be_bytes());
        bytes.extend_from_slice(&self.stamp.to_be_bytes());
        bytes.extend_from_slice(&self.team.0);
        let next = (self.next_ms / NEXT_UNIT_MS).min(u8::MAX.into());
        let rivals = self.rivals.min(Hello::MAX_RIVALS) << RIVALS_SHIFT;
        bytes.extend_from_slice(&[if self.takes_rtags { TAKES_RTAGS } else { 0 } | rivals, next as u8]);
        for member in members {
            bytes.extend_from_slice(&[member.place, u8::from(member.usable)]);
            bytes.extend_from_slice(&member.mac.0);
            bytes.extend_from_slice(&member.rate_mbps.to_be_bytes());
        }
        bytes
    }

    /// The same with a tag behind the members: what `tag` makes of the bytes that
    /// it covers.
    pub fn encode_tagged(&self, tag: impl FnOnce(&[u8]) -> [u8; Hello::TAG]) -> Vec<u8> {
        let mut bytes = self.encode();
        bytes[FLAGS] |= HAS_TAG;
        let tag = tag(&covered(&bytes));
        bytes.extend_from_slice(&tag);
        bytes
    }

    /// The same with a second tag behind the first, over the same bytes, for receivers that know the second key alone.
    /// A probe has room for one tag, and goes back to its sender: it has the first.
    pub fn encode_tagged_twice(
        &self,
        first: impl FnOnce(&[u8]) -> [u8; Hello::TAG],
        second: impl FnOnce(&[u8]) -> [u8; Hello::TAG],
    ) -> Vec<u8> {
        let mut bytes = self.encode_tagged(first);
        if !self.kind.is_of_probe() {
            let second = second(&covered(&bytes[..bytes.len() - Hello::TAG]));
            bytes.extend_from_slice(&second);
        }
        bytes
    }

    /// The tag in the payload of a frame of EtherType [`ethertype::HELLO`], and what
    /// it covers: everything ahead of it, and an echo as the probe that it was. None
    /// if the hello has no tag, or less of one than there should be.
    pub fn tagged(bytes: &[u8]) -> Option<Tagged> {
        let flags = bytes.get(FLAGS)?;
        let end = HEAD + usize::from(*bytes.get(COUNT)?) * MEMBER;
        let (tag, behind) = bytes.get(end..)?.split_first_chunk()?;
        let is_of_probe = HelloKind::of(*bytes.get(PAYLOAD_KIND)?).is_some_and(HelloKind::is_of_probe);
        let second = behind.first_chunk().filter(|_| !is_of_probe).copied();
        (flags & HAS_TAG != 0).then(|| Tagged { covered: covered(&bytes[..end]), tag: *tag, second })
    }

    /// Where the tags stand in the payload of a frame of EtherType [`ethertype::HELLO`]: all of it that follows from a
    /// key. None if it has no tag.
    pub fn tags(bytes: &[u8]) -> Option<Range<usize>> {
        let Tagged { second, .. } = Hello::tagged(bytes)?;
        let start = HEAD + usize::from(*bytes.get(COUNT)?) * MEMBER;
        Some(start..start + if second.is_some() { 2 * Hello::TAG } else { Hello::TAG })
    }

    /// The hello in a frame, without check sequence, as long as the shortest; a probe with
    /// room for its [`Times`].
    pub fn frame(&self, dst: Mac, src: Mac) -> Vec<u8> {
        Hello::frame_of(&self.encode(), dst, src)
    }

    /// An encoded hello in a frame, as [`Hello::frame`].
    pub fn frame_of(payload: &[u8], dst: Mac, src: Mac) -> Vec<u8> {
        let mut frame = header(dst, src, None, ethertype::HELLO, payload.len());
        frame.extend_from_slice(payload);
        let shortest = if says_probe(payload) { Times::END } else { SHORTEST };
        frame.resize(frame.len().max(shortest), 0);
        frame
    }

    /// Reads the payload of a frame of EtherType [`ethertype::HELLO`]. Refuses
    /// version 0, an unknown kind, more members than a team can have, a place
    /// that no team has, an address that no device has (a group's, or zero), and less than it says it is.
    pub fn decode(bytes: &[u8]) -> Result<Hello, Malformed> {
        let short = |need| Malformed::Short { what: "hello", need, have: bytes.len() };
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(short(HEAD))?;
        let &[version, kind, count, place, q0, q1, q2, q3, ..] = head;
        if version < VERSION {
            return Err(Malformed::Field { what: "hello version", value: version.into() });
        }
        let kind = HelloKind::of(kind).ok_or(Malformed::Field { what: "hello kind", value: kind.into() })?;
        let count = usize::from(count);
        if count > Hello::MAX_MEMBERS {
            return Err(Malformed::Field { what: "members in a hello", value: count as u32 });
        }
        let members = rest.get(..count * MEMBER).ok_or(short(HEAD + count * MEMBER))?;
        let members = members.as_chunks::<MEMBER>().0.iter().map(HelloMember::decode).collect::<Result<_, _>>()?;
        Ok(Hello {
            kind,
            system: number(head, 8),
            sequence: u32::from_be_bytes([q0, q1, q2, q3]),
            team: checked_mac(mac(head, 24), "team's address in a hello")?,
            place: checked_place(place)?,
            stamp: number(head, 16),
            next_ms: u32::from(head[NEXT]) * NEXT_UNIT_MS,
            takes_rtags: head[FLAGS] & TAKES_RTAGS != 0,
            rivals: head[FLAGS] >> RIVALS_SHIFT,
            members,
        })
    }

    /// Makes the frame of a probe that of its echo, in place: the addresses
    /// change sides, and the kind says what it is. False of any other frame, which
    /// stays as it is.
    pub fn reflect(frame: &mut [u8]) -> bool {
        let is_probe = Frame::parse(frame).is_ok_and(|frame| Hello::is_probe(&frame));
        if is_probe {
            let (dst, rest) = frame.split_at_mut(6);
            dst.swap_with_slice(&mut rest[..6]);
            frame[KIND] = HelloKind::Echo.number();
        }
        is_probe
    }

    /// True of a frame that [`Hello::reflect`] would make an echo of, if it has no VLAN tag. Every probe, of
    /// whatever version, is as long as [`Times`] end: what is longer or shorter goes back to nobody.
    pub fn is_probe(frame: &Frame<'_>) -> bool {
        let is_as_long = frame.payload().len() == Times::END - HEADER;
        frame.ethertype() == ethertype::HELLO && frame.vlan().is_none() && is_as_long && says_probe(frame.payload())
    }

    /// The stamp of a probe, or of its echo, if that is what a frame carries; it is not looked at further.
    pub fn stamp_of_probe(frame: &Frame<'_>) -> Option<u64> {
        let is_echo = says(frame.payload(), HelloKind::Echo.number());
        let is_either = frame.ethertype() == ethertype::HELLO && frame.vlan().is_none();
        let stamp = frame.payload().get(STAMP..)?.first_chunk()?;
        (is_either && (is_echo || says_probe(frame.payload()))).then(|| u64::from_be_bytes(*stamp))
    }

    /// The hello in a frame, if that is what the frame carries.
    pub fn of_frame(frame: &Frame<'_>) -> Option<Result<Hello, Malformed>> {
        (frame.ethertype() == ethertype::HELLO).then(|| Hello::decode(frame.payload()))
    }
}

impl HelloMember {
    fn decode(bytes: &[u8; MEMBER]) -> Result<HelloMember, Malformed> {
        let &[place, flags, .., r0, r1, r2, r3] = bytes;
        Ok(HelloMember {
            place: checked_place(place)?,
            usable: flags & 1 != 0,
            rate_mbps: u32::from_be_bytes([r0, r1, r2, r3]),
            mac: checked_mac(mac(bytes, 2), "member's address in a hello")?,
        })
    }
}

const VERSION: u8 = 1;
const COUNT: usize = 2;
const STAMP: usize = constants::HELLO_STAMP - HEADER;
const FLAGS: usize = 30;
/// In the flags: a tag follows the members.
const HAS_TAG: u8 = 1;
/// And: frames with a redundancy tag are taken.
const TAKES_RTAGS: u8 = 2;
/// The bits above count the teams with traffic.
const RIVALS_SHIFT: u32 = 2;
/// Byte of the head that says when the next announcement follows, in this unit.
const NEXT: usize = 31;
const NEXT_UNIT_MS: u32 = 100;
/// Bytes ahead of the members.
const HEAD: usize = 32;
/// Bytes of a member.
const MEMBER: usize = 12;
/// Bytes of the shortest Ethernet frame without its check sequence.
const SHORTEST: usize = constants::SHORTEST;

const _: () = {
    assert!(HelloKind::Probe.number() == constants::HELLO_PROBE && HelloKind::Echo.number() == constants::HELLO_ECHO);
    assert!(constants::HELLO_VERSION == HEADER);
};

/// True of the payload of a probe of a version that is understood.
fn says_probe(payload: &[u8]) -> bool {
    says(payload, HelloKind::Probe.number())
}

/// True of the payload of a hello of this kind, of a version that is understood.
fn says(payload: &[u8], kind: u8) -> bool {
    matches!(payload, &[version, own, ..] if version >= VERSION && own == kind)
}

/// What a tag covers of these bytes, which end where it begins. The host that sends an echo changes the kind of the
/// probe. It has no key, or not at hand.
fn covered(bytes: &[u8]) -> Vec<u8> {
    let mut covered = bytes.to_vec();
    if let Some(kind) = covered.get_mut(PAYLOAD_KIND).filter(|kind| **kind == HelloKind::Echo.number()) {
        *kind = HelloKind::Probe.number();
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let member = |place| HelloMember {
            place,
            usable: place != 1,
            rate_mbps: 1000 * u32::from(place),
            mac: Mac([2, 0, 0, 0, 0, place]),
        };
        Hello {
            kind: HelloKind::Announce,
            system: 0x0102_0304_0506_0708,
            sequence: 0x0a0b_0c0d,
            team: Mac([2, 0, 0, 0, 0, 0xff]),
            place: 3,
            stamp: 0x1112_1314_1516_1718,
            next_ms: 1200,
            takes_rtags: true,
            rivals: 5,
            members: (0..3).map(member).collect(),
        }
    }

    #[test]
    fn it_stands_on_the_wire_as_documented() {
        let frame = hello().frame(Hello::GROUP, Mac([2, 0, 0, 0, 0, 3]));
        let head = [
            3,
            0x6e,
            0x69,
            0x63,
            0,
            1,
            2,
            0,
            0,
            0,
            0,
            3,
            0x88,
            0xb5, // to the group, from member 3
            1,
            1,
            3,
            3,
            0x0a,
            0x0b,
            0x0c,
            0x0d, // version, kind, members, place, sequence
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            0x11,
            0x12,
            0x13,
            0x14,
            0x15,
            0x16,
            0x17,
            0x18, // system, stamp
            2,
            0,
            0,
            0,
            0,
            0xff,
            2 | 5 << 2,
            12, // team, flags, the next within 1.2 s
        ];
        assert_eq!(frame[..46], head);
        assert_eq!(frame[46..58], [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(frame[58..70], [1, 0, 2, 0, 0, 0, 0, 1, 0, 0, 3, 0xe8]);
        assert_eq!(frame.len(), 46 + 3 * 12);
        assert_eq!(Hello::of_frame(&Frame::parse(&frame).unwrap()), Some(Ok(hello())));
    }

    #[test]
    fn a_short_one_fills_a_frame_and_a_probe_has_room_for_its_times() {
        for (kind, len) in [(HelloKind::Challenge, 60), (HelloKind::Probe, 78)] {
            let short = Hello { kind, members: Vec::new(), ..hello() };
            let frame = short.frame(Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 0, 0]));
            assert_eq!(frame.len(), len);
            assert_eq!(Hello::of_frame(&Frame::parse(&frame).unwrap()), Some(Ok(short)));
        }
    }

    #[test]
    fn an_echo_is_the_probe_sent_back() {
        let (a, b) = (Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 0, 0]));
        let probe = Hello { kind: HelloKind::Probe, members: Vec::new(), ..hello() };
        let mut frame = probe.frame(a, b);
        assert!(Hello::reflect(&mut frame));
        let mut echo = Hello { kind: HelloKind::Echo, ..probe.clone() }.frame(b, a);
        echo.resize(Times::END, 0);
        assert_eq!(frame, echo);
        assert!(!Hello::reflect(&mut frame), "an echo is not sent back");
        let longer = [probe.frame(a, b), vec![0]].concat();
        let with_members = Hello { members: hello().members, ..probe.clone() }.frame(a, b);
        let shorter = probe.frame(a, b)[..Times::END - 1].to_vec();
        for other in
            [hello().frame(a, b), longer, with_members, shorter, probe.frame(a, b)[..KIND].to_vec(), Vec::new()]
        {
            let mut same = other.clone();
            assert!(!Hello::reflect(&mut same));
            assert_eq!(same, other);
        }
        let mut other = probe.frame(a, b);
        other[13] ^= 1;
        assert!(!Hello::reflect(&mut other));
    }

    #[test]
    fn what_is_none_is_refused() {
        let whole = hello().encode();
        for end in 0..whole.len() {
            assert!(matches!(Hello::decode(&whole[..end]), Err(Malformed::Short { .. })), "{end} bytes");
        }
        // Of a member's address and the team's, a group's bit, too.
        for (place, value) in [(0, 0), (1, 0), (1, 6), (2, 33), (3, 32), (32, 32), (24, 3), (34, 1), (34, 0xff)] {
            let mut bytes = whole.clone();
            bytes[place] = value;
            assert!(matches!(Hello::decode(&bytes), Err(Malformed::Field { .. })), "byte {place}");
        }
        for address in [24..30, 34..40, 46..52] {
            let mut bytes = whole.clone();
            bytes[address.clone()].fill(0);
            assert!(matches!(Hello::decode(&bytes), Err(Malformed::Field { .. })), "zeros at {address:?}");
        }
    }

    #[test]
    fn what_a_later_version_appends_is_not_looked_at() {
        let mut bytes = hello().encode();
        bytes[0] = 2;
        bytes.extend_from_slice(&[0xff; 32]);
        assert_eq!(Hello::decode(&bytes), Ok(hello()));
    }

    #[test]
    fn a_tag_stands_behind_the_members_and_covers_all_ahead_of_it() {
        let tag = [0xee; Hello::TAG];
        let mut seen = Vec::new();
        let mut bytes = hello().encode_tagged(|covered| {
            seen = covered.to_vec();
            tag
        });
        assert_eq!(seen[..FLAGS], hello().encode()[..FLAGS]);
        assert_eq!(seen[FLAGS], hello().encode()[FLAGS] | HAS_TAG);
        assert_eq!(seen[FLAGS + 1..], hello().encode()[FLAGS + 1..]);
        assert_eq!(bytes.len(), seen.len() + Hello::TAG);
        assert_eq!(Hello::decode(&bytes), Ok(hello()));
        bytes.extend_from_slice(&[7; 3]);
        assert_eq!(Hello::tagged(&bytes), Some(Tagged { covered: seen.clone(), tag, second: None }));
        for end in 0..seen.len() + Hello::TAG {
            assert_eq!(Hello::tagged(&bytes[..end]), None, "{end} bytes");
        }
        bytes[FLAGS] = 0xfe;
        assert_eq!(Hello::tagged(&bytes), None, "it says that there is none");
    }

    #[test]
    fn a_second_tag_covers_what_the_first_does_and_stands_behind_it() {
        let covered = |bytes: &[u8]| bytes[..Hello::TAG].try_into().unwrap();
        let one = hello().encode_tagged(covered);
        let two = hello().encode_tagged_twice(covered, |bytes| {
            assert_eq!(bytes, &one[..one.len() - Hello::TAG]);
            [9; Hello::TAG]
        });
        assert_eq!((&two[..one.len()], &two[one.len()..]), (&one[..], &[9; Hello::TAG][..]));
        let (first, second) = (Hello::tagged(&one).unwrap(), Hello::tagged(&two).unwrap());
        assert_eq!((first.second, second.second), (None, Some([9; Hello::TAG])));
        assert_eq!((first.covered, first.tag), (second.covered, second.tag));
        let probe = Hello { kind: HelloKind::Probe, members: Vec::new(), ..hello() };
        let bytes = probe.encode_tagged_twice(covered, |_| [9; Hello::TAG]);
        assert_eq!(bytes, probe.encode_tagged(covered));
        let frame = Hello::frame_of(&bytes, Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 0, 0]));
        assert_eq!(Hello::tagged(&frame[HEADER..]).unwrap().second, None, "its times stand there");
    }

    #[test]
    fn the_tag_of_a_probe_is_that_of_its_echo_and_of_nothing_else() {
        let covered = |kind| Hello { kind, ..hello() }.encode_tagged(|covered| covered[..16].try_into().unwrap());
        let of = |kind| covered(kind)[hello().encode().len()..].to_vec();
        assert_eq!(of(HelloKind::Echo), of(HelloKind::Probe));
        let kinds = [HelloKind::Announce, HelloKind::Probe, HelloKind::Challenge, HelloKind::Answer];
        let tags: std::collections::BTreeSet<_> = kinds.into_iter().map(of).collect();
        assert_eq!(tags.len(), kinds.len());
    }
}
