//! A datagram to a port where nobody listens: its answer, an ICMP message, is short, however long the datagram.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::SockType;

use super::refusal::{self, Cause, Refusal};
use super::{Between, Fragmentation, connected, forbid, report};
use crate::{Context, Result};

/// A socket for one such datagram.
#[derive(Debug)]
pub struct PortProbe {
    fd: OwnedFd,
}

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortAnswer {
    /// The host has got it: nobody listens there, or somebody answered.
    Got,
    /// Somebody on the way, or the host, refused it.
    Refused(Refusal),
}

impl PortProbe {
    /// Opens one to this port, in the caller's network namespace. What it sends is never cut.
    ///
    /// # Errors
    /// As those of [`super::EchoSocket::open`].
    pub fn open(between: Between<'_>, port: u16) -> Result<PortProbe> {
        let v4 = between.to.is_ipv4();
        let fd = connected(between, port, SockType::Datagram, None, |fd| {
            forbid(fd, v4, Fragmentation::ForbiddenAndUnlearned)?;
            report(fd, v4)
        });
        Ok(PortProbe { fd: fd.context(|| format!("open a socket to ask {}", between.to))? })
    }

    /// Sends a datagram with so many bytes of payload.
    ///
    /// # Errors
    /// As those of [`super::EchoSocket::send`].
    pub fn send(&self, payload_bytes: usize) -> io::Result<()> {
        let payload = vec![0; payload_bytes];
        // SAFETY: pointer and length belong to one vector, which is only read.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), payload.as_ptr().cast(), payload.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// What came back, if something did.
    ///
    /// # Errors
    /// The system refuses to read.
    pub fn answer(&self, to: std::net::IpAddr) -> Result<Option<PortAnswer>> {
        if let Some(refusal) = refusal::take(&self.fd, None)? {
            let nobody_listens = matches!(refusal.cause, Cause::Icmp { kind, code }
                if (kind, code) == if to.is_ipv4() { PORT_UNREACHABLE } else { PORT_UNREACHABLE_V6 });
            let got = nobody_listens && refusal.from == Some(to);
            return Ok(Some(if got { PortAnswer::Got } else { PortAnswer::Refused(refusal) }));
        }
        Ok(super::received(&self.fd, &mut [0; 16], 0)?.map(|_| PortAnswer::Got))
    }
}

impl AsFd for PortProbe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Type and code: destination unreachable, port unreachable (RFC 792, RFC 4443).
const PORT_UNREACHABLE: (u8, u8) = (3, 3);
const PORT_UNREACHABLE_V6: (u8, u8) = (1, 4);
