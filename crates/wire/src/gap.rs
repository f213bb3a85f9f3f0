//! What a TCP segment says of a gap: the selective acknowledgement option (RFC 2018).
//!
//! It is looked for where stacks put it, as the last option, behind two that do nothing:
//! either alone (`01 01 05 len`) or behind the timestamps (`01 01 08 0a ...`, RFC 7323, appendix
//! A). One that stands elsewhere is not found.
//! Mirrored in `bpf/gaps.h`.

use crate::frame::{Frame, ethertype};

/// A TCP segment that acknowledges something, and something else behind a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapReport {
    /// The addresses and ports in one word: of two flows it is seldom the same.
    pub flow: u32,
    /// All before this number was received, and the byte with this number was not.
    pub ack: u32,
    /// The number of its own first byte.
    pub sequence: u32,
    /// What was received behind the gap, or a part of it, ends before this number.
    pub end: u32,
    /// What its sender has room for, not scaled.
    pub window: u16,
    /// It says nothing else: it has no payload, and no flag but ACK and PSH.
    pub is_bare: bool,
    /// Where in the payload of the frame the option begins, with the two before it that do nothing.
    pub at: usize,
    len: u8,
}

/// Where a TCP segment stands in its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// As [`GapReport::flow`] of a report that answers it.
    pub flow: u32,
    /// The number of its first byte.
    pub sequence: u32,
    /// And of the one behind its last; what fills up a short frame counts, too.
    pub end: u32,
}

impl Segment {
    /// Of a frame that is one.
    pub fn of(frame: &Frame<'_>) -> Option<Segment> {
        let packet = frame.payload();
        let (addresses, transport) = transport_of(frame.ethertype(), packet)?;
        let (head, _) = packet.get(transport..)?.split_first_chunk::<TCP>()?;
        let &[p0, p1, p2, p3, s0, s1, s2, s3, _, _, _, _, offset, ..] = head;
        let flow = addresses ^ u32::from_le_bytes([p2, p3, p0, p1]);
        let sequence = u32::from_be_bytes([s0, s1, s2, s3]);
        let headers = transport + usize::from(offset >> 4) * 4;
        let end = sequence.wrapping_add(packet.len() as u32).wrapping_sub(headers as u32);
        Some(Segment { flow, sequence, end })
    }
}

/// What a TCP segment acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// As [`Segment::flow`] of a segment that it answers.
    pub flow: u32,
    /// All before this number was received.
    pub ack: u32,
}

impl Acknowledgement {
    /// Of a frame that is a segment of TCP with the flag for it.
    pub fn of(frame: &Frame<'_>) -> Option<Acknowledgement> {
        let packet = frame.payload();
        let (addresses, transport) = transport_of(frame.ethertype(), packet)?;
        let (head, _) = packet.get(transport..)?.split_first_chunk::<TCP>()?;
        let &[p0, p1, p2, p3, _, _, _, _, a0, a1, a2, a3, _, flags, ..] = head;
        let flow = addresses ^ u32::from_le_bytes([p0, p1, p2, p3]);
        (flags & ACK != 0).then_some(Acknowledgement { flow, ack: u32::from_be_bytes([a0, a1, a2, a3]) })
    }
}

/// Bytes of a TCP header without options.
const TCP: usize = 20;
/// Bytes of the timestamps, with the two options before them that do nothing.
const TIMESTAMPS: usize = 12;
/// FIN, SYN, RST, PSH and ACK.
const FIN_SYN_RST: u8 = 0x07;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const TCP_PROTOCOL: u8 = 6;
/// Spreads what few bits of addresses differ in over the word (MurmurHash3's).
const ADDRESSES: u32 = 0x85eb_ca6b;

impl GapReport {
    /// Of a frame that says so; not of one that says that something came twice (RFC 2883: its first block is
    /// acknowledged already, or lies in the second), which the sender has to know.
    pub fn of(frame: &Frame<'_>) -> Option<GapReport> {
        let packet = frame.payload();
        let (addresses, transport) = transport_of(frame.ethertype(), packet)?;
        let tcp = packet.get(transport..)?;
        let (head, options) = tcp.split_first_chunk::<TCP>()?;
        let &[p0, p1, p2, p3, s0, s1, s2, s3, a0, a1, a2, a3, offset, flags, w0, w1, ..] = head;
        let header = usize::from(offset >> 4) * 4;
        if flags & (FIN_SYN_RST | ACK) != ACK {
            return None;
        }
        let has_timestamps = options.starts_with(&[1, 1, 8]);
        let at = if has_timestamps { TIMESTAMPS } else { 0 };
        let (&[1, 1, 5, len], blocks) = options.get(at..)?.split_first_chunk::<4>()? else { return None };
        let is_whole = len > 2 && len % 8 == 2;
        // Behind the two that do nothing the option ends the header.
        if !is_whole || TCP + at + 2 + usize::from(len) != header || tcp.len() < header {
            return None;
        }
        let ack = u32::from_be_bytes([a0, a1, a2, a3]);
        let is_ahead = |number: u32, of: u32| (number.wrapping_sub(of) as i32) > 0;
        let (left, end) = block(blocks)?;
        let came_twice = |(outer_left, outer_end)| !is_ahead(outer_left, left) && !is_ahead(end, outer_end);
        if !is_ahead(left, ack) || len > 10 && blocks.get(8..).and_then(block).is_some_and(came_twice) {
            return None;
        }
        let is_empty = tcp.len() == header;
        let is_plain = flags & !PSH == ACK && offset & 0xf == 0;
        Some(GapReport {
            flow: addresses ^ u32::from_le_bytes([p0, p1, p2, p3]),
            ack,
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            end,
            window: u16::from_be_bytes([w0, w1]),
            is_bare: is_empty && is_plain,
            at: transport + TCP + at,
            len,
        })
    }

