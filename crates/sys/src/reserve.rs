//! Descriptors and memory that a process holds until it needs them: when the machine lacks both, it can still act.

use std::fs::File;
use std::io;

use crate::{Context, Result};

/// Descriptors held: a lock, netlink sockets, files that are read and written, a pipe or two to a program.
const DESCRIPTORS: usize = 32;
/// Bytes of heap held.
const HEAP_BYTES: usize = 8 << 20;

/// What a process holds until it acts.
#[derive(Debug)]
pub struct Reserve {
    files: Vec<File>,
}

impl Reserve {
    /// Holds descriptors, and heap that this process can allocate from without asking the kernel; keeps in memory what
    /// is mapped already, if the kernel allows it (`mlockall`).
    ///
    /// # Errors
    /// There are not as many descriptors.
    pub fn hold() -> Result<Reserve> {
        hold_heap();
        let open = |_| File::open("/dev/null");
        let files = (0..DESCRIPTORS).map(open).collect::<io::Result<_>>();
        let files = files.context(|| format!("hold {DESCRIPTORS} descriptors"))?;
        // SAFETY: takes no pointer.
        unsafe { libc::mlockall(libc::MCL_CURRENT) };
        Ok(Reserve { files })
    }

    /// Gives the descriptors back, to be used from now on.
    pub fn release(&mut self) {
        self.files.clear();
    }
}

/// Lets the allocator take memory from the kernel, and keep it when it is freed.
fn hold_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes no pointer; what is set holds for later allocations.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 2 * HEAP_BYTES as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 4 * HEAP_BYTES as i32);
    }
    // Written, so that there is memory behind it.
    drop(std::hint::black_box(vec![1_u8; HEAP_BYTES]));
}
