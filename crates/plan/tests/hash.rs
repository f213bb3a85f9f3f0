//! Hash policies by hand-made frames: the formulas of the module text, written out.

use nicteam_options::AggrLayers;
use nicteam_options::HashPolicy;
use nicteam_options::HashPolicy::{
    Aggr, DstIp, DstMac, Encap23, Encap34, Layer2, Layer23, Layer34, SrcDstIp, SrcDstMac, SrcDstPort, SrcIp, SrcMac,
    SrcXorDstIp, VlanSrcMac,
};
use nicteam_plan::hash::{hash, is_igmp, place};
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
fn switches_with_few_bits_look_at_the_last_bytes() {
    for frame in [ipv4(6, 0, &PORTS), ipv4(6, 0x2000, &PORTS), ipv6(6, &PORTS)] {
        assert_eq!([SrcIp, DstIp, SrcXorDstIp].map(|policy| of(policy, &frame)), [1, 2, 3]);
        // Cut in the IP header, or no IP: the MAC addresses'.
        for no_ip in [&frame[..33], &ethernet(0x0806, &frame[14..])] {
            assert_eq!([SrcIp, DstIp, SrcXorDstIp].map(|policy| of(policy, no_ip)), [0x17, 0x42, 0x55]);
        }
    }
    // Of all bytes of the addresses the last alone counts: src-dst-ip looks at the others, too.
    let mut far = ipv4(6, 0, &PORTS);
    far[28] = 7;
    assert_eq!(of(SrcXorDstIp, &far), 3);
    assert_ne!(of(SrcDstIp, &far), of(SrcDstIp, &ipv4(6, 0, &PORTS)));
}

