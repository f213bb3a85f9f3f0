//! What the programs note of peers' frames, read where they write it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libbpf_rs::MapHandle;
use nicteam_team::stripe::{MAX_PEERS, Note};
use nicteam_team::{MAX_MEMBERS, MemberSet};

use super::abi::laid_out_as;
use super::constants::PLAN_SLOTS;
use super::memory::{Memory, Shared};
use super::peers::Peers;
use crate::Error;

/// `struct stripe_note`.
#[repr(C)]
struct Line {
    sent: AtomicU32,
    /// By the peer's receivers.
    heard: [AtomicU32; MAX_MEMBERS],
}

/// The map `.bss.notes`.
#[repr(C)]
struct Lines([[Line; MAX_PEERS]; PLAN_SLOTS as usize]);

laid_out_as!(stripe_note, Line);

// SAFETY: `repr(C)`, of atomic integers alone.
unsafe impl Shared for Lines {}

/// The notes of one team.
pub(super) struct Notes {
    memory: Memory<Lines>,
    /// Of plans that were left meanwhile.
    earlier: Vec<Note>,
}

impl Notes {
    /// Of this map, of programs with stripe.
    pub(super) fn new(map: &MapHandle) -> Result<Notes, Error> {
        Ok(Notes { memory: Memory::new(map)?, earlier: Vec::new() })
    }

    /// A slot is about to be another plan's, or its plan to be left: what it says is kept.
    pub(super) fn leave(&mut self, slot: u32, peers: &Peers) {
        let left = self.take_slot(slot, peers);
        self.earlier.extend(left);
    }

    /// Everything, once.
    pub(super) fn take(&mut self, slot: u32, peers: &Peers) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.earlier);
        notes.extend(self.take_slot(slot, peers));
        notes
    }

    fn take_slot(&self, slot: u32, peers: &Peers) -> Vec<Note> {
        let lines = &self.memory.get().0[(slot % PLAN_SLOTS) as usize];
        let mut notes = Vec::new();
        for (line, (team, receivers)) in lines.iter().zip(peers.addresses()) {
            if take(&line.sent) != 0 {
                notes.push(Note { mac: *team, sent: true, heard: MemberSet::EMPTY });
            }
            for (bits, mac) in line.heard.iter().zip(receivers) {
                let heard = MemberSet::from_bits(take(bits));
                if !heard.is_empty() {
                    notes.push(Note { mac: *mac, sent: false, heard });
                }
            }
        }
        notes
    }
}

/// Reads before it writes: most are zero, and their lines stay where the programs have them.
fn take(flags: &AtomicU32) -> u32 {
    match flags.load(Relaxed) {
        0 => 0,
        _ => flags.swap(0, Relaxed),
    }
}
