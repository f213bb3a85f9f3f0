//! All decoders of client messages, for fuzz tests with any bytes.

use super::handshake::{Export, Handshake, Next};
use super::protocol::{REQUEST_BYTES, Request};

/// What a client hears that sends these pieces, and how many requests it made after the handshake (without data).
pub fn answers(pieces: &[&[u8]]) -> (Vec<u8>, usize) {
    let export = Export { name: "disk".to_owned(), bytes: 1 << 20, block_bytes: 512 };
    let (mut handshake, mut input, mut output, mut requests) = (Handshake::default(), Vec::new(), Vec::new(), 0);
    let mut next = Next::More;
    for piece in pieces {
        input.extend_from_slice(piece);
        if next == Next::More {
            next = handshake.handle(&export, &mut input, &mut output);
        }
        while next == Next::Transmission
            && let Some(header) = input.first_chunk::<REQUEST_BYTES>()
        {
            match Request::decode(header) {
                Some(_) => requests += 1,
                None => next = Next::Close,
            }
            input.drain(..REQUEST_BYTES);
        }
    }
    (output, requests)
}
