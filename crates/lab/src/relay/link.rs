//! One impaired link, and what became of its frames.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use nicteam_impair::{Counts, Room};
use nicteam_record::Relayed;

use crate::protocol::RelaySpec;

/// A frame that leaves so much later than declared counts as late.
pub(super) const LATE: Duration = Duration::from_millis(1);

/// What may be on its way in one direction of a link. [`nicteam_impair::MOST_ON_THE_WAY`] of
/// full frames leave half of it to what comes in bursts.
pub(super) const ROOM: Room = Room { frames: 1 << 18, bytes: 2 * nicteam_impair::MOST_ON_THE_WAY as usize };

/// What the threads share of one impaired link.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) spec: RelaySpec,
    /// One of its ends is down.
    pub(super) is_cut: AtomicBool,
    /// It drops every frame, and both ends keep their carrier.
    pub(super) is_silent: AtomicBool,
    /// By the end that sends.
    pub(super) tallies: [Mutex<Tally>; 2],
}

/// What became of the frames of one direction.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    /// Not read in time, or of a kind that a packet socket cannot take over.
    pub(super) dropped: u64,
    /// Not taken by the other cable, which happens where the device at its end is down.
    pub(super) refused: u64,
    pub(super) late: u64,
    /// Since the last sample.
    pub(super) latest_us: u64,
}

impl Link {
    /// Whether it loses what is on its way.
    pub(super) fn carries_nothing(&self) -> bool {
        self.is_cut.load(Relaxed) || self.is_silent.load(Relaxed)
    }

    /// A whole one.
    pub(super) fn new(spec: RelaySpec) -> Link {
        Link { spec, is_cut: AtomicBool::new(false), is_silent: AtomicBool::new(false), tallies: Default::default() }
    }
}

impl Tally {
    pub(super) fn sample(&mut self, node: &str, device: &str) -> Relayed {
        Relayed {
            node: node.to_owned(),
            device: device.to_owned(),
            frames: self.counts.frames,
            lost: self.counts.lost,
            duplicated: self.counts.duplicated,
            reordered: self.counts.reordered,
            cut: self.counts.cleared + self.refused,
            dropped: self.counts.crowded_out + self.dropped,
            late: self.late,
            latest_us: mem::take(&mut self.latest_us),
        }
    }
}
