//! A team's two sockets, and how both ends come to them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use nicteam_sys::Context;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, setsockopt, socket, sockopt,
};
use nix::sys::stat::{Mode, fchmod};
use nix::sys::time::TimeVal;

use crate::Error;
use crate::folder::{self, Opened};
use crate::lock::Lock;

/// For those who may change the team.
pub(super) const CONTROL: &str = ".control";
/// For those who may look at it.
pub(super) const STATUS: &str = ".status";

/// Connections that may wait for being accepted.
const WAITING: i32 = 64;
/// How long a process may take to accept a connection for which there is no room to wait.
const ACCEPTED: i64 = 5;
/// The longest path that fits into an address, bytes.
const LONGEST: usize = 107;

/// The sockets of a team that is about to run; they go with this value.
#[derive(Debug)]
pub(crate) struct Sockets {
    /// For those who may change it.
    pub(super) control: UnixListener,
    /// For those who may look.
    pub(super) status: UnixListener,
    team: String,
    // Dropped last: nobody else may make sockets of these names before.
    lock: Lock,
}

impl Sockets {
    /// Makes the sockets, in place of what an ended process left.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(crate) fn bind(team: &str, lock: &Lock) -> Result<Sockets, Error> {
        let make = |suffix: &str, mode: Mode| {
            let (folder, name) = (lock.folder(), format!("{team}{suffix}"));
            let made = folder.remove(&name).and_then(|()| listener(folder, &name, mode));
            made.context(|| format!("listen on {}", folder.named(&name).display()))
        };
        let control = make(CONTROL, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let status = make(STATUS, Mode::S_IRUSR | Mode::S_IWUSR | Mode::S_IRGRP | Mode::S_IWGRP)?;
        if let Some(group) = folder::group() {
            // Where it cannot be given away, root alone looks.
            let _ = std::os::unix::fs::lchown(lock.folder().at(&format!("{team}{STATUS}")), None, Some(group));
        }
        Ok(Sockets { control, status, team: team.to_owned(), lock: lock.clone() })
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for suffix in [CONTROL, STATUS] {
            // What is left is replaced by the next process.
            let _ = self.lock.folder().remove(&format!("{}{suffix}", self.team));
        }
    }
}

/// Connects to a socket in the folder, in a bounded time.
pub(super) fn reach(folder: &Opened, team: &str, suffix: &str) -> io::Result<UnixStream> {
    let socket = unix_socket()?;
    setsockopt(&socket, sockopt::SendTimeout, &TimeVal::new(ACCEPTED, 0))?;
    connect(socket.as_raw_fd(), &address(folder, &format!("{team}{suffix}"))?)?;
    Ok(UnixStream::from(socket))
}

/// Sends give up after this time.
pub(super) fn bound(stream: &UnixStream, patience: Duration) -> io::Result<()> {
    stream.set_write_timeout(Some(patience))
}

/// A socket that has its mode from the first moment on, whatever the umask allows.
fn listener(folder: &Opened, name: &str, mode: Mode) -> io::Result<UnixListener> {
    let socket = unix_socket()?;
    // The name gets the mode of the socket, less the umask (Linux net/unix/af_unix.c, unix_bind_bsd).
    fchmod(&socket, mode)?;
    bind(socket.as_raw_fd(), &address(folder, name)?)?;
    std::fs::set_permissions(folder.at(name), std::os::unix::fs::PermissionsExt::from_mode(mode.bits()))?;
    listen(&socket, Backlog::new(WAITING)?)?;
    Ok(UnixListener::from(socket))
}

fn unix_socket() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?)
}

/// By its name where that fits, so that `ss -xlp` shows it.
fn address(folder: &Opened, name: &str) -> io::Result<UnixAddr> {
    let named: PathBuf = folder.named(name);
    let path = if named.as_os_str().len() <= LONGEST { named } else { folder.at(name) };
    Ok(UnixAddr::new(&path)?)
}
