//! Whole IP packets of the caller's making: the pieces of one that he has cut himself.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{SockProtocol, SockType};

use super::{Between, opened, set};
use crate::Result;

/// A socket that sends IP packets as they are and hears nothing.
#[derive(Debug)]
pub struct PieceSocket {
    fd: OwnedFd,
}

impl PieceSocket {
    /// Opens one in the caller's network namespace.
    ///
    /// # Errors
    /// As those of [`super::EchoSocket::open`].
    pub fn open(between: Between<'_>) -> Result<PieceSocket> {
        let v4 = between.to.is_ipv4();
        // Packets of this protocol have their IP header with them (raw(7)).
        let fd = opened(between, SockType::Raw, Some(SockProtocol::Raw), |fd| {
            // Connection tracking would put the pieces together again. IPv6 cuts them alike again.
            if v4 { set(fd, libc::SOL_IP, IP_NODEFRAG, 1) } else { Ok(()) }
        })?;
        Ok(PieceSocket { fd })
    }

    /// Sends one packet, from its IP header on. Of IPv4 the kernel computes the header's checksum.
    ///
    /// # Errors
    /// `EMSGSIZE` if the device takes none so large; otherwise as those of [`super::EchoSocket::send`].
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length belong to one slice, which is only read.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), packet.as_ptr().cast(), packet.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Linux include/uapi/linux/in.h.
const IP_NODEFRAG: libc::c_int = 22;
