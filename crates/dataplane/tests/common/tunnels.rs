//! Frames in which a packet is inside another: tunnels, stacks of tags, chains
//! of extension headers, and what the kernel's flow dissector knows besides.

use super::frames::{Random, ipv4_packet, ipv6_packet, protocol, transport};

/// Appends the EtherType and what follows it.
pub fn tunnelled(random: &mut Random, frame: &mut Vec<u8>) {
    let depth = if random.one_in(12) { 17 } else { 1 + random.below(4) };
    let inner = layers(random, depth);
    frame.extend(inner.ethertype.to_be_bytes());
    frame.extend(inner.bytes);
}

/// What stands behind an EtherType.
struct Layer {
    ethertype: u16,
    bytes: Vec<u8>,
}

/// `depth` headers around an IP packet, or now and then something else.
fn layers(random: &mut Random, depth: usize) -> Layer {
    let mut layer = innermost(random);
    for _ in 0..depth {
        layer = around(random, layer);
    }
    layer
}

fn innermost(random: &mut Random) -> Layer {
    let mut bytes = Vec::new();
    let ethertype = match random.below(10) {
        0..4 => {
            ipv4_packet(random, &mut bytes, true);
            0x0800
        }
        4..7 => {
            ipv6_packet(random, &mut bytes, true);
            0x86dd
        }
        7 => {
            extensions(random, &mut bytes);
            0x86dd
        }
        _ => {
            let length = random.below(60);
            bytes = random.bytes(length);
            // ARP, RARP, MPLS, TIPC, FCoE, PTP, CFM, 802.2, nothing known.
            random.pick(&[0x0806, 0x8035, 0x8847, 0x88ca, 0x8906, 0x88f7, 0x8902, 40, 0, 0x88b5])
        }
    };
    Layer { ethertype, bytes }
}

fn around(random: &mut Random, inner: Layer) -> Layer {
    match random.below(12) {
        0..3 => ip(random, inner),
        3..6 => gre(random, inner),
        6 => pptp(random, inner),
        7 => vxlan(random, inner),
        8 | 9 => {
            let ethertype = random.pick(&[0x8100, 0x8100, 0x88a8]);
            tagged_with(ethertype, random.bytes(2), inner)
        }
        10 => {
            let ethertype = random.pick(&[0x88fb, 0x892f]);
            tagged_with(ethertype, random.bytes(4), inner)
        }
        _ if random.one_in(2) => pppoe(random, inner),
        _ => batman(random, inner),
    }
}

/// Bytes and an EtherType before the packet: VLAN, HSR, PRP.
fn tagged_with(ethertype: u16, mut bytes: Vec<u8>, inner: Layer) -> Layer {
    bytes.extend(inner.ethertype.to_be_bytes());
    bytes.extend(inner.bytes);
    Layer { ethertype, bytes }
}

/// IPIP, 6in4 and their like; of what is no IP, MPLS in IP.
fn ip(random: &mut Random, inner: Layer) -> Layer {
    let protocol = match inner.ethertype {
        0x0800 => 4,
        0x86dd => 41,
        _ => 137,
    };
    carried(random, protocol, inner.bytes)
}

/// An IPv4 or IPv6 packet around these bytes, sometimes a fragment or with options.
fn carried(random: &mut Random, protocol: u8, body: Vec<u8>) -> Layer {
    if random.one_in(2) {
        let words = if random.one_in(4) { 6 + random.below(3) } else { 5 };
        let fragment: u16 = if random.one_in(8) { random.pick(&[0x2000, 0x2001, 5]) } else { 0 };
        let mut bytes = vec![0x40 | words as u8, 0, 0, 0, 0, 0];
        bytes.extend(fragment.to_be_bytes());
        bytes.extend([64, protocol, 0, 0]);
        bytes.extend(random.bytes(8 + words * 4 - 20));
        bytes.extend(body);
        return Layer { ethertype: 0x0800, bytes };
    }
    let mut bytes = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
    bytes.extend(random.bytes(32));
    if random.one_in(3) {
        bytes[6] = random.pick(&EXTENSIONS);
        bytes.extend([protocol, 0]);
        bytes.extend(random.bytes(6));
    }
    bytes.extend(body);
    Layer { ethertype: 0x86dd, bytes }
}

