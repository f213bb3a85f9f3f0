//! Whose hellos to believe: those of teams that have the same key and run now.
//!
//! Every hello of a team with a key carries a tag: the first 16 bytes of HMAC-SHA-256 by that key over what
//! [`Hello::tagged`] says. A tag proves that a holder of the key once sent the hello, not that the holder sends it now.
//! So a system that is new is *challenged*: it has to send an answer with a stamp that nobody can know ahead. Until
//! then it is a candidate, and what it announces waits. From then on its sequence must advance, as far as frames do not
//! overtake one another.
//!
//! While keys are changed a team has two. It believes hellos by either. Its own hellos carry a tag by each, but for
//! probes, which come back to it. So teams that have the old key alone, both, and the new key alone know each other as
//! far as they have one in common. The team notes the key of a system's last announcement: the system stays known when
//! the other key goes.
//!
//! Without a key every hello without a tag is believed. Hellos with a tag are not: their senders would not believe
//! ours.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use nicteam_machine::{Derived, MemberId, Time, TokenBucket, state};
use nicteam_wire::{Hello, HelloKind, Mac};

use super::answers::{ANSWERS_PER_S, Answers, answers};
use super::sequences::{RECENT, Sequences};
use super::tagger::{Fitting, Tagger, bits_of, fitting_of, fitting_of_bits, taggers};
use nicteam_options::StripeKey;

/// Hellos that were not believed, since the team began or had another key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// We have a key, and they carried no tag.
    pub untagged: u64,
    /// We have a key, and their tag was made with another one.
    pub wrong: u64,
    /// Their tag was right, and they had come before.
    pub replayed: u64,
    /// We have no key, and they carried a tag.
    pub keyed: u64,
    /// They came from, or announced, addresses that are ours, another team's or nobody's.
    pub impossible: u64,
    /// The last of those.
    pub last_impossible: Option<RefusedLast>,
    /// The last that did not fit our key, or our having none.
    pub last: Option<RefusedLast>,
}

state!(struct Refused { untagged, wrong, replayed, keyed, impossible, last_impossible, last });

/// The last hello that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedLast {
    /// When it came.
    pub at: Time,
    /// Our member that heard it.
    pub member: MemberId,
    /// The source address of the frame.
    pub from: Mac,
}

state!(struct RefusedLast { at, member, from });

/// Decides which hellos count, and makes tags.
#[derive(Clone, Debug)]
pub(super) struct Auth {
    /// Our own number.
    system: u64,
    /// At most [`MOST_KEYS`](super::tagger::MOST_KEYS), the new one first.
    keys: Vec<Tagger>,
    /// What follows from keys and other secrets.
    pub(super) derived: Derived,
    /// Stamps of challenges so far.
    challenges: u64,
    /// Systems that answered.
    known: BTreeMap<u64, Known>,
    /// Systems that did not yet.
    candidates: BTreeMap<u64, Candidate>,
    answers: Answers,
    refused: Refused,
}

impl State for Auth {
    fn put(&self, to: &mut Vec<u8>) {
        // Not the keys.
        let Auth { system, keys: _, derived: _, challenges, known, candidates, answers, refused } = self;
        (*system, *challenges).put(to);
        known.put(to);
        candidates.put(to);
        answers.put(to);
        refused.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (system, challenges) = State::take(from)?;
        let (known, candidates) = (State::take(from)?, State::take(from)?);
        let (answers, refused) = (State::take(from)?, State::take(from)?);
        Ok(Auth { challenges, known, candidates, answers, refused, ..Auth::new(system) })
    }
}

/// What becomes of a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It is to be believed.
    Believe,
    /// Nobody is to hear of it.
    Refuse,
    /// Its sender is to be challenged with this stamp.
    Challenge(u64),
    /// It is a challenge, to be answered.
    Answer,
    /// Its sender answered: what it announced before is to be believed now.
    BelieveHeld(Vec<Held>),
}

/// An announcement of a system that has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) member: MemberId,
    pub(super) src: Mac,
    pub(super) hello: Hello,
}

state!(struct Held { member, src, hello });

/// A system that answered.
#[derive(Clone, Debug)]
struct Known {
    sequences: Sequences,
    /// By which of our keys its last announcement was, or its answer.
    keys: Fitting,
    answers: TokenBucket,
}

state!(struct Known { sequences, keys, answers });

#[derive(Clone, Debug)]
struct Candidate {
    stamp: u64,
    heard: Time,
    /// When it was challenged last, by our members.
    challenged: BTreeMap<MemberId, Time>,
    /// By our member and its.
    held: BTreeMap<(MemberId, u8), Held>,
}

state!(struct Candidate { stamp, heard, challenged, held });

/// Candidates at once; the one that was heard longest ago gives way.
const MAX_CANDIDATES: usize = 64;
/// Between two challenges of a candidate by the same member.
const CHALLENGE: Duration = Duration::from_millis(15);
/// A candidate that was not heard for so long is none any more.
const SILENCE: Duration = Duration::from_millis(3500);
impl Known {
    fn new() -> Known {
        Known { sequences: Sequences::default(), keys: Fitting::default(), answers: answers(ANSWERS_PER_S) }
    }
}

