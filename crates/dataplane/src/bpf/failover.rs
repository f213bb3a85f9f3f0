//! What the programs know of the members' carrier (`bpf/failover.h`).

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use libbpf_rs::{MapHandle, ProgramHandle};
use nicteam_team::{MAX_MEMBERS, MemberId};

use super::abi::laid_out_as;
use super::constants::PLAN_SLOTS;
use super::memory::{Memory, Shared};
use super::run;
use crate::{Error, Port};

/// `struct failover_seen`.
#[repr(C)]
struct Seen {
    since_ns: AtomicU64,
    state: AtomicU32,
    zero: AtomicU32,
}

/// `struct failover`.
#[repr(C)]
struct Lines {
    armed: [[AtomicU64; MAX_MEMBERS]; PLAN_SLOTS as usize],
    devices: [AtomicU64; MAX_MEMBERS],
    seen: [[Seen; MAX_MEMBERS]; PLAN_SLOTS as usize],
}

laid_out_as!(failover_seen, Seen);
laid_out_as!(failover, Lines);

// SAFETY: `repr(C)`, of atomic integers alone.
unsafe impl Shared for Lines {}

/// The map `.data.failover`.
pub(super) struct Failover(Memory<Lines>);

impl Failover {
    /// Of this map.
    pub(super) fn new(map: &MapHandle) -> Result<Failover, Error> {
        Ok(Failover(Memory::new(map)?))
    }

    /// A plan is about to be put into this slot, which no program reads: it starts without any memory.
    pub(super) fn clear(&self, slot: u32) {
        let lines = self.0.get();
        let slot = (slot % PLAN_SLOTS) as usize;
        for (armed, seen) in lines.armed[slot].iter().zip(&lines.seen[slot]) {
            armed.store(0, Relaxed);
            seen.since_ns.store(0, Relaxed);
            seen.state.store(0, Relaxed);
        }
    }

    /// Nobody has this place any more.
    pub(super) fn forget(&self, id: MemberId) {
        self.0.get().devices[id.index()].store(0, Relaxed);
    }

    /// Lets the program `note_device` note where the kernel keeps a device, which has its place already.
    pub(super) fn note(&self, program: &ProgramHandle, port: &Port) -> Result<(), Error> {
        run::dry_run(program.as_fd(), &[0; 64], port.index, 1).map(drop)
    }
}
