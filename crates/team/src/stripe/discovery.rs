//! Who else stripes, and which paths to them work.
//!
//! Every member announces its team to a group address. A path is used once a
//! probe that went along it came back, and until it is found dead
//! (`probing.rs` says when). Peers with traffic are probed often, others seldom:
//! what the dataplane notes of peers' frames decides. Time is an argument; what
//! is to be sent is collected by [`Discovery::take_frames`].

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_wire::{Frame, Hello, HelloKind, HelloMember, Mac};

use super::announcing::Announcing;
use super::auth::{Auth, Judgement, Refused, speaker};
use super::neighbour::{Echoed, Neighbour, News, Rank, patience};
use super::neighbours::Neighbours;
use super::pace::{Paces, RETRY, Wanted, next_random};
use super::plan_pace::{Bucket, PlanPace};
use super::segments::{Heard, Segments};
use super::stamps::Stamps;
use super::{MAX_ADDRESSES, MAX_PEERS, Note, Peer, Sender};
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
    neighbours: Neighbours,
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
/// The most neighbours that are known at once.
pub const MAX_NEIGHBOURS: usize = 1280;
/// One of which nothing has proven for so long that it is there gives way to a new one.
const TRIED: Duration = Duration::from_secs(2);
/// And ends after so long where there are more of its kind than [`UNPROVEN`].
const GIVEN_UP: Duration = Duration::from_secs(10);
const UNPROVEN: usize = 16;
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

    /// The key that hellos are tagged with from now on, if any, and the one before it, if
    /// hellos by that are still to be believed. Who announced himself last by neither is
    /// forgotten, and known again when he has one of them.
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
            // Who shares our members with it wants to know.
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
        let mut peers = self.table().0;
        peers.sort_by_key(|peer| peer.team);
        peers
    }

    /// How many there is no room for among [`Discovery::peers`].
    pub fn left_out(&self) -> usize {
        let addresses = || self.neighbours.all().map(|of| 1 + of.members.len()).sum::<usize>();
        let is_room = self.neighbours.len() <= MAX_PEERS && addresses() <= MAX_ADDRESSES;
        if is_room { 0 } else { self.table().1 }
    }

    /// Peers by rank, and for how many others there is no room.
    fn table(&self) -> (Vec<Peer>, usize) {
        let (senders, now) = (self.senders(), self.now);
        let from = &self.segments.found().from;
        let mut ranked: Vec<(Rank, &Neighbour)> = self.neighbours.all().map(|of| (of.rank(now), of)).collect();
        ranked.sort_by_key(|(rank, of)| (*rank, of.system));
        let (mut taken, mut room, mut left_out) = (BTreeSet::new(), MAX_ADDRESSES, 0);
        let mut peers: Vec<Peer> = Vec::new();
        for (_, neighbour) in ranked {
            let token = |mac| self.auth.lost_token(neighbour.system, neighbour.lost_tokens, mac);
            let group_from = from.get(&neighbour.system).copied();
            let peer = Peer { group_from, ..neighbour.peer(&senders, token) };
            let addresses = peer.addresses().count();
            if peer.receivers.is_empty() || peer.addresses().any(|mac| taken.contains(&mac)) {
                continue;
            }
            if peers.len() == MAX_PEERS || addresses > room {
                left_out += 1;
                continue;
            }
            room -= addresses;
            taken.extend(peer.addresses());
            peers.push(peer);
        }
        (peers, left_out)
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
        let hears: MemberSet = self.neighbours.all().flat_map(Neighbour::heard_by).collect();
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
        let known = self.neighbours.all();
        self.auth.changes_keys().then(|| known.filter(|of| self.auth.has_new_key(of.system)).count())
    }

    /// Hellos that were not believed.
    pub fn refused(&self) -> Refused {
        self.auth.refused()
    }

    /// All that are known.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.neighbours.all()
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
        let is_others = |of: &Neighbour| of.system != hello.system && of.team != hello.team && !of.is_overdue(now);
        let is_taken = |mac: Mac| self.is_ours(mac) || self.neighbours.with_address(mac).any(is_others);
        speaker(hello) != Some(src) || named.any(is_taken)
    }

    /// True of the team's address and of its members'.
    fn is_ours(&self, mac: Mac) -> bool {
        mac == self.team || self.own.iter().any(|own| own.mac == mac)
    }

    /// A neighbour announces itself.
    fn hear(&mut self, member: MemberId, hello: Hello, now: Time) {
        let is_new = !self.neighbours.contains(hello.system);
        if is_new && !self.make_room(&hello, now) {
            self.overlooked += 1;
            return;
        }
        if is_new {
            self.neighbours.insert(Neighbour::new(&hello, now), now);
        }
        let in_use = self.in_use;
        let read = self.neighbours.with(hello.system, now, |neighbour| {
            if !neighbour.is_in_reach(hello.sequence, now) {
                return None;
            }
            let by_new = neighbour.hear(member, hello.place, now);
            let News { of_team, of_rivals } = neighbour.read(&hello, now);
            let has_traffic = neighbour.wanted(now) == Wanted::Busy;
            Some((by_new, of_team, has_traffic, of_rivals && neighbour.share(in_use, now)))
        });
        let Some((by_new, says_new, has_traffic, shares)) = read.flatten() else { return };
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
        let as_team = self.neighbours.with_address(hello.team).filter(|of| of.team == hello.team);
        let as_member = hello.members.iter().flat_map(|member| self.neighbours.with_address(member.mac));
        let told: Vec<u64> = as_team.chain(as_member).filter(|of| !of.is_proven(now)).map(|of| of.system).collect();
        told.into_iter().for_each(|system| self.neighbours.remove(system));
        if self.neighbours.len() < MAX_NEIGHBOURS {
            return true;
        }
        let longest = self.neighbours.longest_unproven().filter(|(since, _)| now.since(*since) >= TRIED);
        longest.map(|(_, system)| self.neighbours.remove(system)).is_some()
    }

    /// A probe of ours came back from this address.
    fn take_echo(&mut self, member: MemberId, src: Mac, stamp: u64, now: Time) {
        let (asked, paces): (Vec<u64>, Paces) =
            (self.neighbours.with_address(src).map(|of| of.system).collect(), self.paces);
        let echoed = asked.into_iter().find_map(|system| {
            let echoed = self.neighbours.with(system, now, |neighbour| {
                let (place, is_first) = (neighbour.place_of(src)?, !neighbour.was_proven());
                let echoed = neighbour.take_echo(member, place, stamp, now)?;
                // What came back by this path may say that another one is dead.
                let interval = paces.quick(neighbour.wanted(now));
                let dies = neighbour.judge(interval, now + RETRY);
                Some((system, echoed, dies, is_first, neighbour.is_in_use(now)))
            });
            echoed.flatten()
        });
        let Some((system, Echoed { starts, delays }, dies, is_first, is_in_use)) = echoed else { return };
        if is_first {
            self.replace_others(system);
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

    /// A neighbour has the place of whoever had its addresses.
    fn replace_others(&mut self, system: u64) {
        let Some(neighbour) = self.neighbours.get(system) else { return };
        let alike = neighbour.addresses().flat_map(|mac| self.neighbours.with_address(mac)).map(|of| of.system);
        let others: BTreeSet<u64> = alike.filter(|other| *other != system).collect();
        others.into_iter().for_each(|other| self.neighbours.remove(other));
    }

    /// Forgets who was not heard for long, or is long unproven among many of that kind.
    fn forget_silent(&mut self, now: Time) {
        let known = self.neighbours.len();
        for system in self.neighbours.due(now) {
            let heard = self.neighbours.with(system, now, |of| {
                let before = of.hearings();
                (of.is_heard(now), of.hearings() < before)
            });
            let Some((is_heard, is_less)) = heard else { continue };
            if is_less {
                self.segments.note_change();
            }
            if !is_heard {
                self.neighbours.remove(system);
            }
        }
        if self.neighbours.unproven() > UNPROVEN {
            while let Some((since, system)) = self.neighbours.longest_unproven()
                && now.since(since) >= GIVEN_UP
            {
                self.neighbours.remove(system);
                self.segments.note_change();
            }
        }
        self.neighbours.take_removed().into_iter().for_each(|system| self.auth.forget(system));
        if self.neighbours.len() < known {
            self.change(now);
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
    fn follow_all(&mut self, now: Time) {
        self.neighbours.systems().into_iter().for_each(|system| self.follow(system, now));
    }

    /// Finds our segments anew. That goes over all that is heard: once for each plan.
    fn find_segments(&mut self) {
        let active = self.own.iter().find(|own| own.usable && own.mac == self.team).map(|own| own.id);
        let heard: Vec<Heard> = self.neighbours.all().map(Neighbour::heard).collect();
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
        let rivals = self.rivals();
        for own in self.senders() {
            let hello = self.hello(HelloKind::Announce, own.id, if self.has_key() { self.lost_tokens } else { 0 });
            self.say(own.id, Hello::GROUP, Hello { next_ms, rivals, members: members.clone(), ..hello });
        }
    }

    /// How many teams we have traffic with.
    fn rivals(&self) -> u8 {
        u8::try_from(self.neighbours.rivals()).unwrap_or(u8::MAX).min(Hello::MAX_RIVALS)
    }

    /// Gives up the paths that are dead, and sends the probes that are due.
    fn probe(&mut self, now: Time) {
        let before = self.paces;
        for system in self.neighbours.due(now) {
            let dead = self.neighbours.with(system, now, |of| {
                let interval = before.quick(of.wanted(now));
                of.judge(interval, now + RETRY).then_some(of.is_in_use(now))
            });
            let Some(is_in_use) = dead.flatten() else { continue };
            match is_in_use {
                true => self.change_at_once(now),
                false => self.change(now),
            }
            self.follow(system, now);
        }
        self.share(now);
        self.paces = Paces::of(self.neighbours.load(), self.interval);
        let mut pressing = self.neighbours.take_pressing();
        if self.paces.trial < before.trial / 2 {
            // There were many, and those that are left need not wait as long.
            pressing = self.neighbours.trials();
        }
        self.send_probes(now);
        self.hasten(self.neighbours.busy(), now);
        self.hasten(pressing, now);
        let busy = (self.neighbours.rivals() > 0).then_some(self.paces.busy);
        let trial = self.neighbours.tries_any().then_some(self.paces.trial);
        let next = [busy, trial].into_iter().flatten().fold(LOOK, Duration::min);
        self.look_at = (!self.neighbours.is_empty()).then(|| now + next);
    }

    /// Says of those with traffic who shares their links and ours.
    fn share(&mut self, now: Time) {
        self.in_use = self.rivals();
        let in_use = self.in_use;
        for system in self.neighbours.sharing() {
            if self.neighbours.with(system, now, |of| of.share(in_use, now)) == Some(true) {
                self.plans.soon(now);
            }
        }
    }

    /// Sends the probes that are due.
    fn send_probes(&mut self, now: Time) {
        let (paces, mark, mut probes) = (self.paces, self.mark, Vec::new());
        let mut due = self.neighbours.due(now);
        due.sort_unstable();
        for system in due {
            let (random, stamps) = (&mut self.random, &mut self.stamps);
            self.neighbours.with(system, now, |neighbour| {
                let (wanted, regular) = (neighbour.wanted(now), neighbour.probe_at <= now);
                probes.extend(neighbour.probe(paces, || marked(stamps.next(), mark), now));
                if regular {
                    let idle = paces.idle_at(next_random(random));
                    neighbour.probe_at = now + if wanted == Wanted::Idle { idle } else { paces.quick(wanted) };
                }
            });
        }
        for probe in probes {
            let hello = self.hello(HelloKind::Probe, probe.member, probe.stamp);
            self.say(probe.member, probe.to, hello);
        }
    }

    /// Probes these no later than their pace says.
    fn hasten(&mut self, systems: Vec<u64>, now: Time) {
        let paces = self.paces;
        for system in systems {
            self.neighbours.with(system, now, |of| {
                let wanted = of.wanted(now);
                if wanted != Wanted::Idle {
                    of.probe_at = of.probe_at.min(now + paces.quick(wanted));
                }
            });
        }
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
