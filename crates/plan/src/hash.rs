//! Transmit hash policies.
//!
//! A frame goes to `table[hash % table.len()]`. Three families, all mirrored in
//! `bpf/` word for word; a change here is a change there.
//!
//! # What is read
//!
//! *P* is the EtherType behind the addresses, *B* the bytes after it. A tag
//! beside the frame ([`Frame::vlan`]) is looked past and takes no part (one
//! exception: MPLS, below). A tag among the bytes makes *P* 0x8100 or 0x88a8:
//! the frame is not IP, nothing behind the tag is read.
//!
//! An **IP header** is read from bytes *H* for one *P*:
//!
//! | | *P* 0x0800 | *P* 0x86dd |
//! |---|---|---|
//! | needs | 20 bytes of *H* | 40 bytes of *H* |
//! | addresses | *H*\[12..20\], two 32-bit words | *H*\[8..40\], eight 32-bit words |
//! | transport protocol | *H*\[9\]; none if big-endian *H*\[6..8\] & 0x3fff is not 0 (a fragment, the first one too) | *H*\[6\]; extension headers are not walked |
//! | transport offset | (*H*\[0\] & 15) * 4, used as it is, even below 20 | 40 |
//!
//! Version and length fields and checksums are not looked at. Any other *P*,
//! or fewer bytes, is not IP.
//!
//! # The kernel's policies
//!
//! As Linux 6.1 to 6.18 `drivers/net/bonding/bond_main.c` (`__bond_xmit_hash`,
//! `bond_flow_dissect`, `bond_flow_ip`, `bond_eth_hash`, `bond_ip_hash`) and
//! `net/core/flow_dissector.c` (`skb_flow_get_icmp_tci`, `skb_flow_get_ports`)
//! compute them on a little-endian machine. LE32 is four bytes read lowest
//! first.
//!
//! - *E* = dst\[5\] ^ src\[5\] ^ *P* (*P* as a number: 0x0800 for IPv4). Of an
//!   MPLS frame (*P*, or the EtherType behind up to seven tags among the bytes,
//!   is 0x8847 or 0x8848) with a tag beside it, the tag's protocol stands for *P*:
//!   a bond cannot offload that tag (`net_mpls_features`), so the kernel puts it
//!   back among the bytes before it asks for the hash.
//! - **layer2** = *E*.
//! - **layer2+3**: *E* where the frame is not IP, else *fold*(*E* ^ *A*).
//! - **layer3+4**: *E* where the frame is not IP, else *fold*(*T* ^ *A*) >> 1.
//! - *A* = XOR of the addresses' words as LE32.
//! - *fold*(x): x ^= x >> 16; x ^= x >> 8.
//! - *T*, from the transport protocol and *X* = *B*\[transport offset..\]:
//!   - 6 TCP, 17 UDP, 33 DCCP, 50 ESP, 132 SCTP, 136 UDP-Lite: LE32 of *X*\[0..4\];
//!     51 AH: LE32 of *X*\[4..8\]; 0 where those bytes are missing;
//!   - 1 ICMP or 58 ICMPv6, either under either *P*: if *X* has 8 bytes and
//!     *X*\[0\] is 0, 8, 13, 14, 128 or 129, then
//!     *X*\[0\] | *X*\[1\] << 8 | *id* << 16, *id* = big-endian *X*\[4..6\], 0 counts as 1;
//!     else 0;
//!   - anything else, and a fragment: 0.
//! - **ICMP errors** (for layer2+3, too): protocol 1 with type 3, 4, 5, 11 or 12,
//!   protocol 58 with type 1 to 4, in an *X* of at least 8 bytes. *A* and *T*
//!   come from the IP header in *H* = *X*\[8..\], read for the **same** *P*, once
//!   only. *T* is then that header's ports alone (of an ICMP or ICMPv6 inside: 0).
//!   If that header is not there, the frame counts as not IP.
//! - **encap2+3**, **encap3+4**: as layer2+3 and layer3+4, with *A* and *T* of
//!   the innermost header that the kernel's flow dissector reaches, through
//!   tags and tunnels (`hash/dissect.rs` says how). Two differences: a frame
//!   whose protocol the dissector knows counts as IP, with *A* = 0 if no address
//!   is found, and ICMP errors are not looked into.
//! - **vlan+srcmac** = *V* ^ the source address's first three bytes as a number ^
//!   its last three, big-endian; *V* is the tag's 16 bits if there is one beside
//!   the frame (and it is not MPLS: see above), else 0. Tags among the bytes are
//!   not looked at.
//!
//! One thing is left out on purpose: where a local socket has given the frame
//! a hash of its own (`skb->l4_hash`, a random number for each socket), the
//! kernel's encap3+4 takes that. A frame's bytes then do not tell its member.
//!
//! # The `aggr` policies
//!
//! Those of illumos `dladm create-aggr -P`: any of L2, L3 and L4 together.
//! `hash/aggr.rs` says how.
//!
//! # Open vSwitch's
//!
//! Buckets, not members: [`slb`] of a source address alone, [`flow`] of addresses, protocol and ports.
//!
//! # The switch policies
//!
//! Ours alone, symmetric in source and destination where they look at both,
//! so that both directions of a flow meet on one link.
//!
//! - **src-mac** = src\[5\]; **dst-mac** = dst\[5\]; **src-dst-mac** = src\[5\] ^ dst\[5\].
//! - **src-dst-ip** = *fold*(*N*); src-dst-mac where the frame is not IP.
//!   *N* = XOR of the addresses' words, big-endian.
//! - **src-dst-port** = *fold*(*N* ^ source port ^ destination port), ports as
//!   numbers, for protocols 6 TCP, 17 UDP and 132 SCTP whose first four bytes
//!   are there; src-dst-ip otherwise. ICMP errors are not looked into.
//! - **src-ip**, **dst-ip** = the last byte of that IP address; src-mac, dst-mac where the frame is not IP.
//! - **src-xor-dst-ip** = src-ip ^ dst-ip; src-dst-mac where the frame is not IP.

