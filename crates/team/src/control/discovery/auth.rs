//! Whose hellos to believe: those of teams that have the same key and run now.
//!
//! Every hello of a team with a key carries a tag: HMAC-SHA-256 by that key over
//! what [`Hello::tagged`] says, its first 16 bytes. A tag proves that somebody who
//! has the key once sent the hello, not that he sends it now. So a system that is
//! new is *challenged*: it has to send an answer with a stamp that nobody can know
//! ahead; until then it is a candidate and what it announces waits. From then on
//! its sequence must advance, as far as frames do not overtake one another.
//!
//! While keys are changed a team has two. It believes hellos by either, and its own but for
//! probes, which come back to it, carry a tag by each: so teams that have the old one alone, both, and the new one alone
//! know each other as far as they have one in common. By which a system's last announcement was is noted: it stays known
//! when the other one goes.
//!
//! Without a key everybody is believed, but hellos with a tag are not: their
//! senders would not believe ours.

use std::collections::BTreeMap;
use std::time::Duration;

use hmac::Hmac;
use hmac::digest::{FixedOutput, KeyInit, Mac as _};
use nicteam_wire::{Hello, HelloKind, Mac, Tagged};
use sha2::Sha256;

use super::derived::Derived;
use crate::config::StripeKey;
use crate::control::replay::bytes::{Reader, Unreadable};
use crate::control::state::State;
use crate::control::state::state;
use crate::{MemberId, Time, TokenBucket};

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
    /// Who sent it, as the frame says.
    pub from: Mac,
}

state!(struct RefusedLast { at, member, from });

/// Judges hellos, and makes tags.
#[derive(Clone, Debug)]
pub(super) struct Auth {
    /// Our own number.
    system: u64,
    /// At most [`MOST_KEYS`], the new one first.
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

/// Computes tags by a key. Printed as nothing.
#[derive(Clone)]
struct Tagger {
    key: StripeKey,
    keyed: Hmac<Sha256>,
}

/// For each of our keys: true if a tag is by it.
type Fitting = [bool; MOST_KEYS];

/// Keys at once: the new one and the old one.
const MOST_KEYS: usize = 2;

/// Candidates at once; who was heard least lately gives way.
const MAX_CANDIDATES: usize = 64;
/// Between two challenges of a candidate by the same member.
const CHALLENGE: Duration = Duration::from_millis(15);
/// A candidate that was not heard for so long is none any more.
const SILENCE: Duration = Duration::from_millis(3500);
/// Answers a second to one system.
const ANSWERS_PER_S: u32 = 64;
/// The same to all together that are not known; those that are have only their own bound.
const ANSWERS_TO_STRANGERS_PER_S: u32 = 1024;
/// Systems whose challenges are remembered; who was heard least lately gives way.
const MAX_STRANGERS: usize = 256;

/// Bounds answers, so that nobody can cause more of them: those of a second at once.
fn answers(per_s: u32) -> TokenBucket {
    TokenBucket::per_second(per_s, per_s)
}

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

    /// Goes on with these keys, of which `old` is worth something beside another one alone. Knows who announced
    /// himself last by one of them.
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
            // The old one first, for who reads one tag alone.
            [new, old] if hello.kind != HelloKind::Probe => {
                hello.encode_tagged_twice(|covered| old.tag(covered), |covered| new.tag(covered))
            }
            [new, ..] => hello.encode_tagged(|covered| new.tag(covered)),
        }
    }

    /// With what a lost carrier of a member of this system's is reported, which announced this number; 0 without a key. While
    /// keys are changed, by the last of ours that its last announcement was by: who has two speaks by the old one.
    pub(super) fn lost_token(&self, system: u64, announced: u64, mac: Mac) -> u64 {
        let fitting = self.known.get(&system).map(|known| known.keys);
        let fits = |place: usize| fitting.is_none_or(|fitting| fitting[place]);
        let mut keys = self.keys.iter().enumerate().rev();
        let key = keys.find(|(place, _)| fits(*place)).map(|(_, key)| key).or(self.keys.last());
        key.map_or(0, |key| key.lost_token(system, announced, mac))
    }

    /// Judges a hello that `member` received from `src`; `payload` is what it was
    /// decoded from, `sequence` the last that we used ourselves.
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

    /// Judges a hello that somebody with our key made, whoever sent it now.
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

/// The new key first; the old one where it is worth something.
fn taggers(key: Option<&StripeKey>, old: Option<&StripeKey>) -> Vec<Tagger> {
    let old = old.filter(|old| key.is_some_and(|key| key != *old));
    key.into_iter().chain(old).map(Tagger::new).collect()
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

impl Tagger {
    fn new(key: &StripeKey) -> Tagger {
        // Zeros behind a key that is shorter than a block are what HMAC itself puts there.
        let mut block = [0; 64];
        for (byte, given) in block.iter_mut().zip(key.bytes()) {
            *byte = *given;
        }
        Tagger { key: key.clone(), keyed: <Hmac<Sha256> as KeyInit>::new(&block.into()) }
    }

    fn tag(&self, covered: &[u8]) -> [u8; Hello::TAG] {
        let whole: [u8; 32] = self.keyed.clone().chain_update(covered).finalize_fixed().into();
        whole.first_chunk().copied().unwrap_or_default()
    }

    /// True if one of its tags is by this key; in the same time for every tag.
    fn verifies(&self, tagged: &Tagged) -> bool {
        let keyed = self.keyed.clone().chain_update(&tagged.covered);
        let fits = |tag: &[u8; Hello::TAG]| keyed.clone().verify_truncated_left(tag).is_ok();
        fits(&tagged.tag) | tagged.second.as_ref().is_some_and(fits)
    }

    /// The stamp of a challenge. No hello starts with a zero, so it is part of no tag.
    fn stamp(&self, system: u64, number: u64) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.tag(&[[0; 8], system.to_be_bytes(), number.to_be_bytes()].concat());
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// A token, which is not 0. Longer than what stamps are made of, so it is no stamp.
    fn lost_token(&self, system: u64, announced: u64, mac: Mac) -> u64 {
        let numbers = [[0; 8], system.to_be_bytes(), announced.to_be_bytes()].concat();
        let [a, b, c, d, e, f, g, h, ..] = self.tag(&[&numbers, &mac.0[..]].concat());
        u64::from_be_bytes([a, b, c, d, e, f, g, h]).max(1)
    }
}

impl std::fmt::Debug for Tagger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tagger")
    }
}

