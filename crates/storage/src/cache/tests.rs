use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const SECTOR: usize = 512;

fn cache(kib: u64) -> Cache {
    Cache::new(WriteBack { bytes: kib << 10 }, 1 << 20)
}

fn content(cache: &Cache, run: Run) -> Vec<u8> {
    let mut bytes = vec![0; run.bytes];
    cache.content(run, &mut bytes);
    bytes
}

#[test]
fn neighbours_are_merged_and_leave_in_order_of_offsets() {
    let mut cache = cache(1024);
    for offset in [96 << 10, 0, 32 << 10, 512 << 10] {
        assert!(cache.write(offset, &[offset as u8; 32 << 10]));
    }
    let runs: Vec<Run> = std::iter::from_fn(|| cache.next_run()).collect();
    let places: Vec<_> = runs.iter().map(|run| (run.offset >> 10, run.bytes >> 10)).collect();
    assert_eq!(places, [(0, 64), (96, 32), (512, 32)]);
    runs.iter().for_each(|run| cache.sent(*run, true));
    assert!(cache.is_clean());
    let counts = cache.counts();
    assert_eq!((counts.written_bytes, counts.sent_bytes, counts.sent_runs), (128 << 10, 128 << 10, 3));
    assert_eq!((counts.used_bytes, counts.most_used_bytes), (0, 128 << 10));
}

#[test]
fn what_is_on_its_way_is_not_sent_again_before_its_answer() {
    let mut cache = cache(1024);
    assert!(cache.write(0, &[1; CHUNK]));
    let first = cache.next_run().unwrap();
    assert!(cache.write(0, &[2; SECTOR]));
    assert_eq!(cache.next_run(), None);
    let mut read = vec![0; CHUNK];
    assert_eq!(cache.read(0, &mut read), Cover::Whole);
    assert!(read[..SECTOR].iter().all(|byte| *byte == 2) && read[SECTOR..].iter().all(|byte| *byte == 1));
    assert_eq!(content(&cache, first), [1; CHUNK]);
    cache.sent(first, true);
    let second = cache.next_run().unwrap();
    assert_eq!((second, content(&cache, second)), (Run { offset: 0, bytes: SECTOR }, vec![2; SECTOR]));
    assert!(!cache.is_clean(), "who ends waits for what is on its way");
    cache.sent(second, true);
    assert!(cache.is_clean());
}

#[test]
fn a_write_that_finds_no_room_waits() {
    let mut cache = cache(64);
    assert!(cache.write(0, &[1; 64 << 10]));
    assert!(!cache.write(64 << 10, &[1; SECTOR]), "full");
    assert!(cache.write(32 << 10, &[2; SECTOR]), "in place of what is there");
    let run = cache.next_run().unwrap();
    assert!(!cache.write(64 << 10, &[1; SECTOR]), "on its way is still in memory");
    cache.sent(run, true);
    assert!(cache.write(64 << 10, &[1; SECTOR]));
    assert_eq!(cache.counts().waits, 2);
    let run = cache.next_run().unwrap();
    cache.sent(run, true);
    assert!(cache.write(0, &[1; 128 << 10]), "an empty cache takes any");
}

#[test]
fn a_barrier_waits_for_what_came_before_it_alone() {
    let mut cache = cache(1024);
    assert!(cache.write(0, &[1; SECTOR]));
    let barrier = cache.barrier();
    assert!(cache.write(CHUNK as u64 * 9, &[1; SECTOR]));
    assert!(!cache.is_past(barrier));
    let run = cache.next_run().unwrap();
    cache.sent(run, true);
    assert!(cache.is_past(barrier) && !cache.is_clean());
}

