//! The kinds: each an EtherType and what follows it.

use super::Random;
use super::addresses::addresses;
use super::ip::{
    Header4, ICMP4_ERROR, ICMP4_ID, ICMP4_OTHER, ICMP6_ERROR, ICMP6_ID, ICMP6_OTHER, WITH_PORTS, WITHOUT_PORTS, cut,
    extension, fragment_header, icmp, ip4, ip6, some4, some6, transport,
};

/// Makes the EtherType and the payload of one frame.
pub(super) type Make = fn(&mut Random) -> Payload;

/// An EtherType and what follows it.
type Payload = (u16, Vec<u8>);

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: u16 = 0x8100;
const QINQ: u16 = 0x88a8;
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Transparent Ethernet bridging: Ethernet in GRE.
const TEB: u16 = 0x6558;

/// Every kind, those without a tag first.
pub const KINDS: &[(&str, Make)] = &[
    ("tcp4", |r| with_transport4(r, 6)),
    ("udp4", |r| with_transport4(r, 17)),
    ("sctp4", |r| with_transport4(r, 132)),
    ("ports4", |r| (IPV4, some4(r))),
    ("no-ports4", |r| {
        let (protocol, body) = (r.pick(&WITHOUT_PORTS), r.bytes(30));
        (IPV4, ip4(r, protocol, &body))
    }),
    ("igmp4", |r| {
        let body = r.bytes(8);
        let words = r.pick(&[5, 6]);
        (IPV4, Header4::of(2).words(words).packet(r, &body))
    }),
    ("options4", |r| {
        let (protocol, words) = (r.pick(&WITH_PORTS), r.between(6, 16));
        let body = transport(r, protocol);
        (IPV4, Header4::of(protocol).words(words).packet(r, &body))
    }),
    ("fragment4", |r| {
        let header = Header4 { fragment: r.pick(&FRAGMENTS), ..Header4::of(r.pick(&[6, 17, 1, 47])) };
        let body = transport(r, 6);
        (IPV4, header.packet(r, &body))
    }),
    ("flags4", |r| {
        let header = Header4 { fragment: r.pick(&[0, 0x8000, 0xc000]), ..Header4::of(17) };
        let body = transport(r, 17);
        (IPV4, header.packet(r, &body))
    }),
    ("bad-ihl4", |r| {
        let header = Header4 { ihl: r.pick(&[0, 1, 4, 6, 14, 15]), ..Header4::of(r.pick(&[1, 6, 17, 51])) };
        let body = transport(r, 6);
        (IPV4, header.packet(r, &body))
    }),
    ("bad-version4", |r| {
        let header = Header4 { version: r.pick(&[0, 5, 6, 15]), ..Header4::of(6) };
        let body = transport(r, 6);
        (IPV4, header.packet(r, &body))
    }),
    ("cut4", |r| {
        let packet = some4(r);
        (IPV4, cut(r, packet, 0, 32))
    }),
    ("icmp4", |r| with_icmp4(r, &ICMP4_ID)),
    ("icmp4-other", |r| with_icmp4(r, &ICMP4_OTHER)),
    ("icmp4-v6-types", |r| with_icmp4(r, &[ICMP6_ID[0], ICMP6_ID[1], 1, 2])),
    ("icmp4-cut", |r| {
        let (_, packet) = with_icmp4(r, &ICMP4_ID);
        (IPV4, cut(r, packet, 20, 28))
    }),
    ("icmp4-options", |r| {
        let (words, message) = (r.between(6, 16), icmp(r, &ICMP4_ID, &[]));
        (IPV4, Header4::of(1).words(words).packet(r, &message))
    }),
    ("icmp4-error", |r| {
        let inner = some4(r);
        icmp4_error(r, &inner)
    }),
    ("icmp4-error-icmp", |r| {
        let (_, inner) = with_icmp4(r, &[0, 3, 8, 11]);
        icmp4_error(r, &inner)
    }),
    ("icmp4-error-fragment", |r| {
        let header = Header4 { fragment: r.pick(&FRAGMENTS), ..Header4::of(17) };
        let inner = header.packet(r, &[1, 2, 3, 4, 5, 6, 7, 8]);
        icmp4_error(r, &inner)
    }),
    ("icmp4-error-options", |r| {
        let words = r.between(6, 16);
        let inner = Header4::of(17).words(words).packet(r, &[1, 2, 3, 4, 5, 6, 7, 8]);
        icmp4_error(r, &inner)
    }),
    ("icmp4-error-cut", |r| {
        let inner = some4(r);
        let inner = cut(r, inner, 0, 28);
        icmp4_error(r, &inner)
    }),
    ("icmp6-in-4", |r| {
        let body = some4(r);
        let message = icmp(r, &[1, 3, 8, 128, 129], &body);
        (IPV4, ip4(r, 58, &message))
    }),
    ("tcp6", |r| with_transport6(r, 6)),
    ("udp6", |r| with_transport6(r, 17)),
    ("sctp6", |r| with_transport6(r, 132)),
    ("ports6", |r| (IPV6, some6(r))),
    ("no-ports6", |r| {
        let (protocol, body) = (r.pick(&WITHOUT_PORTS), r.bytes(30));
        (IPV6, ip6(r, protocol, &body))
    }),
    ("extension6", |r| {
        let (next, protocol) = (r.pick(&[0, 43, 60, 135]), r.pick(&[6, 17, 58]));
        let body = [extension(r, protocol), transport(r, protocol)].concat();
        (IPV6, ip6(r, next, &body))
    }),
    ("extensions6", |r| {
        let (first, second) = (r.pick(&[0, 43, 60]), r.pick(&[43, 60, 44]));
        let after = if second == 44 { fragment_header(r, 17) } else { extension(r, 17) };
        let body = [extension(r, second), after, transport(r, 17)].concat();
        (IPV6, ip6(r, first, &body))
    }),
    ("fragment6", |r| {
        let protocol = r.pick(&[6, 17, 58]);
        let body = [fragment_header(r, protocol), transport(r, protocol)].concat();
        (IPV6, ip6(r, 44, &body))
    }),
    ("cut6", |r| {
        let packet = some6(r);
        (IPV6, cut(r, packet, 0, 52))
    }),
    ("icmp6", |r| with_icmp6(r, &ICMP6_ID)),
    ("icmp6-other", |r| with_icmp6(r, &ICMP6_OTHER)),
    ("icmp6-v4-types", |r| with_icmp6(r, &ICMP4_ID)),
    ("icmp6-error", |r| {
        let inner = some6(r);
        icmp6_error(r, &inner)
    }),
    ("icmp6-error-icmp", |r| {
        let (_, inner) = with_icmp6(r, &[1, 3, 128, 129]);
        icmp6_error(r, &inner)
    }),
    ("icmp6-error-extension", |r| {
        let body = [extension(r, 6), transport(r, 6)].concat();
        let inner = ip6(r, 0, &body);
        icmp6_error(r, &inner)
    }),
    ("icmp6-error-cut", |r| {
        let inner = some6(r);
        let inner = cut(r, inner, 0, 48);
        icmp6_error(r, &inner)
    }),
    ("icmp4-in-6", |r| {
        let body = some6(r);
        let message = icmp(r, &[ICMP4_ID[0], ICMP4_ID[1], ICMP4_ERROR[0], 11], &body);
        (IPV6, ip6(r, 1, &message))
    }),
    ("ipip", |r| {
        let inner = some4(r);
        (IPV4, ip4(r, 4, &inner))
    }),
    ("ipip-icmp", |r| {
        let (_, inner) = with_icmp4(r, &[0, 3, 8]);
        (IPV4, ip4(r, 4, &inner))
    }),
    ("ipip-cut", |r| {
        let inner = some4(r);
        let inner = cut(r, inner, 0, 28);
        (IPV4, ip4(r, 4, &inner))
    }),
    ("ip6-in-4", |r| {
        let inner = some6(r);
        (IPV4, ip4(r, 41, &inner))
    }),
    ("ip4-in-6", |r| {
        let inner = some4(r);
        (IPV6, ip6(r, 4, &inner))
    }),
    ("ip6-in-6", |r| {
        let inner = some6(r);
        (IPV6, ip6(r, 41, &inner))
    }),
    ("ipipip", |r| {
        let inner = some4(r);
        let middle = ip4(r, 4, &inner);
        (IPV4, ip4(r, 4, &middle))
    }),
    ("gre4", |r| {
        let body = gre(r);
        (IPV4, ip4(r, 47, &body))
    }),
    ("gre6", |r| {
        let body = gre(r);
        (IPV6, ip6(r, 47, &body))
    }),
    ("gre-ethernet", |r| {
        let inner = ethernet(r);
        let body = [vec![0, 0], TEB.to_be_bytes().to_vec(), inner].concat();
        (IPV4, ip4(r, 47, &body))
    }),
    ("gre-odd", |r| {
        let body = [r.bytes(4), some4(r)].concat();
        (IPV4, ip4(r, 47, &body))
    }),
    ("pptp", |r| {
        let body = pptp(r);
        (IPV4, ip4(r, 47, &body))
    }),
    ("vxlan", |r| {
        let inner = ethernet(r);
        let body = [r.bytes(2), 4789_u16.to_be_bytes().to_vec(), r.bytes(4), vec![8, 0, 0, 0], r.bytes(4), inner];
        (IPV4, ip4(r, 17, &body.concat()))
    }),
    ("arp", |r| {
        let operation = r.pick(&[1, 2]);
        (0x0806, [vec![0, 1, 8, 0, 6, 4, 0, operation], r.bytes(20)].concat())
    }),
    ("rarp", |r| (0x8035, [vec![0, 1, 8, 0, 6, 4, 0, 3], r.bytes(20)].concat())),
    ("pppoe", |r| {
        let (protocol, inner) = if r.one_in(2) { (0x0021_u16, some4(r)) } else { (0x0057, some6(r)) };
        let length = (inner.len() + 2) as u16;
        let head = [vec![0x11, 0], r.bytes(2), length.to_be_bytes().to_vec(), protocol.to_be_bytes().to_vec()];
        (0x8864, [head.concat(), inner].concat())
    }),
    ("mpls", |r| {
        let labels = [r.bytes(2), vec![r.byte() & 0xfe | 1], r.bytes(1)].concat();
        (r.pick(&MPLS), [labels, some4(r)].concat())
    }),
    ("llc", |r| (r.between(3, 1501) as u16, [vec![0x42, 0x42, 3], r.bytes(35)].concat())),
    ("other", |r| (r.pick(&[0x88b5, 0x88cc, 0x4305, 0x8915, 0x88f7, 0x0600, 0xffff]), r.bytes(46))),
    ("tipc", |r| {
        // Message user 0: of keep-alive messages the kernel's dissector takes a random number.
        let (first, rest) = (r.byte() & 0xf1, r.bytes(45));
        (0x88ca, [vec![first], rest].concat())
    }),
    ("junk", |r| {
        let ethertype = r.word() | 0x0600;
        let ethertype = if matches!(ethertype, VLAN | QINQ) { 0xffff } else { ethertype };
        (ethertype, r.bytes(40))
    }),
    ("junk4", |r| {
        let count = r.below(80);
        (IPV4, r.bytes(count))
    }),
    ("junk6", |r| {
        let count = r.below(80);
        (IPV6, r.bytes(count))
    }),
    ("vlan-tcp4", |r| {
        let payload = with_transport4(r, 6);
        tag(r, VLAN, payload)
    }),
    ("vlan-udp6", |r| {
        let payload = with_transport6(r, 17);
        tag(r, VLAN, payload)
    }),
    ("vlan", |r| {
        let payload = untagged(r);
        tag(r, VLAN, payload)
    }),
    ("vlan-again", |r| {
        let payload = untagged(r);
        tag(r, VLAN, payload)
    }),
    ("service-tag", |r| {
        let payload = untagged(r);
        tag(r, QINQ, payload)
    }),
    ("qinq", |r| {
        let payload = untagged(r);
        let payload = tag(r, VLAN, payload);
        tag(r, QINQ, payload)
    }),
    ("vlan-vlan", |r| {
        let payload = untagged(r);
        let payload = tag(r, VLAN, payload);
        tag(r, VLAN, payload)
    }),
    ("vlan-mpls", |r| {
        let payload = (r.pick(&MPLS), [r.bytes(4), some4(r)].concat());
        let protocol = r.pick(&[VLAN, QINQ]);
        tag(r, protocol, payload)
    }),
];

