//! The logical unit's size: every path is asked before it is used, and each has to lead to the same disk.

use std::collections::BTreeMap;

use nicteam_iscsi::Outcome;
use nicteam_multipath::{self as multipath, PathId};

/// The logical unit's size, and the paths that are asked for it.
#[derive(Debug, Default)]
pub(super) struct Capacity {
    /// Blocks, and bytes of a block, as the first path reported them.
    known: Option<(u64, u32)>,
    /// TEST UNIT READY of each path that is being opened.
    tests: BTreeMap<u64, PathId>,
    /// Paths that are asked, with the TEST UNIT READY that is answered once they have reported the size.
    asked: BTreeMap<PathId, u64>,
    /// Why a path is none to this disk, as was found last.
    mismatch: Option<String>,
}

/// Number of the first path's command that asks: it is not multipath's, and far above any of its own.
pub(super) const READ_CAPACITY: u64 = 1 << 63;

/// What becomes of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The path's session is to be asked by this number: the answer is held back.
    Ask(u64),
    /// The message for multipath.
    Tell(u64, Outcome),
    /// It was nothing that multipath knows of.
    Nothing,
}

impl Capacity {
    /// Blocks, and bytes of a block.
    pub(super) fn known(&self) -> Option<(u64, u32)> {
        self.known
    }

    /// Why a path that answers is not used.
    pub(super) fn mismatch(&self) -> Option<&str> {
        self.mismatch.as_deref()
    }

    /// A path is asked by TEST UNIT READY whether it may be used.
    pub(super) fn tested(&mut self, path: PathId, command: u64) {
        self.tests.insert(command, path);
    }

    /// A path has lost its session.
    pub(super) fn lost(&mut self, path: PathId) {
        self.tests.retain(|_, of| *of != path);
        self.asked.remove(&path);
    }

    /// Takes in what a path answered: a path that is ready is asked for its size first.
    pub(super) fn answered(&mut self, path: PathId, command: u64, outcome: Outcome) -> Answer {
        if command == number(path) {
            return match self.asked.remove(&path) {
                Some(test) => Answer::Tell(test, self.compare(outcome)),
                None => Answer::Nothing,
            };
        }
        if command >= READ_CAPACITY {
            return Answer::Nothing;
        }
        if self.tests.remove(&command).is_some() && outcome == Outcome::Good {
            self.asked.insert(path, command);
            return Answer::Ask(number(path));
        }
        Answer::Tell(command, outcome)
    }

    /// The result for a path that reported its size.
    fn compare(&mut self, outcome: Outcome) -> Outcome {
        let refused = match outcome {
            Outcome::Capacity { blocks, block_bytes } if blocks.checked_mul(u64::from(block_bytes)).is_none() => {
                format!("{blocks} blocks of {block_bytes} bytes are more than any disk has")
            }
            Outcome::Capacity { blocks, block_bytes } => match *self.known.get_or_insert((blocks, block_bytes)) {
                same if same == (blocks, block_bytes) => {
                    self.mismatch = None;
                    return Outcome::Good;
                }
                (before, before_bytes) => format!(
                    "the logical unit has {blocks} blocks of {block_bytes} bytes, and had {before} of {before_bytes}: it is \
                     another disk; hint: open it anew"
                ),
            },
            // Not executed: to be asked again.
            Outcome::UnitAttention { .. } | Outcome::Busy | Outcome::NoAnswer | Outcome::Aborted(_) => return outcome,
            other => format!("READ CAPACITY(16): {other:?}"),
        };
        self.mismatch = Some(refused.clone());
        Outcome::Refused(refused)
    }
}

/// Number of a path's command that asks.
fn number(path: PathId) -> u64 {
    READ_CAPACITY + path.0 as u64
}

