//! What a team was told lately, in a bounded number of bytes.
//!
//! Entries are collected in blocks ([`super::file`]), blocks in segments. When all are as many bytes as they may be, the eldest
//! segment is forgotten. A segment is read without those before it, and begins with the team's beginning or with its state.

use std::collections::VecDeque;
use std::sync::Arc;

use nicteam_machine::Time;
use nicteam_machine::bytes::{put_bytes, put_number, put_step};

use super::delta::Slots;
use super::file;
use super::file::Kind;

/// A block is written when it has so many bytes.
const BLOCK: usize = 16 << 10;
/// Segments that a full ring has, one more or less.
const SEGMENTS: usize = 8;

/// Entries of a team, the eldest forgotten.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    segments: VecDeque<Segment>,
    /// Entries that are in no block yet.
    open: Vec<u8>,
    slots: Slots,
    /// The number of the next entry.
    next: u64,
    /// When the last entry was.
    last: Time,
    /// Of all segments.
    bytes: usize,
    limit: usize,
}

/// Blocks that are read without those before them.
#[derive(Clone, Debug, Default)]
struct Segment {
    /// The number of its first entry.
    first: u64,
    blocks: Vec<Arc<[u8]>>,
    bytes: usize,
    /// Bytes among them of the state that it begins with.
    state: usize,
}

impl Ring {
    /// Without entries. It takes memory for those that it has, at most so many bytes for them, and few more.
    pub(super) fn new(limit: usize) -> Ring {
        Ring {
            segments: VecDeque::from([Segment::default()]),
            open: Vec::new(),
            slots: Slots::new(),
            next: 0,
            last: Time::ZERO,
            bytes: 0,
            limit,
        }
    }

    /// When the last entry was.
    pub(super) fn last(&self) -> Time {
        self.last
    }

    /// Bytes of its entries, and how many there were, forgotten ones included.
    pub(super) fn size(&self) -> (usize, u64) {
        (self.bytes + self.open.len(), self.next)
    }

    /// An entry, which is written as what differs from the last one of its slot.
    pub(super) fn enter(&mut self, slot: usize, entry: &[u8], now: Time) {
        if self.open.is_empty() {
            put_number(&mut self.open, self.next);
            put_number(&mut self.open, now.as_nanos());
            self.last = now;
        }
        put_number(&mut self.open, slot as u64);
        put_step(&mut self.open, self.last, now);
        self.slots.put(&mut self.open, slot, entry);
        (self.last, self.next) = (now, self.next + 1);
        if self.open.len() >= BLOCK {
            self.close();
        }
    }

    /// True if the next entry is to be the first of a segment: [`Ring::begin_segment`] is to be called before.
    pub(super) fn wants_segment(&self) -> bool {
        // A large state is followed by at least as many bytes of entries.
        let is_full = |of: &Segment| of.bytes - of.state >= of.state.max(self.limit / SEGMENTS);
        self.segments.back().is_some_and(is_full)
    }

    /// What follows is read without what was before, from this state of the team on.
    pub(super) fn begin_segment(&mut self, state: &[u8]) {
        self.close();
        self.slots = Slots::new();
        self.segments.push_back(Segment { first: self.next, ..Segment::default() });
        let mut start = Vec::new();
        put_number(&mut start, self.next);
        put_bytes(&mut start, state);
        let block = file::block(Kind::Segment, &start);
        self.add(&block);
        if let Some(segment) = self.segments.back_mut() {
            segment.state = block.len();
        }
        while self.bytes > self.limit && self.segments.len() > 1 {
            let eldest = self.segments.pop_front().unwrap_or_default();
            self.bytes -= eldest.bytes;
        }
    }

    /// The blocks of a file, the last one included.
    pub(super) fn blocks(&self) -> Vec<Arc<[u8]>> {
        let mut blocks: Vec<Arc<[u8]>> =
            self.segments.iter().flat_map(|segment| segment.blocks.iter().cloned()).collect();
        blocks.extend(self.open_block().map(Arc::from));
        let mut end = Vec::new();
        put_number(&mut end, self.next);
        put_number(&mut end, self.last.as_nanos());
        blocks.push(file::block(Kind::End, &end).into());
        blocks
    }

    /// The last segments, at most so many: the number of the first entry of each, and its blocks.
    pub(super) fn last_segments(&self, most: usize) -> impl Iterator<Item = (u64, &[Arc<[u8]>])> {
        let skipped = self.segments.len().saturating_sub(most);
        self.segments.iter().skip(skipped).map(|segment| (segment.first, segment.blocks.as_slice()))
    }

    /// The block of the entries that are in none yet.
    pub(super) fn open_block(&self) -> Option<Vec<u8>> {
        (!self.open.is_empty()).then(|| file::block(Kind::Entries, &self.open))
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let block = file::block(Kind::Entries, &self.open);
            self.open.clear();
            self.add(&block);
        }
    }

    fn add(&mut self, block: &[u8]) {
        self.bytes += block.len();
        if let Some(segment) = self.segments.back_mut() {
            segment.bytes += block.len();
            segment.blocks.push(block.into());
        }
    }
}
