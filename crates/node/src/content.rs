//! Content of targets' files, which is known to every node.

use nicteam_storage::Pattern;
use sha2::{Digest, Sha256};

use crate::hexadecimal::hexadecimal;

/// Generation of what is there before.
pub const BEFORE: u64 = 0;
/// Generation of what is copied.
pub const COPIED: u64 = 1;

/// Bytes that are made at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// SHA-256 of what is copied, hexadecimal.
pub fn sum(pattern: &Pattern, offset: u64, bytes: u64) -> String {
    let mut sum = Sha256::new();
    chunks(pattern, (offset, bytes), COPIED, |_, chunk| {
        sum.update(chunk);
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    hexadecimal(&sum.finalize())
}

/// Makes content, a chunk after another.
///
/// # Errors
/// What the taker of a chunk returns; then no more are made.
pub fn chunks<E>(
    pattern: &Pattern,
    (offset, bytes): (u64, u64),
    generation: u64,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes) as usize];
    let mut done = 0;
    while done < bytes {
        let length = CHUNK_BYTES.min(bytes - done) as usize;
        pattern.fill(offset + done, generation, &mut chunk[..length]);
        take(offset + done, &chunk[..length])?;
        done += length as u64;
    }
    Ok(())
}
