//! An echo request as IP packets that its sender has cut.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is to be cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Source of the request.
    pub src: IpAddr,
    /// Destination of the request; of the same version.
    pub dst: IpAddr,
    /// Number of the asking socket.
    pub ident: u16,
    /// Number of the question.
    pub sequence: u16,
    /// IP packet that it would be in one piece, bytes: at least headers, 65,535 at most.
    pub packet_bytes: u32,
    /// The most that each piece may have, bytes: at least 68 (IPv4) or 1280 (IPv6).
    pub piece_bytes: u32,
    /// What the pieces have in common; two packets under way need two.
    pub id: u32,
}

const IPV4: usize = 20;
const IPV6: usize = 40;
const FRAGMENT_HEADER: usize = 8;
const ICMP: usize = 8;
const TTL: u8 = 64;
const PROTOCOL_ICMP: u8 = 1;
const NEXT_HEADER_FRAGMENT: u8 = 44;
const NEXT_HEADER_ICMPV6: u8 = 58;
const ECHO: u8 = 8;
const ECHO_V6: u8 = 128;

/// The pieces, from their IP headers on; of IPv4 the header's checksum is left to the kernel. None if addresses are
/// of different versions.
pub fn pieces(cut: &Cut) -> Vec<Vec<u8>> {
    let header = if cut.src.is_ipv4() { IPV4 } else { IPV6 };
    let length = (cut.packet_bytes as usize).clamp(header + ICMP, 65_535) - header;
    let beside = if cut.src.is_ipv4() { IPV4 } else { IPV6 + FRAGMENT_HEADER };
    // All but the last carry a multiple of eight bytes.
    let each = ((cut.piece_bytes as usize).saturating_sub(beside) / 8 * 8).max(8);
    let message = match (cut.src, cut.dst) {
        (IpAddr::V4(_), IpAddr::V4(_)) => echo(ECHO, cut, length, 0),
        (IpAddr::V6(src), IpAddr::V6(dst)) => echo(ECHO_V6, cut, length, pseudo_header(src, dst, length)),
        _ => return Vec::new(),
    };
    let count = length.div_ceil(each);
    let piece = |(number, bytes): (usize, &[u8])| {
        let (offset, more) = (number * each, number + 1 < count);
        match (cut.src, cut.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => [&ipv4(cut, src, dst, bytes.len(), offset, more)[..], bytes].concat(),
            (IpAddr::V6(src), IpAddr::V6(dst)) => [&ipv6(cut, src, dst, bytes.len(), offset, more)[..], bytes].concat(),
            _ => Vec::new(),
        }
    };
    message.chunks(each).enumerate().map(piece).collect()
}

/// An echo request of so many bytes; `sum` is what its checksum covers beside it.
fn echo(kind: u8, cut: &Cut, length: usize, sum: u64) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0];
    message.extend(cut.ident.to_be_bytes());
    message.extend(cut.sequence.to_be_bytes());
    message.resize(length, 0);
    let checksum = checksum(&message, sum).to_be_bytes();
    message[2..4].copy_from_slice(&checksum);
    message
}

fn ipv4(cut: &Cut, src: Ipv4Addr, dst: Ipv4Addr, length: usize, offset: usize, more: bool) -> [u8; IPV4] {
    const MORE: u16 = 0x2000;
    let mut header = [0; IPV4];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&((IPV4 + length) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&(cut.id as u16).to_be_bytes());
    header[6..8].copy_from_slice(&((offset / 8) as u16 | if more { MORE } else { 0 }).to_be_bytes());
    header[8] = TTL;
    header[9] = PROTOCOL_ICMP;
    header[12..16].copy_from_slice(&src.octets());
    header[16..20].copy_from_slice(&dst.octets());
    header
}

fn ipv6(
    cut: &Cut,
    src: Ipv6Addr,
    dst: Ipv6Addr,
    length: usize,
    offset: usize,
    more: bool,
) -> [u8; IPV6 + FRAGMENT_HEADER] {
    let mut header = [0; IPV6 + FRAGMENT_HEADER];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&((FRAGMENT_HEADER + length) as u16).to_be_bytes());
    header[6] = NEXT_HEADER_FRAGMENT;
    header[7] = TTL;
    header[8..24].copy_from_slice(&src.octets());
    header[24..40].copy_from_slice(&dst.octets());
    header[40] = NEXT_HEADER_ICMPV6;
    header[42..44].copy_from_slice(&(offset as u16 | u16::from(more)).to_be_bytes());
    header[44..48].copy_from_slice(&cut.id.to_be_bytes());
    header
}

/// What the checksum of ICMPv6 covers beside the message (RFC 8200, 8.1).
fn pseudo_header(src: Ipv6Addr, dst: Ipv6Addr, length: usize) -> u64 {
    let words = src.segments().into_iter().chain(dst.segments()).map(u64::from).sum::<u64>();
    words + length as u64 + u64::from(NEXT_HEADER_ICMPV6)
}

/// The Internet checksum (RFC 1071) of these bytes and what is summed up already.
fn checksum(bytes: &[u8], sum: u64) -> u16 {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    let mut sum = bytes.chunks(2).map(word).sum::<u64>() + sum;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(src: &str, dst: &str, packet_bytes: u32) -> Cut {
        let (src, dst) = (src.parse().unwrap(), dst.parse().unwrap());
        Cut { src, dst, ident: 1, sequence: 2, packet_bytes, piece_bytes: 1280, id: 77 }
    }

    #[test]
    fn pieces_fit_and_make_the_whole_again() {
        for (cut, header) in [(cut("10.0.0.1", "10.0.0.2", 9000), 20), (cut("fd00::1", "fd00::2", 9000), 48)] {
            let all = pieces(&cut);
            assert!(all.len() > 7 && all.iter().all(|piece| piece.len() <= 1280), "{}", all.len());
            let mut whole: Vec<u8> = Vec::new();
            for (number, piece) in all.iter().enumerate() {
                let field = if header == 20 { &piece[6..8] } else { &piece[42..44] };
                let field = u16::from_be_bytes([field[0], field[1]]);
                let (offset, more) = if header == 20 {
                    ((field & 0x1fff) * 8, field & 0x2000 != 0)
                } else {
                    (field & !7, field & 1 != 0)
                };
                assert_eq!(usize::from(offset), whole.len());
                assert_eq!(more, number + 1 < all.len());
                whole.extend(&piece[header..]);
            }
            assert_eq!(whole.len(), 9000 - if header == 20 { 20 } else { 40 });
        }
    }

    #[test]
    fn the_smallest_and_the_largest_are_whole_numbers_of_bytes() {
        assert_eq!(pieces(&cut("10.0.0.1", "10.0.0.2", 0)).concat().len(), 28);
        let largest: usize = pieces(&cut("10.0.0.1", "10.0.0.2", u32::MAX)).iter().map(|piece| piece.len() - 20).sum();
        assert_eq!(largest, 65_515);
        assert!(pieces(&cut("10.0.0.1", "fd00::2", 100)).is_empty());
    }
}
