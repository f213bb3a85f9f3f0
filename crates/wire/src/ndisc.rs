//! IPv6 neighbour discovery (RFC 4861): solicitations and advertisements.

use std::net::Ipv6Addr;

use crate::checksum::folded;
use crate::ethernet::header;
use crate::frame::{Malformed, Vlan, ethertype};
use crate::mac::Mac;

/// A neighbour solicitation or advertisement with the IPv6 addresses around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ndisc {
    /// IPv6 source.
    pub src: Ipv6Addr,
    /// IPv6 destination.
    pub dst: Ipv6Addr,
    /// The address it is about; never a multicast one.
    pub target: Ipv6Addr,
    /// The sender's Ethernet address, if the message carries it: the source
    /// link-layer option of a solicitation, the target link-layer option of an
    /// advertisement.
    pub link_layer: Option<Mac>,
    /// Which of the two it is.
    pub kind: NdiscKind,
}

/// Which message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NdiscKind {
    /// "Who has the target?" (ICMPv6 type 135)
    Solicitation,
    /// "The target is here." (ICMPv6 type 136)
    Advertisement {
        /// The sender forwards packets.
        router: bool,
        /// It answers a solicitation.
        solicited: bool,
        /// It replaces what the receiver knows.
        overrides: bool,
    },
}

/// Bytes of an IPv6 header.
const IPV6: usize = 40;
/// Bytes of the message before its options.
const MESSAGE: usize = 24;
/// Bytes of a link-layer address option for Ethernet.
const OPTION: usize = 8;
/// IPv6 next header: ICMPv6.
const ICMPV6: u8 = 58;
/// A neighbour discovery message with another hop limit came through a router.
const HOP_LIMIT: u8 = 255;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_LINK_LAYER: u8 = 1;
const TARGET_LINK_LAYER: u8 = 2;

impl Ndisc {
    /// `ff02::1`, every node of the link.
    pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

    /// An unsolicited advertisement to every node, which tells where `ip` is:
    /// the form that Linux sends on `NETDEV_NOTIFY_PEERS` from a host that does
    /// not forward (net/ipv6/ndisc.c, `ndisc_send_unsol_na`).
    pub fn unsolicited(mac: Mac, ip: Ipv6Addr) -> Ndisc {
        let kind = NdiscKind::Advertisement { router: false, solicited: false, overrides: true };
        Ndisc { src: ip, dst: Ndisc::ALL_NODES, target: ip, link_layer: Some(mac), kind }
    }

    /// The Ethernet address of an IPv6 multicast group (RFC 2464, section 7).
    pub fn multicast_mac(group: Ipv6Addr) -> Mac {
        let [.., a, b, c, d] = group.octets();
        Mac([0x33, 0x33, a, b, c, d])
    }

