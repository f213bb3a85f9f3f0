//! Randomness of the kernel.

use nix::errno::Errno;

use crate::{Error, Result};

/// A number that nobody can guess.
///
/// # Errors
/// The kernel has no randomness to give.
pub fn number() -> Result<u64> {
    bytes().map(u64::from_ne_bytes)
}

/// So many bytes that nobody can guess, 256 at most.
///
/// # Errors
/// The kernel has no randomness to give.
pub fn bytes<const N: usize>() -> Result<[u8; N]> {
    // More may be cut short.
    const { assert!(N <= 256) };
    let mut bytes = [0_u8; N];
    // SAFETY: the buffer is as long as is said, and may hold any bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match usize::try_from(got) {
        Ok(len) if len == bytes.len() => Ok(bytes),
        _ => Err(Error::new("read random bytes", Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_differ() {
        assert_ne!(super::number().unwrap(), super::number().unwrap());
    }
}
