//! A file by NFS 3 in a disk's place.

use std::net::SocketAddr;

use nicteam_storage::{NfsFile, NfsSpec, Volume};

use super::counters::Counters;
use super::ends::ends;
use super::medium::Medium;
use crate::error::Failure;
use crate::protocol::Notice;

/// A file that is open.
pub(super) struct Nfs(NfsFile);

impl Nfs {
    /// Mounts the export and opens the file.
    pub(super) fn open(spec: &NfsSpec) -> Result<Nfs, Failure> {
        Ok(Nfs(NfsFile::open(spec)?))
    }
}

impl Medium for Nfs {
    fn volume(&mut self) -> &mut dyn Volume {
        &mut self.0
    }

    fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)> {
        self.0.sockets().filter_map(ends).collect()
    }

    /// There are no paths, and no cache or model in front of it.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }
}
