//! `udp`: numbered datagrams at a given rate, by a socket of UDP.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, bind, setsockopt, socket, sockopt};

use super::datagrams::{Arrival, Carrier, Datagrams, READ_TIMEOUT};
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, Role};

/// Room for what arrives while the receiver does not run, bytes.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// The kind.
pub(super) static UDP: Datagrams = Datagrams { name: "udp", open };

fn open(role: Role, spec: &ConnectionSpec, _pcp: u8) -> Result<Box<dyn Carrier>, Failure> {
    let (own, other) = if role == Role::Client { (spec.client, spec.server) } else { (spec.server, spec.client) };
    let socket = connected(own, other).map_err(|error| format!("cannot open datagrams {own} to {other}: {error}"))?;
    Ok(Box::new(socket))
}

impl Carrier for UdpSocket {
    fn send(&self, payload: &[u8]) {
        // Refused while the far end is not there yet, or without room.
        let _ = UdpSocket::send(self, payload);
    }

    fn receive(&self, buffer: &mut Vec<u8>) -> io::Result<Arrival> {
        let bytes = self.recv(buffer)?;
        Ok(Arrival::of(bytes as u64, &buffer[..bytes]))
    }
}

/// A socket between two addresses. Several servers' ends may share an address.
fn connected(own: SocketAddr, other: SocketAddr) -> Result<UdpSocket, std::io::Error> {
    let family = if own.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket: OwnedFd = socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, sockopt::ReusePort, &true)?;
    // Beyond the system's bound with privileges, else up to it.
    if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES)?;
    }
    bind(socket.as_raw_fd(), &SockaddrStorage::from(own))?;
    let socket = UdpSocket::from(socket);
    socket.connect(other)?;
    socket.set_read_timeout(Some(READ_TIMEOUT))?;
    Ok(socket)
}
