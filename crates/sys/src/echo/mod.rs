//! Echo requests (ICMP, RFC 792; ICMPv6, RFC 4443) and what else a path answers to.
//!
//! Sockets and no judgement: who sends what, and what follows from the answers, is for others. All of them need
//! `CAP_NET_RAW`, and none waits for an answer: poll, then ask.

mod filter;
mod message;
mod pieces;
mod port;
mod receive;
mod refusal;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::sockopt::{BindToDevice, RcvBuf, RcvBufForce, SendTimeout};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrLike, SockaddrStorage, bind, connect, getsockname,
    setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::{Context, Result};

pub use message::Question;
pub use pieces::PieceSocket;
pub use port::{PortAnswer, PortProbe};
use receive::{IP_RECVFRAGSIZE, IPV6_RECVFRAGSIZE, received};
pub use refusal::{Cause, Refusal};

/// Room for what arrives while nobody reads, bytes.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;
/// How long a request may wait for room on its way out, milliseconds.
const SEND_TIMEOUT_MS: i64 = 100;

/// Reads an answer: the numbers of socket and question, and where its payload begins.
pub(crate) fn read(packet: &[u8], v4: bool) -> Option<(u16, u16, usize)> {
    let message::Answer { ident, sequence, payload_from, .. } = message::answer(packet, v4)?;
    Some((ident, sequence, payload_from))
}

/// What becomes of a packet that is larger than the way to there takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragmentation {
    /// It is cut, as the system does by default.
    Allowed,
    /// It is refused (`IP_PMTUDISC_DO`, `ping -M do`): by this host if it knows, else by a router.
    Forbidden,
    /// Likewise, but what this host has learned of the path counts for nothing: every packet that its own device takes
    /// is tried (`IP_PMTUDISC_PROBE`).
    ForbiddenAndUnlearned,
}

/// Between whom.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// Who is to answer.
    pub to: IpAddr,
    /// The address to ask from; none: the system's choice.
    pub from: Option<IpAddr>,
    /// The device to ask by; none: the one that the routes say. A link-local address needs one.
    pub device: Option<&'a str>,
}

/// A socket that asks one host, and hears its answers to this socket alone.
#[derive(Debug)]
pub struct EchoSocket {
    fd: OwnedFd,
    to: IpAddr,
    own: IpAddr,
    ident: u16,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// To what.
    pub question: Question,
    /// Its number.
    pub sequence: u16,
    /// Time to live (IPv4) or hop limit that was left.
    pub ttl: Option<u8>,
    /// What was sent along.
    pub payload: &'a [u8],
    /// If it came in pieces: the IP packet of the largest, bytes.
    pub largest_piece: Option<u32>,
    /// When it arrived, by the clock of the day (`CLOCK_REALTIME`), as the kernel noted it.
    pub arrived: Option<Duration>,
}

impl EchoSocket {
    /// Opens one in the caller's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device, `EADDRNOTAVAIL` if the host has not the address,
    /// `ENETUNREACH` without a route.
    pub fn open(between: Between<'_>, fragmentation: Fragmentation) -> Result<EchoSocket> {
        let ident = crate::random::number()? as u16;
        let v4 = between.to.is_ipv4();
        let protocol = if v4 { SockProtocol::Icmp } else { SockProtocol::IcmpV6 };
        let fd = opened(between, SockType::Raw, Some(protocol), |fd| {
            filter::hear_answers(fd, ident, v4)?;
            forbid(fd, v4, fragmentation)?;
            report(fd, v4)?;
            set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
        })?;
        let own = own_address(&fd).context(|| "read a socket's own address".to_owned())?;
        Ok(EchoSocket { fd, to: between.to, own, ident })
    }

    /// Whom it asks.
    pub fn to(&self) -> IpAddr {
        self.to
    }

    /// The address that it asks from.
    pub fn own(&self) -> IpAddr {
        self.own
    }

    /// The number that tells its requests from those of other sockets.
    pub fn ident(&self) -> u16 {
        self.ident
    }

