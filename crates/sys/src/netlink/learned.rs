//! Addresses that bridges learn, as they learn them.

use std::collections::BTreeMap;
use std::io;

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::neighbour::{NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use super::connection::{messages, receive};
use crate::{Context, Error, Result};

/// Room for bursts: a table that changes with every frame for some ten milliseconds.
const RECEIVE_BUFFER_BYTES: libc::c_int = 4 << 20;

/// Watches what the bridges of a namespace learn, and counts how often an
/// address is found at another port than before.
#[derive(Debug)]
pub struct Learned {
    socket: Socket,
    buffer: Vec<u8>,
    /// The last port of each address.
    ports: BTreeMap<Vec<u8>, u32>,
}

impl Learned {
    /// In the caller's network namespace. Addresses that were learned before are not known.
    pub fn open() -> Result<Learned> {
        let open = || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.set_rx_buf_sz(RECEIVE_BUFFER_BYTES)?;
            socket.set_non_blocking(true)?;
            socket.bind(&SocketAddr::new(0, libc::RTMGRP_NEIGH as u32))?;
            Ok::<_, io::Error>(socket)
        };
        let socket = open().context(|| "listen for addresses that bridges learn".to_owned())?;
        Ok(Learned { socket, buffer: Vec::new(), ports: BTreeMap::new() })
    }

    /// How often an address moved from one port to another since the last call
    /// (or since the beginning), without waiting.
    ///
    /// # Errors
    /// `ENOBUFS`: so much was learned that messages were lost.
    pub fn moves(&mut self) -> Result<u64> {
        let mut moves = 0;
        loop {
            match receive(&self.socket, &mut self.buffer) {
                Ok(()) => {
                    for (address, port) in messages(&self.buffer).filter_map(decode) {
                        let before = self.ports.insert(address, port);
                        moves += u64::from(before.is_some_and(|before| before != port));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(moves),
                Err(error) => return Err(Error::new("read addresses that bridges learned", error)),
            }
        }
    }
}

/// An address that a bridge learned, and its port.
pub(super) fn decode(bytes: &[u8]) -> Option<(Vec<u8>, u32)> {
    let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes).ok()?;
    match message.payload {
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewNeighbour(m)) => learned(m),
        _ => None,
    }
}

fn learned(message: NeighbourMessage) -> Option<(Vec<u8>, u32)> {
    if message.header.family != AddressFamily::Bridge {
        return None;
    }
    let address = message.attributes.into_iter().find_map(|attribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(address) => Some(address),
        _ => None,
    })?;
    Some((address, message.header.ifindex))
}
