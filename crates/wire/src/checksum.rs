//! The Internet checksum (RFC 1071).

/// The checksum of these bytes; 0 for bytes that carry the right one. Of more
/// than 64 KiB the first count.
pub fn ones_complement(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).take(1 << 15);
    folded(words.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))).sum())
}

/// The checksum of words with this sum.
pub(crate) fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
