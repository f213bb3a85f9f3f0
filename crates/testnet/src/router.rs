//! A router that advertises itself.

use std::net::{Ipv6Addr, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::sockopt::Ipv6MulticastHops;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn6, sendto, setsockopt, socket,
};

use crate::Host;

/// Sends router advertisements (RFC 4861, section 4.2) by a device of a host.
#[derive(Debug)]
pub struct Router {
    socket: OwnedFd,
    to: SockaddrIn6,
    mac: [u8; 6],
}

/// Every node of the link.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// One with another hop limit came through a router, and is not believed.
const HOP_LIMIT: i32 = 255;
const ADVERTISEMENT: u8 = 134;
const SOURCE_LINK_LAYER: u8 = 1;
const PREFIX_INFORMATION: u8 = 3;
/// On-link, and for addresses that hosts make themselves.
const FLAGS: u8 = 0xc0;

impl Router {
    /// The device has a link-local address.
    #[track_caller]
    pub fn on(host: &mut Host, device: &str) -> Router {
        let link = host.link(device);
        let raw = || socket(AddressFamily::Inet6, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::IcmpV6);
        let socket = host.netns.run(raw).unwrap().unwrap();
        setsockopt(&socket, Ipv6MulticastHops, &HOP_LIMIT).unwrap();
        Router { socket, to: SocketAddrV6::new(ALL_NODES, 0, 0, link.index).into(), mac: link.mac }
    }

    /// Says once that it is a default router for so many seconds, and that addresses of this prefix (64 bits) last so long.
    #[track_caller]
    pub fn advertise(&self, router_s: u16, prefix: Ipv6Addr, valid_s: u32, preferred_s: u32) {
        // The kernel fills in the checksum.
        let mut message = vec![ADVERTISEMENT, 0, 0, 0, 64, 0];
        message.extend(router_s.to_be_bytes());
        message.extend([0; 8]);
        message.extend([SOURCE_LINK_LAYER, 1]);
        message.extend(self.mac);
        message.extend([PREFIX_INFORMATION, 4, 64, FLAGS]);
        message.extend(valid_s.to_be_bytes());
        message.extend(preferred_s.to_be_bytes());
        message.extend([0; 4]);
        message.extend(prefix.octets());
        let sent = sendto(self.socket.as_raw_fd(), &message, &self.to, MsgFlags::empty());
        assert_eq!(sent, Ok(message.len()));
    }
}
