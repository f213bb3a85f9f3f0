//! A map's only value as memory of this process.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;

use libbpf_rs::{MapCore, MapHandle};
use nicteam_sys::Context;

use crate::Error;

/// The value of a map with one entry, shared with the programs. `T` is made of
/// atomic integers alone, so that any bytes are a value and no store of a program tears a read.
pub(super) struct Memory<T> {
    start: NonNull<T>,
    of: PhantomData<T>,
}

/// What may lie in a [`Memory`].
///
/// # Safety
/// The type is `repr(C)` or transparent, and made of atomic integers alone.
pub(super) unsafe trait Shared: Sync {}

// SAFETY: the memory is shared with the kernel and no thread's own, and atomic.
unsafe impl<T: Shared> Send for Memory<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for Memory<T> {}

impl<T: Shared> Memory<T> {
    /// Of this map, whose value is as long as `T`.
    pub(super) fn new(map: &MapHandle) -> Result<Memory<T>, Error> {
        let what = || format!("map `{}` of a team into memory", map.name().display());
        let refused = |message: &str| Error::Bpf { operation: what(), message: message.to_owned() };
        if map.value_size() as usize != size_of::<T>() {
            return Err(refused("its value has another length"));
        }
        let fd = map.as_fd().as_raw_fd();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses a free address; the descriptor is open.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<T>(), protection, libc::MAP_SHARED, fd, 0) };
        let mapped = if memory == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(memory) };
        let memory = mapped.context(what)?;
        // The kernel does not map at zero.
        let start = NonNull::new(memory.cast()).ok_or_else(|| refused("the kernel gave no address"))?;
        Ok(Memory { start, of: PhantomData })
    }

    /// The value.
    pub(super) fn get(&self) -> &T {
        // SAFETY: mapped until this is dropped, a page's beginning, of the right
        // length, and made of atomic integers alone.
        unsafe { self.start.as_ref() }
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody else has the address.
        unsafe { libc::munmap(self.start.as_ptr().cast(), size_of::<T>()) };
    }
}
