//! What makes a disk.

use std::net::SocketAddr;
use std::time::Duration;

use crate::{DiskModel, Error};

/// A disk: a logical unit of an iSCSI target, and the paths that lead to it.
#[derive(Clone, Debug)]
pub struct DiskSpec {
    /// The paths, at least one; each has a session of its own.
    pub paths: Vec<Path>,
    /// The target's name.
    pub target: String,
    /// The logical unit's number.
    pub lun: u32,
    /// The initiator's own name.
    pub initiator: String,
    /// How paths are chosen, watched and given up.
    pub multipath: nicteam_multipath::Config,
    /// Offer to send data with the command.
    pub immediate_data: bool,
    /// Ask that the target requests all data but the immediate.
    pub initial_r2t: bool,
    /// Demand a checksum over each header.
    pub header_digest: bool,
    /// The longest command, bytes; an operation that is longer becomes several.
    pub longest_command: u32,
    /// How long [`crate::Disk::open`] waits for the first path.
    pub open_timeout: Duration,
    /// Commands are answered as late as a cache and disks would have answered them.
    pub model: Option<DiskModel>,
}

/// A path to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The target's portal; its usual port is 3260.
    pub portal: SocketAddr,
    /// The network interface that the session is bound to; else the routes decide.
    pub bind_device: Option<String>,
}

impl DiskSpec {
    /// A disk with defaults: multipath's, immediate data, no R2T before the first burst ends, no digests, commands of
    /// at most 1 MiB, three seconds for the first path, no model.
    pub fn new(paths: Vec<Path>, target: &str, lun: u32) -> DiskSpec {
        DiskSpec {
            paths,
            target: target.to_owned(),
            lun,
            initiator: INITIATOR.to_owned(),
            multipath: nicteam_multipath::Config::default(),
            immediate_data: true,
            initial_r2t: false,
            header_digest: false,
            longest_command: 1 << 20,
            open_timeout: Duration::from_secs(3),
            model: None,
        }
    }

    /// Whether it makes a disk.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match () {
            () if self.paths.is_empty() => Err(Error::Spec("a disk needs a path at least".to_owned())),
            () if self.paths.len() > MOST_PATHS => {
                Err(Error::Spec(format!("{} paths are more than {MOST_PATHS}", self.paths.len())))
            }
            () if self.longest_command < 4096 => Err(Error::Spec(format!(
                "a longest command of {} bytes is less than a block may have, 4096",
                self.longest_command
            ))),
            () => Ok(()),
        }
    }
}

/// The initiator's name where none is given.
pub const INITIATOR: &str = "iqn.2026-01.io.github.nicteam:initiator";
/// The most paths of a disk.
pub const MOST_PATHS: usize = 64;
