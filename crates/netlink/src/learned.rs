//! Addresses that bridges learn, as they learn them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

use super::connection::{messages, receive};
use nicteam_sys::{Context, Error, Result};

/// Room for bursts: a table that changes with every frame for some ten milliseconds.
const RECEIVE_BUFFER_BYTES: libc::c_int = 4 << 20;

/// Watches what the bridges of a namespace learn, and counts how often an
/// address is found at another port than before.
#[derive(Debug)]
pub struct Learned {
    socket: Socket,
    buffer: Vec<u8>,
    /// The last port of each address.
    ports: BTreeMap<[u8; 6], u32>,
}

/// What a [`Learned`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// How often an address moved from one port to another.
    pub moves: u64,
    /// How often so much was learned that messages were lost: then there were more moves.
    pub overruns: u64,
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
        match self.counted() {
            Moves { moves, overruns: 0 } => Ok(moves),
            _ => Err(Error::new("read addresses that bridges learned", io::Error::from_raw_os_error(libc::ENOBUFS))),
        }
    }

    /// The same, and how often messages were lost.
    pub fn counted(&mut self) -> Moves {
        let mut counted = Moves::default();
        loop {
            match receive(&self.socket, &mut self.buffer) {
                Ok(()) => {
                    for (address, port) in messages(&self.buffer).filter_map(decode) {
                        let before = self.ports.insert(address, port);
                        counted.moves += u64::from(before.is_some_and(|before| before != port));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return counted,
                // Of others the kernel knows none here; what came meanwhile is lost with them, too.
                Err(_) => {
                    counted.overruns += 1;
                    return counted;
                }
            }
        }
    }
}

impl AsFd for Learned {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// An address that a bridge learned, and its port. A switch may learn at each frame, so nothing is read but these:
/// `struct nlmsghdr`, `struct ndmsg`, and the attribute `NDA_LLADDR` (Linux `include/uapi/linux/neighbour.h`).
pub(super) fn decode(bytes: &[u8]) -> Option<([u8; 6], u32)> {
    const NEW_NEIGHBOUR: u16 = libc::RTM_NEWNEIGH;
    let (head, rest) = bytes.split_first_chunk::<16>()?;
    let (entry, mut attributes) = rest.split_first_chunk::<12>()?;
    if u16::from_ne_bytes([head[4], head[5]]) != NEW_NEIGHBOUR || i32::from(entry[0]) != libc::AF_BRIDGE {
        return None;
    }
    let port = u32::from_ne_bytes([entry[4], entry[5], entry[6], entry[7]]);
    loop {
        let &[a, b, c, d] = attributes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = attributes.get(4..length)?;
        if u16::from_ne_bytes([c, d]) == libc::NDA_LLADDR {
            return Some((*value.first_chunk()?, port));
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}
