//! The process at the other end of a Unix socket.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};

use crate::capabilities::{Capability, set_in};
use crate::process;

/// True if the process that connected, or listens, at the other end of a stream has `CAP_NET_ADMIN` in effect, in
/// the user namespace of the calling process.
///
/// `SO_PEERCRED` says user and process, and nothing of capabilities; these stand in `/proc/PID/status`. A handle on
/// the process (`SO_PEERPIDFD`, Linux 6.5; before that `pidfd_open`) shows that it still lived when they had been read, so
/// that they are not those of a later process with its number. They are those of the moment, and of its main thread.
/// A process that this one does not see (of another PID namespace) has none.
///
/// Whose user namespace is whose takes `CAP_SYS_PTRACE` to see where the other process may more than this one. One that has
/// given up its own goes by what everybody may read, the maps of users, groups and projects: a namespace whose maps are all
/// those of this one (the machine's own have every number, so that takes its root to make) is taken for the same.
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
    let alike = is_in_own_user_namespace(pid)?;
    // A handle on a process is readable once that has ended.
    let mut ended = [PollFd::new(process.as_fd(), PollFlags::POLLIN)];
    let lives = poll(&mut ended, PollTimeout::ZERO)? == 0;
    let held = set_in(&status, "CapEff:").unwrap_or(0);
    Ok(lives && alike && held & Capability::NET_ADMIN.bit() != 0)
}

/// True if a process is in the user namespace of this one, by its identity where that may be seen.
fn is_in_own_user_namespace(pid: i32) -> io::Result<bool> {
    let own = fs::metadata("/proc/self/ns/user")?;
    match fs::metadata(format!("/proc/{pid}/ns/user")) {
        Ok(its) => Ok((own.dev(), own.ino()) == (its.dev(), its.ino())),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => has_own_maps(pid),
        Err(error) => Err(error),
    }
}

/// True if the user namespace of a process maps what that of this one does.
fn has_own_maps(pid: i32) -> io::Result<bool> {
    for map in ["uid_map", "gid_map", "projid_map", "setgroups"] {
        if fs::read(format!("/proc/self/{map}"))? != fs::read(format!("/proc/{pid}/{map}"))? {
            return Ok(false);
        }
    }
    Ok(true)
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
        return process::handle(pid);
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
        let held = set_in(&status, "CapEff:").unwrap();
        assert_eq!(may_administer_network(&a), held & Capability::NET_ADMIN.bit() != 0);
    }

    #[test]
    fn maps_tell_a_user_namespace_from_this_one() {
        assert!(has_own_maps(std::process::id() as i32).unwrap());
        let mut command = std::process::Command::new("sleep");
        command.arg("60");
        // SAFETY: a system call: it neither allocates nor takes locks.
        let enter = || Ok(nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?);
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, enter) };
        let Ok(mut child) = command.spawn() else {
            return eprintln!("SKIPPED: no user namespaces here");
        };
        let alike = has_own_maps(child.id() as i32);
        child.kill().and_then(|()| child.wait()).unwrap();
        assert!(!alike.unwrap());
    }
}
