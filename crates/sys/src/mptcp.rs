//! Multipath TCP: sockets, and the addresses by which a host is to be reached.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::generic::{Family, attribute};
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

/// Which addresses a namespace's connections use beside their own
/// (`ip mptcp`), of the namespace it was opened in.
#[derive(Debug)]
pub struct PathManager {
    family: Family,
}

impl PathManager {
    /// In the caller's namespace.
    ///
    /// # Errors
    /// `ENOENT`: the kernel has no multipath TCP.
    pub fn open() -> Result<PathManager> {
        let family = Family::open("mptcp_pm", || "talk to the path manager of multipath TCP".to_owned())?;
        Ok(PathManager { family })
    }

    /// How many subflows, 0 to 8, a connection may have beside its first one, and
    /// how many announced addresses of the other end it takes.
    pub fn set_limits(&mut self, subflows: u32) -> Result<()> {
        let [accepted, own] = [ATTR_RCV_ADD_ADDRS, ATTR_SUBFLOWS].map(|kind| attribute(kind, &subflows.to_ne_bytes()));
        let attributes = [accepted, own].concat();
        self.family.request(CMD_SET_LIMITS, &attributes, || format!("allow {subflows} more subflows"))
    }

    /// Lets connections announce one of the namespace's addresses, so that their
    /// other ends open a subflow to it.
    pub fn announce(&mut self, address: IpAddr, ifindex: u32) -> Result<()> {
        let (family, kind, bytes) = match address {
            IpAddr::V4(v4) => (libc::AF_INET, ADDR_ATTR_ADDR4, v4.octets().to_vec()),
            IpAddr::V6(v6) => (libc::AF_INET6, ADDR_ATTR_ADDR6, v6.octets().to_vec()),
        };
        let endpoint = [
            attribute(ADDR_ATTR_FAMILY, &(family as u16).to_ne_bytes()),
            attribute(kind, &bytes),
            attribute(ADDR_ATTR_FLAGS, &ADDR_FLAG_SIGNAL.to_ne_bytes()),
            attribute(ADDR_ATTR_IF_IDX, &ifindex.to_ne_bytes()),
        ];
        let nested = attribute(ATTR_ADDR | libc::NLA_F_NESTED as u16, &endpoint.concat());
        self.family.request(CMD_ADD_ADDR, &nested, || format!("announce {address} to other ends of multipath TCP"))
    }
}

// Linux 6.1 include/uapi/linux/mptcp.h.
const CMD_ADD_ADDR: u8 = 1;
const CMD_SET_LIMITS: u8 = 5;
const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ADDR_ATTR_FAMILY: u16 = 1;
const ADDR_ATTR_ADDR4: u16 = 3;
const ADDR_ATTR_ADDR6: u16 = 4;
const ADDR_ATTR_FLAGS: u16 = 6;
const ADDR_ATTR_IF_IDX: u16 = 7;
const ADDR_FLAG_SIGNAL: u32 = 1;