    /// The IPv6 packet as the payload of a frame of EtherType [`ethertype::IPV6`].
    pub fn encode(&self) -> Vec<u8> {
        let (kind, flags, option) = match self.kind {
            NdiscKind::Solicitation => (SOLICITATION, 0, SOURCE_LINK_LAYER),
            NdiscKind::Advertisement { router, solicited, overrides } => {
                let flags = u8::from(router) << 7 | u8::from(solicited) << 6 | u8::from(overrides) << 5;
                (ADVERTISEMENT, flags, TARGET_LINK_LAYER)
            }
        };
        let length = MESSAGE + if self.link_layer.is_some() { OPTION } else { 0 };
        let mut packet = Vec::with_capacity(IPV6 + length);
        packet.extend_from_slice(&[0x60, 0, 0, 0, 0, length as u8, ICMPV6, HOP_LIMIT]);
        packet.extend_from_slice(&self.src.octets());
        packet.extend_from_slice(&self.dst.octets());
        packet.extend_from_slice(&[kind, 0, 0, 0, flags, 0, 0, 0]);
        packet.extend_from_slice(&self.target.octets());
        if let Some(mac) = self.link_layer {
            packet.extend_from_slice(&[option, 1]);
            packet.extend_from_slice(&mac.0);
        }
        let checksum = checksum(self.src, self.dst, &packet[IPV6..]);
        packet[IPV6 + 2..IPV6 + 4].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    /// The packet in a frame, without check sequence.
    pub fn frame(&self, dst: Mac, src: Mac, vlan: Option<Vlan>) -> Vec<u8> {
        let packet = self.encode();
        let mut frame = header(dst, src, vlan, ethertype::IPV6, packet.len());
        frame.extend_from_slice(&packet);
        frame
    }

    /// Reads the payload of a frame of EtherType [`ethertype::IPV6`]; what
    /// follows the packet is padding. Refuses what RFC 4861, sections 7.1.1 and
    /// 7.1.2, tells a receiver to discard, packets with extension headers, and
    /// other messages. Options it does not know are skipped.
    pub fn decode(payload: &[u8]) -> Result<Ndisc, Malformed> {
        let (src, dst, message) = icmpv6(payload)?;
        if message.len() < MESSAGE {
            return Err(short("neighbour discovery message", MESSAGE, message.len()));
        }
        let (kind, option) = match message[0] {
            SOLICITATION => (NdiscKind::Solicitation, SOURCE_LINK_LAYER),
            ADVERTISEMENT => (advertisement(message[4]), TARGET_LINK_LAYER),
            other => return Err(Malformed::field("ICMPv6 type", other)),
        };
        if message[1] != 0 {
            return Err(Malformed::field("ICMPv6 code", message[1]));
        }
        if checksum(src, dst, message) != 0 {
            let value = u32::from(u16::from_be_bytes([message[2], message[3]]));
            return Err(Malformed::Field { what: "ICMPv6 checksum", value });
        }
        let target = address(message, 8);
        if target.is_multicast() {
            return Err(Malformed::field("neighbour discovery target", message[8]));
        }
        let solicited = matches!(kind, NdiscKind::Advertisement { solicited: true, .. });
        if solicited && dst.is_multicast() {
            return Err(Malformed::field("solicited flag to a multicast group", message[4]));
        }
        let link_layer = link_layer(&message[MESSAGE..], option)?;
        if kind == NdiscKind::Solicitation && src.is_unspecified() && link_layer.is_some() {
            return Err(Malformed::field("source link-layer option without a source", SOURCE_LINK_LAYER));
        }
        Ok(Ndisc { src, dst, target, link_layer, kind })
    }
}

/// Source, destination and ICMPv6 message of an IPv6 packet.
fn icmpv6(payload: &[u8]) -> Result<(Ipv6Addr, Ipv6Addr, &[u8]), Malformed> {
    if payload.len() < IPV6 {
        return Err(short("IPv6 header", IPV6, payload.len()));
    }
    if payload[0] >> 4 != 6 {
        return Err(Malformed::field("IP version", payload[0] >> 4));
    }
    if payload[6] != ICMPV6 {
        return Err(Malformed::field("IPv6 next header", payload[6]));
    }
    if payload[7] != HOP_LIMIT {
        return Err(Malformed::field("IPv6 hop limit", payload[7]));
    }
    let length = usize::from(u16::from_be_bytes([payload[4], payload[5]]));
    let rest = &payload[IPV6..];
    let message = rest.get(..length).ok_or_else(|| short("IPv6 payload", length, rest.len()))?;
    Ok((address(payload, 8), address(payload, 24), message))
}

fn advertisement(flags: u8) -> NdiscKind {
    NdiscKind::Advertisement { router: flags & 0x80 != 0, solicited: flags & 0x40 != 0, overrides: flags & 0x20 != 0 }
}

/// The address in the first option of type `wanted`, if there is one. Every
/// option is checked, also behind it.
fn link_layer(mut options: &[u8], wanted: u8) -> Result<Option<Mac>, Malformed> {
    let mut found = None;
    while let [kind, units, ..] = *options {
        let length = usize::from(units) * 8;
        if length == 0 {
            return Err(Malformed::field("neighbour discovery option length", 0));
        }
        let (option, rest) = options.split_at_checked(length).ok_or_else(|| short("option", length, options.len()))?;
        if kind == wanted
            && found.is_none()
            && let [_, _, a, b, c, d, e, f] = *option
        {
            found = Some(Mac([a, b, c, d, e, f]));
        }
        options = rest;
    }
    match options.len() {
        0 => Ok(found),
        left => Err(short("option", OPTION, left)),
    }
}

/// The Internet checksum over pseudo-header and message (RFC 4443, section 2.3);
/// 0 for a message that carries the right one.
fn checksum(src: Ipv6Addr, dst: Ipv6Addr, message: &[u8]) -> u16 {
    let addresses = src.segments().into_iter().chain(dst.segments());
    let words = message.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    // A message is shorter than 64 KiB: the sum of its words fits 32 bits.
    let start = message.len() as u32 + u32::from(ICMPV6);
    folded(addresses.chain(words).fold(start, |sum, word| sum + u32::from(word)))
}

fn address(bytes: &[u8], at: usize) -> Ipv6Addr {
    Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|byte| bytes[at + byte]))
}

