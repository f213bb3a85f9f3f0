//! A target's disk as tasks use it, whatever protocol leads to it.

use std::net::SocketAddr;

use nicteam_experiment::{Access, Storage};
use nicteam_storage::{NfsSpec, Volume};

use super::disk::{Counters, IscsiDisk};
use super::nfs::Nfs;
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, Notice};

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

/// Opens a disk: one task's, whose paths and place in the run are `spec`'s.
pub(super) fn open(storage: &Storage, spec: &ConnectionSpec) -> Result<Box<dyn Medium>, Failure> {
    match &storage.access {
        Access::Iscsi { port, target, lun } => {
            Ok(Box::new(IscsiDisk::open(storage, spec, (*port, target.as_str(), *lun))?))
        }
        Access::Nfs { mount_port, port, export, file } => {
            let at = NfsSpec::new(spec.server.ip(), export, file);
            Ok(Box::new(Nfs::open(&NfsSpec { port: *port, mount_port: *mount_port, ..at })?))
        }
    }
}
