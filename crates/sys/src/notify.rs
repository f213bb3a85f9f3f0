//! Words to the service manager that started this process: sd_notify(3).
//!
//! `NOTIFY_SOCKET` names a datagram socket, by a path or, after `@`, in the abstract namespace; each datagram holds lines of
//! `NAME=VALUE`. What this process says is said for the process, by whichever thread.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, sendto, socket};
use nix::time::{ClockId, clock_gettime};

use crate::{Context, Result};

/// Names the manager's socket.
const VARIABLE: &str = "NOTIFY_SOCKET";

/// A service manager that waits to be told how this process is.
#[derive(Debug)]
pub struct Notify {
    socket: OwnedFd,
    address: UnixAddr,
}

impl Notify {
    /// The one that `NOTIFY_SOCKET` names; `None`: nobody waits.
    ///
    /// # Errors
    /// The name is none that a socket can have, or there can be no socket.
    pub fn from_environment() -> Result<Option<Notify>> {
        env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(Notify::to).transpose()
    }

    /// The one that listens at this name.
    ///
    /// # Errors
    /// As above.
    pub fn to(name: OsString) -> Result<Notify> {
        let open = || Ok::<Notify, io::Error>(Notify { address: address(&name)?, socket: datagrams()? });
        open().context(|| format!("reach the service manager at {}", name.display()))
    }

    /// Says lines of `NAME=VALUE`, in one datagram.
    ///
    /// # Errors
    /// The manager does not listen, or does not read what it was told before.
    pub fn say(&self, lines: &str) -> Result<()> {
        // A manager that hangs must not make its service hang.
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        let sent = sendto(self.socket.as_raw_fd(), lines.as_bytes(), &self.address, flags);
        sent.map(drop).context(|| "tell the service manager how this process is".to_owned())
    }
}

/// Microseconds of the clock by which a manager orders what `RELOADING=1` says (`CLOCK_MONOTONIC`).
pub fn monotonic_us() -> u64 {
    let Ok(now) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
    u64::try_from(now.tv_sec()).unwrap_or(0) * 1_000_000 + u64::try_from(now.tv_nsec()).unwrap_or(0) / 1000
}

fn datagrams() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?)
}

/// systemd says of others (`vsock:`) that they are not for programs on this machine.
fn address(name: &OsStr) -> io::Result<UnixAddr> {
    match name.as_bytes() {
        [b'@', abstract_name @ ..] if !abstract_name.is_empty() => Ok(UnixAddr::new_abstract(abstract_name)?),
        [b'/', ..] => Ok(UnixAddr::new(name)?),
        _ => Err(Errno::EINVAL.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let read = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    }

    #[test]
    fn both_kinds_of_names_are_reached() {
        let folder = env::temp_dir().join(format!("nicteam-notify-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("socket");
        let by_path = UnixDatagram::bind(&path).unwrap();
        Notify::to(path.into_os_string()).unwrap().say("READY=1\nSTATUS=x").unwrap();
        assert_eq!(heard(&by_path), "READY=1\nSTATUS=x");

        let name = format!("nicteam-notify-{}", std::process::id());
        let abstractly = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        Notify::to(format!("@{name}").into()).unwrap().say("WATCHDOG=1").unwrap();
        assert_eq!(heard(&abstractly), "WATCHDOG=1");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_no_socket_is_called_is_refused() {
        for name in ["relative", "@", "vsock:2:1234", &format!("/{}", "x".repeat(200))] {
            let said = Notify::to(name.into()).map(drop).unwrap_err().to_string();
            assert!(said.contains("service manager"), "{name}: {said}");
        }
        let nobody = Notify::to("/nonexistent/socket".into()).unwrap();
        assert!(nobody.say("READY=1").is_err());
    }

    #[test]
    fn a_manager_that_does_not_read_makes_nobody_wait() {
        let name = format!("nicteam-notify-full-{}", std::process::id());
        let _deaf = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let notify = Notify::to(format!("@{name}").into()).unwrap();
        assert!((0..100_000).any(|_| notify.say("WATCHDOG=1").is_err()));
    }
}
