//! The requests that are not finished.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::path::Range;
use crate::{Kind, Request, SubmitError};

/// A request that is not finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub request: Request,
    /// Its number in the order in which requests came.
    pub order: u64,
    /// How often its command was not executed: the target was busy, there was a UNIT ATTENTION.
    pub tries: u32,
    /// How often the session was lost that had its command.
    pub losses: u32,
}

impl Pending {
    /// The blocks that it needs; none for a flush, which needs no order.
    pub(crate) fn range(&self) -> Range {
        let blocks = if self.request.kind == Kind::Flush { 0 } else { self.request.blocks };
        Range { lba: self.request.lba, blocks }
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    pending: BTreeMap<u64, Pending>,
    /// Those that no path has, in order: order and id.
    waiting: BTreeSet<(u64, u64)>,
    /// Those that wait for a time: time, order and id.
    paused: BTreeSet<(Duration, u64, u64)>,
    count: u64,
}

impl Requests {
    pub(crate) fn take(&mut self, request: Request) -> Result<(), SubmitError> {
        if self.pending.contains_key(&request.id) {
            return Err(SubmitError::Duplicate(request.id));
        }
        if request.lba.checked_add(u64::from(request.blocks)).is_none() {
            return Err(SubmitError::Range(request.id));
        }
        self.count += 1;
        self.pending.insert(request.id, Pending { request, order: self.count, tries: 0, losses: 0 });
        self.waiting.insert((self.count, request.id));
        Ok(())
    }

    /// The first one that waits and came after `order`.
    pub(crate) fn next_waiting(&self, order: u64) -> Option<Pending> {
        let (_, id) = self.waiting.range((order + 1, 0)..).next()?;
        self.pending.get(id).copied()
    }

    /// A path has it now.
    pub(crate) fn sent(&mut self, pending: &Pending) {
        self.waiting.remove(&(pending.order, pending.request.id));
    }

    /// The session that had it is lost, and it waits again, in its old order; how often that was.
    pub(crate) fn again(&mut self, id: u64) -> u32 {
        let Some(pending) = self.pending.get_mut(&id) else { return 0 };
        pending.losses += 1;
        self.waiting.insert((pending.order, id));
        pending.losses
    }

    /// It was not executed and is to be tried again, at once or then; how often that was.
    pub(crate) fn retry(&mut self, id: u64, at: Option<Duration>) -> u32 {
        let Some(pending) = self.pending.get_mut(&id) else { return 0 };
        pending.tries += 1;
        match at {
            Some(at) => self.paused.insert((at, pending.order, id)),
            None => self.waiting.insert((pending.order, id)),
        };
        pending.tries
    }

    /// Requests wait again after their pause.
    pub(crate) fn resume(&mut self, now: Duration) {
        while let Some(&(at, order, id)) = self.paused.first()
            && at <= now
        {
            self.paused.pop_first();
            self.waiting.insert((order, id));
        }
    }

    /// When the next pause is over.
    pub(crate) fn resumes(&self) -> Option<Duration> {
        self.paused.first().map(|(at, ..)| *at)
    }

    /// It is finished; false if it is not known.
    pub(crate) fn finish(&mut self, id: u64) -> bool {
        let Some(pending) = self.pending.remove(&id) else { return false };
        self.waiting.remove(&(pending.order, id));
        self.paused.retain(|(_, _, paused)| *paused != id);
        true
    }

    /// Those that no path has, by order.
    pub(crate) fn unsent(&self) -> Vec<u64> {
        let paused = self.paused.iter().map(|(_, order, id)| (*order, *id));
        let mut unsent: Vec<(u64, u64)> = self.waiting.iter().copied().chain(paused).collect();
        unsent.sort_unstable();
        unsent.into_iter().map(|(_, id)| id).collect()
    }

    /// How many no path has.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len() + self.paused.len()
    }

    /// A request that is not finished.
    pub(crate) fn get(&self, id: u64) -> Option<Pending> {
        self.pending.get(&id).copied()
    }
}
