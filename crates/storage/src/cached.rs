//! A volume with the initiator's write-back cache in front of it.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::cache::{Barrier, Cache, Cover, Patch, Run};
use crate::{Buffer, CacheCounts, Done, Error, IoError, Kind, Operation, Volume, Watch, WriteBack};

/// Writes of the cache that are outstanding at a time.
const MOST_RUNS: usize = 16;
/// The longest of them, bytes.
const LONGEST_RUN: usize = 1 << 20;

/// A volume, behind a write-back cache if there is one.
#[derive(Debug)]
pub struct Cached<V> {
    volume: V,
    /// None: the volume itself is asked.
    caching: Option<Caching>,
}

impl<V: Volume> Cached<V> {
    /// With an empty cache, or none.
    pub fn new(volume: V, terms: Option<WriteBack>) -> Cached<V> {
        Cached { volume, caching: terms.map(Caching::new) }
    }

    /// The volume.
    pub fn volume(&self) -> &V {
        &self.volume
    }

    /// The volume, to be asked for all but operations.
    pub fn volume_mut(&mut self) -> &mut V {
        &mut self.volume
    }

    /// What the cache did so far, if there is one.
    pub fn counts(&self) -> Option<CacheCounts> {
        self.caching.as_ref().map(|caching| caching.cache.counts())
    }

    /// Waits until everything in the cache is written, or lost. Operations that are outstanding are given up.
    ///
    /// # Errors
    /// [`Error::Lost`] where something was never written.
    pub fn empty(&mut self) -> Result<(), Error> {
        while let Some(caching) = &mut self.caching
            && !caching.cache.is_clean()
        {
            caching.done.clear();
            self.wait(None, &mut [])?;
        }
        match self.caching.as_mut().and_then(|caching| caching.take_lost()) {
            Some(lost) => Err(lost),
            None => Ok(()),
        }
    }

    /// The volume, without what is still in the cache ([`Cached::empty`]).
    pub fn into_volume(self) -> V {
        self.volume
    }
}

impl<V: Volume> Volume for Cached<V> {
    fn block_bytes(&self) -> u32 {
        self.volume.block_bytes()
    }

    fn bytes(&self) -> u64 {
        self.volume.bytes()
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Error> {
        match &mut self.caching {
            Some(caching) => caching.begin(operation, &mut self.volume),
            None => self.volume.submit(operation),
        }
    }

    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        let Some(caching) = &mut self.caching else { return self.volume.wait(limit, others) };
        let limit = if caching.done.is_empty() { limit } else { Some(Duration::ZERO) };
        self.volume.wait(limit, others)?;
        caching.gather(&mut self.volume)
    }

    fn next_done(&mut self) -> Option<Done> {
        match &mut self.caching {
            Some(caching) => caching.done.pop_front(),
            None => self.volume.next_done(),
        }
    }
}

/// The cache, and what waits for it.
#[derive(Debug)]
struct Caching {
    cache: Cache,
    /// What the volume was asked for, by our numbers.
    asked: BTreeMap<u64, Asked>,
    next: u64,
    /// Writes that wait for room.
    writes: VecDeque<(Operation, Instant)>,
    /// Flushes that wait for what was written before them.
    flushes: VecDeque<(Barrier, Operation, Instant)>,
    runs: usize,
    done: VecDeque<Done>,
    /// Why data could not be written, until a flush has reported it; and the last such reason.
    error: Option<String>,
    lost: Option<String>,
    /// Buffers of runs that are over.
    spare: Vec<Buffer>,
}

/// What the volume was asked for.
#[derive(Debug)]
enum Asked {
    /// To write this of the cache.
    Run(Run),
    /// An operation of the user's, with what is newer in the cache than what a read answers.
    Operation { id: u64, patches: Vec<Patch>, came: Instant },
}

impl Caching {
    fn new(terms: WriteBack) -> Caching {
        Caching {
            cache: Cache::new(terms, LONGEST_RUN),
            asked: BTreeMap::new(),
            next: 0,
            writes: VecDeque::new(),
            flushes: VecDeque::new(),
            runs: 0,
            done: VecDeque::new(),
            error: None,
            lost: None,
            spare: Vec::new(),
        }
    }

