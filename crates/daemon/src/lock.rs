//! One process a team.

use std::io::{self, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use nicteam_sys::Context;

use crate::Error;

/// What begins the name of the socket; the team's name follows.
pub(crate) const PREFIX: &str = "nicteam-team-";

/// The right to run the team of this name in this network namespace.
///
/// An abstract Unix socket, `@nicteam-team-NAME`: such names belong to a
/// network namespace, as the team does, and go with their process, however it
/// ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _socket: UnixDatagram,
}

impl Lock {
    /// Takes the right, or says that somebody has it.
    pub(crate) fn take(team: &str) -> Result<Lock, Error> {
        // What does not fit into an address does not fit into a device's name by far.
        let address = address(team).map_err(|_| nicteam_dataplane::Error::Name(team.to_owned()))?;
        match UnixDatagram::bind_addr(&address) {
            Ok(socket) => Ok(Lock { _socket: socket }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Err(Error::Running(team.to_owned())),
            Err(error) => Err(nicteam_sys::Error::new(format!("take the lock of team {team}"), error).into()),
        }
    }

    /// True if somebody has the right.
    pub(crate) fn is_held(team: &str) -> Result<bool, Error> {
        let connect = || UnixDatagram::unbound()?.connect_addr(&address(team)?);
        match connect() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
            other => Ok(other.context(|| format!("see whether team {team} is running")).map(|()| true)?),
        }
    }
}

fn address(team: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{PREFIX}{team}"))
}
