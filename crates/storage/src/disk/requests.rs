//! Requests of multipath: their owners, and their buffers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use nicteam_iscsi::Buffer;
use nicteam_multipath::Kind;

/// Requests that are not finished.
#[derive(Debug, Default)]
pub(super) struct Requests {
    next: u64,
    pending: BTreeMap<u64, Pending>,
    /// Finished, and held back until the model of disks has them ready: by when, then in order.
    held: BinaryHeap<Reverse<(Duration, u64)>>,
    results: BTreeMap<u64, Result<(), String>>,
}

/// A request that is not finished.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) kind: Kind,
    pub(super) lba: u64,
    /// None while a session has it.
    pub(super) buffer: Option<Buffer>,
    /// Which part of an operation it is: its key, and the place in its buffer.
    pub(super) part: (u64, usize),
    /// When the model of disks has it ready.
    pub(super) ready_at: Duration,
}

impl Requests {
    /// Takes a request in; its number.
    pub(super) fn insert(&mut self, pending: Pending) -> u64 {
        let number = self.next;
        self.next += 1;
        self.pending.insert(number, pending);
        number
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Pending> {
        self.pending.get_mut(&number)
    }

    /// A request is finished: it is given back now, or held until it is ready.
    pub(super) fn finish(
        &mut self,
        number: u64,
        result: Result<(), String>,
        now: Duration,
    ) -> Option<(Pending, Result<(), String>)> {
        let ready_at = self.pending.get(&number)?.ready_at;
        if ready_at > now {
            self.held.push(Reverse((ready_at, number)));
            self.results.insert(number, result);
            return None;
        }
        Some((self.pending.remove(&number)?, result))
    }

    /// The next request that was held and is ready.
    pub(super) fn next_ready(&mut self, now: Duration) -> Option<(Pending, Result<(), String>)> {
        let Reverse((ready_at, number)) = *self.held.peek()?;
        if ready_at > now {
            return None;
        }
        self.held.pop();
        Some((self.pending.remove(&number)?, self.results.remove(&number)?))
    }

    /// When the next one that is held is ready.
    pub(super) fn next_ready_at(&self) -> Option<Duration> {
        self.held.peek().map(|Reverse((ready_at, _))| *ready_at)
    }
}