/// Flags and offset of what is a fragment.
const FRAGMENTS: [u16; 5] = [0x2000, 0x2001, 0x0010, 0x1fff, 0x3fff];
/// How many of [`KINDS`] have a tag; they are the last.
const TAGGED: usize = 8;
/// Bytes behind a tag that every device on the way insists on.
const BEHIND_TAG: usize = 8;

fn with_transport4(random: &mut Random, protocol: u8) -> Payload {
    let body = transport(random, protocol);
    (IPV4, ip4(random, protocol, &body))
}

fn with_transport6(random: &mut Random, protocol: u8) -> Payload {
    let body = transport(random, protocol);
    (IPV6, ip6(random, protocol, &body))
}

fn with_icmp4(random: &mut Random, types: &[u8]) -> Payload {
    let message = icmp(random, types, &[0xaa; 12]);
    (IPV4, ip4(random, 1, &message))
}

fn with_icmp6(random: &mut Random, types: &[u8]) -> Payload {
    let message = icmp(random, types, &[0xaa; 12]);
    (IPV6, ip6(random, 58, &message))
}

fn icmp4_error(random: &mut Random, inner: &[u8]) -> Payload {
    let (words, message) = (random.pick(&[5, 5, 5, 7]), icmp(random, &ICMP4_ERROR, inner));
    (IPV4, Header4::of(1).words(words).packet(random, &message))
}

