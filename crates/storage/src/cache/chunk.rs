//! A piece of the disk in memory, of which some sectors are valid.

use std::ops::Range;

/// Bytes of a chunk: 32 sectors.
pub(super) const CHUNK: usize = SECTOR * 32;
/// The unit in which content is valid or not, bytes: the smallest block that disks have.
const SECTOR: usize = 512;

/// A piece of the disk in memory.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Box<[u8]>,
    /// A bit a sector: whether it holds content.
    sectors: u32,
    epoch: u64,
}

impl Chunk {
    /// Without content.
    pub(super) fn new(epoch: u64) -> Chunk {
        Chunk { bytes: vec![0; CHUNK].into_boxed_slice(), sectors: 0, epoch }
    }

    /// When it was made, as its owner counts.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// A bit a sector: whether it holds content.
    pub(super) fn sectors(&self) -> u32 {
        self.sectors
    }

    /// Replaces whole sectors.
    pub(super) fn write(&mut self, from: usize, bytes: &[u8]) {
        self.bytes[from..from + bytes.len()].copy_from_slice(bytes);
        self.sectors |= mask(from..from + bytes.len());
    }

    /// Copies the sectors of a range that hold content to their places in `bytes`, and leaves the others there as
    /// they are.
    pub(super) fn read(&self, range: Range<usize>, bytes: &mut [u8]) {
        for valid in ranges(self.sectors, range.clone()) {
            bytes[valid.start - range.start..valid.end - range.start].copy_from_slice(&self.bytes[valid]);
        }
    }
}

/// The contiguous parts of a range, bytes, in which all sectors are set.
pub(super) fn ranges(sectors: u32, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut left = sectors & mask(range);
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let first = left.trailing_zeros();
        let count = (left >> first).trailing_ones();
        left &= !(ones(count) << first);
        Some(first as usize * SECTOR..(first + count) as usize * SECTOR)
    })
}

fn mask(range: Range<usize>) -> u32 {
    let (first, end) = (range.start / SECTOR, range.end.div_ceil(SECTOR));
    if end <= first { 0 } else { ones((end - first) as u32) << first }
}

fn ones(count: u32) -> u32 {
    if count >= u32::BITS { u32::MAX } else { (1 << count) - 1 }
}
