//! Why a disk cannot be used.

use std::net::IpAddr;

/// Why a disk, or an export of one, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// libiscsi is not on this host.
    #[error(transparent)]
    Absent(#[from] nicteam_iscsi::Absent),
    /// No path leads to the disk.
    #[error("cannot log in to {target} by any of {paths} paths: {reasons}; hint: {hint}")]
    NoPath {
        /// The target's name.
        target: String,
        /// How many paths were tried.
        paths: usize,
        /// Why, a reason each.
        reasons: String,
        /// What to look at.
        hint: &'static str,
    },
    /// What was asked for makes no disk.
    #[error("{0}")]
    Spec(String),
    /// The logical unit does not say what it is.
    #[error("cannot read the capacity of LUN {lun} of {target}: {reason}")]
    Capacity {
        /// The logical unit's number.
        lun: u32,
        /// The target's name.
        target: String,
        /// The error of the target.
        reason: String,
    },
    /// An operation is not in whole blocks, or not within the disk.
    #[error(
        "{length} bytes at offset {offset} are not whole blocks of {block_bytes} bytes within the disk's {bytes} bytes"
    )]
    Range {
        /// Where it begins, bytes.
        offset: u64,
        /// How long it is, bytes.
        length: u64,
        /// Bytes of a block.
        block_bytes: u32,
        /// The disk's size, bytes.
        bytes: u64,
    },
    /// An operation failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Content that was taken into the write-back cache never reached the target.
    #[error("{bytes} bytes of the write-back cache were not written: {reason}")]
    Lost {
        /// How many, bytes.
        bytes: u64,
        /// Why.
        reason: String,
    },
    /// A socket of the export is in use, or cannot be made.
    #[error("cannot listen on {place}: {reason}")]
    Listen {
        /// A path or an address.
        place: String,
        /// Why.
        reason: String,
    },
    /// A file of an NFS server cannot be used.
    #[error("cannot open {file} of {export} at {server} by NFS 3: {reason}")]
    Nfs {
        /// The file's name.
        file: String,
        /// The exported folder.
        export: String,
        /// The server.
        server: IpAddr,
        /// Why.
        reason: String,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
}

/// Why an operation was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} failed: {reason}")]
pub struct IoError {
    /// The operation: `a write of 4096 bytes at offset 512`.
    pub what: String,
    /// What came in the way.
    pub reason: String,
}