    fn begin(&mut self, mut operation: Operation, volume: &mut impl Volume) -> Result<(), Error> {
        operation.check(volume.block_bytes(), volume.bytes())?;
        let came = Instant::now();
        match operation.kind {
            Kind::Write => self.writes.push_back((operation, came)),
            Kind::Flush => self.flushes.push_back((self.cache.barrier(), operation, came)),
            Kind::Read => match self.cache.read(operation.offset, &mut operation.buffer) {
                Cover::Whole => self.done.push_back(done(operation, Ok(()), Duration::ZERO)),
                Cover::Parts(patches) => {
                    let asked = Asked::Operation { id: operation.id, patches, came };
                    self.ask(volume, operation, asked)?;
                }
            },
        }
        self.pump(volume)
    }

    /// Asks the volume for something, by a number of our own.
    fn ask(&mut self, volume: &mut impl Volume, operation: Operation, asked: Asked) -> Result<(), Error> {
        let id = self.next;
        self.next += 1;
        volume.submit(Operation { id, ..operation })?;
        self.asked.insert(id, asked);
        Ok(())
    }

    /// Takes in the writes that there is room for, sends what may be sent, and the flushes that are due.
    fn pump(&mut self, volume: &mut impl Volume) -> Result<(), Error> {
        while let Some((operation, came)) = self.writes.front()
            && self.cache.write(operation.offset, &operation.buffer)
        {
            let took = came.elapsed();
            self.done.extend(self.writes.pop_front().map(|(operation, _)| done(operation, Ok(()), took)));
        }
        while self.runs < MOST_RUNS
            && let Some(run) = self.cache.next_run()
        {
            let spare = self.spare.pop().filter(|spare| spare.len() == run.bytes);
            let mut buffer = spare.unwrap_or_else(|| Buffer::new(run.bytes));
            self.cache.content(run, &mut buffer);
            self.runs += 1;
            let write = Operation { id: 0, kind: Kind::Write, offset: run.offset, buffer };
            self.ask(volume, write, Asked::Run(run))?;
        }
        while self.flushes.front().is_some_and(|(barrier, ..)| self.cache.is_past(*barrier))
            && let Some((_, operation, came)) = self.flushes.pop_front()
        {
            match self.error.take() {
                None => {
                    let asked = Asked::Operation { id: operation.id, patches: Vec::new(), came };
                    self.ask(volume, operation, asked)?;
                }
                Some(reason) => {
                    let error = IoError { what: operation.words(), reason };
                    self.done.push_back(done(operation, Err(error), came.elapsed()));
                }
            }
        }
        Ok(())
    }

    /// Takes in what the volume has done.
    fn gather(&mut self, volume: &mut impl Volume) -> Result<(), Error> {
        while let Some(mut answer) = volume.next_done() {
            match self.asked.remove(&answer.id) {
                Some(Asked::Run(run)) => self.run_done(run, answer),
                Some(Asked::Operation { id, patches, came }) => {
                    for Patch { at, bytes } in patches {
                        answer.buffer[at..at + bytes.len()].copy_from_slice(&bytes);
                    }
                    self.done.push_back(Done { id, took: came.elapsed(), ..answer });
                }
                None => {}
            }
        }
        self.pump(volume)
    }

    fn run_done(&mut self, run: Run, answer: Done) {
        self.runs -= 1;
        self.cache.sent(run, answer.result.is_ok());
        if self.spare.len() < MOST_RUNS {
            self.spare.push(answer.buffer);
        }
        if let Err(error) = answer.result {
            self.error.get_or_insert_with(|| error.reason.clone());
            self.lost = Some(error.reason);
        }
    }

    fn take_lost(&mut self) -> Option<Error> {
        let reason = self.lost.take()?;
        Some(Error::Lost { bytes: self.cache.counts().lost_bytes, reason })
    }
}

