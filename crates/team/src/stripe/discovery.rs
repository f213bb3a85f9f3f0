//! Who else stripes, and which paths to them work.
//!
//! Every member announces its team to a group address. A path is used once a
//! probe that went along it came back, and until it is found dead
//! (`probing.rs` says when). Peers with traffic are probed often, others seldom:
//! what the dataplane notes of peers' frames decides. Time is an argument; what
//! is to be sent is collected by [`Discovery::take_frames`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_wire::{Frame, Hello, HelloKind, HelloMember, Mac};

use super::announcing::Announcing;
use super::auth::{Auth, Judgement, Refused, speaker};
use super::neighbour::{Echoed, Neighbour, News, Rank, patience};
use super::pace::{Paces, RETRY, Wanted, next_random};
use super::plan_pace::{Bucket, PlanPace};
use super::segments::{Heard, Segments};
use super::stamps::Stamps;
use super::{MAX_PEERS, Note, Peer, Sender};
use crate::config::StripeKey;
use crate::{MemberId, MemberSet, Time};

/// A member of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Which.
    pub id: MemberId,
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// True if frames may be sent by it and to it.
    pub usable: bool,
}

/// Finds peers and keeps their paths.
#[derive(Clone, Debug)]
pub struct Discovery {
    system: u64,
    auth: Auth,
    segments: Segments,
    sequence: u32,
    /// State of the generator that spreads probes over time.
    random: u64,
    stamps: Stamps,
    /// What stamps of probes begin with; none: anything.
    mark: Option<u32>,
    team: Mac,
    own: Vec<Own>,
    /// From which follow the tokens of our members.
    lost_tokens: u64,
    /// When something happened last.
    now: Time,
    neighbours: BTreeMap<u64, Neighbour>,
    /// Hellos of systems that were heard when there was no more room.
    overlooked: u64,
    /// New neighbours that may be taken in.
    newcomers: Bucket,
    announcing: Announcing,
    /// Teams with traffic, as [`Discovery::peers`] has it.
    in_use: u8,
    /// Between two probes of a path to a peer with traffic.
    interval: Duration,
    /// As they were when probes left last.
    paces: Paces,
    /// When probes are due, or notes are to be read.
    look_at: Option<Time>,
    /// Notes are to be read.
    looks: bool,
    /// When what [`Discovery::senders`] and [`Discovery::peers`] say is to be planned.
    plans: PlanPace,
    /// Segments are to be found anew.
    regroups: bool,
    outbox: Vec<(MemberId, Vec<u8>)>,
}

