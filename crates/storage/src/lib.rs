//! A disk over many paths: iSCSI sessions (`nicteam-iscsi`) under multipath (`nicteam-multipath`), executed by one
//! thread.
//!
//! [`Disk`] is the main type: a [`DiskSpec`] opens it, and it is a [`Volume`]. Its operations are submitted and come
//! back done. In front of it may stand the initiator's write-back cache ([`Cached`]), behind it a model of disks
//! ([`model`]). [`nfs`] is the same for a file of an NFS 3 server. [`nbd`] exports a volume to any program that
//! speaks NBD; [`pattern`] makes content that can be verified.
#![forbid(unsafe_code)]

pub mod cache;
mod cached;
mod disk;
mod error;
mod mix;
pub mod model;
pub mod nbd;
pub mod nfs;
pub mod pattern;
mod spec;
mod status;
mod volume;
mod watch;

pub use nicteam_iscsi::{Buffer, Library, Negotiated};
pub use nicteam_multipath::{Kind, Policy};

pub use cache::{CacheCounts, WriteBack};
pub use cached::Cached;
pub use disk::Disk;
pub use error::{Error, IoError};
pub use model::DiskModel;
pub use nfs::{NfsFile, NfsLimits, NfsSpec};
pub use pattern::Pattern;
pub use spec::{DiskSpec, INITIATOR, MOST_PATHS, Path};
pub use status::{SessionStatus, Status};
pub use volume::{Done, Operation, Volume};
pub use watch::Watch;
