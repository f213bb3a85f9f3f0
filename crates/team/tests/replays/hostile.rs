//! Bytes that are no recording, or one that somebody changed: refused or read, and told to a team without a panic.

use nicteam_team::replay::{Ending, Recording, Until, replay};
use proptest::prelude::*;

use crate::replays::{faults, file};

/// Reads and replays it; true if it was a whole recording that replays to the same plans.
fn is_same(bytes: &[u8]) -> bool {
    let Ok(recording) = Recording::read(bytes) else { return false };
    for entry in recording.entries().flatten() {
        let _ = entry.words();
    }
    let same = replay(&recording, Until::End, |_, _| {}).is_ok_and(|outcome| outcome.difference.is_none());
    same && recording.ending == Ending::Whole
}

/// A keyed team's recording.
fn sample() -> Vec<u8> {
    let lan = faults::stripe(9, "one-key-of-the-test", std::time::Duration::from_millis(600));
    file(&lan.host(1).team)
}

/// The same with right checksums, whatever is in the blocks.
fn with_checksums(file: &[u8], change: impl Fn(usize, u8) -> u8) -> Vec<u8> {
    let start = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (mut made, mut rest, mut at) = (file[..start].to_vec(), &file[start..], 0);
    while let Some((head, behind)) = rest.split_first_chunk::<9>() {
        let length = u32::from_le_bytes(*head[1..].first_chunk().unwrap()) as usize;
        let bytes: Vec<u8> = behind[..length]
            .iter()
            .map(|byte| {
                at += 1;
                change(at, *byte)
            })
            .collect();
        made.extend_from_slice(&head[..5]);
        made.extend_from_slice(&crc32(&bytes).to_le_bytes());
        made.extend_from_slice(&bytes);
        rest = &behind[length..];
    }
    made
}

/// Bit by bit, as the standard has it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn one_that_is_cut_off_is_told_up_to_there() {
    let whole = sample();
    assert!(is_same(&whole) && with_checksums(&whole, |_, byte| byte) == whole);
    let mut entries = Vec::new();
    for end in (0..whole.len()).step_by(whole.len() / 37) {
        let Ok(recording) = Recording::read(&whole[..end]) else { continue };
        assert_ne!(recording.ending, Ending::Whole);
        let outcome = replay(&recording, Until::End, |_, _| {}).unwrap();
        assert_eq!(outcome.difference, None);
        entries.push(outcome.entries);
    }
    assert!(entries.is_sorted() && entries.last() > entries.first(), "{entries:?}");
}

#[test]
fn another_course_is_told() {
    let whole = sample();
    let recording = Recording::read(&whole).unwrap();
    let plans = recording.entries().flatten().filter(|entry| entry.plans().count() > 0);
    let last = plans.last().unwrap().number;
    // Each byte of the entries once; what is found differs, is refused, or was of no consequence.
    let step = whole.len() / 150;
    let told = (step..whole.len()).step_by(step).filter(|place| {
        let changed = with_checksums(&whole, |at, byte| if at == *place { byte ^ 0x10 } else { byte });
        !is_same(&changed)
    });
    assert!(told.count() > 50 && last > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        is_same(&bytes);
        let block = [&b"E"[..], &(bytes.len() as u32).to_le_bytes(), &crc32(&bytes).to_le_bytes(), &bytes].concat();
        is_same(&[&b"nicteam-record 1\n"[..], &block].concat());
    }
}
