//! What discovery is told, and what follows.

use std::time::Duration;

use nicteam_machine::{MemberId, Source, Time, state};
use nicteam_options::StripeKey;
use nicteam_plan::stripe::Note;
use nicteam_wire::{Frame, Hello, HelloKind, Mac};

use super::announcing::Announcing;
use super::auth::{Auth, Judgement};
use super::neighbour::Neighbour;
use super::neighbours::Neighbours;
use super::own::Own;
use super::pace::Paces;
use super::plan_pace::{Bucket, PlanPace};
use super::segments::{Heard, Segments};
use super::stamps::Stamps;

/// Finds peers and keeps their paths.
#[derive(Clone, Debug)]
pub struct Discovery {
    pub(super) system: u64,
    pub(super) auth: Auth,
    pub(super) segments: Segments,
    pub(super) sequence: u32,
    /// State of the generator that spreads probes over time.
    pub(super) random: u64,
    pub(super) stamps: Stamps,
    /// What stamps of probes begin with; none: anything.
    pub(super) mark: Option<u32>,
    pub(super) team: Mac,
    pub(super) own: Vec<Own>,
    /// From which follow the tokens of our members.
    pub(super) lost_tokens: u64,
    /// When something happened last.
    pub(super) now: Time,
    pub(super) neighbours: Neighbours,
    /// Hellos of systems that were heard when there was no more room.
    pub(super) overlooked: u64,
    /// New neighbours that may be taken in.
    pub(super) newcomers: Bucket,
    pub(super) announcing: Announcing,
    /// Teams with traffic, as [`Discovery::peers`] has it.
    pub(super) in_use: u8,
    /// Between two probes of a path to a peer with traffic.
    pub(super) interval: Duration,
    /// As they were when probes left last.
    pub(super) paces: Paces,
    /// When probes are due, or notes are to be read.
    pub(super) look_at: Option<Time>,
    /// Notes are to be read.
    pub(super) looks: bool,
    /// When what [`Discovery::senders`] and [`Discovery::peers`] say is to be planned.
    pub(super) plans: PlanPace,
    /// Segments are to be found anew.
    pub(super) regroups: bool,
    pub(super) outbox: Vec<(MemberId, Vec<u8>)>,
}

state!(struct Discovery { system, auth, segments, sequence, random, stamps, mark, team, own, lost_tokens, now, neighbours, overlooked, newcomers, announcing, in_use, interval, paces, look_at, looks, plans, regroups, outbox });

/// Between two looks at what the dataplane noted, while no peer has traffic.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// The most neighbours that are known at once.
pub const MAX_NEIGHBOURS: usize = 1280;
/// One of which nothing has proven for so long that it is there gives way to a new one.
pub(super) const TRIED: Duration = Duration::from_secs(2);
/// And ends after so long where there are more of its kind than [`UNPROVEN`].
pub(super) const GIVEN_UP: Duration = Duration::from_secs(10);
pub(super) const UNPROVEN: usize = 16;
/// New neighbours: so many at once, and one more each.
const NEWCOMERS: u32 = MAX_NEIGHBOURS as u32;
const NEWCOMER_EACH: Duration = Duration::from_millis(10);

impl Discovery {
    /// Nobody is known. `system` is a number that no other team has, and no
    /// earlier run of this one, and what it says is signed by stamps from the `secret`. Paths to peers with traffic are probed each
    /// `interval`.
    pub fn new(system: u64, secret: [u8; 32], interval: Duration) -> Discovery {
        Discovery {
            system,
            auth: Auth::new(system),
            segments: Segments::default(),
            sequence: 0,
            random: system,
            stamps: Stamps::new(secret, system),
            mark: None,
            team: Mac::default(),
            own: Vec::new(),
            lost_tokens: 0,
            now: Time::ZERO,
            neighbours: Neighbours::default(),
            overlooked: 0,
            newcomers: Bucket::new(NEWCOMERS, NEWCOMER_EACH),
            announcing: Announcing::default(),
            in_use: 0,
            interval,
            paces: Paces { busy: interval, trial: interval, ..Paces::default() },
            look_at: None,
            looks: false,
            plans: PlanPace::default(),
            regroups: true,
            outbox: Vec::new(),
        }
    }