/// An outcome in multipath's terms; none where the session's end follows.
pub(super) fn outcome_of(outcome: Outcome) -> Option<multipath::Outcome> {
    Some(match outcome {
        Outcome::Good | Outcome::Capacity { .. } => multipath::Outcome::Good,
        Outcome::UnitAttention { asc, ascq } => multipath::Outcome::UnitAttention { asc, ascq },
        Outcome::Busy => multipath::Outcome::Busy,
        Outcome::ReservationConflict => multipath::Outcome::ReservationConflict,
        Outcome::CheckCondition { key, asc, ascq } => multipath::Outcome::CheckCondition { key, asc, ascq },
        Outcome::Aborted(_) => multipath::Outcome::Aborted,
        Outcome::FunctionRefused(code) => {
            multipath::Outcome::Refused(format!("the target refused the task management function, response {code}"))
        }
        Outcome::Refused(reason) => multipath::Outcome::Refused(reason),
        Outcome::NoAnswer => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(blocks: u64, block_bytes: u32) -> Outcome {
        Outcome::Capacity { blocks, block_bytes }
    }

    /// A path becomes ready and reports this; the answer to its TEST UNIT READY for multipath.
    fn opened(capacity: &mut Capacity, path: usize, outcome: Outcome) -> Outcome {
        let (path, test) = (PathId(path), 70 + path as u64);
        capacity.tested(path, test);
        let Answer::Ask(number) = capacity.answered(path, test, Outcome::Good) else { panic!("it is not asked") };
        match capacity.answered(path, number, outcome) {
            Answer::Tell(told, outcome) if told == test => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_path_leads_to_the_same_disk_or_is_refused() {
        let mut capacity = Capacity::default();
        assert_eq!(opened(&mut capacity, 0, told(2048, 512)), Outcome::Good);
        assert_eq!(opened(&mut capacity, 1, told(2048, 512)), Outcome::Good);
        for (blocks, block_bytes) in [(2047, 512), (4096, 512), (256, 4096)] {
            let Outcome::Refused(why) = opened(&mut capacity, 1, told(blocks, block_bytes)) else { panic!() };
            assert!(why.contains("had 2048 of 512: it is another disk"), "{why}");
            assert_eq!((capacity.known(), capacity.mismatch()), (Some((2048, 512)), Some(why.as_str())));
        }
        assert_eq!(opened(&mut capacity, 0, told(2048, 512)), Outcome::Good);
        assert_eq!(capacity.mismatch(), None);
    }

    #[test]
    fn a_capacity_that_no_disk_has_is_refused() {
        let mut capacity = Capacity::default();
        let refused = opened(&mut capacity, 0, told(u64::MAX, 512));
        assert!(matches!(&refused, Outcome::Refused(why) if why.contains("more than any disk")), "{refused:?}");
        assert_eq!(capacity.known(), None);
    }

    #[test]
    fn what_was_not_executed_is_the_tests_answer() {
        let mut capacity = Capacity::default();
        assert_eq!(opened(&mut capacity, 0, Outcome::Busy), Outcome::Busy);
        let attention = Outcome::UnitAttention { asc: 0x2a, ascq: 9 };
        assert_eq!(opened(&mut capacity, 0, attention.clone()), attention);
    }

    #[test]
    fn answers_of_others_pass_and_those_of_a_lost_session_are_forgotten() {
        let mut capacity = Capacity::default();
        let path = PathId(0);
        assert_eq!(capacity.answered(path, 9, Outcome::Good), Answer::Tell(9, Outcome::Good));
        capacity.tested(path, 10);
        assert_eq!(capacity.answered(path, 10, Outcome::Busy), Answer::Tell(10, Outcome::Busy));
        capacity.tested(path, 11);
        let Answer::Ask(number) = capacity.answered(path, 11, Outcome::Good) else { panic!() };
        capacity.lost(path);
        assert_eq!(capacity.answered(path, number, told(1, 512)), Answer::Nothing);
        assert_eq!(capacity.known(), None);
    }
}
