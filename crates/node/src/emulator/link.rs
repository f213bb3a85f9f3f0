//! One impaired link, and what became of its frames.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use nicteam_impair::{Counts, Impairments, Room};
use nicteam_record::Relayed;

use crate::lock;
use crate::protocol::{Disturb, Disturbance, RelaySpec};

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
    /// By the end that sends.
    pub(super) faults: [Faults; 2],
    /// By the end that sends.
    pub(super) tallies: [Mutex<Tally>; 2],
}

/// What is done to the frames of one direction beside what was declared.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// How many faults drop every frame.
    silent: AtomicU32,
    /// How many faults drop LACPDUs.
    lacp_silent: AtomicU32,
    /// What the thread that carries frames is to do from now on, if it does not yet.
    impairments: Mutex<Option<Impairments>>,
    /// Something stands there.
    is_changed: AtomicBool,
}

impl Faults {
    /// Whether LACPDUs are dropped.
    pub(super) fn drop_lacpdus(&self) -> bool {
        self.lacp_silent.load(Relaxed) > 0
    }

    /// What is to be done from now on, once.
    pub(super) fn take_change(&self) -> Option<Impairments> {
        self.is_changed.swap(false, Acquire).then(|| lock(&self.impairments).take()).flatten()
    }

    /// One that begins or ends; `declared` holds where no fault impairs.
    fn disturb(&self, disturbance: Disturbance, declared: Impairments) {
        match disturbance {
            Disturbance::Silence(begins) => count(&self.silent, begins),
            Disturbance::LacpSilence(begins) => count(&self.lacp_silent, begins),
            Disturbance::Impair(impairments) => {
                *lock(&self.impairments) = Some(impairments.unwrap_or(declared));
                self.is_changed.store(true, Release);
            }
        }
    }
}

/// One more, or one less.
fn count(number: &AtomicU32, more: bool) {
    // The closure gives a number each time, so this cannot fail.
    let next = |now: u32| Some(if more { now.saturating_add(1) } else { now.saturating_sub(1) });
    let _ = number.fetch_update(Relaxed, Relaxed, next);
}

/// What became of the frames of one direction.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    /// Not read in time, or of a kind that a packet socket cannot take over.
    pub(super) dropped: u64,
    /// Not taken by the other cable, which happens where the device at its end is down; LACPDUs that a fault drops.
    pub(super) refused: u64,
    pub(super) late: u64,
    /// Since the last sample.
    pub(super) latest_us: u64,
}

impl Link {
    /// Whether it loses what is on its way from an end.
    pub(super) fn carries_nothing(&self, end: usize) -> bool {
        self.is_cut.load(Relaxed) || self.faults[end].silent.load(Relaxed) > 0
    }

    /// A fault of this link, which begins or ends.
    pub(super) fn disturb(&self, fault: &Disturb) {
        for ((end, way), faults) in self.spec.ends.iter().zip(&self.spec.ways).zip(&self.faults) {
            if fault.from.as_ref().is_none_or(|from| *from == end.node) {
                faults.disturb(fault.disturbance, way.impairments);
            }
        }
    }

    /// A whole one.
    pub(super) fn new(spec: RelaySpec) -> Link {
        Link { spec, is_cut: AtomicBool::new(false), faults: Default::default(), tallies: Default::default() }
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
            corrupted: self.counts.corrupted,
            cut: self.counts.cleared + self.refused,
            dropped: self.counts.crowded_out + self.dropped,
            late: self.late,
            latest_us: mem::take(&mut self.latest_us),
        }
    }
}
