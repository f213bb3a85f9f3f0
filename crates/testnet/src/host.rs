//! A host.

use std::net::{SocketAddr, UdpSocket};

use nicteam_netlink::{Link, Netlink};
use nicteam_sys::netns::{self, NetNs};
use nicteam_sys::packet::PacketSocket;

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