    /// Between two probes of a path to a peer with traffic, from now on.
    pub fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// The stamps of probes begin with this from now on.
    pub fn mark_probes(&mut self, mark: u32) {
        self.mark = Some(mark);
    }

    /// The key that hellos are tagged with from now on, if any, and the one before it, if hellos by that are still to
    /// be believed. A system whose last announcement was by neither is forgotten, and known again when it has one of
    /// them.
    pub fn set_keys(&mut self, key: Option<&StripeKey>, old: Option<&StripeKey>, now: Time) {
        self.auth.set_keys(key, old);
        // Tokens follow from the key, too.
        self.lost_tokens += 1;
        self.change_at_once(now);
        for system in self.neighbours.systems() {
            if !self.auth.knows(system) {
                self.neighbours.remove(system);
            }
        }
        if !self.own.is_empty() {
            self.announcing.soon(self.neighbours.len(), now);
        }
    }

    /// The team's address and its members, all of them.
    pub fn set_own(&mut self, team: Mac, own: Vec<Own>, now: Time) {
        if (self.team, &self.own) == (team, &own) {
            return;
        }
        (self.team, self.own, self.now) = (team, own, now);
        // Those that were valid may have been used, and seen.
        self.lost_tokens += 1;
        self.change_at_once(now);
        for system in self.neighbours.systems() {
            self.neighbours.with(system, now, |of| of.retain_members(&self.own));
        }
        self.announcing.at_once(self.neighbours.len(), now);
        if self.announcing.next().is_some_and(|next| next <= now) {
            self.announce(now);
        }
        self.segments.set_own(&self.own, now);
        self.follow_all(now);
        self.find_segments();
    }

    /// A frame that a member received; what is no hello is left alone.
    pub fn handle_frame(&mut self, member: MemberId, frame: &Frame<'_>, now: Time) {
        let Some(Ok(hello)) = Hello::of_frame(frame) else { return };
        if !self.own.iter().any(|own| own.id == member && own.usable) {
            return;
        }
        let src = frame.src();
        if src.is_multicast() || (hello.system != self.system && self.is_ours(src)) {
            return self.auth.refuse_impossible(member, src, now);
        }
        self.now = now;
        let system = hello.system;
        match self.auth.judge((member, src), frame.payload(), &hello, self.sequence, now) {
            Judgement::Believe => self.handle_hello(member, src, hello, now),
            Judgement::Refuse => {}
            Judgement::Challenge(stamp) => {
                let challenge = self.hello(HelloKind::Challenge, member, stamp);
                self.say(member, src, challenge);
            }
            Judgement::Answer => {
                let answer = self.hello(HelloKind::Answer, member, hello.stamp);
                self.say(member, src, answer);
            }
            Judgement::BelieveHeld(held) => {
                for held in held {
                    self.handle_hello(held.member, held.src, held.hello, now);
                }
                if !self.neighbours.contains(system) {
                    self.auth.forget(system);
                }
            }
        }
    }

    /// What follows from secrets comes from there from now on.
    pub fn set_source(&mut self, source: Source) {
        self.auth.derived.set_source(source);
    }

    /// The keys that were there when a state was taken, which has none.
    pub fn restore_keys(&mut self, key: Option<&StripeKey>, old: Option<&StripeKey>) {
        self.auth.restore_keys(key, old);
    }

    /// What followed from secrets since the last call; where it is given, what nobody asked for.
    pub fn take_derived(&mut self) -> impl Iterator<Item = u64> {
        self.auth.derived.take()
    }

    /// What follows from the secrets of a recorded team next.
    pub fn give_derived(&mut self, numbers: &[u64]) {
        self.auth.derived.give(numbers);
    }

