//! The lease of a plan: a time that the process writes where the programs read it.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::MapHandle;
use nicteam_sys::Context;

use crate::Error;

/// Bytes of the memory: `struct lease`; the kernel gives a page.
const LEN: usize = size_of::<AtomicU64>();

/// `STALLED_NS` of `bpf/lease.h`.
const STALLED_NS: u64 = 400_000_000;

/// The map `.data.lease` as memory of this process. To renew is to store eight
/// bytes at once, so a program never reads half a time; it cannot fail.
pub(super) struct Lease {
    renewed_ns: NonNull<AtomicU64>,
}

// SAFETY: the memory is shared with the kernel and no thread's own, and atomic.
unsafe impl Send for Lease {}
// SAFETY: as above.
unsafe impl Sync for Lease {}

impl Lease {
    /// Of this map.
    pub(super) fn new(map: &MapHandle) -> Result<Lease, Error> {
        let fd = map.as_fd().as_raw_fd();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses a free address; the descriptor is open.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), LEN, protection, libc::MAP_SHARED, fd, 0) };
        let mapped = if memory == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(memory) };
        let memory = mapped.context(|| "map the lease of a team".to_owned())?;
        // The kernel does not map at zero.
        let renewed_ns = NonNull::new(memory.cast()).ok_or_else(|| Error::Bpf {
            operation: "map the lease of a team".to_owned(),
            message: "the kernel gave no address".to_owned(),
        })?;
        Ok(Lease { renewed_ns })
    }

    /// The process lives; true if it was taken for silent.
    pub(super) fn renew(&self) -> bool {
        let now_ns = now_ns();
        // SAFETY: mapped until this value is dropped, a page's beginning, and only ever used atomically.
        let before_ns = unsafe { self.renewed_ns.as_ref() }.swap(now_ns, Ordering::AcqRel);
        now_ns.saturating_sub(before_ns) >= STALLED_NS
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody else has the address.
        unsafe { libc::munmap(self.renewed_ns.as_ptr().cast(), LEN) };
    }
}

/// The time by `bpf_ktime_get_ns()`.
pub(super) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live value. The clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
