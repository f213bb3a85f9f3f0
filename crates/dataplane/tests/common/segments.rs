//! Segments of TCP from the team to its peer.

use super::striping::{OWN, PEER};

/// A segment of TCP, as [`segment`] makes it.
#[derive(Clone)]
pub struct Segment {
    pub ipv6: bool,
    pub port: u16,
    pub sequence: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub options: Vec<u8>,
    pub payload: usize,
}

/// An acknowledgement of all before this number, and of something behind a gap.
pub fn gap(port: u16, ack: u32) -> Segment {
    let mut options = vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 5, 10];
    options.extend((ack + 1000).to_be_bytes());
    options.extend((ack + 2000).to_be_bytes());
    Segment { ipv6: false, port, sequence: 7, ack, flags: 0x10, window: 500, options, payload: 0 }
}

pub fn segment(of: &Segment) -> Vec<u8> {
    let mut frame = [PEER.0, OWN.0].concat();
    if of.ipv6 {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64]);
        frame.extend(1..=32);
    } else {
        frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    let words = (20 + of.options.len()) as u8 / 4;
    frame.extend(of.port.to_be_bytes());
    frame.extend([0x13, 0x89]);
    frame.extend(of.sequence.to_be_bytes());
    frame.extend(of.ack.to_be_bytes());
    frame.extend([words << 4, of.flags]);
    frame.extend(of.window.to_be_bytes());
    frame.extend([0xab, 0xcd, 0, 0]);
    frame.extend(&of.options);
    frame.resize(frame.len() + of.payload, 7);
    frame
}
