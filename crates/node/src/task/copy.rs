//! `copy`: a file from memory to a target's disk, or back, once. Its content is known, and checked to the last byte.
//!
//! What is sent is [`Pattern`]'s content, made as it is sent; the target's host then sums up what it has. What is received
//! is kept in memory, and compared with what the target's host was given, and its sum with that of the target's file.

use std::time::{Duration, Instant};

use nicteam_experiment::{Copy as Spec, Storage};
use nicteam_record::{Connection, Transfer};
use nicteam_storage::{Buffer, Done, Kind as Does, Operation, Pattern};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::kind::{self, Kind};
use super::storage::{self, Course, Job, Measured, Medium, Stalls, Use};
use crate::content;
use crate::error::Failure;
use crate::hexadecimal::hexadecimal;
use crate::protocol::{ConnectionSpec, Outcomes, TaskSample};

/// How long the copy waits before it looks whether the run is over.
const LOOK: Duration = Duration::from_millis(50);

/// The kind.
#[derive(Debug)]
pub(super) struct Copy;

impl Kind for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(storage::Ends::new(read))
    }

    /// Its connections are found, not planned: [`crate::flows`].
    fn figures(
        &self,
        _spec: &ConnectionSpec,
        _counted: &nicteam_record::measure::Counted<'_>,
        _connection: &mut Connection,
    ) {
    }
}

fn read(spec: &ConnectionSpec) -> Result<(Storage, Box<dyn Job>), Failure> {
    let Spec { storage, overwrite } = Spec::deserialize(&spec.each).map_err(|error| format!("no copy: {error}"))?;
    let (place, sends) = (u64::from(spec.place), spec.client_sends);
    let file = File::new(&storage, place * storage.file_bytes, sends, overwrite);
    Ok((storage.clone(), Box::new(Copying { storage, overwrite, sends, file, transfer: Transfer::default() })))
}

/// A file that is copied.
struct Copying {
    storage: Storage,
    overwrite: bool,
    sends: bool,
    file: File,
    transfer: Transfer,
}

/// The file: what of it is under way, and what is done.
struct File {
    pattern: Pattern,
    /// Where it begins on the disk, bytes.
    from: u64,
    bytes: u64,
    block_bytes: u64,
    /// The next block that nobody asked for.
    next: u64,
    done_bytes: u64,
    /// What was received, by block; memory that was there before is in its place.
    memory: Vec<Buffer>,
}

impl File {
    fn new(storage: &Storage, from: u64, sends: bool, overwrite: bool) -> File {
        let (bytes, block_bytes) = (storage.file_bytes, storage.block_bytes);
        let blocks = if sends { 0 } else { bytes.div_ceil(block_bytes) };
        // Memory that was written is there; memory that is there for the first time, the kernel has to find.
        let memory = |block| {
            let length = block_bytes.min(bytes - block * block_bytes) as usize;
            if overwrite { Buffer::from(vec![1; length]) } else { Buffer::default() }
        };
        let memory = (0..blocks).map(memory).collect();
        File { pattern: Pattern::new(storage.seed), from, bytes, block_bytes, next: 0, done_bytes: 0, memory }
    }

    fn blocks(&self) -> u64 {
        self.bytes.div_ceil(self.block_bytes)
    }

    /// Where a block begins in the file, and how long it is, bytes.
    fn place(&self, block: u64) -> (u64, usize) {
        let offset = block * self.block_bytes;
        (offset, self.block_bytes.min(self.bytes - offset) as usize)
    }

    /// The next request, with a buffer that may be used again.
    fn ask(&mut self, sends: bool, buffer: Option<Buffer>) -> Option<Operation> {
        let block = self.next;
        if block == self.blocks() {
            return None;
        }
        self.next += 1;
        let (offset, length) = self.place(block);
        let offset = self.from + offset;
        let buffer = if sends {
            let mut buffer = buffer.filter(|buffer| buffer.len() == length).unwrap_or_else(|| Buffer::new(length));
            self.pattern.fill(offset, content::COPIED, &mut buffer);
            buffer
        } else {
            let known = std::mem::take(&mut self.memory[block as usize]);
            if known.len() == length { known } else { Buffer::new(length) }
        };
        let kind = if sends { Does::Write } else { Does::Read };
        Some(Operation { id: block, kind, offset, buffer })
    }

    /// Takes in what was done; the buffer, if it may be used again.
    fn done(&mut self, sends: bool, done: Done) -> Result<Option<Buffer>, String> {
        done.result.map_err(|error| error.to_string())?;
        self.done_bytes += done.buffer.len() as u64;
        if sends {
            return Ok(Some(done.buffer));
        }
        self.memory[done.id as usize] = done.buffer;
        Ok(None)
    }