mod aggr;
mod dissect;
pub mod drawn;
pub mod flow;
mod headers;
mod murmur;
mod octets;
pub mod slb;

use nicteam_wire::{Frame, ethertype};

use headers::{IPV4_HEADER, Ip, protocol, tag_put_back};
use nicteam_options::HashPolicy;

/// The hash of a frame; the [module](self) says how each policy computes it.
pub fn hash(policy: HashPolicy, frame: &Frame<'_>) -> u32 {
    match policy {
        HashPolicy::Layer2 => ethernet(frame),
        HashPolicy::Layer23 => match Ip::of_flow(frame) {
            Some((ip, _)) => fold(ethernet(frame) ^ u32::from_le_bytes(ip.addresses)),
            None => ethernet(frame),
        },
        HashPolicy::Layer34 => match Ip::of_flow(frame) {
            Some((ip, transport)) => fold(transport ^ u32::from_le_bytes(ip.addresses)) >> 1,
            None => ethernet(frame),
        },
        HashPolicy::Encap23 => match dissect::flow(frame) {
            Some(flow) => fold(ethernet(frame) ^ u32::from_le_bytes(flow.addresses)),
            None => ethernet(frame),
        },
        HashPolicy::Encap34 => match dissect::flow(frame) {
            Some(flow) => fold(flow.transport ^ u32::from_le_bytes(flow.addresses)) >> 1,
            None => ethernet(frame),
        },
        HashPolicy::VlanSrcMac => vlan_srcmac(frame),
        HashPolicy::Aggr(layers) => aggr::hash(layers, frame),
        HashPolicy::SrcMac => last(frame.src().0),
        HashPolicy::DstMac => last(frame.dst().0),
        HashPolicy::SrcDstMac => src_dst_mac(frame),
        HashPolicy::SrcDstIp => match Ip::parse(frame.ethertype(), frame.payload()) {
            Some(ip) => fold(u32::from_be_bytes(ip.addresses)),
            None => src_dst_mac(frame),
        },
        HashPolicy::SrcDstPort => match Ip::parse(frame.ethertype(), frame.payload()) {
            Some(ip) => fold(u32::from_be_bytes(ip.addresses) ^ ip.ports_xor()),
            None => src_dst_mac(frame),
        },
        HashPolicy::SrcIp => octets::of(frame).src(),
        HashPolicy::DstIp => octets::of(frame).dst(),
        HashPolicy::SrcXorDstIp => octets::of(frame).src() ^ octets::of(frame).dst(),
    }
}

/// The place, among `members` that may send, of a frame with this hash where the hash has so many `buckets`, assigned to the
/// members in turn; with 0 buckets there are as many as members. None if there are no members.
pub fn place(hash: u32, buckets: u32, members: usize) -> Option<usize> {
    let bucket = if buckets == 0 { hash } else { hash % buckets };
    (bucket as usize).checked_rem(members)
}

/// True for IPv4 IGMP: protocol 2 in an IPv4 header of which 20 bytes are there
/// (Linux 6.1 `bond_xmit_roundrobin_slave_get`). A tag beside the frame is
/// looked past, one among its bytes hides the header.
pub fn is_igmp(frame: &Frame<'_>) -> bool {
    frame.ethertype() == ethertype::IPV4
        && matches!(frame.payload().first_chunk::<IPV4_HEADER>(), Some(header) if header[9] == protocol::IGMP)
}

/// `bond_eth_hash`.
fn ethernet(frame: &Frame<'_>) -> u32 {
    let ethertype = tag_put_back(frame).map_or(frame.ethertype(), |vlan| vlan.protocol);
    src_dst_mac(frame) ^ u32::from(ethertype)
}

/// `bond_vlan_srcmac_hash`.
fn vlan_srcmac(frame: &Frame<'_>) -> u32 {
    let tag = frame.vlan().filter(|_| tag_put_back(frame).is_none());
    let [a, b, c, d, e, f] = frame.src().0;
    tag.map_or(0, |vlan| u32::from(vlan.tci)) ^ u32::from_be_bytes([0, a, b, c]) ^ u32::from_be_bytes([0, d, e, f])
}

fn src_dst_mac(frame: &Frame<'_>) -> u32 {
    last(frame.src().0) ^ last(frame.dst().0)
}

fn last([.., byte]: [u8; 6]) -> u32 {
    u32::from(byte)
}

fn fold(mut x: u32) -> u32 {
    x ^= x >> 16;
    x ^ x >> 8
}
