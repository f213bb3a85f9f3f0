//! RARP (RFC 903), as far as hosts send it today: to tell switches where an address lives.

use std::net::Ipv4Addr;

use crate::arp::Arp;
use crate::ethernet::header;
use crate::frame::{Vlan, ethertype};
use crate::mac::Mac;

/// A reverse request by which this address asks everybody for its own IP address, and which nobody answers. The form of Open
/// vSwitch 3.1 lib/packets.c, `compose_rarp`: 42 bytes, 46 with a tag. Hypervisors send the same for a guest that has moved.
pub fn rarp_packet(mac: Mac, vlan: Option<Vlan>) -> Vec<u8> {
    let (sender_ip, target_ip) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
    let request = Arp { operation: Arp::REVERSE_REQUEST, sender_mac: mac, sender_ip, target_mac: mac, target_ip };
    let mut frame = header(Mac::BROADCAST, mac, vlan, ethertype::RARP, Arp::LEN);
    frame.extend_from_slice(&request.encode());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use proptest::prelude::*;

    #[test]
    fn it_is_open_vswitchs() {
        let frame = rarp_packet(Mac([2, 0, 0, 0, 0, 0x11]), Vlan::customer(5));
        #[rustfmt::skip]
        let expected = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0x11, 0x81, 0, 0, 5, 0x80, 0x35,
            0, 1, 8, 0, 6, 4, 0, 3,
            2, 0, 0, 0, 0, 0x11, 0, 0, 0, 0,
            2, 0, 0, 0, 0, 0x11, 0, 0, 0, 0,
        ];
        assert_eq!(frame, expected);
    }

    proptest! {
        #[test]
        fn everybody_hears_of_the_address(mac: [u8; 6], vlan in 0..4095_u16) {
            let mac = Mac(mac);
            let bytes = rarp_packet(mac, Vlan::customer(vlan));
            let frame = Frame::parse_untagged(&bytes).unwrap();
            prop_assert_eq!((frame.dst(), frame.src(), frame.vlan()), (Mac::BROADCAST, mac, Vlan::customer(vlan)));
            prop_assert_eq!(frame.ethertype(), ethertype::RARP);
            let request = Arp::decode(frame.payload()).unwrap();
            prop_assert_eq!((request.operation, request.sender_mac, request.target_mac), (3, mac, mac));
        }
    }
}