fn icmp6_error(random: &mut Random, inner: &[u8]) -> Payload {
    let message = icmp(random, &ICMP6_ERROR, inner);
    (IPV6, ip6(random, 58, &message))
}

/// GRE version 0 with any of its optional words, an IP packet inside.
fn gre(random: &mut Random) -> Vec<u8> {
    let flags = random.pick(&[0_u8, 0x80, 0x20, 0x10, 0xa0, 0x30, 0xb0]);
    let (protocol, inner) = if random.one_in(3) { (IPV6, some6(random)) } else { (IPV4, some4(random)) };
    let words = flags.count_ones() as usize;
    [vec![flags, 0], protocol.to_be_bytes().to_vec(), random.bytes(4 * words), inner].concat()
}

/// GRE version 1: a key, perhaps sequence and acknowledgement, PPP inside.
fn pptp(random: &mut Random) -> Vec<u8> {
    let (sequence, acknowledgement) = (random.one_in(2), random.one_in(2));
    let flags = [0x20 | if sequence { 0x10 } else { 0 }, 1 | if acknowledgement { 0x80 } else { 0 }];
    let words = 1 + usize::from(sequence) + usize::from(acknowledgement);
    let ppp = [0xff, 0x03, 0x00, 0x21];
    [flags.to_vec(), vec![0x88, 0x0b], random.bytes(4 * words), ppp.to_vec(), some4(random)].concat()
}

/// A whole frame inside another.
fn ethernet(random: &mut Random) -> Vec<u8> {
    let macs = addresses(random);
    let (ethertype, payload) = if random.one_in(2) { (IPV4, some4(random)) } else { (IPV6, some6(random)) };
    [macs, ethertype.to_be_bytes().to_vec(), payload].concat()
}

fn untagged(random: &mut Random) -> Payload {
    let place = random.below(KINDS.len() - TAGGED);
    KINDS[place].1(random)
}

fn tag(random: &mut Random, protocol: u16, (ethertype, mut payload): Payload) -> Payload {
    let tci = match random.below(4) {
        0 => 0,
        1 => random.word(),
        _ => random.between(1, 4095) as u16,
    };
    payload.resize(payload.len().max(BEHIND_TAG), 0);
    (protocol, [tci.to_be_bytes(), ethertype.to_be_bytes()].concat().into_iter().chain(payload).collect())
}
