//! Sockets of multipath TCP.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::tcp::{self, TcpInfo};
use crate::{Error, Result};

/// A stream socket of multipath TCP, for IPv4 or IPv6 addresses.
///
/// # Errors
/// `EPROTONOSUPPORT`: this kernel is built without it (`CONFIG_MPTCP`);
/// `ENOPROTOOPT`: it is switched off in this namespace (`net.mptcp.enabled`).
pub fn socket(ipv6: bool) -> Result<OwnedFd> {
    let family = if ipv6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: the call takes numbers alone.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, libc::IPPROTO_MPTCP) };
    if fd < 0 {
        return Err(Error::new("open a multipath TCP socket", io::Error::last_os_error()));
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A connection as [`tcp::connect_with`] makes it, of multipath TCP.
///
/// # Errors
/// Those of [`socket`] and of [`tcp::connect_with`].
pub fn connect_with(to: SocketAddr, congestion: &str) -> Result<TcpStream> {
    tcp::connect_new(socket(to.is_ipv6())?, to, congestion)
}

/// True if the caller's namespace has multipath TCP.
pub fn is_supported() -> bool {
    socket(false).is_ok()
}

/// What the kernel counts of each subflow of a connection (`MPTCP_TCPINFO`).
///
/// # Errors
/// `EOPNOTSUPP`: the kernel is older than 5.16.
pub fn subflows(socket: BorrowedFd<'_>) -> Result<Vec<TcpInfo>> {
    /// Of `struct mptcp_subflow_data` (include/uapi/linux/mptcp.h): its size, the
    /// number of subflows, the kernel's and the caller's size of what follows.
    const HEADER_BYTES: usize = 16;
    /// The most subflows there can be (`MPTCP_SUBFLOWS_MAX` and the first one), and room for each.
    const SUBFLOWS: usize = 9;
    const INFO_BYTES: usize = 512;
    const SOL_MPTCP: libc::c_int = 284;
    const MPTCP_TCPINFO: libc::c_int = 2;

    let mut buffer = vec![0_u8; HEADER_BYTES + SUBFLOWS * INFO_BYTES];
    buffer[0..4].copy_from_slice(&(HEADER_BYTES as u32).to_ne_bytes());
    buffer[12..16].copy_from_slice(&(INFO_BYTES as u32).to_ne_bytes());
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of the buffer.
    let result = unsafe {
        let value = buffer.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), SOL_MPTCP, MPTCP_TCPINFO, value, &raw mut length)
    };
    if result < 0 {
        return Err(Error::new("ask for MPTCP_TCPINFO", io::Error::last_os_error()));
    }
    let field = |at: usize| u32::from_ne_bytes([buffer[at], buffer[at + 1], buffer[at + 2], buffer[at + 3]]) as usize;
    // The kernel sets the distance of the entries to the caller's size or to its own, the smaller.
    let (count, distance) = (field(4).min(SUBFLOWS), field(12).clamp(1, INFO_BYTES));
    Ok(buffer[HEADER_BYTES..].chunks(distance).take(count).map(tcp::decode_info).collect())
}
