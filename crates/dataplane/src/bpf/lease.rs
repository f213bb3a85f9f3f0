//! The lease of a plan: a time that the process writes where the programs read it.

use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::MapHandle;

use super::abi::laid_out_as;
use super::constants::STALLED_NS;
use super::memory::{Memory, Shared};
use crate::Error;

/// The map `.data.lease`. To renew is to store eight bytes at once, so a program
/// never reads half a time; it cannot fail.
pub(super) struct Lease(Memory<Renewed>);

/// `struct lease`.
#[repr(C)]
struct Renewed {
    renewed_ns: AtomicU64,
}

laid_out_as!(lease, Renewed);

// SAFETY: `repr(C)`, of an atomic integer alone.
unsafe impl Shared for Renewed {}

impl Lease {
    /// Of this map.
    pub(super) fn new(map: &MapHandle) -> Result<Lease, Error> {
        Ok(Lease(Memory::new(map)?))
    }

    /// The process lives; true if it was taken for silent.
    pub(super) fn renew(&self) -> bool {
        let now_ns = now_ns();
        let before_ns = self.0.get().renewed_ns.swap(now_ns, Ordering::AcqRel);
        now_ns.saturating_sub(before_ns) >= STALLED_NS
    }
}

/// The time by `bpf_ktime_get_ns()`.
pub(super) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live value. The clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
