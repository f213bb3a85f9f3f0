//! The frames of a pcap or pcapng file, in the order of the file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

/// Why a file of frames could not be read to its end.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened.
    Open(io::Error),
    /// It is neither pcap nor pcapng.
    Unknown,
    /// A frame's interface is not Ethernet.
    LinkType {
        /// The frame, or what would have been the next.
        frame: u64,
        /// The interface's link type.
        link_type: i32,
    },
    /// The file ends in the middle of something.
    CutOff {
        /// Frames before that.
        frames: u64,
    },
    /// Something in the file makes no sense.
    Damaged {
        /// Frames before that.
        frames: u64,
        /// What it is.
        what: &'static str,
    },
    /// What takes the frames failed.
    Sink(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Open(error) | ReadError::Sink(error) => write!(f, "{error}"),
            ReadError::Unknown => f.write_str("neither a pcap nor a pcapng file"),
            ReadError::LinkType { frame, link_type } => {
                write!(f, "frame {frame} has link type {link_type}; only Ethernet (1) has a transmit hash")
            }
            ReadError::CutOff { frames } => write!(f, "the file is cut off after {frames} whole frames"),
            ReadError::Damaged { frames, what } => {
                write!(f, "the file is damaged after {frames} whole frames: {what}")
            }
        }
    }
}

/// An open file of which nothing was taken yet.
pub struct Reader {
    reader: Box<dyn PcapReaderIterator + Send>,
}

impl Reader {
    /// Opens a file and finds out which of the two it is.
    pub fn open(path: &Path) -> Result<Reader, ReadError> {
        Reader::read(File::open(path).map_err(ReadError::Open)?, BUFFER)
    }

    /// The same of what is not a file, with a buffer of so many bytes at first.
    pub fn read(bytes: impl Read + Send + 'static, buffer: usize) -> Result<Reader, ReadError> {
        match create_reader(buffer, bytes) {
            Ok(reader) => Ok(Reader { reader }),
            Err(PcapError::ReadError) => Err(ReadError::Open(io::Error::other("cannot be read"))),
            Err(PcapError::Incomplete(_)) => Err(ReadError::CutOff { frames: 0 }),
            Err(_) => Err(ReadError::Unknown),
        }
    }

    /// Hands each frame to `take`: its number from 0, the bytes that were
    /// captured, and how many it had on the wire.
    pub fn for_each_frame(
        mut self,
        mut take: impl FnMut(u64, &[u8], usize) -> io::Result<()>,
    ) -> Result<(), ReadError> {
        let mut frames = 0;
        let mut interfaces = Interfaces::default();
        loop {
            match self.reader.next() {
                Ok((size, block)) => {
                    if let Some((bytes, length)) = interfaces.frame(&block, frames)? {
                        take(frames, bytes, length).map_err(ReadError::Sink)?;
                        frames += 1;
                    }
                    self.reader.consume(size);
                }
                Err(PcapError::Eof) => return Ok(()),
                Err(PcapError::Incomplete(_)) => refill(self.reader.as_mut(), frames)?,
                Err(PcapError::BufferTooSmall) => grow(self.reader.as_mut(), frames)?,
                Err(PcapError::UnexpectedEof) => return Err(ReadError::CutOff { frames }),
                Err(PcapError::ReadError) => return Err(ReadError::Damaged { frames, what: "it cannot be read" }),
                Err(_) => return Err(ReadError::Damaged { frames, what: "no block begins there" }),
            }
        }
    }
}

/// Bytes of the buffer at first: room for the longest frames.
const BUFFER: usize = 1 << 20;
/// A block longer than this is damage, not a frame.
const LONGEST: usize = 16 << 20;

fn refill(reader: &mut dyn PcapReaderIterator, frames: u64) -> Result<(), ReadError> {
    reader.refill().map_err(|_| ReadError::Damaged { frames, what: "it cannot be read" })
}

/// Makes room for a long block and reads on.
fn grow(reader: &mut dyn PcapReaderIterator, frames: u64) -> Result<(), ReadError> {
    let size = reader.data().len().max(BUFFER) * 2;
    if size > LONGEST || !reader.grow(size) {
        return Err(ReadError::Damaged { frames, what: "a block of more than 16 MiB" });
    }
    refill(reader, frames)
}

/// The interfaces of a section: link type and snap length of each.
#[derive(Default)]
struct Interfaces(Vec<(Linktype, usize)>);

impl Interfaces {
    /// The captured bytes of the frame in this block and its length on the
    /// wire, or nothing if the block is no frame.
    fn frame<'a>(
        &mut self,
        block: &'a PcapBlockOwned<'_>,
        frames: u64,
    ) -> Result<Option<(&'a [u8], usize)>, ReadError> {
        let (interface, bytes, captured, length) = match block {
            PcapBlockOwned::LegacyHeader(header) => {
                // The upper bits are the length of a check sequence behind each frame.
                self.0 = vec![(Linktype(header.network.0 & 0xffff), usize::MAX)];
                return Ok(None);
            }
            PcapBlockOwned::Legacy(frame) => (0, frame.data, frame.caplen as usize, frame.origlen as usize),
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                self.0.clear();
                return Ok(None);
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let snap = if interface.snaplen == 0 { usize::MAX } else { interface.snaplen as usize };
                self.0.push((interface.linktype, snap));
                return Ok(None);
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(frame)) => {
                (frame.if_id as usize, frame.data, frame.caplen as usize, frame.origlen as usize)
            }
            PcapBlockOwned::NG(Block::SimplePacket(frame)) => {
                let snap = self.0.first().map_or(usize::MAX, |&(_, snap)| snap);
                (0, frame.data, snap.min(frame.origlen as usize), frame.origlen as usize)
            }
            PcapBlockOwned::NG(Block::Unknown(block)) if block.block_type == OBSOLETE_PACKET => {
                return Err(ReadError::Damaged { frames, what: "an obsolete packet block (type 2)" });
            }
            PcapBlockOwned::NG(_) => return Ok(None),
        };
        match self.0.get(interface) {
            Some(&(Linktype::ETHERNET, _)) => Ok(Some((&bytes[..captured.min(bytes.len())], length))),
            Some(&(link_type, _)) => Err(ReadError::LinkType { frame: frames, link_type: link_type.0 }),
            None => Err(ReadError::Damaged { frames, what: "a frame of an interface that is not described" }),
        }
    }
}

/// Packet blocks before Enhanced Packet Blocks replaced them; nothing writes them any more.
const OBSOLETE_PACKET: u32 = 2;
