//! Network namespaces, and user namespaces to make them without root.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::panic;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};

use crate::capabilities::{self, Capability};
use crate::{Context, Result};

/// A handle on a network namespace; it lives at least as long as this handle.
#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
}

impl NetNs {
    /// The calling thread's.
    pub fn current() -> Result<NetNs> {
        open("/proc/thread-self/ns/net").context(|| "open the network namespace of this thread".to_owned())
    }

    /// A new one, empty but for its loopback device, held by this handle alone.
    ///
    /// The loopback device is up.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`, `ENOSPC` where
    /// `/proc/sys/user/max_net_namespaces` is reached.
    pub fn new() -> Result<NetNs> {
        // A namespace is a thread's: a thread that ends at once leaves nothing but the handle.
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            set_loopback_up()?;
            open("/proc/thread-self/ns/net")
        })
        .context(|| "make a network namespace".to_owned())
    }

    /// A process's.
    pub fn of_process(pid: u32) -> Result<NetNs> {
        open(&format!("/proc/{pid}/ns/net")).context(|| format!("open the network namespace of process {pid}"))
    }

    /// Runs `f` on a thread of its own inside this namespace. Sockets made there stay there.
    ///
    /// A panic of `f` goes on in the caller.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> Result<R> {
        in_thread(|| {
            setns(&self.fd, CloneFlags::CLONE_NEWNET)?;
            Ok(f())
        })
        .context(|| "run in a network namespace".to_owned())
    }

    /// Moves the calling thread into this namespace, for good.
    pub fn enter(&self) -> Result<()> {
        setns(&self.fd, CloneFlags::CLONE_NEWNET).context(|| "enter a network namespace".to_owned())
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Moves the calling process, which must have one thread, into new user and
/// network namespaces in which it is root. The loopback device there is up.
///
/// # Errors
/// `EPERM` or `ENOSPC` where the machine allows no user namespaces,
/// `EINVAL` if the process has more than one thread.
pub fn become_root_of_user_namespace() -> Result<()> {
    // Asked before the step: afterwards both are the overflow identity.
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .context(|| "make a user namespace (see /proc/sys/user/max_user_namespaces)".to_owned())?;
    // The kernel takes a group map of an ordinary user only once setgroups is given up (user_namespaces(7)).
    write_proc("/proc/self/setgroups", "deny")
        .and_then(|()| write_proc("/proc/self/uid_map", &format!("0 {uid} 1")))
        .and_then(|()| write_proc("/proc/self/gid_map", &format!("0 {gid} 1")))
        .context(|| "become root of a user namespace (a security module may forbid it)".to_owned())?;
    set_loopback_up().context(|| "set the loopback device up".to_owned())
}

/// What tells the calling thread's network namespace from all others of this
/// boot: its cookie (`SO_NETNS_COOKIE`, Linux 5.14), before that its inode, which
/// a later namespace may get again.
pub fn id() -> Result<String> {
    match cookie() {
        Ok(cookie) => Ok(format!("netns-{cookie}")),
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => {
            let metadata = fs::metadata("/proc/thread-self/ns/net");
            let inode = metadata.context(|| "look at the network namespace of this thread".to_owned())?.ino();
            Ok(format!("netns-inode-{inode}"))
        }
        Err(error) => Err(crate::Error::new("ask for the cookie of this network namespace", error)),
    }
}

/// True if the caller may administer its network namespace (`CAP_NET_ADMIN`)
/// and make new ones (`CAP_SYS_ADMIN`).
pub fn is_network_root() -> bool {
    let needed = Capability::NET_ADMIN.bit() | Capability::SYS_ADMIN.bit();
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    capabilities::set_in(&status, "CapEff:").is_some_and(|held| held & needed == needed)
}

/// True in a user namespace that has not all users of the machine, as an ordinary user makes it.
pub fn is_in_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !has_all_users(&map)
}

/// Whether `/proc/PID/uid_map` maps every user to itself.
fn has_all_users(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Writes `/proc/sys/net/...` of the calling thread's namespace: `sysctl("ipv4/tcp_no_metrics_save", "1")`.
pub fn sysctl(name: &str, value: &str) -> Result<()> {
    write_proc(&format!("/proc/sys/net/{name}"), value).context(|| format!("set net/{name} to {value}"))
}

/// Reads what [`sysctl`] writes, without the end of the line.
pub fn read_sysctl(name: &str) -> Result<String> {
    let value = fs::read_to_string(format!("/proc/sys/net/{name}")).context(|| format!("read net/{name}"))?;
    Ok(value.trim_end().to_owned())
}

/// Sets `lo` of the calling thread's namespace up. Made of system calls
/// alone, so that it may run between fork and exec.
pub(crate) fn set_loopback_up() -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: no pointers; the result is checked.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open and `request` is what SIOCSIFFLAGS reads.
    let result = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &request) };
    let outcome = if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: the descriptor is ours and not used after this.
    unsafe { libc::close(socket) };
    outcome
}

/// `SO_NETNS_COOKIE` of a socket of the calling thread.
fn cookie() -> io::Result<u64> {
    /// include/uapi/asm-generic/socket.h
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let socket = UnixDatagram::unbound()?;
    let (mut cookie, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    let value = (&raw mut cookie).cast();
    // SAFETY: `value` has room for `length` bytes, both outlive the call; the result is checked.
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE, value, &raw mut length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(cookie) }
}

/// Runs `f` on a thread of its own and waits; a panic goes on in the caller.
fn in_thread<R: Send>(f: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, f)?;
        thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

fn open(path: &str) -> io::Result<NetNs> {
    Ok(NetNs { fd: File::open(path)?.into() })
}

/// One write: the kernel takes these files' values whole or not at all.
fn write_proc(path: &str, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_namespace_maps_few_users() {
        assert!(has_all_users("         0          0 4294967295\n"));
        assert!(!has_all_users("         0       1000          1\n") && !has_all_users(""));
    }
}
