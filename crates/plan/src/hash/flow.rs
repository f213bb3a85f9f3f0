//! Open vSwitch's hash of balance-tcp: the bucket of a frame by its addresses, protocol and ports.
//!
//! As the userspace datapath of Open vSwitch 3.1 computes it where it was built without SSE4.2, as Debian's package is.
//! A bond with LACP hashes in the datapath and recirculates (`bond_update_post_recirc_rules`, `odp_execute_actions`):
//! the hash of the packet that was made for the flow caches (`lib/flow.c`, `miniflow_extract` and `miniflow_hash_5tuple`
//! with basis 0) goes through `hash_int` with `bond-hash-basis`.
//!
//! *P* is the EtherType and *B* the bytes behind it, past one VLAN tag, beside the frame or among its bytes, and past a
//! SNAP header. *H* starts as 0; *add*, and *finish* at the end, are MurmurHash3's, with words read lowest byte first.
//!
//! - *P* is IPv4, *B* is sound: add source and destination, then the protocol.
//!   Sound are at least 20 bytes with a header length of 20 or more and a total length that reaches from its end
//!   to no further than *B* does; all else behind the total length is padding.
//! - *P* is IPv6, *B* is sound: add the addresses, eight words, then the protocol behind all extension headers
//!   (0, 43, 44, 51, 60). If these end too early the protocol is 0, in a fragment that is not the first it is 44.
//!   Sound are at least 40 bytes with a payload length that reaches no further than *B*.
//! - *P* is ARP for Ethernet and IPv4: add the sender's and the target's IP address, then the operation, if that is below 256, else 0.
//! - *P* is one of these and *B* is not sound: zeros in place of all of these.
//! - Where the protocol (or operation) is 1, 6, 17, 58 or 132, add the *ports*: both of TCP (20 bytes, and as many as its data offset says), UDP (8) and SCTP (12); 0, type, 0, code of ICMP
//!   and ICMPv6 (8 bytes each, under either *P*). 0 in a fragment that is not the first, of ARP, and where the header is not whole.
//! - Behind extension headers of IPv6 the first next header stands for the protocol, where that is TCP or UDP with a whole header: what
//!   `dp_packet_update_rss_hash_ipv6_tcp_udp` says, which comes before `miniflow_hash_5tuple`.
//! - Any other *P*: nothing is added.
//! - Then finish(*H*, 42) is *R*, and the bucket is the lowest byte of finish(add(add(*R*, 0), basis), 8).

use nicteam_wire::{Frame, ethertype};

use super::murmur::{add, finish};
use crate::tagged::Tagged;

/// The bucket of a frame, of a bond with this `bond-hash-basis`.
pub fn bucket(frame: &Frame<'_>, basis: u32) -> u8 {
    let [bucket, ..] = finish(add(add(five_tuple(frame), 0), basis), 8).to_le_bytes();
    bucket
}

/// Arbitrary, as Open vSwitch says.
const FINAL: u32 = 42;
const TCP_HEADER: usize = 20;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const SCTP: u8 = 132;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
/// The most extension headers that are passed; with more, the protocol is 0. Open vSwitch passes any number.
const MOST_EXTENSIONS: usize = nicteam_machine::constants::MOST_FLOW_EXTENSIONS;

/// `miniflow_hash_5tuple` with basis 0.
fn five_tuple(frame: &Frame<'_>) -> u32 {
    let tagged = Tagged::of(frame);
    let flow = match tagged.ethertype {
        ethertype::IPV4 => ipv4(tagged.payload).unwrap_or_default(),
        ethertype::ARP => arp(tagged.payload).unwrap_or_default(),
        ethertype::IPV6 => {
            let flow = ipv6(tagged.payload).unwrap_or_default();
            return flow.hash(8);
        }
        _ => return finish(0, FINAL),
    };
    flow.hash(2)
}

/// What of a packet is hashed.
#[derive(Clone, Copy, Default)]
struct Flow {
    addresses: [u8; 32],
    protocol: u8,
    ports: Option<[u8; 4]>,
}

impl Flow {
    /// With so many words of addresses.
    fn hash(&self, words: usize) -> u32 {
        let (addresses, _) = self.addresses.as_chunks();
        let addresses = addresses.iter().take(words).map(|word| u32::from_le_bytes(*word));
        let mut hash = add(addresses.fold(0, add), self.protocol.into());
        if let Some(ports) = self.ports {
            hash = add(hash, u32::from_le_bytes(ports));
        }
        finish(hash, FINAL)
    }
}

