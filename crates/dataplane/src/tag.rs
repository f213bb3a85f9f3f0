//! The tag beside a received frame.

use nicteam_sys::packet::Received;

/// A received frame with the tag beside it put back among its bytes.
pub(crate) fn with_tag(received: &Received<'_>) -> Vec<u8> {
    const MACS: usize = 12;
    let (macs, rest) = received.bytes.split_at(MACS.min(received.bytes.len()));
    let tag = received.tag.map(|tag| [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()].concat());
    [macs, &tag.unwrap_or_default(), rest].concat()
}
