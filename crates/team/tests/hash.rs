//! Hash policies by hand-made frames: the formulas of the module text, written out.

use nicteam_team::HashPolicy::{self, DstMac, Layer2, Layer23, Layer34, SrcDstIp, SrcDstMac, SrcDstPort, SrcMac};
use nicteam_team::hash::{hash, is_igmp};
use nicteam_wire::{Frame, Vlan};
use proptest::prelude::*;

const DST: [u8; 6] = [2, 0, 0, 0, 0, 0x42];
const SRC: [u8; 6] = [2, 0, 0, 0, 0, 0x17];

fn ethernet(ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&DST[..], &SRC, &ethertype.to_be_bytes(), payload].concat()
}

/// 10.0.0.1 to 10.0.0.2.
fn ipv4(protocol: u8, flags: u16, payload: &[u8]) -> Vec<u8> {
    let [high, low] = flags.to_be_bytes();
    let header = [0x45, 0, 0, 0, 0, 0, high, low, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ethernet(0x0800, &[&header[..], payload].concat())
}

/// fd00::1 to fd00::2.
fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; 40];
    (header[0], header[6], header[7]) = (0x60, protocol, 64);
    (header[8], header[23], header[24], header[39]) = (0xfd, 1, 0xfd, 2);
    ethernet(0x86dd, &[&header[..], payload].concat())
}

/// Ports 40000 to 5001.
const PORTS: [u8; 8] = [0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 0];

fn of(policy: HashPolicy, bytes: &[u8]) -> u32 {
    hash(policy, &Frame::parse(bytes).unwrap())
}

fn fold(mut x: u32) -> u32 {
    x ^= x >> 16;
    x ^ (x >> 8)
}

#[test]
fn the_kernels_formulas() {
    let tcp = ipv4(6, 0, &PORTS);
    let ethernet = 0x42 ^ 0x17 ^ 0x0800;
    let addresses = 0x0300_0000; // 1 ^ 2 in the last byte, which a little-endian machine reads as the highest
    assert_eq!(of(Layer2, &tcp), ethernet);
    assert_eq!(of(Layer23, &tcp), fold(ethernet ^ addresses));
    assert_eq!(of(Layer34, &tcp), fold(0x8913_409c ^ addresses) >> 1);
    let tcp = ipv6(6, &PORTS);
    assert_eq!(of(Layer23, &tcp), fold(0x42 ^ 0x17 ^ 0x86dd ^ addresses));
    assert_eq!(of(Layer34, &tcp), fold(0x8913_409c ^ addresses) >> 1);
}

#[test]
fn fragments_have_no_ports() {
    let none = fold(0x0300_0000) >> 1;
    for flags in [0x2000, 0x2001, 0x0001, 0x1fff] {
        assert_eq!(of(Layer34, &ipv4(6, flags, &PORTS)), none, "{flags:#x}");
        assert_eq!(of(SrcDstPort, &ipv4(6, flags, &PORTS)), of(SrcDstIp, &ipv4(6, 0, &PORTS)), "{flags:#x}");
    }
    assert_ne!(of(Layer34, &ipv4(6, 0x4000, &PORTS)), none, "don't fragment is no fragment");
}

#[test]
fn an_echo_hashes_by_its_identifier() {
    let echo = |id: u8| ipv4(1, 0, &[8, 0, 0, 0, 0, id, 0, 1]);
    assert_eq!(of(Layer34, &echo(5)), fold((8 | 5 << 16) ^ 0x0300_0000) >> 1);
    assert_eq!(of(Layer34, &echo(0)), of(Layer34, &echo(1)), "0 counts as 1");
}

#[test]
fn an_icmp_error_follows_the_flow_it_is_about() {
    let about = ipv4(6, 0, &PORTS);
    for kind in [3, 4, 5, 11, 12] {
        let mut error = ipv4(1, 0, &[&[kind, 1, 0, 0, 0, 0, 0, 0], &about[14..]].concat());
        error[29] = 99; // reported by a router in between, whose own address does not count
        assert_eq!(of(Layer34, &error), of(Layer34, &about), "type {kind}");
        assert_eq!(of(Layer23, &error), of(Layer23, &about), "type {kind}");
        assert_eq!(of(Layer34, &error[..50]), of(Layer2, &error), "type {kind}, cut");
        assert_ne!(of(SrcDstIp, &error), of(SrcDstIp, &about), "the switch does not look inside");
    }
}

#[test]
fn a_tag_beside_is_looked_past_and_one_among_the_bytes_hides_the_rest() {
    let plain = ipv4(6, 0, &PORTS);
    let tagged = [&plain[..12], &[0x81, 0, 0, 5], &plain[12..]].concat();
    let inside = Frame::parse(&tagged).unwrap();
    let beside = Frame::parse_untagged(&tagged).unwrap();
    for policy in HashPolicy::ALL {
        assert_eq!(hash(policy, &beside), of(policy, &plain), "{policy}");
    }
    assert_eq!(hash(Layer34, &inside), 0x42 ^ 0x17 ^ 0x8100);
    assert_eq!(hash(SrcDstPort, &inside), 0x42 ^ 0x17);
}

