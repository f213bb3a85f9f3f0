//! The file of a recording, `docs/replay.md`: a line that says what it is, then blocks, each with its length and checksum.
//!
//! What is behind a block that is cut off or damaged is not read; what is before, is.

use nicteam_machine::Time;
use nicteam_machine::bytes::{Reader, Unreadable};

use super::delta::Slots;
use super::entry::{Entry, Told};

/// The first line, but for the number of the version.
const MAGIC: &str = "nicteam-record ";
/// Version of the file.
const VERSION: u32 = 1;
/// Bytes before those of a block: its kind, their number, their checksum.
const HEAD: usize = 9;

/// What a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text about the recorded team.
    About,
    /// A segment begins: number of its first entry, state of the team.
    Segment,
    /// Entries: number and time of the first, then each.
    Entries,
    /// Nothing follows: number of entries, time of the last.
    End,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Kind::About => b'A',
            Kind::Segment => b'S',
            Kind::Entries => b'E',
            Kind::End => b'Z',
        }
    }

    fn of(byte: u8) -> Option<Kind> {
        [Kind::About, Kind::Segment, Kind::Entries, Kind::End].into_iter().find(|kind| kind.byte() == byte)
    }
}

/// A block of these bytes.
pub(super) fn block(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    block_of(kind.byte(), bytes)
}

fn block_of(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut block = Vec::with_capacity(HEAD + bytes.len());
    block.push(kind);
    block.extend_from_slice(&length.to_le_bytes());
    block.extend_from_slice(&crc32(bytes).to_le_bytes());
    block.extend_from_slice(bytes);
    block
}

/// How a file begins: what it is, and this text about the team.
pub fn head(about: &str) -> Vec<u8> {
    let line = format!("{MAGIC}{VERSION}\n");
    [line.as_bytes(), &block(Kind::About, about.as_bytes())].concat()
}

/// A recording that was read.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// Text about the team, made for people.
    pub about: String,
    /// Where it ends.
    pub ending: Ending,
    /// Segments and entries, in order.
    blocks: Vec<(Kind, &'a [u8])>,
}

/// Where a recording ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At its end.
    Whole,
    /// Earlier: the file was cut off.
    CutOff,
    /// Earlier: a block is not what was written.
    Damaged,
}

impl<'a> Recording<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// It is none of this kind, or of a later version.
    pub fn read(file: &'a [u8]) -> Result<Recording<'a>, Unreadable> {
        let mut rest = Reader(after_first_line(file)?);
        let mut recording = Recording { about: String::new(), ending: Ending::CutOff, blocks: Vec::new() };
        while !rest.is_at_end() {
            let Some((kind, bytes, is_right)) = take_block(&mut rest) else { break };
            if !is_right {
                recording.ending = Ending::Damaged;
                break;
            }
            match Kind::of(kind) {
                Some(Kind::About) => recording.about = String::from_utf8_lossy(bytes).into_owned(),
                Some(Kind::End) => {
                    recording.ending = Ending::Whole;
                    break;
                }
                Some(kind) => recording.blocks.push((kind, bytes)),
                // A later version has more to say.
                None => {}
            }
        }
        Ok(recording)
    }

    /// The same file with the checksum of each block made anew: for tests that change what stands in a block.
    ///
    /// # Errors
    /// As above.
    pub fn mended(file: &[u8]) -> Result<Vec<u8>, Unreadable> {
        let behind = after_first_line(file)?;
        let mut mended = file[..file.len() - behind.len()].to_vec();
        let mut rest = Reader(behind);
        while let Some((kind, bytes, _)) = take_block(&mut rest) {
            mended.extend_from_slice(&block_of(kind, bytes));
        }
        Ok(mended)
    }

    /// Its entries, in order; after one that cannot be read nothing follows.
    pub fn entries(&self) -> Entries<'_, 'a> {
        Entries {
            blocks: self.blocks.iter(),
            rest: Reader(&[]),
            slots: Slots::new(),
            number: 0,
            at: Time::ZERO,
            failed: false,
        }
    }
}