    /// Sends a question with this number, and a payload that comes back (an echo) or does not.
    ///
    /// # Errors
    /// `EMSGSIZE`: longer than may be sent in one piece; [`EchoSocket::refusal`] has the MTU. `EHOSTUNREACH`, `ENETUNREACH`,
    /// `ENETDOWN`: there is no way. `ENOBUFS`, `EAGAIN`: no room. `EINVAL`: a time stamp is asked for by IPv6.
    pub fn send(&self, question: Question, sequence: u16, payload: &[u8]) -> io::Result<()> {
        let message = message::request(question, self.to.is_ipv4(), self.ident, sequence, payload)
            .ok_or(io::ErrorKind::InvalidInput)?;
        // What became of an earlier question is in the queue, and no failure of this one.
        let _ = nix::sys::socket::getsockopt(&self.fd, nix::sys::socket::sockopt::SocketError);
        // SAFETY: pointer and length belong to one slice, which is only read.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// An answer that has arrived, if there is one. `buffer` is of at least 64 KiB; longer is of no use.
    ///
    /// # Errors
    /// The system refuses to read; what becomes of a question is no error.
    pub fn receive<'b>(&self, buffer: &'b mut [u8]) -> Result<Option<Reply<'b>>> {
        let Some((length, control)) = received(&self.fd, buffer, 0)? else { return Ok(None) };
        let Some(answer) = message::answer(&buffer[..length], self.to.is_ipv4()) else { return Ok(None) };
        Ok(Some(Reply {
            question: answer.question,
            sequence: answer.sequence,
            ttl: answer.ttl.or(control.hop_limit),
            payload: &buffer[answer.payload_from..length],
            largest_piece: control.largest_piece,
            arrived: control.arrived,
        }))
    }

    /// What refused a question, this host or another, if something did.
    ///
    /// # Errors
    /// The system refuses to read.
    pub fn refusal(&self) -> Result<Option<Refusal>> {
        refusal::take(&self.fd, Some(self.ident))
    }
}

impl AsFd for EchoSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A socket between two hosts, set up before it can hear anything.
fn opened(
    between: Between<'_>,
    kind: SockType,
    protocol: Option<SockProtocol>,
    set_up: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> Result<OwnedFd> {
    connected(between, 0, kind, protocol, set_up).context(|| format!("open a socket to ask {}", between.to))
}

fn connected(
    between: Between<'_>,
    port: u16,
    kind: SockType,
    protocol: Option<SockProtocol>,
    set_up: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    let family = if between.to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket(family, kind, SockFlag::SOCK_CLOEXEC, protocol)?;
    set_up(&fd)?;
    if setsockopt(&fd, RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
        setsockopt(&fd, RcvBuf, &RECEIVE_BUFFER_BYTES)?;
    }
    setsockopt(&fd, SendTimeout, &TimeVal::milliseconds(SEND_TIMEOUT_MS))?;
    if let Some(device) = between.device {
        setsockopt(&fd, BindToDevice, &device.into())?;
    }
    if let Some(from) = between.from {
        bind(fd.as_raw_fd(), &SockaddrStorage::from(std::net::SocketAddr::new(from, 0)))?;
    }
    connect(fd.as_raw_fd(), &SockaddrStorage::from(std::net::SocketAddr::new(between.to, port)))?;
    Ok(fd)
}

/// The address that a socket has been given.
fn own_address(fd: &OwnedFd) -> io::Result<IpAddr> {
    let own: SockaddrStorage = getsockname(fd.as_raw_fd())?;
    let v4 = own.as_sockaddr_in().map(|own| IpAddr::V4(own.ip()));
    let v6 = || own.as_sockaddr_in6().map(|own| IpAddr::V6(own.ip()));
    v4.or_else(v6).ok_or_else(|| io::Error::other(format!("an address of family {:?}", own.family())))
}

/// What is done with packets that are too large.
fn forbid(fd: &OwnedFd, v4: bool, fragmentation: Fragmentation) -> io::Result<()> {
    let (level, option) =
        if v4 { (libc::SOL_IP, libc::IP_MTU_DISCOVER) } else { (libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER) };
    // The values are the same for both versions (Linux include/uapi/linux/in.h, in6.h).
    let value = match fragmentation {
        Fragmentation::Allowed => return Ok(()),
        Fragmentation::Forbidden => libc::IP_PMTUDISC_DO,
        Fragmentation::ForbiddenAndUnlearned => libc::IP_PMTUDISC_PROBE,
    };
    set(fd, level, option, value)?;
    // Without this a host of IPv6 cuts what is larger than its own MTU.
    if v4 { Ok(()) } else { set(fd, libc::SOL_IPV6, libc::IPV6_DONTFRAG, 1) }
}

/// Has the kernel report refusals, the hops that are left, and the pieces that a packet came in.
fn report(fd: &OwnedFd, v4: bool) -> io::Result<()> {
    if v4 {
        set(fd, libc::SOL_IP, libc::IP_RECVERR, 1)?;
        set(fd, libc::SOL_IP, IP_RECVFRAGSIZE, 1)
    } else {
        set(fd, libc::SOL_IPV6, libc::IPV6_RECVERR, 1)?;
        set(fd, libc::SOL_IPV6, libc::IPV6_RECVHOPLIMIT, 1)?;
        set(fd, libc::SOL_IPV6, IPV6_RECVFRAGSIZE, 1)
    }
}

/// Sets an option that is a number.
fn set(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: pointer and length are those of `value`, which outlives the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
