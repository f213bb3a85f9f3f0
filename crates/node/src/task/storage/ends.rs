//! Both ends of a connection.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::socket::{SockaddrStorage, getpeername, getsockname};

/// Its own and the other one; none where it has none any more.
pub(super) fn ends(socket: BorrowedFd<'_>) -> Option<(SocketAddr, SocketAddr)> {
    let own = getsockname::<SockaddrStorage>(socket.as_raw_fd()).ok()?;
    let other = getpeername::<SockaddrStorage>(socket.as_raw_fd()).ok()?;
    Some((address(&own)?, address(&other)?))
}

fn address(found: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = found.as_sockaddr_in().map(|of| SocketAddr::from((of.ip(), of.port())));
    v4.or_else(|| found.as_sockaddr_in6().map(|of| SocketAddr::from((of.ip(), of.port()))))
}
