//! Operations of the program: cut into commands, and joined again.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_iscsi::Buffer;
use nicteam_multipath::Kind;

use crate::{Done, IoError, Operation};

/// Operations that are under way.
#[derive(Debug, Default)]
pub(super) struct Operations {
    next: u64,
    under_way: BTreeMap<u64, UnderWay>,
}

/// An operation that is under way.
#[derive(Debug)]
struct UnderWay {
    operation: Operation,
    began: Duration,
    parts: usize,
    error: Option<IoError>,
}

impl Operations {
    /// Takes an operation in that becomes commands of at most so many bytes; its key, and the commands' buffers with
    /// their places in its own.
    pub(super) fn begin(
        &mut self,
        mut operation: Operation,
        longest: usize,
        now: Duration,
    ) -> (u64, Vec<(usize, Buffer)>) {
        let parts = cut(&mut operation, longest);
        let key = self.next;
        self.next += 1;
        let under_way = UnderWay { operation, began: now, parts: parts.len(), error: None };
        self.under_way.insert(key, under_way);
        (key, parts)
    }

    /// A command of an operation is over. The operation, if that was its last.
    pub(super) fn part_done(
        &mut self,
        (key, at): (u64, usize),
        buffer: Buffer,
        result: Result<(), String>,
        now: Duration,
    ) -> Option<Done> {
        let under_way = self.under_way.get_mut(&key)?;
        let operation = &mut under_way.operation;
        if operation.buffer.is_empty() {
            operation.buffer = buffer;
        } else if operation.kind == Kind::Read {
            operation.buffer[at..at + buffer.len()].copy_from_slice(&buffer);
        }
        if let Err(reason) = result {
            under_way.error.get_or_insert_with(|| IoError { what: operation.words(), reason });
        }
        under_way.parts -= 1;
        if under_way.parts > 0 {
            return None;
        }
        let UnderWay { operation, began, error, .. } = self.under_way.remove(&key)?;
        let Operation { id, buffer, .. } = operation;
        Some(Done { id, buffer, result: error.map_or(Ok(()), Err), took: now.saturating_sub(began) })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }
}

/// Buffers of at most so many bytes. A short operation lends its own, and has none meanwhile.
fn cut(operation: &mut Operation, longest: usize) -> Vec<(usize, Buffer)> {
    if operation.buffer.len() <= longest {
        return vec![(0, std::mem::take(&mut operation.buffer))];
    }
    let places = (0..operation.buffer.len()).step_by(longest);
    let part = |at: usize| {
        let end = operation.buffer.len().min(at + longest);
        let buffer = match operation.kind {
            Kind::Write => Buffer::from(operation.buffer[at..end].to_vec()),
            _ => Buffer::new(end - at),
        };
        (at, buffer)
    };
    places.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(kind: Kind, bytes: usize) -> Operation {
        Operation { id: 7, kind, offset: 4096, buffer: Buffer::from((0..bytes).map(|n| n as u8).collect::<Vec<_>>()) }
    }

    #[test]
    fn a_long_read_is_joined_whatever_part_comes_first() {
        let mut operations = Operations::default();
        let (key, mut parts) = operations.begin(operation(Kind::Read, 2500), 1024, Duration::from_secs(1));
        assert_eq!(
            parts.iter().map(|(at, part)| (*at, part.len())).collect::<Vec<_>>(),
            [(0, 1024), (1024, 1024), (2048, 452)]
        );
        parts.reverse();
        let mut done = None;
        for (at, mut part) in parts {
            assert!(done.is_none());
            part.fill((at / 1024) as u8 + 1);
            done = operations.part_done((key, at), part, Ok(()), Duration::from_secs(3));
        }
        let done = done.unwrap();
        assert_eq!((done.id, done.took, operations.len()), (7, Duration::from_secs(2), 0));
        let expected: Vec<u8> = (0..2500).map(|at| (at / 1024) as u8 + 1).collect();
        assert_eq!(done.buffer.to_vec(), expected);
    }

    #[test]
    fn a_long_write_fails_with_its_first_error_and_a_short_one_keeps_its_buffer() {
        let mut operations = Operations::default();
        let (key, parts) = operations.begin(operation(Kind::Write, 2048), 1024, Duration::ZERO);
        assert_eq!(parts[1].1.to_vec(), (1024..2048).map(|n| n as u8).collect::<Vec<_>>());
        let mut parts = parts.into_iter();
        let (at, part) = parts.next().unwrap();
        assert!(operations.part_done((key, at), part, Err("it burns".to_owned()), Duration::ZERO).is_none());
        let (at, part) = parts.next().unwrap();
        let done = operations.part_done((key, at), part, Err("still".to_owned()), Duration::ZERO).unwrap();
        assert_eq!(done.result.unwrap_err().to_string(), "a write of 2048 bytes at offset 4096 failed: it burns");
        assert_eq!(done.buffer.len(), 2048);
        let (key, mut parts) = operations.begin(operation(Kind::Write, 512), 1024, Duration::ZERO);
        let (at, part) = parts.remove(0);
        assert_eq!(operations.part_done((key, at), part, Ok(()), Duration::ZERO).unwrap().buffer.len(), 512);
    }
}