    /// Compares what was received with what it has to be.
    fn verify(&self) -> Result<(), nicteam_storage::pattern::WrongByte> {
        let blocks = (0..).zip(&self.memory);
        blocks.into_iter().try_for_each(|(block, buffer)| {
            self.pattern.verify(self.from + block * self.block_bytes, content::COPIED, buffer)
        })
    }

    /// The sum of the whole file: of what was received, or of what was to be sent.
    fn sum(&self, sends: bool) -> String {
        if sends {
            return content::sum(&self.pattern, self.from, self.bytes);
        }
        let mut sum = Sha256::new();
        self.memory.iter().for_each(|buffer| sum.update(&**buffer));
        hexadecimal(&sum.finalize())
    }
}

impl Job for Copying {
    fn run(&mut self, medium: &mut dyn Medium, course: &Course) -> Outcomes {
        let mut outcomes = Outcomes::default();
        self.tell(course, None);
        let Some(window) = course.wait_for_window() else { return outcomes };
        let before = medium.counters();
        self.copy(medium, course, window);
        let after = medium.counters();
        let used = Use { index: course.index(), storage: &self.storage, counters: [&before, &after] };
        outcomes.disks.extend(used.disk());
        let Storage { block_bytes, cache_bytes, .. } = &self.storage;
        self.transfer = Transfer {
            index: course.index(),
            bytes: self.file.done_bytes,
            block_bytes: Some(*block_bytes),
            cache: if cache_bytes.is_some() { "write-back".to_owned() } else { String::new() },
            overwrite: self.overwrite,
            ..std::mem::take(&mut self.transfer)
        };
        // One that the run's end cut off has not ended by itself.
        let ended_ms = window.from.elapsed().as_secs_f64() * 1e3;
        self.tell(course, Some(ended_ms).filter(|_| !course.is_stopped()));
        outcomes
    }

    /// Compares and sums up, when nobody waits for the processor any more.
    fn finish(&mut self, outcomes: &mut Outcomes) {
        let transfer = &mut self.transfer;
        if transfer.took_ms.is_some() {
            let sum = self.file.sum(self.sends);
            if self.sends {
                transfer.sent_sha256 = Some(sum);
            } else {
                transfer.received_sha256 = Some(sum);
                match self.file.verify() {
                    Ok(()) => transfer.verified_bytes = self.file.done_bytes,
                    Err(wrong) => {
                        transfer.wrong_at = Some(wrong.offset - self.file.from);
                        transfer.error = Some(wrong.to_string());
                    }
                }
            }
        }
        outcomes.transfers.push(std::mem::take(transfer));
    }
}

impl Copying {
    /// Copies until all is done, something fails, or the run is over.
    fn copy(&mut self, medium: &mut dyn Medium, course: &Course, window: Measured) {
        let begun = Instant::now();
        let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
        let mut stalls = Stalls::new(window.from);
        let copied = self.carry(medium, course, &mut stalls);
        self.transfer.stall = stalls.until(Instant::now());
        let end = match copied {
            Ok(true) => {
                self.transfer.program_ms = Some(milliseconds(begun));
                if self.sends { flush(medium, course) } else { Ok(true) }
            }
            other => other,
        };
        match end {
            Ok(true) => self.transfer.took_ms = Some(milliseconds(begun)),
            Ok(false) => self.transfer.error = Some(self.unfinished()),
            Err(error) => self.transfer.error = Some(error),
        }
    }

    /// Asks for all, as many requests at once as there may be; false: the run is over before.
    fn carry(&mut self, medium: &mut dyn Medium, course: &Course, stalls: &mut Stalls) -> Result<bool, String> {
        let words = |error: nicteam_storage::Error| error.to_string();
        let mut outstanding = 0;
        while outstanding < self.storage.outstanding {
            let Some(operation) = self.file.ask(self.sends, None) else { break };
            medium.volume().submit(operation).map_err(words)?;
            outstanding += 1;
        }
        while outstanding > 0 {
            if course.is_stopped() {
                return Ok(false);
            }
            medium.volume().wait(Some(LOOK), &mut []).map_err(words)?;
            while let Some(done) = medium.volume().next_done() {
                stalls.answered(Instant::now());
                let buffer = self.file.done(self.sends, done)?;
                match self.file.ask(self.sends, buffer) {
                    Some(operation) => medium.volume().submit(operation).map_err(words)?,
                    None => outstanding -= 1,
                }
            }
            self.tell(course, None);
            course.look_at(medium);
        }
        Ok(true)
    }

