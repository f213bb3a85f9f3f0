//! Opens the disk of a task.

use nicteam_experiment::{Access, Storage};
use nicteam_storage::NfsSpec;

use super::disk::IscsiDisk;
use super::medium::Medium;
use super::nfs::Nfs;
use crate::error::Failure;
use crate::protocol::ConnectionSpec;

/// Opens a disk: one task's, whose paths and place in the run are `spec`'s.
pub(super) fn open(storage: &Storage, spec: &ConnectionSpec) -> Result<Box<dyn Medium>, Failure> {
    match &storage.access {
        Access::Iscsi { port, target, lun } => {
            Ok(Box::new(IscsiDisk::open(storage, spec, (*port, target.as_str(), *lun))?))
        }
        Access::Nfs { mount_port, port, export, file } => {
            let at = NfsSpec::new(spec.server.ip(), export, file);
            Ok(Box::new(Nfs::open(&NfsSpec { port: *port, mount_port: *mount_port, ..at }, storage.cache_bytes)?))
        }
    }
}
