//! Randomness of the kernel.

use nix::errno::Errno;

use crate::{Error, Result};

/// A number that nobody can guess.
///
/// # Errors
/// The kernel has no randomness to give.
pub fn number() -> Result<u64> {
    let mut bytes = [0_u8; 8];
    // SAFETY: the buffer is as long as is said, and may hold any bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match usize::try_from(got) {
        Ok(len) if len == bytes.len() => Ok(u64::from_ne_bytes(bytes)),
        // So few bytes are never cut short.
        _ => Err(Error::new("read a random number", Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_differ() {
        assert_ne!(super::number().unwrap(), super::number().unwrap());
    }
}
