//! Content that can be distinguished from any other: a test writes it and verifies it afterwards.
//!
//! Every eight bytes depend on a seed, on their offset and on a *generation*, which is raised when the same place is
//! written again. So a byte that is wrong says why: a write was lost (an older generation), overtaken by its delayed
//! original (likewise), misplaced (another offset), or never made (zeros).

use std::fmt;

use crate::mix::{inverse, mix, unmix};

/// The content of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    key: u64,
}

/// The first byte that is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongByte {
    /// Where on the disk, bytes.
    pub offset: u64,
    /// The generation that was to be there.
    pub generation: u64,
    /// What was to be there.
    pub expected: u8,
    /// What is there.
    pub found: u8,
    /// The owner of the content.
    pub instead: Instead,
}

/// What stands where something else should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// Another generation of this place.
    Generation(u64),
    /// This generation of the place at this offset, bytes.
    Offset(u64),
    /// Zeros: the place was never written.
    Zeros,
    /// Nothing that this pattern has.
    Unknown,
}

impl Pattern {
    /// Content that another seed does not have.
    pub fn new(seed: u64) -> Pattern {
        Pattern { key: mix(seed.wrapping_add(WORD_STEP)) }
    }

    /// Writes the content of a generation (below 2^32) at an offset of the disk, bytes, into `bytes`.
    pub fn fill(&self, offset: u64, generation: u64, bytes: &mut [u8]) {
        let stamp = stamp(generation);
        let (head, rest) = bytes.split_at_mut(head_bytes(offset).min(bytes.len()));
        if !head.is_empty() {
            let from = (offset % WORD) as usize;
            head.copy_from_slice(&(self.word(offset / WORD) ^ stamp).to_le_bytes()[from..from + head.len()]);
        }
        let first = offset.div_ceil(WORD);
        let mut words = rest.chunks_exact_mut(WORD as usize);
        let mut number = first;
        for place in &mut words {
            place.copy_from_slice(&(self.word(number) ^ stamp).to_le_bytes());
            number = number.wrapping_add(1);
        }
        let tail = words.into_remainder();
        let tail_bytes = tail.len();
        tail.copy_from_slice(&(self.word(number) ^ stamp).to_le_bytes()[..tail_bytes]);
    }

    /// Compares what was read at an offset with the content of a generation.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn verify(&self, offset: u64, generation: u64, bytes: &[u8]) -> Result<(), WrongByte> {
        let mut expected = [0; STRIDE];
        for (number, found) in bytes.chunks(STRIDE).enumerate() {
            let offset = offset + (number * STRIDE) as u64;
            let expected = &mut expected[..found.len()];
            self.fill(offset, generation, expected);
            if let Some(at) = expected.iter().zip(found).position(|(expected, found)| expected != found) {
                let instead = self.tell(offset, generation, found, at);
                let (expected, found) = (expected[at], found[at]);
                return Err(WrongByte { offset: offset + at as u64, generation, expected, found, instead });
            }
        }
        Ok(())
    }

    /// The owner of the content of the byte at a place. The whole word around it decides: it hardly matches by chance.
    fn tell(&self, offset: u64, generation: u64, found: &[u8], at: usize) -> Instead {
        let word_at = (offset + at as u64) / WORD * WORD;
        let Some(start) = word_at.checked_sub(offset) else { return Instead::Unknown };
        let Some(word) = found.get(start as usize..start as usize + WORD as usize) else { return Instead::Unknown };
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        let other = (word ^ self.word(word_at / WORD)).wrapping_mul(inverse(GENERATION_STEP));
        let place = unmix(word ^ stamp(generation)).wrapping_sub(self.key).wrapping_mul(inverse(WORD_STEP));
        match word {
            0 => Instead::Zeros,
            _ if other <= u64::from(u32::MAX) => Instead::Generation(other),
            _ if place < LARGEST_DISK / WORD => Instead::Offset(place * WORD),
            _ => Instead::Unknown,
        }
    }

    #[inline(always)]
    fn word(&self, number: u64) -> u64 {
        mix(number.wrapping_mul(WORD_STEP).wrapping_add(self.key))
    }
}

impl fmt::Display for WrongByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongByte { offset, generation, expected, found, instead } = self;
        write!(f, "the byte at offset {offset} is {found:#04x}, not {expected:#04x} of generation {generation}: ")?;
        match instead {
            Instead::Generation(other) if other < generation => write!(f, "an older generation, {other}"),
            Instead::Generation(other) => write!(f, "generation {other}"),
            Instead::Offset(place) => write!(f, "it belongs to offset {place}"),
            Instead::Zeros => write!(f, "zeros, as if it was never written"),
            Instead::Unknown => write!(f, "nothing that was ever written here"),
        }
    }
}

impl std::error::Error for WrongByte {}

/// Bytes that are computed, and compared, at a time.
const WORD: u64 = 8;
const STRIDE: usize = 4096;
/// Odd, so that each has an inverse: the content shows the number of a word and its generation.
const WORD_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const GENERATION_STEP: u64 = 0xd6e8_feb8_6659_fd93;
/// No offset beyond this is reported (an exbibyte).
const LARGEST_DISK: u64 = 1 << 60;

fn stamp(generation: u64) -> u64 {
    generation.wrapping_mul(GENERATION_STEP)
}

/// Bytes up to the first whole word.
fn head_bytes(offset: u64) -> usize {
    (offset.next_multiple_of(WORD) - offset) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_does_not_depend_on_how_it_is_cut() {
        let pattern = Pattern::new(7);
        let mut whole = [0; 100];
        pattern.fill(1000, 3, &mut whole);
        for start in 0..20 {
            for length in 0..30 {
                let mut part = vec![0; length];
                pattern.fill(1000 + start as u64, 3, &mut part);
                assert_eq!(part, whole[start..start + length]);
            }
        }
    }

    #[test]
    fn a_wrong_byte_is_named_with_what_it_is_instead() {
        let pattern = Pattern::new(7);
        let mut bytes = vec![0; 20_000];
        pattern.fill(1 << 20, 5, &mut bytes);
        assert_eq!(pattern.verify(1 << 20, 5, &bytes), Ok(()));
        let wrong = |bytes: &[u8]| pattern.verify(1 << 20, 5, bytes).unwrap_err();
        let mut older = bytes.clone();
        pattern.fill((1 << 20) + 8192, 4, &mut older[8192..8704]);
        let found = wrong(&older);
        assert_eq!((found.offset, found.instead), ((1 << 20) + 8192, Instead::Generation(4)));
        assert!(found.to_string().ends_with("an older generation, 4"), "{found}");
        let mut misplaced = bytes.clone();
        pattern.fill(4096, 5, &mut misplaced[512..1024]);
        assert_eq!(wrong(&misplaced).instead, Instead::Offset(4096));
        let mut never = bytes.clone();
        never[1024..1536].fill(0);
        assert_eq!(wrong(&never).instead, Instead::Zeros);
        let mut flipped = bytes.clone();
        flipped[12_345] ^= 1;
        let found = wrong(&flipped);
        assert_eq!((found.offset, found.instead), ((1 << 20) + 12_345, Instead::Unknown));
        assert_eq!(found.expected, found.found ^ 1);
    }

    #[test]
    fn seeds_differ() {
        let (mut one, mut other) = ([0; 512], [0; 512]);
        Pattern::new(1).fill(0, 0, &mut one);
        Pattern::new(2).fill(0, 0, &mut other);
        assert!(one.chunks(8).zip(other.chunks(8)).all(|(one, other)| one != other));
    }
}
