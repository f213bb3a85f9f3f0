//! A file by NFS 3 in a disk's place.

use std::net::SocketAddr;

use nicteam_storage::{Cached, NfsFile, NfsSpec, Volume, WriteBack};

use super::counters::Counters;
use super::ends::ends;
use super::medium::Medium;
use crate::error::Failure;
use crate::protocol::Notice;

/// A file that is open.
pub(super) struct Nfs(Cached<NfsFile>);

impl Nfs {
    /// Mounts the export and opens the file; with this much memory for a cache, if it is to have one.
    pub(super) fn open(spec: &NfsSpec, cache_bytes: Option<u64>) -> Result<Nfs, Failure> {
        let file = NfsFile::open(spec)?;
        Ok(Nfs(Cached::new(file, cache_bytes.map(|bytes| WriteBack { bytes }))))
    }
}

impl Medium for Nfs {
    fn volume(&mut self) -> &mut dyn Volume {
        &mut self.0
    }

    fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)> {
        self.0.volume().sockets().filter_map(ends).collect()
    }

    /// There are no paths, and no model of disks behind it.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    fn close(mut self: Box<Self>) -> Result<(), Failure> {
        Ok(self.0.empty()?)
    }
}
