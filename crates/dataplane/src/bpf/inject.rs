//! Frames of the control side, sent by a member past the plan.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nicteam_sys::Context;
use nix::sys::socket::{setsockopt, sockopt};

use crate::{Error, Port};

/// Room for a frame for each source that a team may know (2,048, `MAX_SOURCES`), at 768 bytes in the kernel, that all leave
/// at once after a failover; the kernel's own is for 277.
const SEND_BYTES: usize = 4 << 20;

/// A packet socket that receives nothing, of the namespace it was opened in.
pub(super) struct Injector {
    socket: OwnedFd,
}

impl Injector {
    pub(super) fn open() -> Result<Injector, Error> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: the call takes no pointer.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error()).context(|| "open a packet socket".to_owned()).map_err(Error::from);
        }
        // SAFETY: the kernel just gave us this descriptor; nobody else has it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        setsockopt(&socket, sockopt::SndBufForce, &SEND_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::SndBuf, &SEND_BYTES))
            .map_err(io::Error::from)
            .context(|| "enlarge the buffer of a packet socket".to_owned())?;
        Ok(Injector { socket })
    }

    /// Sends one frame, from the destination address on.
    pub(super) fn send(&self, port: &Port, frame: &[u8]) -> Result<(), Error> {
        // SAFETY: all fields are integers, for which zero is a value.
        let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        to.sll_family = libc::AF_PACKET as u16;
        to.sll_ifindex = port.index as i32;
        // SAFETY: both pointers are to live values of the lengths given.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                std::ptr::from_ref(&to).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        };
        let result = if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        Ok(result.context(|| format!("send a frame by {}", port.name))?)
    }
}
