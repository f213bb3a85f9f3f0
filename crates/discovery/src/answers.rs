//! How many challenges are answered.

use std::collections::BTreeMap;

use nicteam_machine::{MemberId, Time, TokenBucket, state};
use nicteam_wire::Hello;

use super::sequences::Sequences;

/// Answers a second to one system.
pub(super) const ANSWERS_PER_S: u32 = 64;
/// The same to all together that are not known; those that are have only their own bound.
const ANSWERS_TO_STRANGERS_PER_S: u32 = 1024;
/// Systems whose challenges are remembered; the one that was heard longest ago gives way.
const MAX_STRANGERS: usize = 256;

/// Bounds answers, so that nobody can cause more of them: those of a second at once.
pub(super) fn answers(per_s: u32) -> TokenBucket {
    TokenBucket::per_second(per_s, per_s)
}

/// Challenges of systems that are not known. Somebody who repeats what one of them said, or who says a great deal,
/// keeps no other system from its answer.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    strangers: BTreeMap<u64, Stranger>,
    all: TokenBucket,
}

state!(struct Answers { strangers, all });

/// One of them.
#[derive(Clone, Debug)]
struct Stranger {
    sequences: Sequences,
    answers: TokenBucket,
    heard: Time,
}

state!(struct Stranger { sequences, answers, heard });

impl Stranger {
    pub(super) fn new(now: Time) -> Stranger {
        Stranger { sequences: Sequences::default(), answers: answers(ANSWERS_PER_S), heard: now }
    }
}

impl Answers {
    pub(super) fn new() -> Answers {
        Answers { strangers: BTreeMap::new(), all: answers(ANSWERS_TO_STRANGERS_PER_S) }
    }

    /// A challenge: whether a member may have heard it for the first time, and if it is to be answered.
    pub(super) fn take(&mut self, member: MemberId, challenge: &Hello, now: Time) -> (bool, bool) {
        if !self.strangers.contains_key(&challenge.system) && self.strangers.len() >= MAX_STRANGERS {
            let eldest = self.strangers.iter().min_by_key(|(_, stranger)| stranger.heard).map(|(system, _)| *system);
            eldest.map(|eldest| self.strangers.remove(&eldest));
        }
        let stranger = self.strangers.entry(challenge.system).or_insert_with(|| Stranger::new(now));
        stranger.heard = now;
        let is_new = stranger.sequences.advance(member, challenge.sequence);
        let may = is_new && stranger.answers.take(now) && self.all.take(now);
        (is_new, may)
    }
}
