//! Flows of a text, read by several threads, each of which keeps sums alone.
//!
//! One thread cuts the text into blocks of whole lines. Memory is bounded: so many blocks are under way, and each thread has its
//! sums.

use std::io::Read;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use nicteam_predict::advise::Traffic;
use nicteam_predict::flow_lines::{FlowError, LONGEST_LINE, Part};

/// Bytes of a block, about.
const BLOCK: usize = 1 << 20;
/// More threads would wait for the one that reads.
const MOST_THREADS: usize = 8;

/// Whole lines, and the number of the first of them.
struct Block {
    lines: Vec<u8>,
    first: u64,
}

/// The traffic of a text, for a team of so many members; none of a text without a flow.
///
/// # Errors
///
/// The first line that is no flow, or the text cannot be read.
pub(super) fn read(text: impl Read, members: u32) -> Result<Option<Traffic>, FlowError> {
    let mut blocks = Blocks { text, rest: Vec::new(), next: 1 };
    // Lines before the first flow are comments: they are left behind.
    let (first, has_macs) = loop {
        let Some(block) = blocks.next()? else { return Ok(None) };
        if let Some(has_macs) = block.part().has_macs()? {
            break (block, has_macs);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let (to, from) = sync_channel(threads);
    let from = Mutex::new(from);
    let is_over = AtomicBool::new(false);
    let parts = thread::scope(|scope| {
        let add = || add(&from, Traffic::new(members, has_macs), &is_over);
        let adding: Vec<_> = (0..threads).map(|_| scope.spawn(add)).collect();
        let read = hand_out(first, &mut blocks, &to, &is_over);
        drop(to);
        let mut parts: Vec<Result<Traffic, FlowError>> = adding.into_iter().map(joined).collect();
        parts.extend(read.err().map(Err));
        parts
    });
    let mut all = Traffic::new(members, has_macs);
    let mut wrong: Vec<FlowError> = Vec::new();
    for part in parts {
        match part {
            Ok(part) => all.join(&part),
            Err(error) => wrong.push(error),
        }
    }
    // Several threads may each have found a line: the first is told.
    match wrong.into_iter().min_by_key(FlowError::line) {
        Some(error) => Err(error),
        None => Ok(Some(all)),
    }
}

/// A thread that panicked panics here, too.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn hand_out(
    first: Block,
    blocks: &mut Blocks<impl Read>,
    to: &SyncSender<Block>,
    is_over: &AtomicBool,
) -> Result<(), FlowError> {
    let mut block = Some(first);
    while let Some(lines) = block.filter(|_| !is_over.load(Ordering::Relaxed)) {
        // Nobody takes it once all threads have ended.
        if to.send(lines).is_err() {
            break;
        }
        block = blocks.next()?;
    }
    Ok(())
}

/// Adds block after block.
fn add(from: &Mutex<Receiver<Block>>, mut traffic: Traffic, is_over: &AtomicBool) -> Result<Traffic, FlowError> {
    loop {
        let taken = from.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(block) = taken else { return Ok(traffic) };
        let added = block.part().for_each(|frame, bytes| traffic.add(frame, bytes));
        if let Err(error) = added {
            is_over.store(true, Ordering::Relaxed);
            // Later blocks are taken and left, or the reader would wait for room.
            while from.lock().unwrap_or_else(PoisonError::into_inner).recv().is_ok() {}
            return Err(error);
        }
    }
}

impl Block {
    fn part(&self) -> Part<'_> {
        Part { text: &self.lines, first: self.first }
    }
}

/// A text, block by block.
struct Blocks<R> {
    text: R,
    /// The beginning of a line that the last block does not have.
    rest: Vec<u8>,
    next: u64,
}

impl<R: Read> Blocks<R> {
    fn next(&mut self) -> Result<Option<Block>, FlowError> {
        let mut lines = Vec::with_capacity(BLOCK + LONGEST_LINE);
        lines.append(&mut self.rest);
        let read = self.text.by_ref().take(BLOCK as u64).read_to_end(&mut lines).map_err(FlowError::Read)?;
        if read > 0 {
            let whole = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            self.rest = lines.split_off(whole);
        }
        let first = self.next;
        self.next += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        if self.rest.len() > LONGEST_LINE {
            let why = format!("it has more than {LONGEST_LINE} bytes");
            return Err(FlowError::Line { number: self.next, why });
        }
        Ok((read > 0 || !lines.is_empty()).then_some(Block { lines, first }))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A reader that gives what it wants, as a pipe does.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(to.len());
            let (now, later) = self.0.split_at(count);
            to[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn lines(count: u32) -> String {
        let line = |number: u32| {
            let (host, port) = (number % 250, 1024 + number % 50_000);
            format!("10.0.0.{host},10.1.0.7,{port},443,tcp,{}\n", 1 + number % 9000)
        };
        (0..count).map(line).collect()
    }

    #[test]
    fn blocks_and_threads_change_nothing() {
        // Three blocks, the last of which ends without a newline.
        let text = lines(60_000);
        let text = text.trim_end().as_bytes();
        assert!(text.len() > 2 * BLOCK);
        let mut whole = Traffic::new(4, false);
        Part { text, first: 1 }.for_each(|frame, bytes| whole.add(frame, bytes)).unwrap();
        let read = read(Pieces(text, 7777), 4).unwrap().unwrap();
        assert_eq!((read.total(), read.ranked()), (whole.total(), whole.ranked()));
    }

    #[test]
    fn the_first_wrong_line_is_named_wherever_it_is() {
        for wrong in [2, 59_000] {
            let mut text: Vec<String> = lines(60_000).lines().map(str::to_owned).collect();
            text[wrong - 1] = "moon".to_owned();
            text[59_500] = "sun".to_owned();
            let error = read(text.join("\n").as_bytes(), 4).unwrap_err();
            assert_eq!(error.line(), Some(wrong as u64), "{error}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let text = vec![b'1'; 3 * BLOCK];
        let error = read(&text[..], 2).unwrap_err().to_string();
        assert!(error.starts_with("line 1: it has more than"), "{error}");
        assert!(read(&b"# nothing\n"[..], 2).unwrap().is_none());
    }
}
