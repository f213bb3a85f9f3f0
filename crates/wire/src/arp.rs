//! ARP for IPv4 over Ethernet (RFC 826).

use std::net::Ipv4Addr;

use crate::ethernet::header;
use crate::frame::{Malformed, Vlan, ethertype};
use crate::mac::Mac;

/// One ARP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// [`Arp::REQUEST`], [`Arp::REPLY`] or something rarer.
    pub operation: u16,
    /// Hardware address of the sender.
    pub sender_mac: Mac,
    /// Protocol address of the sender.
    pub sender_ip: Ipv4Addr,
    /// Hardware address of the target; zero in a request.
    pub target_mac: Mac,
    /// Protocol address of the target.
    pub target_ip: Ipv4Addr,
}

/// Hardware Ethernet, protocol IPv4, address lengths 6 and 4.
const FIXED: [u8; 6] = [0, 1, 8, 0, 6, 4];

impl Arp {
    /// Bytes of a packet.
    pub const LEN: usize = 28;
    /// "Who has `target_ip`?"
    pub const REQUEST: u16 = 1;
    /// "`sender_ip` is at `sender_mac`."
    pub const REPLY: u16 = 2;

    /// "What is the IP address of `target_mac`?" (RARP, RFC 903).
    pub const REVERSE_REQUEST: u16 = 3;

    /// A gratuitous request, which tells everybody where `ip` is: the form that
    /// Linux sends on `NETDEV_NOTIFY_PEERS` (net/ipv4/devinet.c,
    /// `inetdev_send_gratuitous_arp`).
    pub fn gratuitous(mac: Mac, ip: Ipv4Addr) -> Arp {
        Arp { operation: Arp::REQUEST, sender_mac: mac, sender_ip: ip, target_mac: Mac::default(), target_ip: ip }
    }

    /// The packet as the payload of a frame of EtherType [`ethertype::ARP`].
    pub fn encode(&self) -> [u8; Arp::LEN] {
        let mut bytes = [0; Arp::LEN];
        bytes[..6].copy_from_slice(&FIXED);
        bytes[6..8].copy_from_slice(&self.operation.to_be_bytes());
        bytes[8..14].copy_from_slice(&self.sender_mac.0);
        bytes[14..18].copy_from_slice(&self.sender_ip.octets());
        bytes[18..24].copy_from_slice(&self.target_mac.0);
        bytes[24..28].copy_from_slice(&self.target_ip.octets());
        bytes
    }

    /// The packet in a frame, without padding and check sequence.
    pub fn frame(&self, dst: Mac, src: Mac, vlan: Option<Vlan>) -> Vec<u8> {
        let mut frame = header(dst, src, vlan, ethertype::ARP, Arp::LEN);
        frame.extend_from_slice(&self.encode());
        frame
    }

    /// Reads the payload of a frame of EtherType [`ethertype::ARP`]; what
    /// follows the packet is padding. Refuses other hardware and protocols.
    pub fn decode(payload: &[u8]) -> Result<Arp, Malformed> {
        let short = Malformed::Short { what: "ARP packet", need: Arp::LEN, have: payload.len() };
        let bytes = payload.first_chunk::<{ Arp::LEN }>().ok_or(short)?;
        check(bytes, "ARP hardware type", 0..2)?;
        check(bytes, "ARP protocol type", 2..4)?;
        check(bytes, "ARP address lengths", 4..6)?;
        Ok(Arp {
            operation: u16::from_be_bytes([bytes[6], bytes[7]]),
            sender_mac: Mac::at(bytes, 8),
            sender_ip: ip(bytes, 14),
            target_mac: Mac::at(bytes, 18),
            target_ip: ip(bytes, 24),
        })
    }
}

/// Refuses a field that is not as in [`FIXED`].
fn check(bytes: &[u8; Arp::LEN], what: &'static str, field: std::ops::Range<usize>) -> Result<(), Malformed> {
    let value = bytes[field.clone()].iter().fold(0, |value, &byte| value << 8 | u32::from(byte));
    if bytes[field.clone()] == FIXED[field] { Ok(()) } else { Err(Malformed::Field { what, value }) }
}

fn ip(bytes: &[u8; Arp::LEN], at: usize) -> Ipv4Addr {
    Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|byte| bytes[at + byte]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use proptest::prelude::*;

    #[test]
    fn a_gratuitous_request_is_the_kernels() {
        let mac = Mac([2, 0, 0, 0, 0, 0x11]);
        let arp = Arp::gratuitous(mac, Ipv4Addr::new(10, 0, 0, 1));
        let frame = arp.frame(Mac::BROADCAST, mac, Vlan::customer(5));
        #[rustfmt::skip]
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x11, 0x81, 0, 0, 5, 8, 6,
            0, 1, 8, 0, 6, 4, 0, 1,
            2, 0, 0, 0, 0, 0x11, 10, 0, 0, 1,
            0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
        ];
        assert_eq!(frame, expected);
        assert_eq!(Arp::decode(Frame::parse_untagged(&frame).unwrap().payload()), Ok(arp));
    }

    #[test]
    fn other_protocols_are_refused() {
        let good = Arp::gratuitous(Mac::default(), Ipv4Addr::LOCALHOST).encode();
        for place in 0..6 {
            let mut bad = good;
            bad[place] ^= 0x10;
            assert!(matches!(Arp::decode(&bad), Err(Malformed::Field { .. })), "byte {place}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(operation: u16, from: [u8; 6], to: [u8; 6], ips: [[u8; 4]; 2], padding in 0_usize..20) {
            let arp = Arp {
                operation,
                sender_mac: Mac(from),
                sender_ip: ips[0].into(),
                target_mac: Mac(to),
                target_ip: ips[1].into(),
            };
            let mut frame = arp.frame(Mac(to), Mac(from), None);
            frame.resize(frame.len() + padding, 0xee);
            prop_assert_eq!(Arp::decode(Frame::parse(&frame).unwrap().payload()), Ok(arp));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..48), plausible: bool) {
            if plausible && bytes.len() >= FIXED.len() {
                bytes[..FIXED.len()].copy_from_slice(&FIXED);
            }
            match Arp::decode(&bytes) {
                Ok(arp) => prop_assert_eq!(&arp.encode()[..], &bytes[..Arp::LEN]),
                Err(_) => prop_assert!(bytes.len() < Arp::LEN || !plausible),
            }
        }
    }
}
