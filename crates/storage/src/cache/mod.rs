//! The initiator's write-back cache: a write is done when it is in memory, and is sent in the background.
//!
//! No I/O and no clock. The owner gives writes to [`Cache::write`], sends what [`Cache::next_run`] hands out, and
//! says by [`Cache::sent`] how that ended. Runs leave in order of offsets, go on where the last one ended and begin
//! again at the lowest offset (an elevator); neighbours are merged. A place that is on its way is not sent again
//! before its answer is there, or the older content could arrive last.

mod chunk;

use std::collections::{BTreeMap, VecDeque};

use chunk::{CHUNK, Chunk};

/// How large the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBack {
    /// Memory for content that the target does not have yet, bytes. A write that finds no room waits.
    pub bytes: u64,
}

/// What the program saw beside what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Bytes of writes that were taken into memory: what the program saw written.
    pub written_bytes: u64,
    /// Bytes that the target has taken.
    pub sent_bytes: u64,
    /// Writes that the target was sent for them.
    pub sent_runs: u64,
    /// Bytes that the target could not be given: lost.
    pub lost_bytes: u64,
    /// Bytes of reads that came from memory.
    pub read_bytes: u64,
    /// Writes that had to wait for room.
    pub waits: u64,
    /// Bytes of memory in use.
    pub used_bytes: u64,
    /// The most that were.
    pub most_used_bytes: u64,
}

/// Content that the target does not have yet.
#[derive(Debug)]
pub struct Cache {
    room_chunks: usize,
    longest_run: usize,
    /// Content that was not sent yet, by the number of its chunk.
    dirty: BTreeMap<u64, Chunk>,
    /// Content on its way.
    sending: BTreeMap<u64, Sending>,
    /// Runs of `sending` that were not handed out yet.
    ready: VecDeque<Run>,
    /// Where the elevator stands: the number of a chunk.
    position: u64,
    epoch: u64,
    /// How many chunks of each epoch the target does not have.
    of_epoch: BTreeMap<u64, usize>,
    counts: CacheCounts,
}

/// A contiguous range to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it begins, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub bytes: usize,
}

/// Everything that was written before it was made ([`Cache::barrier`], [`Cache::is_past`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier(u64);

/// A piece of a read that came from memory: what stands in the buffer from this place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Place in the read's buffer, bytes.
    pub at: usize,
    /// The content.
    pub bytes: Vec<u8>,
}

/// How much of a read the cache has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cover {
    /// All: the buffer is filled.
    Whole,
    /// These pieces, to be laid over what the disk answers; none of it if there are none.
    Parts(Vec<Patch>),
}

#[derive(Debug)]
struct Sending {
    chunk: Chunk,
    /// Runs that have a part of it and are not answered.
    runs: usize,
}

impl Cache {
    /// Empty; hands out runs of at most so many bytes.
    pub fn new(terms: WriteBack, longest_run: usize) -> Cache {
        Cache {
            room_chunks: (terms.bytes / CHUNK as u64).max(1) as usize,
            longest_run: longest_run.max(CHUNK) / CHUNK * CHUNK,
            dirty: BTreeMap::new(),
            sending: BTreeMap::new(),
            ready: VecDeque::new(),
            position: 0,
            epoch: 0,
            of_epoch: BTreeMap::new(),
            counts: CacheCounts::default(),
        }
    }