impl Auth {
    /// Without a key.
    pub(super) fn new(system: u64) -> Auth {
        Auth {
            system,
            keys: Vec::new(),
            derived: Derived::default(),
            challenges: 0,
            known: BTreeMap::new(),
            candidates: BTreeMap::new(),
            answers: Answers::new(),
            refused: Refused::default(),
        }
    }

    /// Goes on with these keys, of which `old` is worth something beside another one alone. A system stays known if its
    /// last announcement was by one of them.
    pub(super) fn set_keys(&mut self, key: Option<&StripeKey>, old: Option<&StripeKey>) {
        let keys = taggers(key, old);
        let before = std::mem::take(&mut self.keys);
        let had = |fitting: &Fitting, key: &Tagger| {
            before.iter().zip(fitting).any(|(before, fits)| *fits && before.key == key.key)
        };
        let mut known = std::mem::take(&mut self.known);
        for of in known.values_mut() {
            let fitting = of.keys;
            of.keys = fitting_of(&keys, |key| had(&fitting, key));
        }
        known.retain(|_, of| of.keys.contains(&true));
        let derived = std::mem::take(&mut self.derived);
        *self = Auth { keys, derived, known, challenges: self.challenges, ..Auth::new(self.system) };
    }

    /// The keys of a state, which has none.
    pub(super) fn restore_keys(&mut self, key: Option<&StripeKey>, old: Option<&StripeKey>) {
        self.keys = taggers(key, old);
    }

    /// True if hellos carry tags.
    pub(super) fn has_key(&self) -> bool {
        !self.keys.is_empty()
    }

    /// True if there are two keys.
    pub(super) fn changes_keys(&self) -> bool {
        self.keys.len() > 1
    }

    /// True of a system that answered.
    pub(super) fn knows(&self, system: u64) -> bool {
        self.known.contains_key(&system)
    }

    /// True of a system that has the key of ours that is not the old one.
    pub(super) fn has_new_key(&self, system: u64) -> bool {
        self.known.get(&system).is_some_and(|known| known.keys[0])
    }

    /// Hellos that were not believed.
    pub(super) fn refused(&self) -> Refused {
        self.refused
    }

    /// A hello as it goes to the wire.
    pub(super) fn seal(&self, hello: &Hello) -> Vec<u8> {
        match &self.keys[..] {
            [] => hello.encode(),
            // The old one first, for receivers that read one tag alone.
            [new, old] if hello.kind != HelloKind::Probe => {
                hello.encode_tagged_twice(|covered| old.tag(covered), |covered| new.tag(covered))
            }
            [new, ..] => hello.encode_tagged(|covered| new.tag(covered)),
        }
    }

    /// The token of a report that a member of this system, which announced this number, lost its carrier; 0 without a
    /// key. While keys are changed it follows from the last of our keys that the system's last announcement fits: a
    /// system that has two keys reports by the old one.
    pub(super) fn lost_token(&self, system: u64, announced: u64, mac: Mac) -> u64 {
        let fitting = self.known.get(&system).map(|known| known.keys);
        let fits = |place: usize| fitting.is_none_or(|fitting| fitting[place]);
        let mut keys = self.keys.iter().enumerate().rev();
        let key = keys.find(|(place, _)| fits(*place)).map(|(_, key)| key).or(self.keys.last());
        key.map_or(0, |key| key.lost_token(system, announced, mac))
    }

    /// Decides whether a hello counts that `member` received from `src`; `payload` is what it was decoded from,
    /// `sequence` the last number that we used ourselves.
    pub(super) fn judge(
        &mut self,
        (member, src): (MemberId, Mac),
        payload: &[u8],
        hello: &Hello,
        sequence: u32,
        now: Time,
    ) -> Judgement {
        let misfit = match (self.has_key(), Hello::tagged(payload)) {
            (false, None) => return without_key(hello),
            (true, Some(tagged)) => {
                let keys = &self.keys;
                let fitting = self.derived.number(|| bits_of(fitting_of(keys, |key| key.verifies(&tagged))));
                let fitting = fitting_of_bits(fitting);
                if fitting.contains(&true) {
                    return self.judge_genuine((member, src), hello, fitting, sequence, now);
                }
                &mut self.refused.wrong
            }
            (false, Some(_)) => &mut self.refused.keyed,
            (true, None) => &mut self.refused.untagged,
        };
        *misfit += 1;
        self.refused.last = Some(RefusedLast { at: now, member, from: src });
        Judgement::Refuse
    }

    /// A hello of addresses that are not its sender's was left alone.
    pub(super) fn refuse_impossible(&mut self, member: MemberId, from: Mac, now: Time) {
        self.refused.impossible += 1;
        self.refused.last_impossible = Some(RefusedLast { at: now, member, from });
    }

    /// Forgets what is known of a system.
    pub(super) fn forget(&mut self, system: u64) {
        self.known.remove(&system);
    }

