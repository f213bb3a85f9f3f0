//! What must hold whatever happens, a checker a property.

use std::collections::BTreeMap;

use nicteam_multipath::{IoError, Kind, Request};

/// What is known of a request.
#[derive(Clone, Copy, Debug)]
struct Known {
    request: Request,
    submitted: u64,
    /// When, and whether without error.
    finished: Option<(u64, bool)>,
}

/// All checkers.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    requests: BTreeMap<u64, Known>,
    /// Which request a command is for.
    commands: BTreeMap<u64, u64>,
    /// What the last answer to a read of each request held.
    found: BTreeMap<u64, Vec<Option<u64>>>,
    /// Counts what happens.
    clock: u64,
    /// What was violated.
    pub violations: Vec<String>,
    /// Writes that were executed after their connection was given up.
    pub late: u64,
    /// Commands that reached the target after it had closed their connection.
    pub lost: u64,
    pub failed: u64,
}

impl Checks {
    pub fn submitted(&mut self, request: Request) {
        self.clock += 1;
        self.requests.insert(request.id, Known { request, submitted: self.clock, finished: None });
    }

    /// No command of a request that is finished.
    pub fn sent(&mut self, request: Request, command: u64) {
        if self.requests[&request.id].finished.is_some() {
            self.violations.push(format!("{request:?} is sent after it was finished"));
        }
        self.commands.insert(command, request.id);
    }

    pub fn answered(&mut self, command: u64, found: &[Option<u64>]) {
        if let Some(request) = self.commands.get(&command) {
            self.found.insert(*request, found.to_vec());
        }
    }

    /// A write changes the medium.
    pub fn executed(&mut self, write: Request, medium: &BTreeMap<u64, u64>) {
        self.clock += 1;
        self.not_after_it_was_done(write);
        self.not_over_a_newer_one(write, medium);
    }

    fn not_after_it_was_done(&mut self, write: Request) {
        if let Some((_, true)) = self.requests[&write.id].finished {
            self.violations.push(format!("{write:?} changes the medium after it was done"));
        }
    }

    /// A newer one was submitted when this one was finished, with whatever result.
    fn not_over_a_newer_one(&mut self, write: Request, medium: &BTreeMap<u64, u64>) {
        for block in blocks(write) {
            if let Some(there) = medium.get(&block).filter(|there| self.is_older(write.id, **there)) {
                self.violations.push(format!("{write:?} overwrites the newer {there} in block {block}"));
            }
        }
    }

    pub fn finished(&mut self, id: u64, result: &Result<(), IoError>) {
        self.clock += 1;
        let Some(known) = self.requests.get_mut(&id) else {
            self.violations.push(format!("{id} is finished and was never submitted"));
            return;
        };
        if known.finished.replace((self.clock, result.is_ok())).is_some() {
            self.violations.push(format!("{:?} is finished twice", known.request));
        }
        self.failed += u64::from(result.is_err());
        let request = known.request;
        if request.kind == Kind::Read && result.is_ok() {
            self.read_is_not_stale(request);
        }
    }

    /// What a read found is not older than what was done before the read was submitted.
    fn read_is_not_stale(&mut self, read: Request) {
        let found = self.found.get(&read.id).cloned().unwrap_or_default();
        if found.len() != read.blocks as usize {
            self.violations.push(format!("{read:?} is done and no answer had its data"));
        }
        let since = self.requests[&read.id].submitted;
        for (block, found) in blocks(read).zip(found) {
            let newer = |known: &&Known| {
                let was_done = known.finished.is_some_and(|(at, good)| good && at < since);
                known.request.kind == Kind::Write
                    && was_done
                    && blocks(known.request).contains(&block)
                    && found.is_none_or(|found| self.is_older(found, known.request.id))
            };
            if let Some(newer) = self.requests.values().find(newer) {
                let newer = newer.request;
                self.violations.push(format!("{read:?} finds {found:?} in block {block}, {newer:?} was done before"));
            }
        }
    }

    /// True if a request was finished when another one was submitted.
    fn is_older(&self, id: u64, than: u64) -> bool {
        let finished = self.requests[&id].finished;
        finished.is_some_and(|(at, _)| at < self.requests[&than].submitted)
    }

    /// Requests that are not finished.
    pub fn unfinished(&self) -> usize {
        self.requests.values().filter(|known| known.finished.is_none()).count()
    }

    #[track_caller]
    pub fn hold(&self, trace: &dyn std::fmt::Debug) {
        assert!(self.violations.is_empty(), "{:#?} after {trace:?}", self.violations);
    }
}

fn blocks(request: Request) -> std::ops::Range<u64> {
    request.lba..request.lba + u64::from(request.blocks)
}
