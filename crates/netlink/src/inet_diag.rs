//! The TCP sockets of a network namespace, of all its processes (`sock_diag`, as `ss -ti` lists them).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::{
    DecodeError, NLM_F_DUMP, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, NlasIterator,
};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::connection::Connection;
use nicteam_sys::tcp::{self, TcpInfo};
use nicteam_sys::{Context, Result};

/// A TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's; port 0 where there is none.
    pub remote: SocketAddr,
    /// True if it waits for connections.
    pub listens: bool,
    /// By this number `/proc/PID/fd` names it; 0 once no process has it.
    pub inode: u32,
    /// What the kernel knows of it.
    pub info: TcpInfo,
    /// Its congestion control.
    pub congestion: String,
}

/// Lists the TCP sockets of the namespace that it was opened in.
#[derive(Debug)]
pub struct TcpSockets(Connection);

impl TcpSockets {
    /// A socket that asks.
    ///
    /// # Errors
    /// The kernel has no `sock_diag` (CONFIG_INET_DIAG).
    pub fn open() -> Result<TcpSockets> {
        Ok(TcpSockets(Connection::open(NETLINK_SOCK_DIAG).context(|| "open a socket that lists sockets".to_owned())?))
    }

    /// All there are.
    ///
    /// # Errors
    /// `ENOENT`: the kernel cannot list those of TCP (CONFIG_INET_TCP_DIAG).
    pub fn list(&mut self) -> Result<Vec<TcpSocket>> {
        let mut sockets = Vec::new();
        for family in [libc::AF_INET as u8, libc::AF_INET6 as u8] {
            let operation = || "list the TCP sockets".to_owned();
            let answers = self.0.request(Message(request(family)), NLM_F_DUMP, operation)?;
            sockets.extend(answers.iter().filter_map(|Message(body)| decode(body)));
        }
        Ok(sockets)
    }
}

// Linux 6.1 include/uapi/linux/inet_diag.h, sock_diag.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
/// `struct inet_diag_msg`.
const MESSAGE_BYTES: usize = 72;
/// Linux 6.1 include/net/tcp_states.h.
const TCP_LISTEN: u8 = 10;

/// A message, family and attributes as bytes.
#[derive(Debug)]
struct Message(Vec<u8>);

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        SOCK_DIAG_BY_FAMILY
    }

    fn buffer_len(&self) -> usize {
        self.0.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.0);
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(_header: &NetlinkHeader, payload: &[u8]) -> std::result::Result<Self, DecodeError> {
        Ok(Message(payload.to_vec()))
    }
}

/// `struct inet_diag_req_v2`: sockets of a family in any state, with both attributes.
fn request(family: u8) -> Vec<u8> {
    const ANY_SOCKET: [u8; 48] = [0; 48];
    let attributes = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
    let head = [family, libc::IPPROTO_TCP as u8, attributes, 0];
    [&head[..], &u32::MAX.to_ne_bytes(), &ANY_SOCKET].concat()
}

/// A socket from its `struct inet_diag_msg`; none if the message is cut.
fn decode(bytes: &[u8]) -> Option<TcpSocket> {
    let (message, attributes) = bytes.split_at_checked(MESSAGE_BYTES)?;
    let (family, state) = (message[0], message[1]);
    let address = |port: usize, address: usize| {
        let port = u16::from_be_bytes([message[port], message[port + 1]]);
        let octets: [u8; 16] = message[address..address + 16].try_into().ok()?;
        let ip: IpAddr = match i32::from(family) {
            libc::AF_INET => Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]).into(),
            // A socket of both families names IPv4 addresses so.
            libc::AF_INET6 => Ipv6Addr::from(octets).to_canonical(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    };
    let mut socket = TcpSocket {
        local: address(4, 8)?,
        remote: address(6, 24)?,
        listens: state == TCP_LISTEN,
        inode: u32::from_ne_bytes(message[68..72].try_into().ok()?),
        info: TcpInfo::default(),
        congestion: String::new(),
    };
    for attribute in NlasIterator::new(attributes).map_while(|attribute| attribute.ok()) {
        match attribute.kind() {
            INET_DIAG_INFO => socket.info = tcp::decode_info(attribute.value()),
            INET_DIAG_CONG => {
                let name = attribute.value().split(|byte| *byte == 0).next().unwrap_or_default();
                socket.congestion = String::from_utf8_lossy(name).into_owned();
            }
            _ => {}
        }
    }
    Some(socket)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_listed_with_what_they_carried() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            client.write_all(&[7; 1000]).unwrap();
            server.read_exact(&mut [0; 1000]).unwrap();
            let sockets = TcpSockets::open().unwrap().list().unwrap();
            let find = |local, remote| sockets.iter().find(|socket| (socket.local, socket.remote) == (local, remote));
            let (near, far) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
            let (sent, received) = (find(near, far).unwrap(), find(far, near).unwrap());
            assert_eq!(received.info.bytes_received, 1000);
            assert!(sent.info.data_segments_out > 0 && !sent.congestion.is_empty() && sent.inode != 0, "{sent:?}");
            assert!(sockets.iter().any(|socket| socket.listens && socket.local == far));
        }
    }

    #[test]
    fn a_cut_message_is_no_socket() {
        assert_eq!(decode(&[2; MESSAGE_BYTES - 1]), None);
        assert_eq!(decode(&[9; MESSAGE_BYTES]), None, "a family that is none of TCP's");
        assert!(decode(&[2; MESSAGE_BYTES + 3]).is_some());
    }
}
