//! The process at the other end of a Unix socket.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};

use crate::netns::{CAP_NET_ADMIN, effective_capabilities};

/// True if the process that connected, or listens, at the other end of a stream has `CAP_NET_ADMIN` in effect, in
/// the user namespace of the calling process.
///
/// `SO_PEERCRED` says user and process, and nothing of capabilities; these stand in `/proc/PID/status`. A handle on
/// the process (`SO_PEERPIDFD`, Linux 6.5; before that `pidfd_open`) shows that it still lived when they had been read, so
/// that they are not those of a later process with its number. They are those of the moment, and of its main thread.
/// A process that this one does not see (of another PID namespace) has none.
pub fn may_administer_network(stream: &impl AsFd) -> bool {
    look_at(stream).unwrap_or(false)
}

fn look_at(stream: &impl AsFd) -> io::Result<bool> {
    let pid = getsockopt(stream, sockopt::PeerCredentials)?.pid();
    if pid <= 0 {
        return Ok(false);
    }
    let process = handle_on(stream, pid)?;
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let (own, its) = (fs::metadata("/proc/self/ns/user")?, fs::metadata(format!("/proc/{pid}/ns/user"))?);
    // A handle on a process is readable once that has ended.
    let mut ended = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let lives = poll(&mut ended, PollTimeout::ZERO)? == 0;
    let held = effective_capabilities(&status).unwrap_or(0);
    let alike = (own.dev(), own.ino()) == (its.dev(), its.ino());
    Ok(lives && alike && held & 1 << CAP_NET_ADMIN != 0)
}

/// A handle on the process at the other end.
fn handle_on(stream: &impl AsFd, pid: i32) -> io::Result<OwnedFd> {
    /// include/uapi/asm-generic/socket.h
    const SO_PEERPIDFD: libc::c_int = 77;
    let (mut handle, mut length) = (-1_i32, size_of::<i32>() as libc::socklen_t);
    let (socket, value) = (stream.as_fd().as_raw_fd(), (&raw mut handle).cast());
    // SAFETY: `value` has room for `length` bytes, both outlive the call; the result is checked.
    let result = unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, SO_PEERPIDFD, value, &raw mut length) };
    if result < 0 {
        // SAFETY: no pointers; the result is checked.
        handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    }
    if handle < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_own_process_may_what_it_may() {
        let (a, _b) = UnixStream::pair().unwrap();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let held = effective_capabilities(&status).unwrap();
        assert_eq!(may_administer_network(&a), held & 1 << CAP_NET_ADMIN != 0);
    }
}