fn short(what: &'static str, need: usize, have: usize) -> Malformed {
    Malformed::Short { what, need, have }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use proptest::prelude::*;

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 0x11]);

    fn announcement() -> Ndisc {
        Ndisc::unsolicited(MAC, "fe80::1".parse().unwrap())
    }

    #[test]
    fn an_unsolicited_advertisement_is_the_kernels() {
        let frame = announcement().frame(Ndisc::multicast_mac(Ndisc::ALL_NODES), MAC, Vlan::customer(7));
        // The checksum by hand: fe80+1 + ff02+1 + 20+3a (pseudo-header) + 8800+2000 + fe80+1 + 0201+0200+0+0011.
        #[rustfmt::skip]
        let expected = [
            0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0x11, 0x81, 0, 0, 7, 0x86, 0xdd,
            0x60, 0, 0, 0, 0, 32, 58, 255,
            0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            136, 0, 0x57, 0x8b, 0x20, 0, 0, 0,
            0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            2, 1, 2, 0, 0, 0, 0, 0x11,
        ];
        assert_eq!(frame, expected);
        assert_eq!(Ndisc::decode(Frame::parse_untagged(&frame).unwrap().payload()), Ok(announcement()));
    }

    #[test]
    fn one_changed_bit_is_refused_or_said() {
        let good = announcement().encode();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            // Traffic class and flow label are not looked at.
            let ignored = (4..32).contains(&(bit / 8 * 8 + 7 - bit % 8));
            assert_eq!(Ndisc::decode(&bad).is_ok(), ignored, "bit {bit}: {:?}", Ndisc::decode(&bad));
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let good = announcement().encode();
        for length in 0..good.len() {
            assert!(matches!(Ndisc::decode(&good[..length]), Err(Malformed::Short { .. })), "{length} bytes");
        }
    }

    fn any_ndisc() -> impl Strategy<Value = Ndisc> {
        let addresses = (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<[u8; 16]>(), any::<Option<[u8; 6]>>());
        (addresses, any::<Option<(bool, bool, bool)>>()).prop_filter_map("a receiver discards it", |(all, kind)| {
            let (src, dst, target, mac) = all;
            let (dst, target) = (Ipv6Addr::from(dst), Ipv6Addr::from(target));
            let kind = match kind {
                None => NdiscKind::Solicitation,
                Some((router, solicited, overrides)) => NdiscKind::Advertisement { router, solicited, overrides },
            };
            let solicited = matches!(kind, NdiscKind::Advertisement { solicited: true, .. });
            let discarded = target.is_multicast() || solicited && dst.is_multicast();
            (!discarded).then_some(Ndisc { src: src.into(), dst, target, link_layer: mac.map(Mac), kind })
        })
    }

    proptest! {
        #[test]
        fn round_trip(ndisc in any_ndisc(), padding in 0_usize..8) {
            let mut frame = ndisc.frame(MAC, MAC, None);
            frame.resize(frame.len() + padding, 0xee);
            prop_assert_eq!(Ndisc::decode(Frame::parse(&frame).unwrap().payload()), Ok(ndisc));
        }

        /// Random bytes behind a header that is right, with a checksum that is
        /// right, so that the options are reached.
        #[test]
        fn any_bytes_decode_or_are_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..120),
            options in proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(2), any::<u8>()], 0..64),
        ) {
            let _ = Ndisc::decode(&bytes);
            let mut packet = announcement().encode();
            packet.truncate(IPV6 + MESSAGE);
            packet.extend_from_slice(&options);
            packet[5] = (MESSAGE + options.len()) as u8;
            packet[IPV6 + 2..IPV6 + 4].fill(0);
            let sum = checksum(announcement().src, announcement().dst, &packet[IPV6..]);
            packet[IPV6 + 2..IPV6 + 4].copy_from_slice(&sum.to_be_bytes());
            if let Ok(ndisc) = Ndisc::decode(&packet) {
                prop_assert_eq!(ndisc.target, announcement().target);
                prop_assert_eq!(options.len() % 8, 0);
            }
        }
    }
}
