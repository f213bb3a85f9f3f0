//! Entries that are like earlier ones, in fewer bytes.
//!
//! Most of what a team is told it was told before: the same LACPDU each second, the same links each 100 ms, a hello with
//! another number. So an entry is written as what differs from the last one in the same of [`SLOTS`] slots; of which slot
//! it is, its writer chooses. A reader that follows from the start has the same slots.

use nicteam_machine::bytes::{Reader, Unreadable, put_number};

/// How many last entries are kept.
pub(super) const SLOTS: usize = 1024;
/// Longer ones are not.
const LONGEST: usize = 2048;
/// How an entry is written: by all its bytes, or by those that differ.
const WHOLE: u64 = 0;
const DIFFERS: u64 = 1;
/// So many equal bytes end a run of others.
const EQUAL: usize = 3;

/// The last entry of each slot.
#[derive(Clone, Debug)]
pub(super) struct Slots(Vec<Vec<u8>>);

impl Slots {
    pub(super) fn new() -> Slots {
        Slots(vec![Vec::new(); SLOTS])
    }

    /// Appends an entry of a slot (modulo [`SLOTS`]) to these bytes.
    pub(super) fn put(&mut self, to: &mut Vec<u8>, slot: usize, entry: &[u8]) {
        let last = &mut self.0[slot % SLOTS];
        if !last.is_empty() && last.len() == entry.len() {
            let start = to.len();
            put_number(to, DIFFERS);
            put_differences(to, last, entry);
            if to.len() - start > entry.len() {
                to.truncate(start);
            } else {
                last.copy_from_slice(entry);
                return;
            }
        }
        put_number(to, (entry.len() as u64) << 1 | WHOLE);
        to.extend_from_slice(entry);
        last.clear();
        if entry.len() <= LONGEST {
            last.extend_from_slice(entry);
        }
    }

    /// Reads an entry of a slot.
    pub(super) fn take(&mut self, from: &mut Reader<'_>, slot: usize) -> Result<Vec<u8>, Unreadable> {
        let last = &mut self.0[slot % SLOTS];
        let header = from.number()?;
        if header == DIFFERS {
            if last.is_empty() {
                return Err(Unreadable::new("an entry is like one that is not there"));
            }
            take_differences(from, last)?;
            return Ok(last.clone());
        }
        if header & 1 != WHOLE {
            return Err(Unreadable::new("an entry is written in no known way"));
        }
        let length = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        let entry = from.take(length)?.to_vec();
        last.clear();
        if entry.len() <= LONGEST {
            last.extend_from_slice(&entry);
        }
        Ok(entry)
    }
}

/// Runs of other bytes: how many equal ones lie before, how many they are, and they; an empty run is the last.
fn put_differences(to: &mut Vec<u8>, last: &[u8], entry: &[u8]) {
    let mut at = 0;
    while let Some(skip) = (at..entry.len()).position(|place| last[place] != entry[place]) {
        let start = at + skip;
        let mut end = start + 1;
        // Up to several equal bytes one after the other.
        while end < entry.len() && (end..(end + EQUAL).min(entry.len())).any(|place| last[place] != entry[place]) {
            end += 1;
        }
        put_number(to, (end - start) as u64);
        put_number(to, skip as u64);
        to.extend_from_slice(&entry[start..end]);
        at = end;
    }
    put_number(to, 0);
}

fn take_differences(from: &mut Reader<'_>, last: &mut [u8]) -> Result<(), Unreadable> {
    let outside = || Unreadable::new("an entry differs where it has no bytes");
    let mut at = 0_usize;
    loop {
        let length = usize::try_from(from.number()?).unwrap_or(usize::MAX);
        if length == 0 {
            return Ok(());
        }
        let skip = usize::try_from(from.number()?).unwrap_or(usize::MAX);
        let start = at.checked_add(skip).ok_or_else(outside)?;
        let end = start.checked_add(length).filter(|end| *end <= last.len()).ok_or_else(outside)?;
        last[start..end].copy_from_slice(from.take(length)?);
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_came_before_costs_two_bytes() {
        let (mut slots, mut bytes) = (Slots::new(), Vec::new());
        let entry = [7; 124];
        slots.put(&mut bytes, 3, &entry);
        let first = bytes.len();
        slots.put(&mut bytes, 3, &entry);
        assert_eq!(bytes.len() - first, 2);
    }

    proptest! {
        #[test]
        fn entries_are_read_as_they_were_written(
            entries in proptest::collection::vec((0..4_usize, proptest::collection::vec(0..3_u8, 0..12)), 0..60)
        ) {
            let (mut writer, mut reader, mut bytes) = (Slots::new(), Slots::new(), Vec::new());
            for (slot, entry) in &entries {
                writer.put(&mut bytes, *slot, entry);
            }
            let mut from = Reader(&bytes);
            for (slot, entry) in &entries {
                prop_assert_eq!(&reader.take(&mut from, *slot).unwrap(), entry);
            }
            prop_assert!(from.is_at_end());
        }

        #[test]
        fn other_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let (mut slots, mut from) = (Slots::new(), Reader(&bytes));
            while !from.is_at_end() && slots.take(&mut from, 0).is_ok() {}
        }
    }
}
