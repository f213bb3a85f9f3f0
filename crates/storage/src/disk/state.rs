//! A disk's parts, and the way of an operation through them.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use nicteam_iscsi::Buffer;
use nicteam_multipath::{Multipath, Notice, PathId, Request};

use super::capacity::Capacity;
use super::operations::Operations;
use super::requests::{Pending, Requests};
use super::sessions::Sessions;
use crate::model::Model;
use crate::{Done, Kind, Operation};

/// A logical unit of an iSCSI target, over one or more paths. See [`Volume`] for what is done with it.
///
/// It works in the network namespace of the thread that opens it. Dropped without [`Disk::close`] it resets its
/// connections.
#[derive(Debug)]
pub struct Disk {
    pub(super) began: Instant,
    pub(super) block_bytes: u32,
    pub(super) blocks: u64,
    /// The longest command, in whole blocks, bytes.
    pub(super) longest: usize,
    pub(super) sessions: Sessions,
    pub(super) multipath: Multipath,
    pub(super) requests: Requests,
    pub(super) operations: Operations,
    pub(super) done: VecDeque<Done>,
    pub(super) notices: VecDeque<(Duration, Notice)>,
    /// Which request each command of multipath belongs to.
    pub(super) commands: BTreeMap<u64, u64>,
    /// The input of multipath, and the consequences of its output, once it has no effect left.
    pub(super) next: VecDeque<Next>,
    pub(super) capacity: Capacity,
    pub(super) model: Option<Model>,
}

/// What is to be done when multipath has no effect left: it takes in one change at a time.
#[derive(Debug)]
pub(super) enum Next {
    Submit(Request),
    /// A session could not begin.
    NotBegun(PathId, String),
    /// A command could not be sent, as its request's buffer is not there.
    NotSent(PathId, u64),
    Finished(Pending, Result<(), String>),
}

/// Notices that the program does not ask for are dropped.
pub(super) const MOST_NOTICES: usize = 1000;

impl Disk {
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Sends what an operation needs from the disk.
    pub(super) fn begin(&mut self, operation: Operation) {
        let now = self.now();
        let (kind, offset) = (operation.kind, operation.offset);
        let (key, parts) = self.operations.begin(operation, self.longest, now);
        for (at, buffer) in parts {
            self.request(kind, offset + at as u64, buffer, (key, at));
        }
    }

    /// Gives multipath a request, when it has no effect left.
    fn request(&mut self, kind: Kind, offset: u64, buffer: Buffer, part: (u64, usize)) {
        let now = self.now();
        let block = u64::from(self.block_bytes);
        let (lba, blocks) = match kind {
            Kind::Flush => (0, 0),
            _ => (offset / block, (buffer.len() as u64 / block) as u32),
        };
        // Disks take the time they take for reads and writes; a flush is the file's.
        let ready_at = match &mut self.model {
            Some(model) if kind != Kind::Flush => model.ready_at(now),
            _ => now,
        };
        let id = self.requests.insert(Pending { kind, lba, buffer: Some(buffer), part, ready_at });
        self.next.push_back(Next::Submit(Request { id, kind, lba, blocks }));
    }

    /// A request is finished, and ready.
    pub(super) fn finished(&mut self, pending: Pending, result: Result<(), String>) {
        let now = self.now();
        let buffer = pending.buffer.unwrap_or_default();
        self.done.extend(self.operations.part_done(pending.part, buffer, result, now));
    }
}