#[test]
fn parts_of_a_read_are_named_and_what_was_lost_is_counted() {
    let mut cache = cache(1024);
    assert!(cache.write(SECTOR as u64, &[7; SECTOR]));
    let mut buffer = vec![0; 3 * SECTOR];
    assert_eq!(cache.read(0, &mut buffer), Cover::Parts(vec![Patch { at: SECTOR, bytes: vec![7; SECTOR] }]));
    assert_eq!(cache.read(1 << 20, &mut buffer), Cover::Parts(vec![]));
    let run = cache.next_run().unwrap();
    cache.sent(run, false);
    assert_eq!((cache.counts().lost_bytes, cache.counts().sent_bytes), (SECTOR as u64, 0));
}

/// A step of the random test: on sectors of a small disk.
#[derive(Clone, Debug)]
enum Step {
    Write {
        sector: usize,
        count: usize,
    },
    Read {
        sector: usize,
        count: usize,
    },
    /// Hands out a run.
    Send,
    /// Answers one of those on their way.
    Answer(usize),
}

const SECTORS: usize = 200;

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..SECTORS - 80, 1..80_usize);
    prop_oneof![
        place().prop_map(|(sector, count)| Step::Write { sector, count }),
        place().prop_map(|(sector, count)| Step::Read { sector, count }),
        Just(Step::Send),
        (0..8_usize).prop_map(Step::Answer),
    ]
}

proptest! {
    /// Reads see the last write, whatever is on its way, and the disk has it in the end.
    #[test]
    fn the_last_write_is_what_is_read_and_what_stays(steps in prop::collection::vec(step(), 1..200)) {
        let mut cache = Cache::new(WriteBack { bytes: 96 << 10 }, 64 << 10);
        let (mut disk, mut wanted) = (vec![0_u8; SECTORS * SECTOR], vec![0_u8; SECTORS * SECTOR]);
        let mut on_the_way: BTreeMap<u64, (Run, Vec<u8>)> = BTreeMap::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Write { sector, count } => {
                    let bytes = vec![number as u8 + 1; count * SECTOR];
                    if cache.write((sector * SECTOR) as u64, &bytes) {
                        wanted[sector * SECTOR..(sector + count) * SECTOR].copy_from_slice(&bytes);
                    }
                }
                Step::Read { sector, count } => {
                    let range = sector * SECTOR..(sector + count) * SECTOR;
                    let mut buffer = vec![0; range.len()];
                    if let Cover::Parts(patches) = cache.read(range.start as u64, &mut buffer) {
                        buffer.copy_from_slice(&disk[range.clone()]);
                        for Patch { at, bytes } in patches {
                            buffer[at..at + bytes.len()].copy_from_slice(&bytes);
                        }
                    }
                    prop_assert!(buffer == wanted[range]);
                }
                Step::Send => {
                    if let Some(run) = cache.next_run() {
                        let overlaps = |other: &Run| run.offset < other.offset + other.bytes as u64
                            && other.offset < run.offset + run.bytes as u64;
                        prop_assert!(!on_the_way.values().any(|(other, _)| overlaps(other)));
                        prop_assert!(run.bytes <= 64 << 10);
                        let bytes = content(&cache, run);
                        on_the_way.insert(run.offset, (run, bytes));
                    }
                }
                Step::Answer(which) => {
                    if let Some(offset) = on_the_way.keys().nth(which).copied() {
                        answer(&mut cache, &mut disk, on_the_way.remove(&offset).unwrap());
                    }
                }
            }
        }
        let barrier = cache.barrier();
        std::mem::take(&mut on_the_way).into_values().for_each(|sent| answer(&mut cache, &mut disk, sent));
        while let Some(run) = cache.next_run() {
            let bytes = content(&cache, run);
            answer(&mut cache, &mut disk, (run, bytes));
        }
        prop_assert!(cache.is_clean() && cache.is_past(barrier) && cache.counts().used_bytes == 0);
        prop_assert!(disk == wanted);
    }
}

fn answer(cache: &mut Cache, disk: &mut [u8], (run, bytes): (Run, Vec<u8>)) {
    disk[run.offset as usize..run.offset as usize + run.bytes].copy_from_slice(&bytes);
    cache.sent(run, true);
}