    /// What stands at [`GapReport::at`] in a segment that does not speak of the gap: the end of the options. The
    /// checksum stays right, for these words have the sum of those before.
    pub fn without(&self) -> [u8; 4] {
        let [high, low] = (u16::from_be_bytes([1, 1]) + u16::from_be_bytes([5, self.len])).to_be_bytes();
        [0, 0, high, low]
    }
}

/// The first and last number, and one, of a block of what was received.
fn block(bytes: &[u8]) -> Option<(u32, u32)> {
    let &[l0, l1, l2, l3, e0, e1, e2, e3] = bytes.first_chunk()?;
    Some((u32::from_be_bytes([l0, l1, l2, l3]), u32::from_be_bytes([e0, e1, e2, e3])))
}

/// Both addresses in one word, and where the transport header begins, if that is TCP's.
fn transport_of(kind: u16, packet: &[u8]) -> Option<(u32, usize)> {
    const FRAGMENT: u16 = 0x3fff;
    let words = |bytes: &[u8]| {
        let of = |word: &[u8]| u32::from_be_bytes(word.try_into().unwrap_or_default());
        // Hosts and ports are numbered alike, mostly: two clients, each one more than the other in its address and in
        // its port, would be one flow if both numbers stood in the same bits.
        bytes.chunks_exact(4).map(of).fold(0, |sum, word| sum ^ word).wrapping_mul(ADDRESSES)
    };
    match kind {
        ethertype::IPV4 => {
            let (head, _) = packet.split_first_chunk::<20>()?;
            let whole = u16::from_be_bytes([head[6], head[7]]) & FRAGMENT == 0;
            (whole && head[9] == TCP_PROTOCOL).then(|| (words(&head[12..]), usize::from(head[0] & 0xf) * 4))
        }
        ethertype::IPV6 => {
            let (head, _) = packet.split_first_chunk::<40>()?;
            (head[6] == TCP_PROTOCOL).then(|| (words(&head[8..]), head.len()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::ones_complement as sum;
    use proptest::prelude::*;

    /// With these flags, options and payload; the acknowledgement is number 1000.
    fn segment(ipv6: bool, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        if ipv6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64]);
            frame.extend(1..=32);
        } else {
            frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        let words = (TCP + options.len()) as u8 / 4;
        frame.extend([0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0x03, 0xe8, words << 4, flags, 1, 2, 0xab, 0xcd, 0, 0]);
        frame.extend(options);
        frame.extend(payload);
        frame
    }

    /// So many blocks, the first from this number on.
    fn option(timestamps: bool, blocks: u8, left: u32) -> Vec<u8> {
        let mut option = if timestamps { vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8] } else { vec![] };
        option.extend([1, 1, 5, 2 + 8 * blocks]);
        for block in 0..u32::from(blocks) {
            option.extend((left + 2000 * block).to_be_bytes());
            option.extend((left + 2000 * block + 1000).to_be_bytes());
        }
        option
    }

    fn report(frame: &[u8]) -> Option<GapReport> {
        GapReport::of(&Frame::parse(frame).unwrap())
    }

    #[test]
    fn a_gap_is_found_behind_timestamps_and_without() {
        for (ipv6, timestamps, blocks) in
            [(false, false, 1), (false, true, 1), (true, false, 4), (true, true, 3), (false, true, 2)]
        {
            let frame = segment(ipv6, ACK, &option(timestamps, blocks, 2000), &[]);
            let found = report(&frame).unwrap();
            let (ip, before) = (if ipv6 { 40 } else { 20 }, if timestamps { 12 } else { 0 });
            assert_eq!((found.ack, found.window, found.is_bare, found.at), (1000, 0x0102, true, ip + 20 + before));
            assert_eq!((found.sequence, found.end), (7, 3000));
        }
    }

    #[test]
    fn a_segment_and_the_answer_to_it_are_of_one_flow() {
        for ipv6 in [false, true] {
            let answer = segment(ipv6, ACK, &option(true, 1, 2000), &[]);
            let mut frame = segment(ipv6, ACK, &option(true, 1, 2000), &[1; 100]);
            let ports = if ipv6 { 54 } else { 34 };
            frame[ports..ports + 4].rotate_left(2);
            let found = Segment::of(&Frame::parse(&frame).unwrap()).unwrap();
            assert_eq!(found, Segment { flow: report(&answer).unwrap().flow, sequence: 7, end: 107 });
            let acknowledgement = |frame: &[u8]| Acknowledgement::of(&Frame::parse(frame).unwrap());
            assert_eq!(acknowledgement(&answer), Some(Acknowledgement { flow: found.flow, ack: 1000 }));
            assert_eq!(acknowledgement(&answer[..ports + TCP - 1]), None);
            assert_eq!(acknowledgement(&segment(ipv6, 2, &[], &[])), None, "it acknowledges nothing");
            assert_eq!(Segment::of(&Frame::parse(&frame[..ports + TCP - 1]).unwrap()), None);
        }
    }

    #[test]
    fn hosts_and_ports_that_are_numbered_alike_make_flows_of_their_own() {
        for ipv6 in [false, true] {
            let flows: std::collections::BTreeSet<u32> = (0..64)
                .flat_map(|host| [0, 1].map(|port| (host, host * 2 + port)))
                .map(|(host, port)| {
                    let mut frame = segment(ipv6, ACK, &option(true, 1, 2000), &[]);
                    let ports = if ipv6 { 54 } else { 34 };
                    frame[ports - 1] = 2 + host;
                    frame[ports + 3] = port;
                    report(&frame).unwrap().flow
                })
                .collect();
            assert_eq!(flows.len(), 128);
        }
    }

    #[test]
    fn what_else_it_says_makes_it_none_to_leave_out() {
        let options = option(true, 1, 2000);
        let is_bare = |frame: Vec<u8>| report(&frame).unwrap().is_bare;
        assert!(is_bare(segment(false, ACK | PSH, &options, &[])));
        assert!(!is_bare(segment(false, ACK, &options, &[7])));
        assert!(!is_bare(segment(false, ACK | 0x40, &options, &[])), "congestion experienced");
        assert!(!is_bare(segment(false, ACK | 0x20, &options, &[])), "urgent");
        let mut accurate = segment(false, ACK, &options, &[]);
        accurate[14 + 20 + 12] |= 1;
        assert!(!is_bare(accurate), "more of congestion (RFC 9768)");
    }

    #[test]
    fn others_say_nothing_of_a_gap() {
        let options = option(true, 1, 2000);
        for flags in [ACK | 1, ACK | 2, ACK | 4, 0] {
            assert_eq!(report(&segment(false, flags, &options, &[])), None);
        }
        assert_eq!(report(&segment(false, ACK, &option(true, 1, 900), &[])), None, "it came twice");
        assert_eq!(report(&segment(false, ACK, &option(true, 1, 1000), &[])), None);
        let mut twice = option(true, 2, 2000);
        twice.splice(24..32, [2000_u32, 3000].map(u32::to_be_bytes).concat());
        assert_eq!(report(&segment(false, ACK, &twice, &[])), None, "the first block lies in the second");
        twice[31] += 1;
        assert_eq!(report(&segment(false, ACK, &twice, &[])), None);
        twice[27] += 1;
        assert!(report(&segment(false, ACK, &twice, &[])).is_some());
        let cut = [1, 1, 5, 6, 0, 0, 7, 0];
        assert_eq!(report(&segment(false, ACK, &cut, &[])), None, "half a block");
        assert_eq!(report(&segment(false, ACK, &[1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8], &[])), None);
        let behind = [&options[..], &[1, 1, 1, 0]].concat();
        assert_eq!(report(&segment(false, ACK, &behind, &[])), None, "an option follows");
        let mut fragment = segment(false, ACK, &options, &[]);
        fragment[14 + 7] = 1;
        assert_eq!(report(&fragment), None);
        let mut datagram = segment(false, ACK, &options, &[]);
        datagram[14 + 9] = 17;
        assert_eq!(report(&datagram), None);
        let whole = segment(true, ACK, &options, &[]);
        for end in 14..whole.len() {
            assert_eq!(report(&whole[..end]), None, "{end}");
        }
    }

    proptest! {
        #[test]
        fn without_it_the_sum_is_the_same(timestamps: bool, blocks in 1..4_u8, left in 1001..u32::MAX / 2) {
            let mut frame = segment(false, ACK, &option(timestamps, blocks, left), &[]);
            let found = report(&frame).unwrap();
            let before = sum(&frame[34..]);
            frame[14 + found.at..][..4].copy_from_slice(&found.without());
            prop_assert_eq!(sum(&frame[34..]), before);
            prop_assert_eq!(report(&frame), None);
            prop_assert_eq!(frame[14 + found.at], 0, "the end of the options");
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 14..100), kind in prop::sample::select(vec![[8, 0], [0x86, 0xdd]])) {
            let mut frame = bytes;
            frame[12..14].copy_from_slice(&kind);
            if let Some(found) = report(&frame) {
                prop_assert!(14 + found.at + 8 <= frame.len());
            }
        }
    }
}
