//! MurmurHash3 for 32 bits (Austin Appleby, public domain), as Open vSwitch 3.1 uses it where it was built without SSE4.2
//! (`lib/hash.h`: `hash_add`, `hash_add64`, `hash_finish`).

/// Takes four bytes in (`mhash_add`).
pub(super) fn add(hash: u32, word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

/// Takes a number in, how many bytes there were as a rule, and mixes (`mhash_finish`).
pub(super) fn finish(hash: u32, last: u32) -> u32 {
    let mut hash = hash ^ last;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}