/// The entries of a recording.
#[derive(Clone, Debug)]
pub struct Entries<'r, 'a> {
    blocks: std::slice::Iter<'r, (Kind, &'a [u8])>,
    rest: Reader<'a>,
    slots: Slots,
    number: u64,
    at: Time,
    failed: bool,
}

impl Entries<'_, '_> {
    fn read(&mut self) -> Result<Option<Entry>, Unreadable> {
        while self.rest.is_at_end() {
            let Some((kind, bytes)) = self.blocks.next() else { return Ok(None) };
            let mut reader = Reader(bytes);
            self.number = reader.number()?;
            if *kind == Kind::Segment {
                self.slots = Slots::new();
                let state = reader.bytes_of_any_length()?.to_vec();
                let (number, at) = (self.number, self.at);
                return Ok(Some(Entry {
                    number,
                    at,
                    told: Told::State(state),
                    derived: Vec::new(),
                    effects: 0,
                    plans: Vec::new(),
                }));
            }
            self.at = Time::from_nanos(reader.number()?);
            self.rest = reader;
        }
        let slot = usize::try_from(self.rest.number()?).unwrap_or(usize::MAX);
        self.at = self.rest.step(self.at)?;
        let bytes = self.slots.take(&mut self.rest, slot)?;
        let entry = Entry::read(self.number, self.at, slot, &bytes)?;
        self.number = self.number.saturating_add(1);
        Ok(Some(entry))
    }
}

impl Iterator for Entries<'_, '_> {
    type Item = Result<Entry, Unreadable>;

    fn next(&mut self) -> Option<Result<Entry, Unreadable>> {
        if self.failed {
            return None;
        }
        let number = self.number;
        let read = self.read().map_err(|error| Unreadable::new(format!("entry {number} cannot be read: {error}")));
        self.failed = read.is_err();
        read.transpose()
    }
}

fn after_first_line(file: &[u8]) -> Result<&[u8], Unreadable> {
    let end = file.iter().take(64).position(|byte| *byte == b'\n');
    let line = end.and_then(|end| str::from_utf8(&file[..end]).ok());
    match line.and_then(|line| line.strip_prefix(MAGIC)).map(str::parse) {
        Some(Ok(VERSION)) => Ok(&file[end.map_or(0, |end| end + 1)..]),
        Some(Ok::<u32, _>(version)) => Err(Unreadable::new(format!(
            "it is a recording of version {version}, and this program reads version {VERSION}; hint: use the nicteam that wrote it, or a later one"
        ))),
        _ => Err(Unreadable::new("it is no recording; hint: `nicteam team record NAME -o FILE` makes one")),
    }
}

/// The next block, and whether its checksum is right; none if it is cut off.
fn take_block<'a>(from: &mut Reader<'a>) -> Option<(u8, &'a [u8], bool)> {
    let (kind, length, checksum) = (from.u8().ok()?, from.u32().ok()?, from.u32().ok()?);
    let bytes = from.take(usize::try_from(length).ok()?).ok()?;
    Some((kind, bytes, crc32(bytes) == checksum))
}

/// The checksum of Ethernet frames (IEEE 802.3, section 3.2.9).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut place = 0;
    while place < 256 {
        let mut crc = place as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[place] = crc;
        place += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_others() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn what_is_no_recording_is_refused_in_words() {
        let said = |file: &[u8]| Recording::read(file).map(drop).unwrap_err().to_string();
        assert!(said(b"").starts_with("it is no recording; hint: "));
        assert!(said(&[0xff; 100]).starts_with("it is no recording"));
        assert!(
            said(b"nicteam-record 2\n").starts_with("it is a recording of version 2, and this program reads version 1")
        );
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_told() {
        let file = [head("of a test"), block(Kind::End, &[0, 0])].concat();
        assert_eq!(Recording::read(&file).unwrap().ending, Ending::Whole);
        let cut = Recording::read(&file[..file.len() - 1]).unwrap();
        assert_eq!((cut.ending, cut.about.as_str()), (Ending::CutOff, "of a test"));
        let mut damaged = file.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(Recording::read(&damaged).unwrap().ending, Ending::Damaged);
    }
}
