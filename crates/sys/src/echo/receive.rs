//! A message that is there, and what the kernel says beside it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use crate::packet::{arrived, control};
use crate::{Error, Result};

/// Linux include/uapi/linux/in.h; the size of the largest piece that a packet came in.
pub(super) const IP_RECVFRAGSIZE: libc::c_int = 25;
/// Linux include/uapi/linux/in6.h; the same for IPv6.
pub(super) const IPV6_RECVFRAGSIZE: libc::c_int = 77;

/// What the kernel says beside an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside {
    pub(super) arrived: Option<Duration>,
    pub(super) hop_limit: Option<u8>,
    pub(super) largest_piece: Option<u32>,
    pub(super) refused: Option<Refused>,
}

/// Memory for control messages, aligned for their headers: those of an answer, or `sock_extended_err` with an address.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// Reads a message that is there, without waiting: its length and what stands beside it.
pub(super) fn received(fd: &OwnedFd, buffer: &mut [u8], flags: libc::c_int) -> Result<Option<(usize, Beside)>> {
    let mut memory = Control([0; 256]);
    let mut iovec = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all-zero bytes are valid for this C structure.
    let mut header = unsafe { std::mem::zeroed::<libc::msghdr>() };
    header.msg_iov = &raw mut iovec;
    header.msg_iovlen = 1;
    header.msg_control = (&raw mut memory).cast();
    header.msg_controllen = size_of::<Control>() as _;
    // SAFETY: the header points to memory that outlives the call.
    let length = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, flags | libc::MSG_DONTWAIT) };
    let Ok(length) = usize::try_from(length) else {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            // A refusal, too, ends a call; it is read from its queue.
            Some(libc::EBADF | libc::EFAULT | libc::ENOTSOCK | libc::EINVAL | libc::ENOMEM) => {
                Err(Error::new("read an answer", error))
            }
            _ => Ok(None),
        };
    };
    let number = |level, kind| control::<libc::c_int>(&header, level, kind);
    let hop_limit = number(libc::SOL_IPV6, libc::IPV6_HOPLIMIT).and_then(|hops| hops.try_into().ok());
    let piece = number(libc::SOL_IP, IP_RECVFRAGSIZE).or_else(|| number(libc::SOL_IPV6, IPV6_RECVFRAGSIZE));
    let beside = Beside {
        arrived: arrived(&header),
        hop_limit,
        largest_piece: piece.and_then(|bytes| bytes.try_into().ok()),
        refused: refused(&header),
    };
    Ok(Some((length.min(buffer.len()), beside)))
}

/// `struct sock_extended_err` (Linux include/uapi/linux/errqueue.h) with the address behind it, as far as it is needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) error: libc::sock_extended_err,
    pub(super) offender: Offender,
}

/// `struct sockaddr_in6`, whose beginning is that of `sockaddr_in`: family, port, then address or flow and address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Offender {
    pub(super) family: u16,
    port: u16,
    pub(super) v4_or_flow: [u8; 4],
    pub(super) v6: [u8; 16],
}

/// The refusal in the control messages of this header.
fn refused(header: &libc::msghdr) -> Option<Refused> {
    // That of IPv4 has a shorter address behind it.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct OfIpv4 {
        error: libc::sock_extended_err,
        offender: libc::sockaddr_in,
    }
    if let Some(OfIpv4 { error, offender }) = control(header, libc::SOL_IP, libc::IP_RECVERR) {
        let (family, port) = (offender.sin_family, offender.sin_port);
        let offender = Offender { family, port, v4_or_flow: offender.sin_addr.s_addr.to_ne_bytes(), v6: [0; 16] };
        return Some(Refused { error, offender });
    }
    control(header, libc::SOL_IPV6, libc::IPV6_RECVERR)
}
