//! What clients of an NBD export say (crate `storage`).

use nicteam_storage::nbd::decoders::answers;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("nbd", nbd)];

/// The answers do not depend on how the bytes are cut.
pub fn nbd(bytes: &[u8]) -> bool {
    let whole = answers(&[bytes]);
    let pieces: Vec<&[u8]> = bytes.chunks(7).collect();
    assert_eq!(whole, answers(&pieces));
    whole.1 > 0
}
