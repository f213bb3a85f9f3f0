//! Which of our members lie on one segment, and which of each speaks and listens
//! to groups.
//!
//! Group-addressed frames leave once on each segment, and are taken from one
//! member of each: its *listener*. Two members lie on one segment if one hears
//! what the other announces, or if both hear the same member of a neighbour. So
//! one switch is one segment, each cable between two hosts is one, and two
//! switches are two.
//!
//! A peer may lie on several of our segments and sends on each, so its group
//! frames are taken on one of them: all others are copies. Which one is the
//! receiver's choice alone; it stays as long as it carries.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::{MemberId, MemberSet, Time, state};

use super::own::Own;

/// Keeps what our members hear of each other, and the choices that are to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    /// Which member hears which, and until when if not again.
    heard: BTreeMap<(MemberId, MemberId), Time>,
    /// Members that hear themselves, and until when.
    looped: BTreeMap<MemberId, Time>,
    /// Since when members can be heard.
    usable: BTreeMap<MemberId, Time>,
    /// A member became usable, or heard another, or does so no more.
    changed: bool,
    found: Found,
}

state!(struct Segments { heard, looped, usable, changed, found });

/// What follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The segments, each with its listener, by listener.
    pub(super) segments: Vec<(MemberId, MemberSet)>,
    /// By neighbour's number: the listener that takes its group frames.
    pub(super) from: BTreeMap<u64, MemberId>,
}

state!(struct Found { segments, from });

/// What is heard of a neighbour.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// Its number.
    pub(super) system: u64,
    /// Which of our members hear which of its, by place.
    pub(super) by: Vec<(MemberId, u8)>,
    /// The members of ours that have a path to it that works.
    pub(super) reached_by: MemberSet,
    /// The place of its member with its team's address, from which strangers' frames come, too.
    pub(super) active: Option<u8>,
}

/// A member that nobody heard yet is taken for one of the active member's segment
/// for so long: three announcements of a new member fit in.
const SETTLE: Duration = Duration::from_millis(200);

impl Segments {
    /// The members that can send and receive now.
    pub(super) fn set_own(&mut self, own: &[Own], now: Time) {
        let usable = |id: &MemberId| own.iter().any(|own| own.id == *id && own.usable);
        self.usable.retain(|id, _| usable(id));
        self.heard.retain(|(listener, speaker), _| usable(listener) && usable(speaker));
        for own in own.iter().filter(|own| own.usable) {
            self.usable.entry(own.id).or_insert(now);
        }
        self.changed = true;
    }

    /// A member heard what another one of ours announced, and should hear it again by then.
    pub(super) fn hear(&mut self, listener: MemberId, speaker: MemberId, until: Time) {
        if listener == speaker {
            self.looped.insert(listener, until);
        } else if self.usable.contains_key(&speaker) {
            self.changed |= self.heard.insert((listener, speaker), until).is_none();
        }
    }

    /// The members that hear what they say themselves.
    pub(super) fn looped(&self) -> MemberSet {
        self.looped.keys().copied().collect()
    }

    /// True if a member counts as one that is heard by those that can hear it.
    pub(super) fn is_settled(&self, member: MemberId) -> bool {
        self.usable.get(&member) == Some(&Time::ZERO)
    }

    /// Somebody is heard by other members than before, or reached.
    pub(super) fn note_change(&mut self) {
        self.changed = true;
    }

    /// Forgets what is long ago.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        let before = self.heard.len();
        self.heard.retain(|_, until| now < *until);
        self.looped.retain(|_, until| now < *until);
        self.changed |= self.heard.len() < before || self.settles_at().is_some_and(|at| at <= now);
        self.usable.values_mut().filter(|since| now.since(**since) >= SETTLE).for_each(|since| *since = Time::ZERO);
    }

    /// When a member counts as one that nobody hears.
    pub(super) fn settles_at(&self) -> Option<Time> {
        self.usable.values().filter(|since| **since != Time::ZERO).min().map(|since| *since + SETTLE)
    }

    /// True once after something changed.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// What was found last.
    pub(super) fn found(&self) -> &Found {
        &self.found
    }

    /// Finds the segments anew; true if something is another now. `active`: the
    /// member that has the team's address.
    pub(super) fn find(&mut self, active: Option<MemberId>, neighbours: &[Heard]) -> bool {
        let reached: MemberSet = neighbours.iter().flat_map(|heard| heard.reached_by.iter()).collect();
        let mut segments: Vec<(MemberId, MemberSet)> = self
            .components(active, neighbours)
            .into_iter()
            .filter_map(|members| Some((listener(members, active, reached)?, members)))
            .collect();
        segments.sort_unstable_by_key(|(listener, _)| *listener);
        let from = neighbours.iter().filter_map(|heard| {
            let before = self.found.from.get(&heard.system).copied();
            Some((heard.system, choose(&segments, heard, before)?))
        });
        let from = from.collect();
        let found = Found { segments, from };
        let is_new = self.found != found;
        self.found = found;
        is_new
    }

    /// The members that hear each other, or the same.
    fn components(&self, active: Option<MemberId>, neighbours: &[Heard]) -> Vec<MemberSet> {
        let mut sets: Vec<MemberSet> = self.usable.keys().map(|id| MemberSet::one(*id)).collect();
        let mut join = |together: MemberSet| {
            let (touched, rest): (Vec<MemberSet>, Vec<MemberSet>) =
                sets.drain(..).partition(|set| set.iter().any(|id| together.contains(id)));
            sets = rest;
            sets.extend(touched.into_iter().reduce(|a, b| a.iter().chain(b.iter()).collect()));
        };
        for &(listener, speaker) in self.heard.keys() {
            join([listener, speaker].into_iter().collect());
        }
        for heard in neighbours {
            let mut by_place: BTreeMap<u8, MemberSet> = BTreeMap::new();
            for (member, place) in &heard.by {
                by_place.entry(*place).or_insert(MemberSet::EMPTY).insert(*member);
            }
            by_place.into_values().for_each(&mut join);
        }
        // A member that is new has not been heard yet.
        let first = active.or_else(|| self.usable.keys().next().copied());
        for (id, _) in self.usable.iter().filter(|(_, since)| **since != Time::ZERO) {
            join(first.into_iter().chain([*id]).collect());
        }
        sets
    }
}

/// The member of a segment that speaks and listens to groups: one that reaches
/// somebody, if any does; the active one rather than the lowest.
fn listener(members: MemberSet, active: Option<MemberId>, reached: MemberSet) -> Option<MemberId> {
    let key = |id: &MemberId| (!reached.contains(*id), active != Some(*id), *id);
    members.iter().min_by_key(key)
}

/// The listener for a peer's group frames: the one before as long as its segment
/// carries; else one whose segment does, where the peer's active member is rather
/// than elsewhere.
fn choose(segments: &[(MemberId, MemberSet)], heard: &Heard, before: Option<MemberId>) -> Option<MemberId> {
    let hears = |members: &MemberSet, place: Option<u8>| {
        heard.by.iter().any(|(member, of)| members.contains(*member) && place.is_none_or(|place| place == *of))
    };
    let carries = |members: &MemberSet| members.iter().any(|member| heard.reached_by.contains(member));
    let heard_on = segments.iter().filter(|(_, members)| hears(members, None));
    heard_on
        .map(|(listener, members)| (*listener, members))
        .min_by_key(|(listener, members)| {
            let is_active = heard.active.is_some() && hears(members, heard.active);
            let was = before.is_some_and(|before| members.contains(before));
            (!carries(members), !was, !is_active, *listener)
        })
        .map(|(listener, _)| listener)
}
