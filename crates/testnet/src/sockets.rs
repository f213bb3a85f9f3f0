//! Sockets of hosts that are to reach each other.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use nicteam_sys::packet::{Batch, PacketSocket};

use crate::{Host, eventually};

/// A datagram socket at each of two hosts, connected to the other's; the second waits for 20 ms.
#[track_caller]
pub fn datagrams(one: (&Host, SocketAddr), other: (&Host, SocketAddr)) -> (UdpSocket, UdpSocket) {
    let (a, b) = (one.0.udp(one.1), other.0.udp(other.1));
    a.connect(other.1).unwrap();
    b.connect(one.1).unwrap();
    b.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    (a, b)
}

/// Datagrams pass from the first socket to the second, sooner or later.
#[track_caller]
pub fn assert_reach((from, to): &(UdpSocket, UdpSocket), when: &str) {
    let mut buffer = [0; 8];
    eventually(when, || from.send(b"probe").is_ok() && to.recv(&mut buffer).is_ok());
}

/// Waits until frames pass both ways between the devices of two sockets: until
/// the kernel has taken notice of a carrier, a device swallows what it is given.
#[track_caller]
pub fn settle(a: &PacketSocket, b: &PacketSocket) {
    settle_one_way(a, b);
    settle_one_way(b, a);
}

/// Sends until the last frame sent arrives: then none is on its way.
#[track_caller]
fn settle_one_way(from: &PacketSocket, to: &PacketSocket) {
    let (mut batch, mut number) = (Batch::new(), 0_u32);
    eventually("a frame", || {
        number += 1;
        let probe = [&PROBE[..], &number.to_be_bytes()].concat();
        from.send_frame(&probe);
        (0..10).any(|_| {
            std::thread::sleep(Duration::from_micros(100));
            to.receive(&mut batch).unwrap();
            batch.frames().any(|received| received.bytes == probe)
        })
    });
}

/// An Ethernet header of a protocol that nobody speaks (local experimental, IEEE 802).
const PROBE: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5];
