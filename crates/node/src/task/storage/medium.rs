//! A target's disk as tasks use it, whatever protocol leads to it.

use std::net::SocketAddr;

use nicteam_storage::Volume;

use super::counters::Counters;
use crate::error::Failure;
use crate::protocol::Notice;

/// A target's disk.
pub(in crate::task) trait Medium {
    /// What is read and written.
    fn volume(&mut self) -> &mut dyn Volume;

    /// Both ends of each connection that there is, its own first.
    fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)>;

    /// What was counted so far.
    fn counters(&self) -> Counters;

    /// What happened to its paths, since this was asked last.
    fn notices(&mut self) -> Vec<Notice>;

    /// Writes what is in a cache, and gives the disk up.
    ///
    /// # Errors
    /// Not all was written.
    fn close(self: Box<Self>) -> Result<(), Failure>;
}
