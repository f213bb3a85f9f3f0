//! The head of a frame of a TCP or UDP flow, as far as hash policies look.

use std::net::{IpAddr, SocketAddr};

use crate::{Mac, ethertype};

/// The headers of a full segment from `src` to `dst` up to the end of a TCP header without options; a datagram's has its
/// ports in the same place. Check sums are left out. None if the addresses are not of one family.
pub fn head_of_flow(macs: [Mac; 2], protocol: u8, src: SocketAddr, dst: SocketAddr) -> Option<Vec<u8>> {
    let [src_mac, dst_mac] = macs;
    let mut bytes = [dst_mac.0, src_mac.0].concat();
    match (src.ip(), dst.ip()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            bytes.extend(ethertype::IPV4.to_be_bytes());
            // Version and header length, service, total length; identification, don't fragment;
            // time to live, protocol, check sum.
            bytes.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
            bytes.extend([src.octets(), dst.octets()].concat());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            bytes.extend(ethertype::IPV6.to_be_bytes());
            // Version, class and flow label; payload length, next header, hop limit.
            bytes.extend([0x60, 0, 0, 0, 0, 20, protocol, 64]);
            bytes.extend([src.octets(), dst.octets()].concat());
        }
        _ => return None,
    }
    bytes.extend([src.port().to_be_bytes(), dst.port().to_be_bytes()].concat());
    // Sequence and acknowledgement numbers; header length, flags, window, check sum, urgent pointer.
    bytes.extend([0; 8]);
    bytes.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    Some(bytes)
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
}
