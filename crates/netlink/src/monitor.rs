//! Changes of links, addresses and filters, as they happen.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use super::connection::{messages, receive};
use super::link::{Link, link_of};
use nicteam_sys::{Context, Error, Result};

/// Room for bursts: a hundred links that lose their carrier at once stay far below it.
const RECEIVE_BUFFER_BYTES: libc::c_int = 1 << 20;

/// What a [`Monitor`] saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "nearly all that is seen are links, and none is kept for long")]
pub enum Change {
    /// A device is new or changed.
    Link(Link),
    /// A device is gone.
    LinkGone(u32),
    /// The addresses of a device changed.
    Addresses(u32),
    /// A queueing discipline or a filter of a device was added, replaced or removed.
    Filters(u32),
    /// Messages were lost: read everything anew.
    Lost,
}

/// Listens for changes of links, addresses and filters, in the namespace it was opened in.
#[derive(Debug)]
pub struct Monitor {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Monitor {
    /// In the caller's network namespace.
    pub fn open() -> Result<Monitor> {
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_TC | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.set_rx_buf_sz(RECEIVE_BUFFER_BYTES)?;
            socket.set_non_blocking(true)?;
            socket.bind(&SocketAddr::new(0, groups as u32))?;
            Ok::<_, io::Error>(socket)
        };
        let socket = open().context(|| "listen for changes of links".to_owned())?;
        Ok(Monitor { socket, buffer: Vec::new() })
    }

    /// What came since, without waiting; empty if nothing did.
    ///
    /// Readiness to read (see `as_fd`) says that something came; it may be
    /// of no interest, so that nothing is returned.
    pub fn changes(&mut self) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        loop {
            match receive(&self.socket, &mut self.buffer) {
                Ok(()) => changes.extend(messages(&self.buffer).filter_map(decode)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(changes),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => changes.push(Change::Lost),
                Err(error) => return Err(Error::new("read changes of links", error)),
            }
        }
    }
}

impl AsFd for Monitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A message that cannot be read counts as lost.
pub(super) fn decode(bytes: &[u8]) -> Option<Change> {
    let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes) else {
        return Some(Change::Lost);
    };
    let NetlinkPayload::InnerMessage(message) = message.payload else {
        return None;
    };
    match message {
        // A bridge speaks of its ports on the same channel; a port that leaves it is a "deleted link" there.
        RouteNetlinkMessage::NewLink(m) | RouteNetlinkMessage::DelLink(m)
            if m.header.interface_family != AddressFamily::Unspec =>
        {
            None
        }
        RouteNetlinkMessage::NewLink(m) => Some(Change::Link(link_of(&m))),
        RouteNetlinkMessage::DelLink(m) => Some(Change::LinkGone(m.header.index)),
        RouteNetlinkMessage::NewAddress(m) | RouteNetlinkMessage::DelAddress(m) => {
            Some(Change::Addresses(m.header.index))
        }
        RouteNetlinkMessage::NewQueueDiscipline(m)
        | RouteNetlinkMessage::DelQueueDiscipline(m)
        | RouteNetlinkMessage::NewTrafficFilter(m)
        | RouteNetlinkMessage::DelTrafficFilter(m) => u32::try_from(m.header.index).ok().map(Change::Filters),
        _ => None,
    }
}
