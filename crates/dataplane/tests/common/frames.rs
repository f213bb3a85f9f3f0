//! Random frames: enough sense that every branch of a policy is taken, enough
//! nonsense that every check is needed.

use nicteam_sys::packet::Offload;

use super::tunnels::tunnelled;

/// The source of one frame in eight: who plans punt for.
pub const OWN: [u8; 6] = [2, 0, 0, 0, 7, 7];

/// The longest frame made here, bytes.
pub const MAX_LEN: usize = 600;

/// `count` frames of 14 to [`MAX_LEN`] bytes; the same for the same seed.
pub fn frames(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    (0..count).map(|_| frame(&mut random)).collect()
}

/// One whole UDP frame that ends with its number; the next, the same but for it.
pub fn numbered(number: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0];
    frame.extend([0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 8, 0, 1, 10, 8, 0, 2, 0, 9, 0, 9, 0, 12, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame
}

/// The headers of a TCP segment that is larger than any packet.
pub struct Gso {
    /// As in a `virtio_net_hdr`.
    pub gso_type: u8,
    /// The EtherType and the IP header, for a payload of nothing.
    network: &'static [u8],
    /// Where that has its length, behind the EtherType, and what is not counted there.
    length: (usize, usize),
    /// Bytes of the TCP header.
    transport: usize,
}

/// Over IPv4, without options.
pub const TCP4: Gso = Gso {
    gso_type: 1,
    network: &[8, 0, 0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2],
    length: (4, 0),
    transport: 20,
};

/// Over IPv6, with room for timestamps.
pub const TCP6: Gso = Gso {
    gso_type: 4,
    network: &[
        0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64, 0xfd, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 9, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
    ],
    length: (6, 40),
    transport: 32,
};

/// A TCP segment that is to be cut into pieces of `mss` bytes, its checksum left to others.
pub fn gso_frame(gso: &Gso, payload: usize, mss: u16) -> (Vec<u8>, Offload) {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];
    frame.extend(gso.network);
    let transport = frame.len();
    let (at, uncounted) = gso.length;
    let length = (gso.network.len() - 2 - uncounted + gso.transport + payload) as u16;
    frame[12 + at..14 + at].copy_from_slice(&length.to_be_bytes());
    frame.extend([0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 1, (gso.transport * 4) as u8, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.resize(transport + gso.transport, 1);
    let offload = Offload {
        flags: Offload::NEEDS_CHECKSUM,
        gso_type: gso.gso_type,
        hdr_len: frame.len() as u16,
        gso_size: mss,
        csum_start: transport as u16,
        csum_offset: 16,
    };
    frame.extend((0..payload).map(|i| (i % 251) as u8));
    (frame, offload)
}

/// The number at the end of a frame.
pub fn number(frame: &[u8]) -> u32 {
    frame.last_chunk().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 0 to `bound` - 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Protocols whose headers a policy reads, and some that none does.
const PROTOCOLS: [u8; 14] = [1, 1, 1, 2, 6, 6, 17, 17, 33, 50, 51, 58, 132, 136];

fn frame(random: &mut Random) -> Vec<u8> {
    let mut frame = addresses(random);
    match random.below(20) {
        0..4 => ipv4(random, &mut frame),
        4..7 => ipv6(random, &mut frame),
        7..10 => tagged(random, &mut frame),
        10 => mpls(random, &mut frame),
        11 => arp(random, &mut frame),
        12 => junk(random, &mut frame),
        _ => tunnelled(random, &mut frame),
    }
    if random.one_in(6) {
        frame.truncate(14 + random.below(frame.len() - 13));
    }
    frame.truncate(MAX_LEN);
    frame
}

/// Both addresses: from a station to unicast, multicast, broadcast, the reserved
/// block and what lies beside it.
fn addresses(random: &mut Random) -> Vec<u8> {
    let mut macs = random.bytes(12);
    macs[6] &= 0xfe;
    if random.one_in(8) {
        macs[6..].copy_from_slice(&OWN);
    }
    match random.below(14) {
        12 => macs[..6].copy_from_slice(&[0x33, 0x33, 0, 0, 0, 1]),
        0 => macs[..6].fill(0xff),
        1 | 2 => {
            macs[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 0]);
            macs[5] = random.below(20) as u8;
            if random.one_in(4) {
                let place = random.below(5);
                macs[place] ^= 1 << random.below(8);
            }
        }
        3 => macs[0] |= 1,
        _ => macs[0] &= 0xfe,
    }
    macs
}

fn ipv4(random: &mut Random, frame: &mut Vec<u8>) {
    frame.extend([0x08, 0x00]);
    ipv4_packet(random, frame, true);
}

pub(super) fn ipv4_packet(random: &mut Random, frame: &mut Vec<u8>, outer: bool) {
    let words = match random.below(8) {
        0 => random.below(5),
        1..3 => 6 + random.below(10),
        _ => 5,
    };
    let fragment: u16 = match random.below(8) {
        0 => 0x2000,
        1 => random.next() as u16,
        2 => 0x8000,
        _ => 0x4000,
    };
    let protocol = protocol(random);
    let mut header = vec![0x40 | words as u8, 0];
    header.extend(random.bytes(4));
    header.extend(fragment.to_be_bytes());
    header.extend([64, protocol]);
    header.extend(random.bytes(2 + 4));
    header.extend(if random.one_in(10) { vec![0xff; 4] } else { random.bytes(4) });
    header.extend(random.bytes((words * 4).saturating_sub(20)));
    frame.extend(header);
    transport(random, frame, protocol, outer.then_some(ipv4_packet as Inner));
}

fn ipv6(random: &mut Random, frame: &mut Vec<u8>) {
    frame.extend([0x86, 0xdd]);
    ipv6_packet(random, frame, true);
}

pub(super) fn ipv6_packet(random: &mut Random, frame: &mut Vec<u8>, outer: bool) {
    let protocol = if random.one_in(6) { random.pick(&[0, 43, 44, 60]) } else { protocol(random) };
    frame.push(0x60 | random.below(16) as u8);
    frame.extend(random.bytes(5));
    frame.extend([protocol, 64]);
    frame.extend(if random.one_in(10) { vec![0; 16] } else { random.bytes(16) });
    frame.extend(random.bytes(16));
    transport(random, frame, protocol, outer.then_some(ipv6_packet as Inner));
}

pub(super) fn protocol(random: &mut Random) -> u8 {
    if random.one_in(8) { random.next() as u8 } else { random.pick(&PROTOCOLS) }
}

/// Appends the packet inside an ICMP error.
pub(super) type Inner = fn(&mut Random, &mut Vec<u8>, bool);

/// A transport header; short now and then, so that it ends with the frame.
pub(super) fn transport(random: &mut Random, frame: &mut Vec<u8>, protocol: u8, inner: Option<Inner>) {
    if random.one_in(10) {
        let length = random.below(9);
        frame.extend(random.bytes(length));
        return;
    }
    if let (1 | 58, Some(inner)) = (protocol, inner) {
        let kind = random.pick(&[0, 1, 2, 3, 4, 5, 8, 11, 12, 13, 14, 128, 129, 130, 135, 136]);
        let id = if random.one_in(4) { [0, 0] } else { [random.next() as u8, random.next() as u8] };
        frame.extend([kind, random.below(4) as u8, 0, 0, id[0], id[1], 0, 1]);
        if random.below(4) > 0 {
            inner(random, frame, false);
        }
        return;
    }
    let length = 8 + random.below(60);
    frame.extend(random.bytes(length));
}

/// One tag or two among the bytes.
fn tagged(random: &mut Random, frame: &mut Vec<u8>) {
    if random.one_in(3) {
        frame.extend([0x88, 0xa8]);
        frame.extend(random.bytes(2));
    }
    frame.extend(random.pick(&[[0x81, 0x00], [0x88, 0xa8]]));
    frame.extend(random.bytes(2));
    match random.below(5) {
        0 => mpls(random, frame),
        1 => ipv6(random, frame),
        2 => tunnelled(random, frame),
        _ => ipv4(random, frame),
    }
}

/// A label and an IPv4 packet.
fn mpls(random: &mut Random, frame: &mut Vec<u8>) {
    frame.extend(random.pick(&[[0x88, 0x47], [0x88, 0x48]]));
    frame.extend(random.bytes(4));
    ipv4_packet(random, frame, true);
}

fn arp(random: &mut Random, frame: &mut Vec<u8>) {
    frame.extend([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend(random.bytes(20));
}

fn junk(random: &mut Random, frame: &mut Vec<u8>) {
    let ethertype = random.pick(&[0x0026u16, 0x8809, 0x88cc, 0x8864, 0x0800, 0x86dd]);
    frame.extend(ethertype.to_be_bytes());
    let length = random.below(100);
    frame.extend(random.bytes(length));
}