    /// True of an address, a team's or a member's, that a host announced that stripes.
    pub fn is_neighbour(&self, mac: Mac) -> bool {
        self.neighbours.with_address(mac).next().is_some()
    }

    /// What the dataplane noted, the answer to [`Discovery::take_look`]. A peer
    /// whose first frame this is is probed at once.
    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        self.now = now;
        let mut is_new = false;
        for note in notes {
            let found = self.neighbours.with_address(note.mac).min_by_key(|neighbour| neighbour.rank(now));
            let Some(system) = found.map(|neighbour| neighbour.system) else { continue };
            let begins = self.neighbours.with(system, now, |neighbour| {
                if let Some(place) = neighbour.place_of(note.mac) {
                    note.heard.iter().for_each(|member| neighbour.refresh(member, place, now));
                }
                let has_traffic = note.sent || !note.heard.is_empty();
                let begins = has_traffic && neighbour.has_traffic(now) && neighbour.is_proven(now);
                if begins {
                    neighbour.probe_at = now;
                }
                begins
            });
            is_new |= begins == Some(true);
        }
        if is_new {
            self.probe(now);
            // The other peers share our members with it, and need the new number.
            if self.rivals() > 1 {
                self.announcing.soon(self.neighbours.len(), now);
            }
        }
    }

    /// Time has come to [`Discovery::poll_timeout`]; harmless earlier. What was
    /// received until now must have been handed over before.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        if self.announcing.next().is_some_and(|at| at <= now) {
            self.announce(now);
        }
        self.forget_silent(now);
        if self.look_at.is_some_and(|at| at <= now) {
            self.probe(now);
            self.looks = true;
        }
        self.segments.handle_timeout(now);
    }

    /// When to call [`Discovery::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let planned = self.plans.due();
        [self.announcing.next(), self.look_at, self.segments.settles_at(), planned].into_iter().flatten().min()
    }

    /// True, once, if [`Discovery::handle_notes`] is to be called.
    pub fn take_look(&mut self) -> bool {
        std::mem::take(&mut self.looks)
    }

    /// What is to be sent now, and by which members.
    pub fn take_frames(&mut self) -> Vec<(MemberId, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }

    /// True if senders or peers may have changed since the last call, and a plan
    /// is due that says so.
    pub fn take_changed(&mut self, now: Time) -> bool {
        if self.segments.take_changed() {
            self.change(now);
        }
        let is_due = self.plans.take(now);
        if is_due && self.regroups {
            self.find_segments();
        }
        is_due
    }

    /// Somebody is there, or reached, otherwise than before: a plan is to say so soon.
    pub(super) fn change(&mut self, now: Time) {
        self.regroups = true;
        self.plans.soon(now);
    }

    /// The same without delay.
    pub(super) fn change_at_once(&mut self, now: Time) {
        self.regroups = true;
        self.plans.at_once(now);
    }

    /// Makes the paths to a neighbour follow from which members hear each other.
    pub(super) fn follow(&mut self, system: u64, now: Time) {
        let chosen = self.neighbours.with(system, now, |neighbour| {
            let chosen = neighbour.choose_paths(&self.own, now);
            if chosen.new {
                neighbour.probe_at = now;
            }
            chosen
        });
        let Some(chosen) = chosen else { return };
        if chosen.new || chosen.fewer {
            self.regroups = true;
            self.plans.soon(now);
        }
        if chosen.new {
            self.look_at = Some(now);
        }
    }

    /// The same of all neighbours.
    pub(super) fn follow_all(&mut self, now: Time) {
        self.neighbours.systems().into_iter().for_each(|system| self.follow(system, now));
    }

    /// Finds our segments anew. That goes over all that is heard: once for each plan.
    pub(super) fn find_segments(&mut self) {
        let active = self.own.iter().find(|own| own.usable && own.mac == self.team).map(|own| own.id);
        let heard: Vec<Heard> = self.neighbours.all().map(Neighbour::heard).collect();
        self.segments.find(active, &heard);
        self.segments.take_changed();
        self.regroups = false;
    }
}
