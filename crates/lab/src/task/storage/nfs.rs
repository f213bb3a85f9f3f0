//! A file by NFS 3 in a disk's place.

use std::net::SocketAddr;

use nicteam_storage::{Cached, NfsFile, NfsSpec, Volume, WriteBack};

use super::counters::Counters;
use super::ends::ends;
use super::medium::Medium;
use crate::error::Failure;
use crate::protocol::Notice;

/// A file that is open.
pub(super) enum Nfs {
    /// Its requests go to the server.
    Plain(Box<NfsFile>),
    /// The client has a write-back cache.
    Cached(Box<Cached<NfsFile>>),
}

impl Nfs {
    /// Mounts the export and opens the file; with this much memory for a cache, if it is to have one.
    pub(super) fn open(spec: &NfsSpec, cache_bytes: Option<u64>) -> Result<Nfs, Failure> {
        let file = NfsFile::open(spec)?;
        Ok(match cache_bytes {
            Some(bytes) => Nfs::Cached(Box::new(Cached::new(file, WriteBack { bytes }))),
            None => Nfs::Plain(Box::new(file)),
        })
    }

    fn file(&self) -> &NfsFile {
        match self {
            Nfs::Plain(file) => file,
            Nfs::Cached(cached) => cached.volume(),
        }
    }
}

impl Medium for Nfs {
    fn volume(&mut self) -> &mut dyn Volume {
        match self {
            Nfs::Plain(file) => &mut **file,
            Nfs::Cached(cached) => &mut **cached,
        }
    }

    fn sockets(&self) -> Vec<(SocketAddr, SocketAddr)> {
        self.file().sockets().filter_map(ends).collect()
    }

    /// There are no paths, and no model of disks behind it.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        match *self {
            Nfs::Plain(_) => Ok(()),
            Nfs::Cached(cached) => cached.close().map(drop).map_err(Failure::from),
        }
    }
}
