//! Learning packets: frames that only teach switches where an address lives.

use crate::ethernet::header;
use crate::frame::{Vlan, ethertype};
use crate::mac::Mac;

/// Bytes of the shortest Ethernet frame without its check sequence.
const SHORTEST: usize = 60;

/// A frame from this address to itself, of the loopback protocol
/// (`ETH_P_LOOPBACK`), zeros otherwise: the form of Linux 6.1
/// drivers/net/bonding/bond_alb.c, `alb_send_lp_vid`. With a tag it is as much longer.
pub fn learning_packet(mac: Mac, vlan: Option<Vlan>) -> Vec<u8> {
    let mut frame = header(mac, mac, vlan, ethertype::LOOPBACK, SHORTEST);
    let tag = if vlan.is_some() { 4 } else { 0 };
    frame.resize(SHORTEST + tag, 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    #[test]
    fn it_is_the_kernels() {
        let mac = Mac([2, 0, 0, 0, 0, 0x11]);
        let frame = learning_packet(mac, None);
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 0x11, 2, 0, 0, 0, 0, 0x11, 0x90, 0]);
        assert_eq!((frame.len(), frame[14..].iter().max()), (60, Some(&0)));
        let tagged = learning_packet(mac, Vlan::customer(7));
        let view = Frame::parse_untagged(&tagged).unwrap();
        assert_eq!((view.ethertype(), view.vlan(), tagged.len()), (ethertype::LOOPBACK, Vlan::customer(7), 64));
    }
}