    fn unfinished(&self) -> String {
        let (done, all) = (self.file.done_bytes as f64 / 1e6, self.file.bytes as f64 / 1e6);
        format!("not finished within the run: {done:.0} of {all:.0} MB; hint: raise `duration`, or lower `file_size`")
    }

    fn tell(&self, course: &Course, ended_ms: Option<f64>) {
        let (done_bytes, all_bytes) = (self.file.done_bytes, self.file.bytes);
        course.tell(TaskSample { done_bytes, all_bytes, ended_ms, ..TaskSample::default() });
    }
}

/// Waits until the target has all that was written; false: the run is over before.
fn flush(medium: &mut dyn Medium, course: &Course) -> Result<bool, String> {
    let words = |error: nicteam_storage::Error| error.to_string();
    let operation = Operation { id: u64::MAX, kind: Does::Flush, offset: 0, buffer: Buffer::default() };
    medium.volume().submit(operation).map_err(words)?;
    while !course.is_stopped() {
        medium.volume().wait(Some(LOOK), &mut []).map_err(words)?;
        if let Some(done) = medium.volume().next_done() {
            return done.result.map(|()| true).map_err(|error| error.to_string());
        }
        course.look_at(medium);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn storage() -> Storage {
        let storage = serde_json::json!({
            "target": "disk", "access": { "iscsi": { "port": 3260, "target": "iqn", "lun": 1 } }, "every_path": false,
            "policy": "round-robin", "iops": 1, "no_path_ms": null, "block_bytes": 4096, "outstanding": 2, "file_bytes": 10240,
            "cache_bytes": null, "congestion": "cubic", "seed": 3,
        });
        serde_json::from_value(storage).unwrap()
    }

    fn file(sends: bool, overwrite: bool) -> File {
        File::new(&storage(), 1 << 20, sends, overwrite)
    }

    /// What a disk does that holds the content.
    fn serve(file: &mut File, spoil: Option<u64>) -> Result<(), String> {
        let pattern = Pattern::new(3);
        while let Some(mut operation) = file.ask(false, None) {
            pattern.fill(operation.offset, content::COPIED, &mut operation.buffer);
            if spoil == Some(operation.id) {
                operation.buffer[100] ^= 1;
            }
            let Operation { id, buffer, .. } = operation;
            file.done(false, Done { id, buffer, result: Ok(()), took: Duration::ZERO })?;
        }
        Ok(())
    }

    #[test]
    fn what_is_received_is_compared_and_has_the_sum_of_what_was_sent() {
        for overwrite in [false, true] {
            let mut received = file(false, overwrite);
            serve(&mut received, None).unwrap();
            assert_eq!((received.done_bytes, received.verify()), (10_240, Ok(())));
            assert_eq!(received.sum(false), file(true, false).sum(true));
        }
    }

    #[test]
    fn one_wrong_byte_is_found() {
        let mut received = file(false, false);
        serve(&mut received, Some(1)).unwrap();
        assert_eq!(received.verify().unwrap_err().offset, (1 << 20) + 4096 + 100);
        assert_ne!(received.sum(false), file(true, false).sum(true));
    }

    #[test]
    fn a_wrong_byte_is_told_with_its_place_in_the_file() {
        for (spoil, wrong_at) in [(None, None), (Some(1), Some(4096 + 100))] {
            let mut file = file(false, false);
            serve(&mut file, spoil).unwrap();
            let transfer = Transfer { bytes: file.bytes, took_ms: Some(1.0), ..Transfer::default() };
            let mut copying = Copying { storage: storage(), overwrite: false, sends: false, file, transfer };
            let mut outcomes = Outcomes::default();
            copying.finish(&mut outcomes);
            let [transfer] = &outcomes.transfers[..] else { panic!("{outcomes:?}") };
            assert_eq!((transfer.wrong_at, transfer.error.is_some()), (wrong_at, wrong_at.is_some()));
            assert_eq!(transfer.verified_bytes, if wrong_at.is_some() { 0 } else { 10_240 });
            assert!(transfer.received_sha256.is_some());
        }
    }

    #[test]
    fn a_file_is_asked_for_once_its_last_block_is_shorter() {
        let mut sent = file(true, false);
        let mut asked = Vec::new();
        let mut buffer = None;
        while let Some(operation) = sent.ask(true, buffer.take()) {
            asked.push((operation.offset - (1 << 20), operation.buffer.len()));
            buffer = Some(operation.buffer);
        }
        assert_eq!(asked, [(0, 4096), (4096, 4096), (8192, 2048)]);
    }
}
