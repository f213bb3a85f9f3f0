//! What waits for the write-back cache.

use std::collections::VecDeque;
use std::time::Duration;

use nicteam_iscsi::Buffer;

use crate::Operation;
use crate::cache::Barrier;

/// Operations that wait for the write-back cache, and what it has on its way.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// For room, with the time at which they came.
    pub(super) writes: VecDeque<(Operation, Duration)>,
    /// For what was written before them.
    pub(super) flushes: VecDeque<(Barrier, Operation)>,
    pub(super) runs: usize,
    /// Why a run could not be written, until a flush has said so.
    pub(super) error: Option<String>,
    /// The last such reason.
    pub(super) lost: Option<String>,
    /// Buffers of runs that are over.
    pub(super) spare: Vec<Buffer>,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.writes.len() + self.flushes.len()
    }
}
