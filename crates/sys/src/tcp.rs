//! What the kernel knows of a TCP connection.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use std::{io, ptr};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, connect, setsockopt, socket, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::{Context, Result};

/// Chosen fields of `struct tcp_info`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Smoothed round-trip time, microseconds (`tcpi_rtt`).
    pub rtt_us: u32,
    /// Segments sent again (`tcpi_total_retrans`).
    pub retransmits: u64,
    /// Segments with payload sent, those sent again included (`tcpi_data_segs_out`).
    pub data_segments_out: u64,
    /// Largest segment's payload the sender uses (`tcpi_snd_mss`), bytes.
    pub snd_mss: u32,
    /// Payload acknowledged, bytes (`tcpi_bytes_acked`).
    pub bytes_acked: u64,
    /// Payload received, bytes (`tcpi_bytes_received`).
    pub bytes_received: u64,
    /// How often the sender found that segments had arrived out of order (`tcpi_reord_seen`).
    pub reordering_seen: u32,
    /// Segments that may be under way (`tcpi_snd_cwnd`).
    pub cwnd: u32,
    /// Largest packet of the path as the sender knows it (`tcpi_pmtu`), bytes.
    pub path_mtu: u32,
    /// How long the sender had something to send or was not acknowledged (`tcpi_busy_time`), microseconds.
    pub busy_us: u64,
    /// How long of that the receiver's window held it (`tcpi_rwnd_limited`), microseconds.
    pub rwnd_limited_us: u64,
    /// How long of that its own buffer held it (`tcpi_sndbuf_limited`), microseconds.
    pub sndbuf_limited_us: u64,
}

/// Asks (`TCP_INFO`); fields that an older kernel lacks stay zero.
pub fn info(socket: BorrowedFd<'_>) -> Result<TcpInfo> {
    let mut buffer = [0u8; 512];
    let length = get_option(socket, libc::TCP_INFO, &mut buffer).context(|| "ask for TCP_INFO".to_owned())?;
    Ok(decode_info(&buffer[..length]))
}

/// A connection to there that has this congestion control from its start. One that began with the kernel's
/// default and is told later keeps what that set up: after `bbr` it is paced for ever.
///
/// # Errors
/// `ENOENT` for a congestion control that the kernel has not, `EPERM` for one that the caller may not use, and
/// what `connect` answers; `ETIMEDOUT` if there was no answer for ten seconds.
pub fn connect_with(to: SocketAddr, congestion: &str) -> Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None);
    connect_new(socket.context(|| format!("connect to {to}"))?, to, congestion)
}

/// Connects a socket that has done nothing so far.
pub(crate) fn connect_new(socket: OwnedFd, to: SocketAddr, congestion: &str) -> Result<TcpStream> {
    const LIMIT: Duration = Duration::from_secs(10);
    set_congestion(socket.as_fd(), congestion)?;
    connect_within(socket.as_fd(), to, LIMIT).context(|| format!("connect to {to}"))?;
    Ok(TcpStream::from(socket))
}

/// Connects the socket. Bounds the handshake alone, to whole seconds: a path that passes nothing must not hang the caller.
///
/// # Errors
/// What `connect` answers, `ETIMEDOUT` if there was no answer in time.
pub fn connect_within(socket: BorrowedFd<'_>, to: SocketAddr, limit: Duration) -> nix::Result<()> {
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(limit.as_secs() as i64))?;
    connect(socket.as_raw_fd(), &SockaddrStorage::from(to)).map_err(|error| match error {
        Errno::EINPROGRESS => Errno::ETIMEDOUT,
        error => error,
    })?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(0))
}

/// Names the congestion control (`TCP_CONGESTION`).
pub fn set_congestion(socket: BorrowedFd<'_>, name: &str) -> Result<()> {
    // SAFETY: pointer and length are those of `name`, which outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    check(result as isize).map(drop).context(|| format!("set the congestion control to {name}"))
}

/// The congestion control in use.
pub fn congestion(socket: BorrowedFd<'_>) -> Result<String> {
    let mut buffer = [0u8; 16]; // TCP_CA_NAME_MAX
    let length = get_option(socket, libc::TCP_CONGESTION, &mut buffer)
        .context(|| "ask for the congestion control".to_owned())?;
    let name = buffer[..length].split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Takes what has arrived off the socket without copying it (`MSG_TRUNC`):
/// bytes, at most `limit`; 0 when the peer has closed.
///
/// # Errors
/// Like `recv`: `EAGAIN` where a socket that does not wait has nothing or
/// its time is up, `EINTR` on a signal.
pub fn discard(socket: BorrowedFd<'_>, limit: usize) -> Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP writes nothing to the buffer (tcp(7)).
    let result = unsafe { libc::recv(socket.as_raw_fd(), ptr::null_mut(), limit, libc::MSG_TRUNC) };
    check(result).context(|| "receive from a TCP connection".to_owned())
}

/// Reads the fields at their places in `struct tcp_info` (Linux 6.1
/// include/uapi/linux/tcp.h), which only ever grows at its end.
pub fn decode_info(bytes: &[u8]) -> TcpInfo {
    fn u32_at(bytes: &[u8], offset: usize) -> u32 {
        bytes.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |field| u32::from_ne_bytes(*field))
    }
    fn u64_at(bytes: &[u8], offset: usize) -> u64 {
        bytes.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |field| u64::from_ne_bytes(*field))
    }
    TcpInfo {
        snd_mss: u32_at(bytes, 16),
        rtt_us: u32_at(bytes, 68),
        retransmits: u32_at(bytes, 100).into(),
        bytes_acked: u64_at(bytes, 120),
        bytes_received: u64_at(bytes, 128),
        data_segments_out: u32_at(bytes, 156).into(),
        reordering_seen: u32_at(bytes, 220),
        cwnd: u32_at(bytes, 80),
        path_mtu: u32_at(bytes, 60),
        busy_us: u64_at(bytes, 168),
        rwnd_limited_us: u64_at(bytes, 176),
        sndbuf_limited_us: u64_at(bytes, 184),
    }
}

/// Reads a TCP option into `buffer`; returns how many bytes the kernel gave.
fn get_option(socket: BorrowedFd<'_>, option: libc::c_int, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of the buffer.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, buffer.as_mut_ptr().cast(), &raw mut length)
    };
    check(result as isize)?;
    Ok((length as usize).min(buffer.len()))
}

/// A system call's result: -1 means that `errno` says why not.
fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_a_short_answer_lacks_are_zero() {
        let mut bytes = [0u8; 240];
        bytes[68] = 200;
        bytes[120] = 7;
        bytes[220] = 3;
        let whole = decode_info(&bytes);
        assert_eq!((whole.rtt_us, whole.bytes_acked, whole.reordering_seen), (200, 7, 3));
        let old = decode_info(&bytes[..104]);
        assert_eq!((old.rtt_us, old.bytes_acked, old.reordering_seen), (200, 0, 0));
        assert_eq!(decode_info(&[]), TcpInfo::default());
    }
}
