//! A disk with a write-back cache.

use std::time::Duration;

use nicteam_iscsi::Buffer;

use super::requests::Owner;
use super::state::Disk;
use crate::cache::{Cover, Run};
use crate::{Done, Error, IoError, Kind, Operation};

/// Writes of the cache that are outstanding at a time.
const MOST_RUNS: usize = 16;

impl Disk {
    /// Begins an operation that the cache sees first.
    pub(super) fn begin_cached(&mut self, mut operation: Operation) {
        let now = self.now();
        let Some(cache) = &mut self.cache else { return };
        match operation.kind {
            Kind::Write => self.waiting.writes.push_back((operation, now)),
            Kind::Flush => self.waiting.flushes.push_back((cache.barrier(), operation)),
            Kind::Read => match cache.read(operation.offset, &mut operation.buffer) {
                Cover::Whole => self.done.push_back(done(operation, Ok(()), Duration::ZERO)),
                Cover::Parts(patches) => self.begin(operation, patches),
            },
        }
        self.pump_cache();
    }

    /// Takes in the writes that there is room for, sends what may be sent, and answers the flushes that are due.
    fn pump_cache(&mut self) {
        let now = self.now();
        let Some(cache) = &mut self.cache else { return };
        while let Some((operation, came)) = self.waiting.writes.front()
            && cache.write(operation.offset, &operation.buffer)
        {
            let took = now.saturating_sub(*came);
            self.done.extend(self.waiting.writes.pop_front().map(|(operation, _)| done(operation, Ok(()), took)));
        }
        while self.waiting.runs < MOST_RUNS
            && let Some(cache) = &mut self.cache
            && let Some(run) = cache.next_run()
        {
            let spare = self.waiting.spare.pop().filter(|spare| spare.len() == run.bytes);
            let mut buffer = spare.unwrap_or_else(|| Buffer::new(run.bytes));
            cache.content(run, &mut buffer);
            self.waiting.runs += 1;
            self.request(Kind::Write, run.offset, buffer, Owner::Run(run));
        }
        while let Some(cache) = &self.cache
            && self.waiting.flushes.front().is_some_and(|(barrier, _)| cache.is_past(*barrier))
            && let Some((_, operation)) = self.waiting.flushes.pop_front()
        {
            match self.waiting.error.take() {
                None => self.begin(operation, Vec::new()),
                Some(reason) => {
                    let error = IoError { what: operation.words(), reason };
                    self.done.push_back(done(operation, Err(error), Duration::ZERO));
                }
            }
        }
    }

    /// A run of the cache is over.
    pub(super) fn run_written(&mut self, run: Run, buffer: Buffer, result: Result<(), String>) {
        self.waiting.runs -= 1;
        if self.waiting.spare.len() < MOST_RUNS {
            self.waiting.spare.push(buffer);
        }
        if let Some(cache) = &mut self.cache {
            cache.sent(run, result.is_ok());
        }
        if let Err(reason) = result {
            self.waiting.error.get_or_insert_with(|| reason.clone());
            self.waiting.lost = Some(reason);
        }
        self.pump_cache();
    }

    /// Waits until everything is written, or lost.
    pub(super) fn empty_cache(&mut self) -> Result<(), Error> {
        while self.cache.as_ref().is_some_and(|cache| !cache.is_clean()) {
            self.done.clear();
            self.turn(None, &mut [])?;
        }
        let bytes = self.cache.as_ref().map_or(0, |cache| cache.counts().lost_bytes);
        match self.waiting.lost.take() {
            Some(reason) => Err(Error::Lost { bytes, reason }),
            None => Ok(()),
        }
    }
}

fn done(operation: Operation, result: Result<(), IoError>, took: Duration) -> Done {
    Done { id: operation.id, buffer: operation.buffer, result, took }
}