fn done(operation: Operation, result: Result<(), IoError>, took: Duration) -> Done {
    Done { id: operation.id, buffer: operation.buffer, result, took }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that does what it is asked for when it is waited for, the last one first.
    #[derive(Debug, Default)]
    struct Memory {
        content: Vec<u8>,
        asked: Vec<Operation>,
        done: VecDeque<Done>,
        fails: bool,
    }

    impl Volume for Memory {
        fn block_bytes(&self) -> u32 {
            512
        }

        fn bytes(&self) -> u64 {
            self.content.len() as u64
        }

        fn submit(&mut self, operation: Operation) -> Result<(), Error> {
            self.asked.push(operation);
            Ok(())
        }

        fn wait(&mut self, _limit: Option<Duration>, _others: &mut [Watch<'_>]) -> Result<(), Error> {
            while let Some(mut operation) = self.asked.pop() {
                let range = operation.offset as usize..operation.offset as usize + operation.buffer.len();
                let mut result = Ok(());
                match operation.kind {
                    Kind::Write if self.fails => {
                        result = Err(IoError { what: operation.words(), reason: "full".to_owned() });
                    }
                    Kind::Write => self.content[range].copy_from_slice(&operation.buffer),
                    Kind::Read => operation.buffer.copy_from_slice(&self.content[range]),
                    Kind::Flush => {}
                }
                self.done.push_back(done(operation, result, Duration::ZERO));
            }
            Ok(())
        }

        fn next_done(&mut self) -> Option<Done> {
            self.done.pop_front()
        }
    }

    fn cached(room_bytes: u64, fails: bool) -> Cached<Memory> {
        let memory = Memory { content: vec![0; 1 << 20], fails, ..Memory::default() };
        Cached::new(memory, Some(WriteBack { bytes: room_bytes }))
    }

    fn operation(id: u64, kind: Kind, offset: u64, bytes: Vec<u8>) -> Operation {
        Operation { id, kind, offset, buffer: Buffer::from(bytes) }
    }

    #[test]
    fn writes_are_done_at_once_and_read_again_and_all_are_there_at_the_end() {
        let mut cached = cached(1 << 20, false);
        for block in 0..64_u64 {
            cached.submit(operation(block, Kind::Write, block * 8192, vec![block as u8 + 1; 8192])).unwrap();
            assert_eq!(cached.next_done().unwrap().id, block);
        }
        // Half in the cache, half behind it.
        cached.submit(operation(100, Kind::Read, 63 * 8192, vec![9; 16_384])).unwrap();
        cached.submit(operation(101, Kind::Flush, 0, Vec::new())).unwrap();
        let mut over = Vec::new();
        while over.len() < 2 {
            cached.wait(None, &mut []).unwrap();
            over.extend(std::iter::from_fn(|| cached.next_done()));
        }
        let read = over.iter().find(|done| done.id == 100).unwrap();
        assert!(
            read.buffer[..8192].iter().all(|byte| *byte == 64) && read.buffer[8192..].iter().all(|byte| *byte == 0)
        );
        assert!(over.iter().all(|done| done.result.is_ok()));
        cached.empty().unwrap();
        let memory = cached.into_volume();
        assert!(
            (0..64).all(|block| memory.content[block * 8192..(block + 1) * 8192].iter().all(|b| *b == block as u8 + 1))
        );
    }

    #[test]
    fn a_write_that_finds_no_room_waits() {
        let mut cached = cached(128 << 10, false);
        for block in 0..32_u64 {
            cached.submit(operation(block, Kind::Write, block * 16_384, vec![7; 16_384])).unwrap();
        }
        let at_once = std::iter::from_fn(|| cached.next_done()).count();
        assert!(at_once < 32, "{at_once}");
        let mut later = 0;
        while at_once + later < 32 {
            cached.wait(None, &mut []).unwrap();
            later += std::iter::from_fn(|| cached.next_done()).count();
        }
        cached.empty().unwrap();
        assert!(cached.into_volume().content[..32 * 16_384].iter().all(|byte| *byte == 7));
    }

    #[test]
    fn what_could_not_be_written_is_told_by_the_flush_and_at_the_end() {
        let mut cached = cached(1 << 20, true);
        cached.submit(operation(0, Kind::Write, 0, vec![1; 512])).unwrap();
        assert!(cached.next_done().unwrap().result.is_ok());
        cached.submit(operation(1, Kind::Flush, 0, Vec::new())).unwrap();
        cached.wait(None, &mut []).unwrap();
        assert!(cached.next_done().unwrap().result.unwrap_err().to_string().contains("full"));
        assert!(matches!(cached.empty(), Err(Error::Lost { bytes: 512, .. })));
    }
}