/// Which sequences of a system were heard.
#[derive(Clone, Debug, Default)]
struct Sequences {
    highest: Option<u32>,
    /// By our members: the highest, and a bit for each of those behind it, itself the lowest.
    heard: BTreeMap<MemberId, (u32, u128)>,
}

state!(struct Sequences { highest, heard });

/// So far behind the newest a hello may be, on whatever member.
const RECENT: u32 = 1024;

impl Sequences {
    /// True if this member may have heard it for the first time, which it now has.
    fn advance(&mut self, member: MemberId, sequence: u32) -> bool {
        let highest = *self.highest.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(highest) as i32;
        if ahead <= -(RECENT as i32) {
            return false;
        }
        if ahead > 0 {
            self.highest = Some(sequence);
        }
        let (last, bits) = self.heard.entry(member).or_insert((sequence, 0));
        let ahead = sequence.wrapping_sub(*last) as i32;
        if ahead > 0 {
            (*last, *bits) = (sequence, bits.checked_shl(ahead.unsigned_abs()).unwrap_or(0));
        }
        let bit = 1_u128.checked_shl(if ahead > 0 { 0 } else { ahead.unsigned_abs() }).unwrap_or(0);
        let is_new = bit != 0 && *bits & bit == 0;
        *bits |= bit;
        is_new
    }
}

/// Which of our keys it is true of.
fn fitting_of(keys: &[Tagger], fits: impl Fn(&Tagger) -> bool) -> Fitting {
    let mut fitting = Fitting::default();
    fitting.iter_mut().zip(keys).for_each(|(is, key)| *is = fits(key));
    fitting
}

/// The same as a number: a bit for each key, the first the lowest.
fn bits_of(fitting: Fitting) -> u64 {
    fitting.iter().enumerate().map(|(place, fits)| u64::from(*fits) << place).sum()
}

fn fitting_of_bits(bits: u64) -> Fitting {
    std::array::from_fn(|place| bits >> place & 1 != 0)
}

/// Challenges of systems that are not known. Who repeats what one of them said, or has said a great deal, keeps
/// no other from his answer.
#[derive(Clone, Debug)]
struct Answers {
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
    fn new(now: Time) -> Stranger {
        Stranger { sequences: Sequences::default(), answers: answers(ANSWERS_PER_S), heard: now }
    }
}

impl Answers {
    fn new() -> Answers {
        Answers { strangers: BTreeMap::new(), all: answers(ANSWERS_TO_STRANGERS_PER_S) }
    }

    /// A challenge: whether a member may have heard it for the first time, and if it is to be answered.
    fn take(&mut self, member: MemberId, challenge: &Hello, now: Time) -> (bool, bool) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn tagger() -> Tagger {
        let mut config = Config::default();
        config.set("stripe_key", "nicteam-test-key").unwrap();
        Tagger::new(config.stripe_key.as_ref().unwrap())
    }

    #[test]
    fn the_tag_is_the_one_that_is_documented() {
        let probe = Hello {
            takes_rtags: false,
            rivals: 0,
            kind: HelloKind::Probe,
            system: 0x0102_0304_0506_0708,
            sequence: 0x0a0b_0c0d,
            team: Mac([2, 0, 0, 0, 0, 0xff]),
            place: 3,
            stamp: 0x1112_1314_1516_1718,
            next_ms: 0,
            members: Vec::new(),
        };
        let bytes = probe.encode_tagged(|covered| tagger().tag(covered));
        // Computed by Python's hmac module.
        let tag = [0xf0, 0xd7, 0x78, 0x80, 0xa0, 0x40, 0x8a, 0x32, 0xff, 0x09, 0x36, 0x59, 0x8e, 0x8e, 0x4c, 0xb5];
        assert_eq!(bytes[32..], tag);
    }

    #[test]
    fn each_sequence_counts_once_on_a_member_and_not_when_it_is_old() {
        let (zero, one) = (MemberId::new(0).unwrap(), MemberId::new(1).unwrap());
        let mut sequences = Sequences::default();
        // The highest, wrapping, then frames that others overtook.
        for sequence in [u32::MAX - 1, 3, u32::MAX, 0, 2, 1, 130] {
            assert!(sequences.advance(zero, sequence), "{sequence}");
            assert!(!sequences.advance(zero, sequence), "{sequence} again");
        }
        assert!(!sequences.advance(zero, 2), "128 behind, it may have come before");
        assert!(sequences.advance(zero, 4));
        assert!(sequences.advance(one, 2) && !sequences.advance(one, 2), "the other member hears it, too");
        assert!(!sequences.advance(one, 130_u32.wrapping_sub(RECENT)) && sequences.advance(one, 131));
    }
}
