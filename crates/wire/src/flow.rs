//! The head of a frame of a TCP or UDP flow, as far as hash policies look.

use std::net::{IpAddr, SocketAddr};

use crate::checksum::ones_complement;
use crate::{Mac, ethertype};

/// What the longest of these heads takes: Ethernet, IPv6 and TCP.
const MOST_BYTES: usize = 14 + 40 + 20;

/// The headers of a full segment from `src` to `dst` up to the end of a TCP header without options; a datagram's has its
/// ports in the same place. Check sums are left out. None if the addresses are not of one family.
pub fn head_of_flow(macs: [Mac; 2], protocol: u8, src: SocketAddr, dst: SocketAddr) -> Option<Vec<u8>> {
    let [src_mac, dst_mac] = macs;
    let mut bytes = Vec::with_capacity(MOST_BYTES);
    bytes.extend(dst_mac.0);
    bytes.extend(src_mac.0);
    match (src.ip(), dst.ip()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            bytes.extend(ethertype::IPV4.to_be_bytes());
            // Version and header length, service, total length; identification, don't fragment;
            // time to live, protocol, check sum.
            bytes.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
            bytes.extend(src.octets());
            bytes.extend(dst.octets());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            bytes.extend(ethertype::IPV6.to_be_bytes());
            // Version, class and flow label; payload length, next header, hop limit.
            bytes.extend([0x60, 0, 0, 0, 0, 20, protocol, 64]);
            bytes.extend(src.octets());
            bytes.extend(dst.octets());
        }
        _ => return None,
    }
    bytes.extend(src.port().to_be_bytes());
    bytes.extend(dst.port().to_be_bytes());
    // Sequence and acknowledgement numbers; header length, flags, window, check sum, urgent pointer.
    bytes.extend([0; 8]);
    bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    Some(bytes)
}

/// Bytes in front of the payload of a [`datagram`]: Ethernet, IPv4 or IPv6, and UDP header.
pub const fn datagram_head_bytes(ipv6: bool) -> usize {
    14 + if ipv6 { 40 } else { 20 } + 8
}

/// A whole frame without a tag that carries a datagram of UDP, with its check sums. None if the addresses are not of one
/// family, or the payload is too long for one.
pub fn datagram(macs: [Mac; 2], src: SocketAddr, dst: SocketAddr, payload: &[u8]) -> Option<Vec<u8>> {
    /// Bytes of a TCP header, which [`head_of_flow`] writes.
    const TCP_HEADER: usize = 20;
    const UDP: u8 = 17;
    let mut frame = head_of_flow(macs, UDP, src, dst)?;
    let udp = frame.len() - TCP_HEADER;
    let length = u16::try_from(payload.len() + 8).ok()?;
    // Behind the ports: length, check sum.
    frame.truncate(udp + 4);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    let addresses = if src.is_ipv4() {
        frame[16..18].copy_from_slice(&length.checked_add(20)?.to_be_bytes());
        let sum = ones_complement(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        26
    } else {
        frame[18..20].copy_from_slice(&length.to_be_bytes());
        22
    };
    // The addresses, the protocol, and the length once more: the pseudo-header (RFC 768, RFC 8200 8.1).
    let pseudo = [&[0, UDP], &length.to_be_bytes()[..], &frame[addresses..]].concat();
    let sum = match ones_complement(&pseudo) {
        // 0 says that there is none.
        0 => u16::MAX,
        sum => sum,
    };
    frame[udp + 6..udp + 8].copy_from_slice(&sum.to_be_bytes());
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    #[test]
    fn the_headers_stand_where_a_reader_looks() {
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let bytes = head_of_flow(macs, 17, at("10.0.0.1:258"), at("10.0.0.2:772")).unwrap();
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.src(), frame.dst(), frame.ethertype()), (macs[0], macs[1], ethertype::IPV4));
        assert_eq!((bytes[23], &bytes[26..38]), (17, &[10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4][..]));
        let bytes = head_of_flow(macs, 6, at("[fd00::1]:258"), at("[fd00::2]:772")).unwrap();
        assert_eq!((bytes[20], bytes[37], bytes[53], &bytes[54..58]), (6, 1, 2, &[1, 2, 3, 4][..]));
        assert_eq!(head_of_flow(macs, 6, at("10.0.0.1:1"), at("[fd00::2]:1")), None);
    }

    #[test]
    fn a_datagram_has_the_check_sums_of_its_headers() {
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        for payload in [&b"odd"[..], b"even", b""] {
            let frame = datagram(macs, at("10.0.0.1:258"), at("10.0.0.2:772"), payload).unwrap();
            assert_eq!(ones_complement(&frame[14..34]), 0);
            let length = (payload.len() + 8) as u8;
            assert_eq!((&frame[16..18], &frame[38..40]), (&[0, length + 20][..], &[0, length][..]));
            assert_eq!((&frame[datagram_head_bytes(false)..], frame.len()), (payload, 42 + payload.len()));
            // An odd payload is padded for the sum alone, so the pseudo-header stands ahead.
            assert_eq!(ones_complement(&[&[0, 17, 0, length], &frame[26..]].concat()), 0);
            let frame = datagram(macs, at("[fd00::1]:258"), at("[fd00::2]:772"), payload).unwrap();
            assert_eq!((&frame[18..20], &frame[datagram_head_bytes(true)..]), (&[0, length][..], payload));
            assert_eq!(ones_complement(&[&[0, 17, 0, length], &frame[22..]].concat()), 0);
        }
        assert_eq!(datagram(macs, at("10.0.0.1:1"), at("10.0.0.2:2"), &[0; 65_508]), None);
    }
}