fn ipv4(bytes: &[u8]) -> Option<Flow> {
    let header = bytes.first_chunk::<20>()?;
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if length < header.len() {
        return None;
    }
    let transport = bytes.get(..total)?.get(length..)?;
    let mut flow = Flow { protocol: header[9], ..Flow::default() };
    flow.addresses[..8].copy_from_slice(&header[12..20]);
    // The offset in a fragment's packet, in units of eight bytes.
    let is_first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
    flow.ports = ports(flow.protocol, if is_first { transport } else { &[] });
    Some(flow)
}

fn ipv6(bytes: &[u8]) -> Option<Flow> {
    let (header, rest) = bytes.split_first_chunk::<40>()?;
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let rest = rest.get(..length)?;
    let mut flow = Flow::default();
    flow.addresses.copy_from_slice(&header[8..40]);
    if let Some((protocol, transport)) = behind_extensions(header[6], rest) {
        let first = matches!(protocol, TCP | UDP) && is_whole(protocol, transport);
        flow.protocol = if first { header[6] } else { protocol };
        flow.ports = ports(protocol, transport);
    }
    Some(flow)
}

/// The protocol behind all extension headers, and its header.
fn behind_extensions(mut next: u8, mut bytes: &[u8]) -> Option<(u8, &[u8])> {
    for _ in 0..=MOST_EXTENSIONS {
        if !matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION) {
            return Some((next, bytes));
        }
        let header = bytes.first_chunk::<8>()?;
        let length = match next {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(header[1]) + 2) * 4,
            _ => (usize::from(header[1]) + 1) * 8,
        };
        bytes = bytes.get(length..)?;
        if next == FRAGMENT && u16::from_be_bytes([header[2], header[3]]) & 0xfff8 != 0 {
            return Some((FRAGMENT, bytes));
        }
        next = header[0];
    }
    None
}

/// The ports of a transport header, or what stands for them in that of ICMP; none of other protocols.
fn ports(protocol: u8, header: &[u8]) -> Option<[u8; 4]> {
    match (protocol, header) {
        (ICMP | ICMPV6, &[kind, code, ..]) if is_whole(protocol, header) => Some([0, kind, 0, code]),
        (TCP | UDP | SCTP, &[a, b, c, d, ..]) if is_whole(protocol, header) => Some([a, b, c, d]),
        (ICMP | ICMPV6 | TCP | UDP | SCTP, _) => Some([0; 4]),
        _ => None,
    }
}

/// True if all of a transport header is there.
fn is_whole(protocol: u8, header: &[u8]) -> bool {
    match protocol {
        TCP => header.get(12).is_some_and(|offset| {
            let length = usize::from(offset >> 4) * 4;
            length >= TCP_HEADER && header.len() >= length
        }),
        SCTP => header.len() >= 12,
        _ => header.len() >= 8,
    }
}

fn arp(bytes: &[u8]) -> Option<Flow> {
    let arp = bytes.first_chunk::<28>()?;
    if arp[..6] != [0, 1, 8, 0, 6, 4] {
        return None;
    }
    let protocol = if arp[6] == 0 { arp[7] } else { 0 };
    let mut flow = Flow { protocol, ports: ports(protocol, &[]), ..Flow::default() };
    flow.addresses[..4].copy_from_slice(&arp[14..18]);
    flow.addresses[4..8].copy_from_slice(&arp[24..28]);
    Some(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes that `ovs-appctl dpctl/dump-flows -m` of Debian's 3.1.0-2+deb12u1 shows behind the recirculation, of a bond with basis 7.
    #[test]
    fn buckets_are_theirs() {
        let udp = [0x03, 0xe8, 0x07, 0xd0, 0, 8, 0, 0];
        let macs = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1];
        let ipv4 = |last: u8| {
            let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, last];
            [&macs[..], &[8, 0], &ip, &udp].concat()
        };
        let addresses: Vec<u8> = (0..32).collect();
        let ipv6 = |next: u8, behind: &[u8]| {
            let head = [0x60, 0, 0, 0, 0, behind.len() as u8, next, 64];
            [&macs[..], &[0x86, 0xdd], &head, &addresses, behind].concat()
        };
        let options = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &udp].concat();
        for (bytes, hash) in [
            (ipv4(4), 0xdddc_6913_u32),
            (ipv4(12), 0x2e77_c1d2),
            (ipv6(17, &udp), 0xdd10_5b24),
            (ipv6(60, &options), 0xe649_6409),
        ] {
            assert_eq!(u32::from(bucket(&Frame::parse(&bytes).unwrap(), 7)), hash & 0xff, "{bytes:02x?}");
        }
    }
}
