//! Reports of multicast groups that a host has joined: IGMP (RFC 2236, RFC 3376)
//! and MLD (RFC 3810), each a whole frame without check sequence.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::checksum::ones_complement;
use crate::ethernet::header;
use crate::frame::ethertype;
use crate::mac::Mac;

/// The most groups in one report; more would not fit the least MTU of IPv6.
pub const MAX_GROUPS: usize = 48;

/// `224.0.0.22`, where IGMPv3 is heard.
const IGMP_V3_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 22);
/// `ff02::16`, where MLDv2 is heard.
const MLD_V2_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x16);
/// IGMP and ICMPv6 types.
const IGMP_V2_REPORT: u8 = 0x16;
const IGMP_V3_REPORT: u8 = 0x22;
const MLD_V2_REPORT: u8 = 143;
/// "All sources but these", and none follow.
const MODE_IS_EXCLUDE: u8 = 2;
const IGMP: u8 = 2;
const ICMPV6: u8 = 58;

/// An IGMPv2 report of one group, sent to the group.
pub fn igmp_v2_report(mac: Mac, source: Ipv4Addr, group: Ipv4Addr) -> Vec<u8> {
    let mut message = vec![IGMP_V2_REPORT, 0, 0, 0];
    message.extend_from_slice(&group.octets());
    igmp(mac, source, group, message)
}

/// An IGMPv3 report: each of these groups, from all sources. At most [`MAX_GROUPS`] are taken.
pub fn igmp_v3_report(mac: Mac, source: Ipv4Addr, groups: &[Ipv4Addr]) -> Vec<u8> {
    let groups = &groups[..groups.len().min(MAX_GROUPS)];
    let mut message = vec![IGMP_V3_REPORT, 0, 0, 0, 0, 0, 0, groups.len() as u8];
    for group in groups {
        message.extend_from_slice(&[MODE_IS_EXCLUDE, 0, 0, 0]);
        message.extend_from_slice(&group.octets());
    }
    igmp(mac, source, IGMP_V3_ROUTERS, message)
}

/// An MLDv2 report: each of these groups, from all sources. At most [`MAX_GROUPS`] are taken.
pub fn mld_v2_report(mac: Mac, source: Ipv6Addr, groups: &[Ipv6Addr]) -> Vec<u8> {
    let groups = &groups[..groups.len().min(MAX_GROUPS)];
    let mut message = vec![MLD_V2_REPORT, 0, 0, 0, 0, 0, 0, groups.len() as u8];
    for group in groups {
        message.extend_from_slice(&[MODE_IS_EXCLUDE, 0, 0, 0]);
        message.extend_from_slice(&group.octets());
    }
    let mut pseudo = [source.octets(), MLD_V2_ROUTERS.octets()].concat();
    pseudo.extend_from_slice(&(message.len() as u32).to_be_bytes());
    pseudo.extend_from_slice(&[0, 0, 0, ICMPV6]);
    pseudo.extend_from_slice(&message);
    message[2..4].copy_from_slice(&ones_complement(&pseudo).to_be_bytes());

    // Next header ICMPv6; router alert (RFC 2711) 0, MLD; two bytes of padding.
    let hop_by_hop = [ICMPV6, 0, 5, 2, 0, 0, 1, 0];
    let length = (hop_by_hop.len() + message.len()) as u16;
    let [.., a, b, c, d] = MLD_V2_ROUTERS.octets();
    let mut frame = header(Mac([0x33, 0x33, a, b, c, d]), mac, None, ethertype::IPV6, 40 + usize::from(length));
    frame.extend_from_slice(&[0x60, 0, 0, 0]);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&[0, 1]);
    frame.extend_from_slice(&source.octets());
    frame.extend_from_slice(&MLD_V2_ROUTERS.octets());
    frame.extend_from_slice(&hop_by_hop);
    frame.extend_from_slice(&message);
    frame
}

