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

/// The same with other bytes, and right checksums. The first line stays.
fn changed(file: &[u8], change: impl Fn(usize, u8) -> u8) -> Vec<u8> {
    let start = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let bytes = file.iter().enumerate().map(|(at, byte)| if at < start { *byte } else { change(at, *byte) });
    Recording::mended(&bytes.collect::<Vec<u8>>()).unwrap()
}

#[test]
fn one_that_is_cut_off_is_told_up_to_there() {
    let whole = sample();
    assert!(is_same(&whole) && changed(&whole, |_, byte| byte) == whole);
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
    let told = (step..whole.len())
        .step_by(step)
        .filter(|place| !is_same(&changed(&whole, |at, byte| if at == *place { byte ^ 0x10 } else { byte })));
    assert!(told.count() > 50 && last > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        is_same(&bytes);
        let block = [&b"E"[..], &(bytes.len() as u32).to_le_bytes(), &[0; 4], &bytes].concat();
        is_same(&Recording::mended(&[&b"nicteam-record 1\n"[..], &block].concat()).unwrap());
    }
}
