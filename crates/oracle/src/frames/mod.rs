//! Random frames of every kind that a hash policy may tell apart.
//!
//! Enough sense that every branch is taken, enough nonsense that every check is
//! needed. No two frames are alike (both addresses are random), each passes a
//! bridge, and each survives the way over a cable: behind a tag there are at
//! least eight bytes.

mod addresses;
mod ip;
mod kinds;
mod random;

use addresses::addresses;
pub use kinds::KINDS;
pub use random::Random;

/// A frame and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFrame {
    /// Its kind, one of [`KINDS`]' names.
    pub kind: &'static str,
    /// From the destination address on, no check sequence.
    pub bytes: Vec<u8>,
}

/// `count` frames, each kind as often as the others; the same for the same seed.
pub fn frames(seed: u64, count: usize) -> Vec<TestFrame> {
    let mut random = Random(seed);
    KINDS.iter().cycle().take(count).map(|(kind, make)| frame(&mut random, kind, *make)).collect()
}

fn frame(random: &mut Random, kind: &'static str, make: kinds::Make) -> TestFrame {
    let mut bytes = addresses(random);
    let (ethertype, payload) = make(random);
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(payload);
    TestFrame { kind, bytes }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn frames_are_of_their_seed_and_differ() {
        let count = 4 * KINDS.len();
        let made = frames(1, count);
        assert_eq!(made, frames(1, count));
        assert_ne!(made, frames(2, count));
        let bytes: BTreeSet<_> = made.iter().map(|frame| &frame.bytes).collect();
        assert_eq!(bytes.len(), count);
        for (kind, _) in KINDS {
            assert_eq!(made.iter().filter(|frame| frame.kind == *kind).count(), 4, "{kind}");
        }
    }

    #[test]
    fn frames_pass_bridge_and_cable() {
        for TestFrame { kind, bytes } in frames(3, 40 * KINDS.len()) {
            assert!(bytes.len() >= 14 && bytes.len() <= 1514, "{kind}: {} bytes", bytes.len());
            assert_eq!(bytes[6] & 1, 0, "{kind}: source is a group");
            let tagged = |at: usize| matches!(bytes[at..at + 2], [0x81, 0x00] | [0x88, 0xa8]);
            let mut at = 12;
            while tagged(at) {
                assert!(bytes.len() >= at + 4 + 2 + 8, "{kind}: {bytes:02x?}");
                at += 4;
            }
        }
    }
}
