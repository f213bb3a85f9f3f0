//! A volume in memory, answered out of order.

use std::collections::VecDeque;
use std::time::Duration;

use nicteam_storage::{Done, Error, IoError, Kind, Operation, Volume, Watch};
use nix::poll::{PollFd, PollTimeout};

/// A volume in memory. What is outstanding is answered in reverse order, when somebody waits.
pub struct Memory {
    pub content: Vec<u8>,
    outstanding: Vec<Operation>,
    done: VecDeque<Done>,
    pub flushes: usize,
    pub most_outstanding: usize,
    /// Operations that touch this offset fail.
    pub broken_at: Option<u64>,
    /// So many flushes fail, the next ones.
    pub failing_flushes: usize,
    /// What is outstanding stays so.
    pub is_stuck: bool,
}

impl Memory {
    pub fn new(bytes: usize) -> Memory {
        Memory {
            content: vec![0; bytes],
            outstanding: Vec::new(),
            done: VecDeque::new(),
            flushes: 0,
            most_outstanding: 0,
            broken_at: None,
            failing_flushes: 0,
            is_stuck: false,
        }
    }

    fn execute(&mut self, operation: Operation) {
        let Operation { id, kind, offset, mut buffer } = operation;
        let range = offset as usize..offset as usize + buffer.len();
        let fails = kind == Kind::Flush && self.failing_flushes > 0;
        self.failing_flushes -= usize::from(fails);
        let is_broken = fails || self.broken_at.is_some_and(|at| range.contains(&(at as usize)));
        match kind {
            Kind::Read => buffer.copy_from_slice(&self.content[range]),
            Kind::Write if !is_broken => self.content[range].copy_from_slice(&buffer),
            Kind::Write => {}
            Kind::Flush => self.flushes += 1,
        }
        let error = IoError { what: "it".to_owned(), reason: "is broken".to_owned() };
        let result = if is_broken { Err(error) } else { Ok(()) };
        self.done.push_back(Done { id, buffer, result, took: Duration::ZERO });
    }
}

impl Volume for Memory {
    fn block_bytes(&self) -> u32 {
        512
    }

    fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Error> {
        operation.check(self.block_bytes(), self.bytes())?;
        self.outstanding.push(operation);
        self.most_outstanding = self.most_outstanding.max(self.outstanding.len());
        Ok(())
    }

    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        while !self.is_stuck
            && let Some(operation) = self.outstanding.pop()
        {
            self.execute(operation);
        }
        let limit = if self.done.is_empty() { limit } else { Some(Duration::ZERO) };
        let mut fds: Vec<PollFd<'_>> = others.iter().map(|watch| PollFd::new(watch.fd, watch.wants)).collect();
        let timeout = limit.map_or(PollTimeout::NONE, |limit| PollTimeout::try_from(limit).unwrap());
        nix::poll::poll(&mut fds, timeout).unwrap();
        let found: Vec<_> = fds.iter().map(|fd| fd.revents().unwrap()).collect();
        others.iter_mut().zip(found).for_each(|(watch, found)| watch.found = found);
        Ok(())
    }

    fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }
}