#[test]
fn a_hash_of_few_values_is_assigned_to_the_members_in_turn() {
    let of = |buckets: u32, members: usize| (0..32).map(|hash| place(hash, buckets, members)).collect::<Vec<_>>();
    let modulo = |n: usize| (0..32).map(|hash| Some(hash % n)).collect::<Vec<_>>();
    assert_eq!(of(0, 3), modulo(3));
    assert_eq!(of(8, 4), modulo(4));
    assert_eq!(of(8, 3)[..16], [0, 1, 2, 0, 1, 2, 0, 1].repeat(2).into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(of(2, 3)[..4], [Some(0), Some(1), Some(0), Some(1)], "the third has no value");
    assert_eq!([place(7, 8, 0), place(7, 0, 0)], [None, None]);
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
    for policy in HashPolicy::ALL.into_iter().filter(|policy| *policy != VlanSrcMac) {
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
    // The same behind a tag among the bytes; behind eight of them the kernel does not look.
    let tags = |count: usize| [[0, 7, 0x81, 0]].repeat(count - 1).concat();
    let tagged = |count| ethernet(0x8100, &[tags(count), vec![0, 7, 0x88, 0x47], vec![0; 20]].concat());
    for (count, expected) in [(1, 0x88a8), (7, 0x88a8), (8, 0x8100)] {
        let bytes = tagged(count);
        let frame = Frame::parse(&bytes).unwrap().with_vlan(Vlan { protocol: 0x88a8, tci: 1 });
        assert_eq!(hash(Layer2, &frame), 0x42 ^ 0x17 ^ expected, "{count} tags");
    }
}

#[test]
fn encap_hashes_what_is_inside() {
    let inner = ipv4(6, 0, &PORTS);
    let packet = &inner[14..];
    let gre = |head: &[u8]| ipv4(47, 0, &[head, packet].concat());
    let bridged = [&[0x20, 0, 0x65, 0x58, 1, 2, 3, 4][..], &[9; 12], &[8, 0], packet].concat();
    for (name, outer) in [
        ("no tunnel", inner.clone()),
        ("IPIP", ipv4(4, 0, packet)),
        ("4in6", ipv6(4, packet)),
        ("destination options", ipv6(60, &[&[4, 0, 0, 0, 0, 0, 0, 0], packet].concat())),
        ("GRE", gre(&[0, 0, 8, 0])),
        ("GRE with checksum, key, number", gre(&[0xb0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9])),
        ("GRE, bridged", ipv4(47, 0, &bridged)),
        ("PPPoE", ethernet(0x8864, &[&[0x11, 0, 0, 7, 0, 42, 0, 0x21], packet].concat())),
    ] {
        assert_eq!(of(Encap34, &outer), of(Layer34, &inner), "{name}");
        let ethertype = u32::from(u16::from_be_bytes([outer[12], outer[13]]));
        assert_eq!(of(Encap23, &outer), fold(0x42 ^ 0x17 ^ ethertype ^ 0x0300_0000), "{name}");
    }
    let vxlan = ipv4(17, 0, &[&PORTS[..], &[8, 0, 0, 0, 0, 0, 1, 0], &inner].concat());
    assert_eq!(of(Encap34, &vxlan), of(Layer34, &vxlan), "a tunnel in UDP is UDP");
    assert_eq!(of(Encap34, &ethernet(0x0806, &[0; 28])), 0, "known, but without addresses");
    let short = ethernet(0x8864, &[&[0x11, 0, 0, 7, 0, 42, 0x21], packet].concat());
    assert_eq!(of(Encap34, &short), of(Layer2, &short), "a PPP protocol in one byte");
    assert_eq!(of(Encap34, &ethernet(0x88b5, &[0; 28])), 0x42 ^ 0x17 ^ 0x88b5, "not known");
    assert_eq!(of(Encap34, &ipv4(4, 0, &packet[..19])), of(Layer2, &inner), "the inner header is cut off");
}

#[test]
fn a_walk_of_sixteen_steps_ends_well() {
    let nest = |depth: usize| {
        let header = &ipv4(4, 0, &[])[14..];
        ethernet(0x0800, &[&header.repeat(depth)[..], &[0; 19]].concat())
    };
    assert_eq!(of(Encap34, &nest(15)), of(Layer2, &nest(15)), "the sixteenth header is cut off");
    assert_eq!(of(Encap34, &nest(16)), fold(0x0300_0000) >> 1, "the seventeenth is not asked for");
}

#[test]
fn vlan_srcmac_hashes_the_whole_tag() {
    let frame = ethernet(0x0800, &[]);
    let frame = Frame::parse(&frame).unwrap();
    assert_eq!(hash(VlanSrcMac, &frame), 0x02_0000 ^ 0x17);
    assert_eq!(hash(VlanSrcMac, &frame.with_vlan(Vlan { protocol: 0x8100, tci: 0x6005 })), 0x02_0000 ^ 0x17 ^ 0x6005);
}

#[test]
fn the_aggr_policies() {
    let (l2, l3, l4) = (Aggr(AggrLayers::L2), Aggr(AggrLayers::L3), Aggr(AggrLayers::L4));
    let all = Aggr(AggrLayers::L2.and(AggrLayers::L3).and(AggrLayers::L4));
    let ports = 0x9c ^ 0x40 ^ 0x13 ^ 0x89;
    for tcp in [ipv4(6, 0, &PORTS), ipv6(6, &PORTS)] {
        assert_eq!((of(l2, &tcp), of(l3, &tcp), of(l4, &tcp)), (0x42 ^ 0x17, 3, ports));
        assert_eq!(of(all, &tcp), 0x42 ^ 0x17 ^ 3 ^ ports);
        assert_eq!(of(l4, &tcp[..tcp.len() - 5]), 0, "cut before the ports end");
        let tagged = [&tcp[..12], &[0x81, 0, 0, 5], &tcp[12..]].concat();
        assert_eq!(of(all, &tagged), of(all, &tcp));
        assert_eq!(hash(all, &Frame::parse_untagged(&tagged).unwrap()), of(all, &tcp));
        let service = [&tcp[..12], &[0x88, 0xa8, 0, 5], &tcp[12..]].concat();
        assert_eq!(of(all, &service), of(l2, &tcp));
        assert_eq!(hash(all, &Frame::parse_untagged(&service).unwrap()), of(l2, &tcp));
    }
    assert_eq!(of(l4, &ipv4(17, 0x2000, &PORTS)), ports, "a first fragment has its ports");
    let mut later = ipv4(17, 0x0001, &PORTS);
    later[18..20].copy_from_slice(&[0x70, 0x05]);
    assert_eq!((of(l3, &later), of(l4, &later), of(l2, &later)), (3 ^ 0x75, 3 ^ 0x75, 0x42 ^ 0x17));
    let fragment = [&[6, 0, 0, 1, 1, 2, 4, 8][..], &PORTS].concat();
    assert_eq!(of(l4, &ipv6(44, &fragment)), 3 ^ 15);
    let options = [&[6, 0, 0, 0, 0, 0, 0, 0][..], &PORTS].concat();
    assert_eq!(of(l4, &ipv6(0, &options)), ports);
    assert_eq!(of(all, &ipv6(0, &options[..7])), 0x42 ^ 0x17, "an extension header is cut off");
    let ah = [&[6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2][..], &[0; 12], &PORTS].concat();
    assert_eq!(of(l4, &ipv4(51, 0, &ah)), ports);
    assert_eq!(of(l4, &ipv4(33, 0, &PORTS)), 0, "DCCP is not known");
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
    let protocol = prop_oneof![prop::sample::select(&[0_u8, 1, 4, 6, 17, 41, 43, 44, 47, 51, 58, 60][..]), any::<u8>()];
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
        for policy in [SrcDstMac, SrcDstIp, SrcXorDstIp] {
            prop_assert_eq!(of(policy, &bytes), of(policy, &back));
        }
        if bytes[12..14] != [0x08, 0x00] || bytes[14..].first().is_none_or(|first| first & 0xf == 5) {
            prop_assert_eq!(of(SrcDstPort, &bytes), of(SrcDstPort, &back));
        }
    }
}
