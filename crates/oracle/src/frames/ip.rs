//! IP headers and what they carry. Checksums and lengths are mostly wrong:
//! nobody on the way looks at them.

use super::Random;

/// Protocols with ports (or a word that counts as ports).
pub(super) const WITH_PORTS: [u8; 7] = [6, 17, 33, 50, 51, 132, 136];
/// Protocols without.
pub(super) const WITHOUT_PORTS: [u8; 7] = [3, 46, 59, 89, 103, 112, 255];

/// ICMP types with an identifier, errors, and neither.
pub(super) const ICMP4_ID: [u8; 4] = [0, 8, 13, 14];
pub(super) const ICMP4_ERROR: [u8; 5] = [3, 4, 5, 11, 12];
pub(super) const ICMP4_OTHER: [u8; 6] = [9, 10, 15, 16, 17, 40];
/// The same of ICMPv6.
pub(super) const ICMP6_ID: [u8; 2] = [128, 129];
pub(super) const ICMP6_ERROR: [u8; 4] = [1, 2, 3, 4];
pub(super) const ICMP6_OTHER: [u8; 9] = [0, 5, 130, 131, 133, 134, 135, 136, 143];

/// What is said in an IPv4 header beside the addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header4 {
    pub(super) protocol: u8,
    /// Bytes there are, in words of four.
    pub(super) words: usize,
    /// Bytes there are said to be, in words of four.
    pub(super) ihl: usize,
    /// Flags and offset.
    pub(super) fragment: u16,
    pub(super) version: u8,
}

impl Header4 {
    /// An ordinary header.
    pub(super) fn of(protocol: u8) -> Header4 {
        Header4 { protocol, words: 5, ihl: 5, fragment: 0x4000, version: 4 }
    }

    /// With options.
    pub(super) fn words(self, words: usize) -> Header4 {
        Header4 { words, ihl: words, ..self }
    }

    /// Before its payload.
    pub(super) fn packet(self, random: &mut Random, payload: &[u8]) -> Vec<u8> {
        let length = (self.words * 4 + payload.len()) as u16;
        let mut packet = vec![self.version << 4 | self.ihl as u8, 0];
        packet.extend(length.to_be_bytes());
        packet.extend(random.bytes(2));
        packet.extend(self.fragment.to_be_bytes());
        packet.extend([64, self.protocol, 0, 0]);
        packet.extend(random.bytes(8));
        packet.extend(vec![1; self.words * 4 - 20]);
        packet.extend(payload);
        packet
    }
}

/// An ordinary IPv4 packet.
pub(super) fn ip4(random: &mut Random, protocol: u8, payload: &[u8]) -> Vec<u8> {
    Header4::of(protocol).packet(random, payload)
}

/// An IPv6 packet with a flow label or without.
pub(super) fn ip6(random: &mut Random, next: u8, payload: &[u8]) -> Vec<u8> {
    let label = if random.one_in(2) { 0 } else { random.bits() as u32 & 0xf_ffff };
    let mut packet = (6 << 28 | label).to_be_bytes().to_vec();
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    packet.extend(random.bytes(32));
    packet.extend(payload);
    packet
}

/// A packet of some protocol with ports.
pub(super) fn some4(random: &mut Random) -> Vec<u8> {
    let protocol = random.pick(&WITH_PORTS);
    let payload = transport(random, protocol);
    ip4(random, protocol, &payload)
}

/// The same, IPv6.
pub(super) fn some6(random: &mut Random) -> Vec<u8> {
    let protocol = random.pick(&WITH_PORTS);
    let payload = transport(random, protocol);
    ip6(random, protocol, &payload)
}

/// A transport header and a little of what it carries.
pub(super) fn transport(random: &mut Random, protocol: u8) -> Vec<u8> {
    let mut header = match protocol {
        6 => [random.bytes(12), vec![0x50, 0x10], random.bytes(6)].concat(),
        17 => [random.bytes(4), vec![0, 8, 0, 0]].concat(),
        51 => [vec![random.pick(&[6, 17, 50]), 4], random.bytes(22)].concat(),
        _ => random.bytes(12),
    };
    let more = random.pick(&[0, 1, 8, 12, 40]);
    header.extend(random.bytes(more));
    header
}

/// An ICMP or ICMPv6 message of one of these types.
pub(super) fn icmp(random: &mut Random, types: &[u8], body: &[u8]) -> Vec<u8> {
    let id = if random.one_in(4) { 0 } else { random.word() };
    let mut message = vec![random.pick(types), random.pick(&[0, 0, 1, 3, 255])];
    message.extend(random.bytes(2));
    message.extend(id.to_be_bytes());
    message.extend(random.bytes(2));
    message.extend(body);
    message
}

/// An IPv6 extension header that leads to `next`; its length is right.
pub(super) fn extension(random: &mut Random, next: u8) -> Vec<u8> {
    let units = random.below(3);
    let mut header = vec![next, units as u8];
    header.extend(random.bytes(6 + 8 * units));
    header
}

/// An IPv6 fragment header that leads to `next`.
pub(super) fn fragment_header(random: &mut Random, next: u8) -> Vec<u8> {
    let offset = random.pick(&[0x0000_u16, 0x0001, 0x0008, 0x0009, 0xfff8]);
    let mut header = vec![next, 0];
    header.extend(offset.to_be_bytes());
    header.extend(random.bytes(4));
    header
}

/// A packet without its end.
pub(super) fn cut(random: &mut Random, mut packet: Vec<u8>, least: usize, most: usize) -> Vec<u8> {
    packet.truncate(random.between(least, most));
    packet
}