/// Between two looks at what the dataplane noted, while no peer has traffic.
const LOOK: Duration = Duration::from_millis(50);
/// Neighbours that are known at once.
const MAX_NEIGHBOURS: usize = 256;
/// One of which nothing has proven for so long that it is there gives way to a new one.
const TRIED: Duration = Duration::from_secs(2);
/// And ends after so long where there are more of its kind than [`UNPROVEN`].
const GIVEN_UP: Duration = Duration::from_secs(10);
const UNPROVEN: usize = 16;
/// New neighbours: so many at once, and one more each.
const NEWCOMERS: u32 = 256;
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
            neighbours: BTreeMap::new(),
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

    /// The key that hellos are tagged with from now on, if any, and the one before it, if
    /// hellos by that are still to be believed. Who announced himself last by neither is
    /// forgotten, and known again when he has one of them.
    pub fn set_keys(&mut self, key: Option<&StripeKey>, old: Option<&StripeKey>, now: Time) {
        self.auth.set_keys(key, old);
        // Tokens follow from the key, too.
        self.lost_tokens += 1;
        self.change_at_once(now);
        self.neighbours.retain(|system, _| self.auth.knows(*system));
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
        self.neighbours.values_mut().for_each(|neighbour| neighbour.retain_members(&self.own));
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
                self.auth.retain(|system| self.neighbours.contains_key(&system));
            }
        }
    }

    /// What the dataplane noted, the answer to [`Discovery::take_look`]. A peer
    /// whose first frame this is is probed at once.
    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        self.now = now;
        let mut is_new = false;
        for note in notes {
            let is = |neighbour: &&mut Neighbour| neighbour.team == note.mac || neighbour.place_of(note.mac).is_some();
            let found = self.neighbours.values_mut().filter(is).min_by_key(|neighbour| neighbour.rank(now));
            let Some(neighbour) = found else { continue };
            if let Some(place) = neighbour.place_of(note.mac) {
                note.heard.iter().for_each(|member| neighbour.refresh(member, place, now));
            }
            let has_traffic = note.sent || !note.heard.is_empty();
            if has_traffic && neighbour.has_traffic(now) && neighbour.is_proven(now) {
                neighbour.probe_at = now;
                is_new = true;
            }
        }
        if is_new {
            self.probe(now);
            // Who shares our members with it wants to know.
            if self.rivals(now) > 1 {
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
        let known = self.neighbours.len();
        let heard = |of: &BTreeMap<u64, Neighbour>| of.values().map(Neighbour::hearings).sum::<usize>();
        let before = heard(&self.neighbours);
        let unproven = self.neighbours.values().filter(|of| of.unproven_for(now).is_some()).count();
        let is_given_up =
            |of: &Neighbour| unproven > UNPROVEN && of.unproven_for(now).is_some_and(|unproven| unproven >= GIVEN_UP);
        self.neighbours.retain(|_, neighbour| neighbour.is_heard(now) && !is_given_up(neighbour));
        if heard(&self.neighbours) < before {
            self.segments.note_change();
        }
        self.auth.retain(|system| self.neighbours.contains_key(&system));
        if self.neighbours.len() < known {
            self.change(now);
        }
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

    /// What is to be sent now, and by whom.
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

    /// The members that can send.
    pub fn senders(&self) -> Vec<Sender> {
        let usable = self.own.iter().filter(|own| own.usable);
        let token = |mac| self.auth.lost_token(self.system, self.lost_tokens, mac);
        let sender = |own: &Own| Sender {
            id: own.id,
            mac: own.mac,
            rate_mbps: own.rate_mbps.max(1),
            lost_token: token(own.mac),
        };
        usable.map(sender).collect()
    }

    /// Those that frames can be striped to, by address. Where there is not room
    /// for all, those are left out of which nothing proves that they are there,
    /// then those without traffic, then the newest. Of two that name the same address one counts, by the same order.
    pub fn peers(&self) -> Vec<Peer> {
        let (senders, now) = (self.senders(), self.now);
        let from = &self.segments.found().from;
        let mut ranked: Vec<(Rank, &Neighbour)> = self.neighbours.values().map(|of| (of.rank(now), of)).collect();
        ranked.sort_by_key(|(rank, of)| (*rank, of.system));
        let mut taken = BTreeSet::new();
        let peers = ranked.into_iter().filter_map(|(_, neighbour)| {
            let token = |mac| self.auth.lost_token(neighbour.system, neighbour.lost_tokens, mac);
            let group_from = from.get(&neighbour.system).copied();
            let peer = Peer { group_from, ..neighbour.peer(&senders, token) };
            if peer.receivers.is_empty() || peer.addresses().any(|mac| taken.contains(&mac)) {
                return None;
            }
            taken.extend(peer.addresses());
            Some(peer)
        });
        let mut peers: Vec<Peer> = peers.take(MAX_PEERS).collect();
        peers.sort_by_key(|peer| peer.team);
        peers
    }

    /// By which members group-addressed frames leave, and are taken: one of each segment.
    pub fn group(&self) -> MemberSet {
        self.segments.found().segments.iter().map(|(listener, _)| *listener).collect()
    }

    /// The segments that our members lie on, each with the one of [`Discovery::group`].
    pub fn segments(&self) -> &[(MemberId, MemberSet)] {
        &self.segments.found().segments
    }

    /// Members that hear what they say themselves: their cables end where they begin.
    pub fn looped(&self) -> MemberSet {
        self.segments.looped()
    }

    /// Members that hear no team and none of our own members, though others do hear teams.
    pub fn deaf(&self) -> MemberSet {
        let hears: MemberSet = self.neighbours.values().flat_map(Neighbour::heard_by).collect();
        let is_alone = |id: MemberId| self.segments().iter().any(|(_, members)| *members == MemberSet::one(id));
        let usable = self.own.iter().filter(|own| own.usable).map(|own| own.id);
        let deaf = |id: &MemberId| !hears.contains(*id) && is_alone(*id) && self.segments.is_settled(*id);
        if hears.is_empty() { MemberSet::EMPTY } else { usable.filter(deaf).collect() }
    }

    /// True if hellos are authenticated.
    pub fn has_key(&self) -> bool {
        self.auth.has_key()
    }

    /// How many of those that are known have the key that is new, where hellos by the one before are believed, too.
    pub fn have_new_key(&self) -> Option<usize> {
        let known = self.neighbours.keys();
        self.auth.changes_keys().then(|| known.filter(|system| self.auth.has_new_key(**system)).count())
    }

    /// Hellos that were not believed.
    pub fn refused(&self) -> Refused {
        self.auth.refused()
    }

    /// All that are known.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.neighbours.values()
    }

    /// Hellos of systems for which there was no room.
    pub fn overlooked(&self) -> u64 {
        self.overlooked
    }

    /// A hello that is to be believed.
    fn handle_hello(&mut self, member: MemberId, src: Mac, hello: Hello, now: Time) {
        let is_ours = hello.system == self.system;
        match hello.kind {
            HelloKind::Announce if is_ours => {
                if let Some(speaker) = MemberId::new(hello.place.into()) {
                    self.segments.hear(member, speaker, now + patience(&hello));
                }
            }
            HelloKind::Announce if self.is_impossible(src, &hello, now) => {
                self.auth.refuse_impossible(member, src, now);
            }
            HelloKind::Announce => self.hear(member, hello, now),
            HelloKind::Echo if is_ours => self.take_echo(member, src, hello.stamp, now),
            // The dataplane sends probes back; the rest is judged before.
            HelloKind::Probe | HelloKind::Echo | HelloKind::Challenge | HelloKind::Answer => {}
        }
    }

    /// True of an announcement whose addresses cannot be its team's: they are ours, or another's that announced them
    /// not long ago, or none of them is its source. A team that was started anew has the addresses that it had.
    fn is_impossible(&self, src: Mac, hello: &Hello, now: Time) -> bool {
        let mut named = hello.members.iter().map(|member| member.mac).chain([hello.team]);
        let is_other = |of: &&Neighbour| of.system != hello.system && of.team != hello.team;
        let others = || self.neighbours.values().filter(is_other).filter(|of| !of.is_overdue(now));
        let is_taken = |mac: Mac| self.is_ours(mac) || others().any(|of| of.has_address(mac));
        speaker(hello) != Some(src) || named.any(is_taken)
    }

    /// True of the team's address and of its members'.
    fn is_ours(&self, mac: Mac) -> bool {
        mac == self.team || self.own.iter().any(|own| own.mac == mac)
    }

    /// A neighbour announces itself.
    fn hear(&mut self, member: MemberId, hello: Hello, now: Time) {
        let is_new = !self.neighbours.contains_key(&hello.system);
        if is_new && !self.make_room(&hello, now) {
            self.overlooked += 1;
            return;
        }
        let neighbour = self.neighbours.entry(hello.system).or_insert_with(|| Neighbour::new(&hello, now));
        if !neighbour.is_in_reach(hello.sequence, now) {
            return;
        }
        let by_new = neighbour.hear(member, hello.place, now);
        let News { of_team: says_new, of_rivals } = neighbour.read(&hello, now);
        let (has_traffic, shares) =
            (neighbour.wanted(now) == Wanted::Busy, of_rivals && neighbour.share(self.in_use, now));
        if is_new || says_new {
            self.regroups = true;
            match has_traffic {
                true => self.plans.announced(now),
                false => self.plans.soon(now),
            }
            // So that it hears us as soon as we hear it, by members that are new, too.
            self.announcing.soon(self.neighbours.len(), now);
        } else if shares {
            self.plans.soon(now);
        }
        if by_new {
            self.segments.note_change();
        }
        if by_new || says_new {
            self.follow(hello.system, now);
        }
    }

    /// Makes room for a neighbour that is heard for the first time; false if there is none.
    fn make_room(&mut self, hello: &Hello, now: Time) -> bool {
        if !self.newcomers.take(now) {
            return false;
        }
        // One that was started anew is not the one that it was, nor is one whose addresses another one has now. Of one
        // that answers, probes are to say so first.
        let is_told = |of: &Neighbour| of.team == hello.team || hello.members.iter().any(|own| of.has_address(own.mac));
        self.neighbours.retain(|_, of| !is_told(of) || of.is_proven(now));
        if self.neighbours.len() < MAX_NEIGHBOURS {
            return true;
        }
        let unproven = |of: &Neighbour| Some((of.unproven_for(now).filter(|unproven| *unproven >= TRIED)?, of.system));
        let gives_way = self.neighbours.values().filter_map(unproven).max();
        gives_way.is_some_and(|(_, system)| self.neighbours.remove(&system).is_some())
    }

    /// A probe of ours came back from this address.
    fn take_echo(&mut self, member: MemberId, src: Mac, stamp: u64, now: Time) {
        let echoed = self.neighbours.values_mut().find_map(|neighbour| {
            let (place, is_first) = (neighbour.place_of(src)?, !neighbour.was_proven());
            let echoed = neighbour.take_echo(member, place, stamp, now)?;
            Some((neighbour, echoed, is_first))
        });
        let Some((neighbour, Echoed { starts, delays }, is_first)) = echoed else { return };
        let (system, is_in_use) = (neighbour.system, neighbour.is_in_use(now));
        // What came back by this path may say that another one is dead.
        let interval = self.paces.quick(neighbour.wanted(now));
        let dies = neighbour.judge(interval, now + RETRY);
        if is_first {
            // It has the place of whoever had its addresses.
            let addresses: Vec<Mac> = neighbour.addresses().collect();
            self.neighbours.retain(|_, of| of.system == system || !addresses.iter().any(|mac| of.has_address(*mac)));
        }
        if starts || dies {
            match is_in_use {
                true => self.change_at_once(now),
                false => self.change(now),
            }
            self.follow(system, now);
        } else if delays {
            self.plans.soon(now);
        }
    }

    /// Somebody is there, or reached, otherwise than before: a plan is to say so soon.
    fn change(&mut self, now: Time) {
        self.regroups = true;
        self.plans.soon(now);
    }

    /// The same without delay.
    fn change_at_once(&mut self, now: Time) {
        self.regroups = true;
        self.plans.at_once(now);
    }

    /// Makes the paths to a neighbour follow from who hears whom.
    fn follow(&mut self, system: u64, now: Time) {
        let Some(neighbour) = self.neighbours.get_mut(&system) else { return };
        let chosen = neighbour.choose_paths(&self.own, now);
        if chosen.new || chosen.fewer {
            self.regroups = true;
            self.plans.soon(now);
        }
        if chosen.new {
            neighbour.probe_at = now;
            self.look_at = Some(now);
        }
    }

    /// The same of all neighbours.
    fn follow_all(&mut self, now: Time) {
        let systems: Vec<u64> = self.neighbours.keys().copied().collect();
        systems.into_iter().for_each(|system| self.follow(system, now));
    }

    /// Finds our segments anew. That goes over all that is heard: once for each plan.
    fn find_segments(&mut self) {
        let active = self.own.iter().find(|own| own.usable && own.mac == self.team).map(|own| own.id);
        let heard: Vec<Heard> = self.neighbours.values().map(Neighbour::heard).collect();
        self.segments.find(active, &heard);
        self.segments.take_changed();
        self.regroups = false;
    }

    fn announce(&mut self, now: Time) {
        let members = self.own.iter().map(|own| HelloMember {
            place: own.id.index() as u8,
            usable: own.usable,
            rate_mbps: own.rate_mbps,
            mac: own.mac,
        });
        let members: Vec<HelloMember> = members.collect();
        let next = self.announcing.announced(self.neighbours.len(), now);
        let next_ms = u32::try_from(next.as_millis()).unwrap_or(u32::MAX);
        let rivals = self.rivals(now);
        for own in self.senders() {
            let hello = self.hello(HelloKind::Announce, own.id, if self.has_key() { self.lost_tokens } else { 0 });
            self.say(own.id, Hello::GROUP, Hello { next_ms, rivals, members: members.clone(), ..hello });
        }
    }

    /// How many teams we have traffic with.
    fn rivals(&self, now: Time) -> u8 {
        let count = self.neighbours.values().filter(|neighbour| neighbour.wanted(now) == Wanted::Busy).count();
        u8::try_from(count).unwrap_or(u8::MAX).min(Hello::MAX_RIVALS)
    }

    /// Gives up the paths that are dead, and sends the probes that are due.
    fn probe(&mut self, now: Time) {
        let paces = self.paces;
        let dead = self.neighbours.values_mut().filter_map(|of| {
            let interval = paces.quick(of.wanted(now));
            of.judge(interval, now + RETRY).then_some((of.system, of.is_in_use(now)))
        });
        for (system, is_in_use) in dead.collect::<Vec<_>>() {
            match is_in_use {
                true => self.change_at_once(now),
                false => self.change(now),
            }
            self.follow(system, now);
        }
        self.in_use = self.rivals(now);
        let in_use = self.in_use;
        if self.neighbours.values_mut().fold(false, |any, of| of.share(in_use, now) | any) {
            self.plans.soon(now);
        }
        let paces = Paces::of(self.neighbours.values(), self.interval, now);
        self.paces = paces;
        let (random, stamps, mark, mut probes) = (&mut self.random, &mut self.stamps, self.mark, Vec::new());
        let mut next = LOOK;
        for neighbour in self.neighbours.values_mut() {
            let wanted = neighbour.wanted(now);
            let regular = neighbour.probe_at <= now;
            probes.extend(neighbour.probe(paces, || marked(stamps.next(), mark), now));
            if regular {
                let idle = paces.idle_at(next_random(random));
                neighbour.probe_at = now + if wanted == Wanted::Idle { idle } else { paces.quick(wanted) };
            } else if wanted != Wanted::Idle {
                neighbour.probe_at = neighbour.probe_at.min(now + paces.quick(wanted));
            }
            if wanted != Wanted::Idle {
                next = next.min(paces.quick(wanted));
            }
        }
        for probe in probes {
            let hello = self.hello(HelloKind::Probe, probe.member, probe.stamp);
            self.say(probe.member, probe.to, hello);
        }
        self.look_at = (!self.neighbours.is_empty()).then(|| now + next);
    }

    fn hello(&mut self, kind: HelloKind, member: MemberId, stamp: u64) -> Hello {
        self.sequence = self.sequence.wrapping_add(1);
        let (system, sequence, team) = (self.system, self.sequence, self.team);
        let place = member.index() as u8;
        let (takes_rtags, members) = (true, Vec::new());
        Hello { kind, system, sequence, team, place, stamp, next_ms: 0, takes_rtags, rivals: 0, members }
    }

    fn say(&mut self, member: MemberId, dst: Mac, hello: Hello) {
        if let Some(own) = self.own.iter().find(|own| own.id == member) {
            self.outbox.push((member, Hello::frame_of(&self.auth.seal(&hello), dst, own.mac)));
        }
    }
}

/// A stamp that begins with the mark.
fn marked(stamp: u64, mark: Option<u32>) -> u64 {
    mark.map_or(stamp, |mark| u64::from(mark) << 32 | stamp & u64::from(u32::MAX))
}