    /// Decides whether a hello counts that was made with our key: its frame may be a replay.
    fn judge_genuine(
        &mut self,
        (member, src): (MemberId, Mac),
        hello: &Hello,
        fitting: Fitting,
        sequence: u32,
        now: Time,
    ) -> Judgement {
        if hello.system == self.system {
            // Ours come back: echoes, and what our other members announce. Nobody needs old ones.
            let age = sequence.wrapping_sub(hello.sequence);
            return self.unless_replayed(age < RECENT);
        }
        if hello.kind == HelloKind::Announce && speaker(hello) != Some(src) {
            // Sent on from another address: it uses up no number, and nobody is challenged there.
            self.refuse_impossible(member, src, now);
            return Judgement::Refuse;
        }
        match hello.kind {
            HelloKind::Challenge => self.take_challenge(member, hello, now),
            HelloKind::Answer => self.take_answer(hello, fitting),
            HelloKind::Announce | HelloKind::Probe | HelloKind::Echo => match self.known.get_mut(&hello.system) {
                Some(known) => {
                    let is_new = known.sequences.advance(member, hello.sequence);
                    if is_new && hello.kind == HelloKind::Announce {
                        known.keys = fitting;
                    }
                    self.unless_replayed(is_new)
                }
                None if hello.kind == HelloKind::Announce => self.hold(Held { member, src, hello: hello.clone() }, now),
                None => Judgement::Refuse,
            },
        }
    }

    fn unless_replayed(&mut self, is_new: bool) -> Judgement {
        self.refused.replayed += u64::from(!is_new);
        if is_new { Judgement::Believe } else { Judgement::Refuse }
    }

    /// Somebody wants to know whether we run now. Each challenge is answered once, and each system so often.
    fn take_challenge(&mut self, member: MemberId, challenge: &Hello, now: Time) -> Judgement {
        let (is_new, may) = match self.known.get_mut(&challenge.system) {
            Some(known) => {
                let is_new = known.sequences.advance(member, challenge.sequence);
                (is_new, is_new && known.answers.take(now))
            }
            None => self.answers.take(member, challenge, now),
        };
        self.refused.replayed += u64::from(!is_new);
        if may { Judgement::Answer } else { Judgement::Refuse }
    }

    /// A system that has not answered announces itself.
    fn hold(&mut self, held: Held, now: Time) -> Judgement {
        self.candidates.retain(|_, candidate| now.since(candidate.heard) < SILENCE);
        let system = held.hello.system;
        if !self.candidates.contains_key(&system) {
            self.challenges += 1;
            while self.candidates.len() >= MAX_CANDIDATES {
                let eldest = self.candidates.iter().min_by_key(|(_, candidate)| candidate.heard);
                let Some(eldest) = eldest.map(|(system, _)| *system) else { break };
                self.candidates.remove(&eldest);
            }
        }
        let (own, challenges, key) = (self.system, self.challenges, self.keys.first());
        let stamp = self.derived.number(|| key.map_or(0, |key| key.stamp(own, challenges)));
        let new = || Candidate { stamp, heard: now, challenged: BTreeMap::new(), held: BTreeMap::new() };
        let candidate = self.candidates.entry(system).or_insert_with(new);
        candidate.heard = now;
        let member = held.member;
        let place = (member, held.hello.place);
        let is_newer = |before: &Held| held.hello.sequence.wrapping_sub(before.hello.sequence) as i32 > 0;
        if candidate.held.get(&place).is_none_or(is_newer) {
            candidate.held.insert(place, held);
        }
        if candidate.challenged.get(&member).is_some_and(|last| now.since(*last) < CHALLENGE) {
            return Judgement::Refuse;
        }
        candidate.challenged.insert(member, now);
        Judgement::Challenge(candidate.stamp)
    }

    fn take_answer(&mut self, answer: &Hello, fitting: Fitting) -> Judgement {
        let is_asked = |candidate: &Candidate| candidate.stamp == answer.stamp;
        if !self.candidates.get(&answer.system).is_some_and(is_asked) {
            // A second answer, to another of our members.
            return Judgement::Refuse;
        }
        let held = self.candidates.remove(&answer.system).map(|candidate| candidate.held).unwrap_or_default();
        let known = self.known.entry(answer.system).or_insert_with(Known::new);
        known.keys = fitting;
        let sequences = &mut known.sequences;
        // Old ones, which somebody mixed in while we waited, are left out.
        sequences.highest = Some(answer.sequence);
        let mut held: Vec<Held> = held.into_values().collect();
        held.retain(|held| sequences.advance(held.member, held.hello.sequence));
        held.sort_by_key(|held| held.hello.sequence.wrapping_sub(answer.sequence) as i32);
        Judgement::BelieveHeld(held)
    }
}

/// The address of the member that sent an announcement, as it says.
pub(super) fn speaker(hello: &Hello) -> Option<Mac> {
    hello.members.iter().find(|member| member.place == hello.place).map(|member| member.mac)
}

/// What becomes of a hello without tag where there is no key.
fn without_key(hello: &Hello) -> Judgement {
    match hello.kind {
        HelloKind::Challenge | HelloKind::Answer => Judgement::Refuse,
        HelloKind::Announce | HelloKind::Probe | HelloKind::Echo => Judgement::Believe,
    }
}
