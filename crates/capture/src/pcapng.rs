//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), as bytes.
//!
//! The reader of the file is another program, so only what is written is here: section header, interface descriptions,
//! enhanced packets, interface statistics. Numbers are little-endian, times nanoseconds of Unix time.

use std::time::Duration;

/// Bytes of frames, of which the rest is cut off: tcpdump's own default.
pub const SNAPLEN: u32 = 262_144;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// if_tsresol: 10^-9 seconds.
const NANOSECONDS: u8 = 9;
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;

/// Makes the blocks of one file, in their order.
#[derive(Debug, Default)]
pub struct Pcapng {
    interfaces: u32,
}

/// A device that frames are heard on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What it is in the bundle.
    pub description: String,
    /// Its address.
    pub mac: Option<[u8; 6]>,
    /// Its speed, if it is known.
    pub speed_bps: Option<u64>,
    /// The filter by which its frames were chosen, if there is one.
    pub filter: Option<String>,
}

/// Which way a frame went (epb_flags, bits 0 and 1), and to whom (bits 2 to 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It came in, to this host.
    InUnicast,
    /// It came in, to a group.
    InMulticast,
    /// It came in, to all.
    InBroadcast,
    /// It came in, to another host.
    InOther,
    /// It was sent.
    Out,
}

/// A frame.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// The number of its interface, from 0.
    pub interface: u32,
    /// When, of Unix time.
    pub at: Duration,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Bytes that it had.
    pub original: usize,
    /// Which way it went.
    pub direction: Direction,
    /// What there is to say of it.
    pub comment: &'a str,
}

/// What an interface heard, at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// When, of Unix time.
    pub at: Duration,
    /// Frames that passed the filter.
    pub received: u64,
    /// Frames of these that were lost because nobody read them in time.
    pub dropped: u64,
}

impl Pcapng {
    /// The head of the file.
    pub fn section(&mut self, program: &str, system: &str) -> Vec<u8> {
        self.interfaces = 0;
        let mut block = Block::new(SECTION_HEADER);
        block.number(BYTE_ORDER);
        block.half(1);
        block.half(0);
        // The section's length is not known yet.
        block.bytes(&u64::MAX.to_le_bytes());
        block.option(3, system.as_bytes());
        block.option(4, program.as_bytes());
        block.finish()
    }

    /// An interface; the first one has number 0.
    pub fn interface(&mut self, interface: &Interface) -> (u32, Vec<u8>) {
        let number = self.interfaces;
        self.interfaces += 1;
        let mut block = Block::new(INTERFACE);
        block.half(ETHERNET);
        block.half(0);
        block.number(SNAPLEN);
        block.option(2, interface.name.as_bytes());
        block.option(3, interface.description.as_bytes());
        if let Some(mac) = interface.mac {
            block.option(6, &mac);
        }
        if let Some(speed) = interface.speed_bps {
            block.option(8, &speed.to_le_bytes());
        }
        block.option(9, &[NANOSECONDS]);
        if let Some(filter) = &interface.filter {
            // Its first byte says that a text follows.
            block.option(11, &[&[0], filter.as_bytes()].concat());
        }
        (number, block.finish())
    }

    /// A frame.
    pub fn packet(&self, packet: &Packet<'_>) -> Vec<u8> {
        let mut block = Block::new(PACKET);
        block.number(packet.interface);
        block.time(packet.at);
        block.number(packet.bytes.len() as u32);
        block.number(u32::try_from(packet.original).unwrap_or(u32::MAX));
        block.bytes(packet.bytes);
        block.pad();
        block.option(2, &packet.direction.flags().to_le_bytes());
        block.option(COMMENT, packet.comment.as_bytes());
        block.finish()
    }

    /// What an interface heard.
    pub fn statistics(&self, interface: u32, statistics: &Statistics) -> Vec<u8> {
        let mut block = Block::new(STATISTICS);
        block.number(interface);
        block.time(statistics.at);
        block.option(4, &statistics.received.to_le_bytes());
        block.option(5, &statistics.dropped.to_le_bytes());
        block.option(7, &statistics.dropped.to_le_bytes());
        block.finish()
    }
}

impl Direction {
    fn flags(self) -> u32 {
        match self {
            Direction::InUnicast => 1 | 1 << 2,
            Direction::InMulticast => 1 | 2 << 2,
            Direction::InBroadcast => 1 | 3 << 2,
            Direction::InOther => 1 | 4 << 2,
            Direction::Out => 2,
        }
    }
}

/// A block that is being written: type, total length, body, total length again.
struct Block(Vec<u8>);

impl Block {
    fn new(kind: u32) -> Block {
        let mut block = Block(Vec::with_capacity(256));
        block.number(kind);
        block.number(0);
        block
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn half(&mut self, number: u16) {
        self.bytes(&number.to_le_bytes());
    }

    fn number(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    /// The higher half comes first, whatever the byte order.
    fn time(&mut self, at: Duration) {
        let nanoseconds = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.number((nanoseconds >> 32) as u32);
        self.number(nanoseconds as u32);
    }

    /// An option: its number, its length, its value, padded. A value longer than an option may be is cut.
    fn option(&mut self, number: u16, value: &[u8]) {
        let value = &value[..value.len().min(u16::MAX.into())];
        self.half(number);
        self.half(value.len() as u16);
        self.bytes(value);
        self.pad();
    }

    fn pad(&mut self) {
        while !self.0.len().is_multiple_of(4) {
            self.0.push(0);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.half(END_OF_OPTIONS);
        self.half(0);
        let length = self.0.len() as u32 + 4;
        self.number(length);
        self.0[4..8].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}