/// The message, its checksum still zero, in an IPv4 packet with TTL 1 and router
/// alert (RFC 2113), of the precedence that the kernel gives it (0xc0).
fn igmp(mac: Mac, source: Ipv4Addr, dst: Ipv4Addr, mut message: Vec<u8>) -> Vec<u8> {
    let sum = ones_complement(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let [high, low] = (24 + message.len() as u16).to_be_bytes();
    let mut packet = vec![0x46, 0xc0, high, low, 0, 0, 0x40, 0, 1, IGMP, 0, 0];
    packet.extend_from_slice(&source.octets());
    packet.extend_from_slice(&dst.octets());
    packet.extend_from_slice(&[0x94, 4, 0, 0]);
    let sum = ones_complement(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let [_, b, c, d] = dst.octets();
    let mut frame = header(Mac([1, 0, 0x5e, b & 0x7f, c, d]), mac, None, ethertype::IPV4, packet.len() + message.len());
    frame.extend_from_slice(&packet);
    frame.extend_from_slice(&message);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 0x11]);

    #[test]
    fn an_igmp_v3_report_is_the_kernels() {
        let frame = igmp_v3_report(MAC, [10, 0, 0, 1].into(), &[[239, 1, 2, 3].into()]);
        #[rustfmt::skip]
        let expected = [
            1, 0, 0x5e, 0, 0, 0x16, 2, 0, 0, 0, 0, 0x11, 8, 0,
            0x46, 0xc0, 0, 40, 0, 0, 0x40, 0, 1, 2, 0xf9, 0xf8, 10, 0, 0, 1, 224, 0, 0, 22, 0x94, 4, 0, 0,
            // The sums by hand: 46c0 + 28 + 4000 + 102 + a00 + 1 + e000 + 16 + 9404; 2200 + 1 + 200 + ef01 + 203.
            0x22, 0, 0xea, 0xf9, 0, 0, 0, 1, 2, 0, 0, 0, 239, 1, 2, 3,
        ];
        assert_eq!(frame, expected);
    }

    #[test]
    fn an_igmp_v2_report_goes_to_its_group() {
        let frame = igmp_v2_report(MAC, [10, 0, 0, 1].into(), [239, 129, 2, 3].into());
        assert_eq!(frame[..6], [1, 0, 0x5e, 1, 2, 3]);
        assert_eq!(frame[30..34], [239, 129, 2, 3]);
        assert_eq!((frame[38], &frame[42..]), (0x16, &[239, 129, 2, 3][..]));
        assert_eq!((ones_complement(&frame[14..38]), ones_complement(&frame[38..])), (0, 0));
    }

    #[test]
    fn an_mld_report_sums_to_zero_and_carries_each_group() {
        let source: Ipv6Addr = "fe80::1".parse().unwrap();
        let groups = ["ff02::1:ff00:1".parse().unwrap(), "ff05::2".parse().unwrap()];
        let frame = mld_v2_report(MAC, source, &groups);
        assert_eq!(frame[..6], [0x33, 0x33, 0, 0, 0, 0x16]);
        assert_eq!(frame[18..22], [0, 56, 0, 1], "length, hop-by-hop next, hop limit");
        let message = &frame[14 + 40 + 8..];
        assert_eq!((message[0], message[7], message.len()), (143, 2, 48));
        assert_eq!([&message[12..28], &message[32..48]], [groups[0].octets(), groups[1].octets()]);
        let pseudo = [&frame[22..54], &[0, 0, 0, 48, 0, 0, 0, 58], message].concat();
        assert_eq!(ones_complement(&pseudo), 0);
    }

    #[test]
    fn more_groups_than_fit_are_left_out() {
        let many = vec![Ipv6Addr::LOCALHOST; 1000];
        assert!(mld_v2_report(MAC, Ipv6Addr::UNSPECIFIED, &many).len() <= 14 + 1280);
    }
}