/// Hop-by-hop, routing, destination options, fragment.
const EXTENSIONS: [u8; 4] = [0, 43, 60, 44];

/// An IPv6 packet with a chain of them, AH sometimes at its end.
fn extensions(random: &mut Random, bytes: &mut Vec<u8>) {
    bytes.extend([0x60, 0, 0, 0, 0, 0, random.pick(&EXTENSIONS), 64]);
    bytes.extend(random.bytes(32));
    for _ in 0..random.below(12) {
        let units = if random.one_in(4) { random.below(3) } else { 0 };
        bytes.extend([random.pick(&EXTENSIONS), units as u8]);
        bytes.extend(random.bytes(6 + units * 8));
    }
    let last = protocol(random);
    bytes.extend([last, 0]);
    bytes.extend(random.bytes(6));
    if last == 51 {
        let next = protocol(random);
        bytes.extend([next, 2]);
        bytes.extend(random.bytes(14));
        return transport(random, bytes, next, None);
    }
    transport(random, bytes, last, None);
}

/// GRE with any of its fields; a bridged frame sometimes (NVGRE, GRE-TAP).
fn gre(random: &mut Random, inner: Layer) -> Layer {
    let bridged = random.one_in(2);
    let flags: u16 = random.pick(&[0, 0x8000, 0x2000, 0x1000, 0xb000, 0x3000]);
    let spoiled: u16 = if random.one_in(10) { random.pick(&[0x4000, 1, 2, 7, 0x0880]) } else { 0 };
    let mut bytes = (flags | spoiled).to_be_bytes().to_vec();
    bytes.extend(if bridged { 0x6558 } else { inner.ethertype }.to_be_bytes());
    bytes.extend(random.bytes(4 * flags.count_ones() as usize));
    if bridged {
        bytes.extend(random.bytes(12));
        bytes.extend(inner.ethertype.to_be_bytes());
    }
    bytes.extend(inner.bytes);
    carried(random, 47, bytes)
}

/// GRE of version 1: PPP (RFC 2637).
fn pptp(random: &mut Random, inner: Layer) -> Layer {
    let flags: u16 = random.pick(&[0x2000, 0x3000, 0x2080, 0x3080, 0x1000]);
    let mut bytes = (flags | 1).to_be_bytes().to_vec();
    bytes.extend([0x88, 0x0b]);
    bytes.extend(random.bytes(4 * flags.count_ones() as usize));
    bytes.extend([0xff, 3]);
    bytes.extend(ppp(inner.ethertype).to_be_bytes());
    bytes.extend(inner.bytes);
    carried(random, 47, bytes)
}

/// The PPP protocol of what an EtherType names.
fn ppp(ethertype: u16) -> u16 {
    match ethertype {
        0x0800 => 0x21,
        0x86dd => 0x57,
        0x8847 => 0x281,
        other => other,
    }
}

fn vxlan(random: &mut Random, inner: Layer) -> Layer {
    let mut bytes = random.bytes(2);
    bytes.extend([0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0]);
    bytes.extend(random.bytes(4 + 12));
    bytes.extend(inner.ethertype.to_be_bytes());
    bytes.extend(inner.bytes);
    carried(random, 17, bytes)
}

/// A PPPoE session, its protocol in one byte if it may be.
fn pppoe(random: &mut Random, inner: Layer) -> Layer {
    let mut bytes = vec![if random.one_in(8) { 0x12 } else { 0x11 }, u8::from(random.one_in(8))];
    bytes.extend(random.bytes(4));
    match ppp(inner.ethertype) {
        protocol @ 0..0x100 if random.one_in(2) => bytes.push(protocol as u8),
        protocol => bytes.extend(protocol.to_be_bytes()),
    }
    bytes.extend(inner.bytes);
    Layer { ethertype: 0x8864, bytes }
}

fn batman(random: &mut Random, inner: Layer) -> Layer {
    let kind = if random.one_in(8) { 0x41 } else { 0x40 };
    let version = if random.one_in(8) { 14 } else { 15 };
    let mut bytes = vec![kind, version];
    bytes.extend(random.bytes(8 + 12));
    tagged_with(0x4305, bytes, inner)
}