#[test]
fn mpls_under_a_tag_hashes_by_the_tag() {
    let mpls = ethernet(0x8847, &[0; 20]);
    let frame = Frame::parse(&mpls).unwrap();
    assert_eq!(hash(Layer2, &frame), 0x42 ^ 0x17 ^ 0x8847);
    assert_eq!(hash(Layer2, &frame.with_vlan(Vlan { protocol: 0x88a8, tci: 1 })), 0x42 ^ 0x17 ^ 0x88a8);
}

#[test]
fn the_switch_policies() {
    let tcp = ipv4(6, 0, &PORTS);
    assert_eq!(of(SrcMac, &tcp), 0x17);
    assert_eq!(of(DstMac, &tcp), 0x42);
    assert_eq!(of(SrcDstMac, &tcp), 0x55);
    assert_eq!(of(SrcDstIp, &tcp), 3);
    assert_eq!(of(SrcDstPort, &tcp), fold(3 ^ 40000 ^ 5001));
    assert_eq!(of(SrcDstPort, &ipv4(47, 0, &PORTS)), 3, "GRE has no ports");
    assert_eq!(of(SrcDstPort, &ipv4(6, 0, &PORTS[..3])), 3, "cut before the ports end");
    for policy in [SrcDstIp, SrcDstPort] {
        assert_eq!(of(policy, &ethernet(0x0806, &[0; 28])), 0x55, "{policy}");
    }
}

#[test]
fn igmp_needs_its_header_and_its_number() {
    let igmp = ipv4(2, 0, &[]);
    let is = |bytes: &[u8]| is_igmp(&Frame::parse(bytes).unwrap());
    assert!(is(&igmp));
    assert!(!is(&igmp[..33]), "19 bytes of the header");
    assert!(!is(&ipv4(17, 0, &PORTS)));
    assert!(!is(&ipv6(2, &PORTS)));
    let tagged = [&igmp[..12], &[0x81, 0, 0, 5], &igmp[12..]].concat();
    assert!(!is(&tagged));
    assert!(is_igmp(&Frame::parse_untagged(&tagged).unwrap()));
}

/// Bytes that reach deep: mostly IP, with protocols and types that matter.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let ethertype = prop_oneof![Just([0x08, 0x00]), Just([0x86, 0xdd]), Just([0x81, 0x00]), any::<[u8; 2]>()];
    let protocol = prop_oneof![prop::sample::select(&[1_u8, 6, 17, 51, 58][..]), any::<u8>()];
    (prop::collection::vec(any::<u8>(), 14..160), ethertype, protocol, any::<bool>()).prop_map(
        |(mut bytes, ethertype, protocol, whole)| {
            bytes[12..14].copy_from_slice(&ethertype);
            let places = if ethertype == [0x86, 0xdd] { [20, 74] } else { [23, 57] };
            places.into_iter().for_each(|place| bytes.get_mut(place).map_or((), |byte| *byte = protocol));
            if whole && ethertype == [0x08, 0x00] {
                [(14, 0x45), (20, 0)].into_iter().for_each(|(i, b)| bytes.get_mut(i).map_or((), |byte| *byte = b));
            }
            bytes
        },
    )
}

proptest! {

    #[test]
    fn no_bytes_panic(bytes in any_bytes()) {
        for frame in [Frame::parse(&bytes), Frame::parse_untagged(&bytes)].into_iter().flatten() {
            for policy in HashPolicy::ALL {
                hash(policy, &frame);
            }
            is_igmp(&frame);
        }
    }

    #[test]
    fn both_directions_of_a_flow_meet_at_a_switch(bytes in any_bytes()) {
        let mut back = bytes.clone();
        back[..6].copy_from_slice(&bytes[6..12]);
        back[6..12].copy_from_slice(&bytes[..6]);
        if bytes[12..14] == [0x08, 0x00] && bytes.len() >= 34 {
            back[26..30].copy_from_slice(&bytes[30..34]);
            back[30..34].copy_from_slice(&bytes[26..30]);
            if bytes[14] & 0xf == 5 && bytes.len() >= 38 {
                back[34..36].copy_from_slice(&bytes[36..38]);
                back[36..38].copy_from_slice(&bytes[34..36]);
            }
        }
        for policy in [SrcDstMac, SrcDstIp] {
            prop_assert_eq!(of(policy, &bytes), of(policy, &back));
        }
        if bytes[12..14] != [0x08, 0x00] || bytes[14..].first().is_none_or(|first| first & 0xf == 5) {
            prop_assert_eq!(of(SrcDstPort, &bytes), of(SrcDstPort, &back));
        }
    }
}
