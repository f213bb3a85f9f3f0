//! Hosts and cables for live tests.
//!
//! A host is a network namespace that goes with its handle, so a test leaves
//! nothing behind, whether it passes or panics. What fails here fails the test:
//! everything panics with what the system said.
#![forbid(unsafe_code)]

pub mod imports;
mod openvswitch;
mod patch;

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_sys::netlink::{Link, Netlink, VethEnd};
use nicteam_sys::netns::{self, NetNs};
use nicteam_sys::packet::{Batch, PacketSocket};

pub use openvswitch::OpenVSwitch;
pub use patch::Patch;

/// True if the test may make networks; else it says so, and is to return.
pub fn may_make_networks() -> bool {
    let may = netns::is_network_root();
    if !may {
        eprintln!("SKIPPED: needs root for network namespaces");
    }
    may
}

/// True for the whole of a test, where otherwise a sample does (`NICTEAM_SOAK=1`).
pub fn is_soak() -> bool {
    std::env::var_os("NICTEAM_SOAK").is_some_and(|soak| soak == "1")
}

/// Waits until a condition holds. Bounded generously: it guards against a hang
/// and says nothing of speed.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not come about");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A host: a namespace and a netlink socket in it.
#[derive(Debug)]
pub struct Host {
    /// The namespace.
    pub netns: NetNs,
    /// The socket.
    pub netlink: Netlink,
}

impl Default for Host {
    fn default() -> Host {
        Host::new()
    }
}

impl Host {
    /// A host without devices but its loopback.
    pub fn new() -> Host {
        let netns = NetNs::new().unwrap();
        let netlink = netns.run(Netlink::open).unwrap().unwrap();
        Host { netns, netlink }
    }

    /// The same; its devices send nothing by themselves (no IPv6).
    pub fn quiet() -> Host {
        let host = Host::new();
        for of in ["all", "default"] {
            host.netns.run(|| netns::sysctl(&format!("ipv6/conf/{of}/disable_ipv6"), "1")).unwrap().unwrap();
        }
        host
    }

    /// A device that must be there.
    #[track_caller]
    pub fn link(&mut self, device: &str) -> Link {
        self.netlink.link(device).unwrap().unwrap_or_else(|| panic!("no {device}"))
    }

    /// Its index.
    #[track_caller]
    pub fn index(&mut self, device: &str) -> u32 {
        self.link(device).index
    }

    /// Sets a device up or down.
    #[track_caller]
    pub fn set_up(&mut self, device: &str, up: bool) {
        let index = self.index(device);
        self.netlink.set_up(index, up).unwrap();
    }

    /// Sets a device up, with these addresses.
    #[track_caller]
    pub fn address(&mut self, device: &str, addresses: &[(&str, u8)]) {
        let index = self.index(device);
        for (address, prefix) in addresses {
            self.netlink.add_address(index, address.parse().unwrap(), *prefix, true).unwrap();
        }
        self.netlink.set_up(index, true).unwrap();
    }

    /// A datagram socket of this host.
    #[track_caller]
    pub fn udp(&self, local: SocketAddr) -> UdpSocket {
        self.netns.run(|| UdpSocket::bind(local)).unwrap().unwrap()
    }

    /// A packet socket on a device of this host.
    #[track_caller]
    pub fn packet_socket(&mut self, device: &str) -> PacketSocket {
        let index = self.index(device);
        self.netns.run(|| PacketSocket::open(index)).unwrap().unwrap()
    }
}

/// Joins two hosts by a cable. Its ends get `index` and `index + 1`: on one
/// machine every end needs an index of its own, or carrier loss is seen late.
pub fn cable(a: &mut Host, a_name: &str, b: &mut Host, b_name: &str, index: u32) {
    loose_cable(a, a_name, b, b_name, index, None);
    a.netlink.set_up(index, true).unwrap();
    b.netlink.set_up(index + 1, true).unwrap();
}

/// The same with both ends down, and with at most so many packets in a super-frame.
pub fn loose_cable(a: &mut Host, a_name: &str, b: &mut Host, b_name: &str, index: u32, gso_max_segs: Option<u32>) {
    let end = VethEnd { name: a_name, index: Some(index), mac: None, netns: None, gso_max_segs };
    let far = VethEnd { name: b_name, index: Some(index + 1), netns: Some(b.netns.as_fd()), ..end.clone() };
    a.netlink.add_veth(&end, &far, 1500).unwrap();
}

/// Joins two devices of one host by a cable, as if both its ends were plugged into the same one.
pub fn looped_cable(host: &mut Host, one: &str, other: &str, index: u32) {
    let end = VethEnd { name: one, index: Some(index), mac: None, netns: None, gso_max_segs: None };
    let far = VethEnd { name: other, index: Some(index + 1), ..end.clone() };
    host.netlink.add_veth(&end, &far, 1500).unwrap();
    [index, index + 1].into_iter().for_each(|index| host.netlink.set_up(index, true).unwrap());
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