    /// Takes a write in, in multiples of 512 bytes; false if there is no room. An empty cache takes any.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let numbers = offset / CHUNK as u64..(offset + bytes.len() as u64).div_ceil(CHUNK as u64);
        let more = numbers.clone().filter(|number| !self.dirty.contains_key(number)).count();
        let used = self.used_chunks();
        if used > 0 && used + more > self.room_chunks {
            self.counts.waits += 1;
            return false;
        }
        let mut rest = bytes;
        for number in numbers {
            let start = number * CHUNK as u64;
            let from = (offset.max(start) - start) as usize;
            let (part, others) = rest.split_at(rest.len().min(CHUNK - from));
            let epoch = self.epoch;
            let chunk = self.dirty.entry(number).or_insert_with(|| {
                *self.of_epoch.entry(epoch).or_default() += 1;
                Chunk::new(epoch)
            });
            chunk.write(from, part);
            rest = others;
        }
        self.counts.written_bytes += bytes.len() as u64;
        self.counts.most_used_bytes = self.counts.most_used_bytes.max((self.used_chunks() * CHUNK) as u64);
        true
    }

    /// Fills a read's buffer, if all of it is in memory. What is in memory now is at least as new as what the disk
    /// answers to a read that is sent now, so that parts are laid over that answer.
    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Cover {
        let mut patches: Vec<Patch> = Vec::new();
        let numbers = offset / CHUNK as u64..(offset + buffer.len() as u64).div_ceil(CHUNK as u64);
        let end = offset + buffer.len() as u64;
        let mut covered = 0;
        for number in numbers {
            let start = number * CHUNK as u64;
            let within = (offset.max(start) - start) as usize..(end.min(start + CHUNK as u64) - start) as usize;
            let older = self.sending.get(&number).map(|sending| &sending.chunk);
            let newer = self.dirty.get(&number);
            let either = older.map_or(0, Chunk::sectors) | newer.map_or(0, Chunk::sectors);
            for range in chunk::ranges(either, within.clone()) {
                covered += range.len();
                let at = (start + range.start as u64 - offset) as usize;
                let mut bytes = vec![0; range.len()];
                for chunk in [older, newer].into_iter().flatten() {
                    chunk.read(range.clone(), &mut bytes);
                }
                patches.push(Patch { at, bytes });
            }
        }
        self.counts.read_bytes += covered as u64;
        if covered < buffer.len() {
            return Cover::Parts(patches);
        }
        patches.iter().for_each(|patch| buffer[patch.at..patch.at + patch.bytes.len()].copy_from_slice(&patch.bytes));
        Cover::Whole
    }

    /// The next range to be written, if there is one that may be.
    pub fn next_run(&mut self) -> Option<Run> {
        if self.ready.is_empty() {
            self.gather();
        }
        self.ready.pop_front()
    }

    /// Fills a buffer with the content of a run that is on its way.
    pub fn content(&self, run: Run, buffer: &mut [u8]) {
        for (number, within) in run.chunks() {
            if let Some(sending) = self.sending.get(&number) {
                let at = (number * CHUNK as u64 + within.start as u64 - run.offset) as usize;
                sending.chunk.read(within.clone(), &mut buffer[at..at + within.len()]);
            }
        }
    }

    /// The target has taken a run, or cannot: then its content is lost.
    pub fn sent(&mut self, run: Run, is_taken: bool) {
        self.counts.sent_runs += 1;
        let counter = if is_taken { &mut self.counts.sent_bytes } else { &mut self.counts.lost_bytes };
        *counter += run.bytes as u64;
        for (number, _) in run.chunks() {
            let Some(sending) = self.sending.get_mut(&number) else { continue };
            sending.runs -= 1;
            if sending.runs == 0 {
                let epoch = sending.chunk.epoch();
                self.sending.remove(&number);
                self.forget(epoch);
            }
        }
    }

    /// A mark behind all that was written so far.
    pub fn barrier(&mut self) -> Barrier {
        self.epoch += 1;
        Barrier(self.epoch - 1)
    }

    /// The target has been given all that was written before the mark.
    pub fn is_past(&self, barrier: Barrier) -> bool {
        self.of_epoch.first_key_value().is_none_or(|(oldest, _)| *oldest > barrier.0)
    }

    /// Nothing is left to send.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.sending.is_empty()
    }

    /// What happened so far.
    pub fn counts(&self) -> CacheCounts {
        CacheCounts { used_bytes: (self.used_chunks() * CHUNK) as u64, ..self.counts }
    }

    fn used_chunks(&self) -> usize {
        self.dirty.len() + self.sending.len()
    }

    /// Moves the next neighbouring chunks from `dirty` to `sending`, and makes runs of them.
    fn gather(&mut self) {
        let may = |number: &&u64| !self.sending.contains_key(*number);
        let next = |from: u64| self.dirty.range(from..).map(|(number, _)| number).find(may).copied();
        let Some(first) = next(self.position).or_else(|| next(0)) else { return };
        let mut run: Option<Run> = None;
        for number in first..first + (self.longest_run / CHUNK) as u64 {
            if self.sending.contains_key(&number) {
                break;
            }
            let Some(chunk) = self.dirty.remove(&number) else { break };
            self.position = number + 1;
            let mut runs = 0;
            for range in chunk::ranges(chunk.sectors(), 0..CHUNK) {
                runs += 1;
                let offset = number * CHUNK as u64 + range.start as u64;
                match &mut run {
                    Some(run) if run.offset + run.bytes as u64 == offset => run.bytes += range.len(),
                    _ => self.ready.extend(run.replace(Run { offset, bytes: range.len() })),
                }
            }
            self.sending.insert(number, Sending { chunk, runs });
        }
        self.ready.extend(run);
    }

    fn forget(&mut self, epoch: u64) {
        if let Some(chunks) = self.of_epoch.get_mut(&epoch) {
            *chunks -= 1;
            if *chunks == 0 {
                self.of_epoch.remove(&epoch);
            }
        }
    }
}

impl Run {
    /// The chunks that it has a part of, and which part.
    fn chunks(self) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
        let end = self.offset + self.bytes as u64;
        let numbers = self.offset / CHUNK as u64..end.div_ceil(CHUNK as u64);
        numbers.map(move |number| {
            let start = number * CHUNK as u64;
            let within = self.offset.max(start) - start..end.min(start + CHUNK as u64) - start;
            (number, within.start as usize..within.end as usize)
        })
    }
}

#[cfg(test)]
mod tests;
