//! Who else stripes, and which paths to them work.
//!
//! Every member announces its team to a group address. A path is used once a
//! probe that went along it came back, and until it is found dead
//! (`probing.rs` says when). Peers with traffic are probed often, others seldom:
//! what the dataplane notes of peers' frames decides. Time is an argument; what
//! is to be sent is collected by [`Discovery::take_frames`].

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Frame, Hello, HelloKind, HelloMember, Mac};

use super::announcing::Announcing;
use super::auth::{Auth, Judgement, Refused, speaker};
use super::neighbour::{Neighbour, News, patience};
use super::pace::{Paces, RETRY, next_random};
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
    neighbours: BTreeMap<u64, Neighbour>,
    /// Systems that were heard when there was no more room.
    overlooked: u64,
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
    /// [`Discovery::senders`] or [`Discovery::peers`] may say something else than before.
    changed: bool,
    outbox: Vec<(MemberId, Vec<u8>)>,
}

/// Between two looks at what the dataplane noted, while no peer has traffic.
const LOOK: Duration = Duration::from_millis(50);
/// Neighbours that are known at once.
const MAX_NEIGHBOURS: usize = 256;

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
            neighbours: BTreeMap::new(),
            overlooked: 0,
            announcing: Announcing::default(),
            in_use: 0,
            interval,
            paces: Paces { busy: interval, ..Paces::default() },
            look_at: None,
            looks: false,
            changed: true,
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
        let known = self.neighbours.len();
        self.neighbours.retain(|system, _| self.auth.knows(*system));
        if self.neighbours.len() < known {
            self.changed = true;
            self.segments.note_change();
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
        (self.team, self.own) = (team, own);
        // Those that were valid may have been used, and seen.
        self.lost_tokens += 1;
        self.changed = true;
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
        self.find_segments();
    }

    /// What the dataplane noted, the answer to [`Discovery::take_look`]. A peer
    /// whose first frame this is is probed at once.
    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        let mut is_new = false;
        for note in notes {
            let is = |neighbour: &&mut Neighbour| neighbour.team == note.mac || neighbour.place_of(note.mac).is_some();
            let Some(neighbour) = self.neighbours.values_mut().find(is) else { continue };
            if let Some(place) = neighbour.place_of(note.mac) {
                note.heard.iter().for_each(|member| neighbour.refresh(member, place, now));
            }
            if (note.sent || !note.heard.is_empty()) && neighbour.has_traffic(now) {
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
        self.find_segments();
    }

    /// Time has come to [`Discovery::poll_timeout`]; harmless earlier. What was
    /// received until now must have been handed over before.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.announcing.next().is_some_and(|at| at <= now) {
            self.announce(now);
        }
        let known = self.neighbours.len();
        let heard = |of: &BTreeMap<u64, Neighbour>| of.values().map(Neighbour::hearings).sum::<usize>();
        let before = heard(&self.neighbours);
        self.neighbours.retain(|_, neighbour| neighbour.is_heard(now));
        if heard(&self.neighbours) < before {
            self.segments.note_change();
        }
        self.auth.retain(|system| self.neighbours.contains_key(&system));
        self.changed |= self.neighbours.len() < known;
        if self.look_at.is_some_and(|at| at <= now) {
            self.probe(now);
            self.looks = true;
        }
        self.segments.handle_timeout(now);
        self.find_segments();
    }

    /// When to call [`Discovery::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.announcing.next(), self.look_at, self.segments.settles_at()].into_iter().flatten().min()
    }

    /// True, once, if [`Discovery::handle_notes`] is to be called.
    pub fn take_look(&mut self) -> bool {
        std::mem::take(&mut self.looks)
    }

    /// What is to be sent now, and by whom.
    pub fn take_frames(&mut self) -> Vec<(MemberId, Vec<u8>)> {
        std::mem::take(&mut self.outbox)
    }

    /// True if senders or peers may have changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
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

    /// Those that frames can be striped to, by address.
    pub fn peers(&self) -> Vec<Peer> {
        let senders = self.senders();
        let from = &self.segments.found().from;
        let peer = |neighbour: &Neighbour| Peer {
            group_from: from.get(&neighbour.system).copied(),
            ..neighbour
                .peer(&senders, self.in_use, |mac| self.auth.lost_token(neighbour.system, neighbour.lost_tokens, mac))
        };
        let mut peers: Vec<Peer> = self.neighbours.values().map(peer).collect();
        peers.retain(|peer| !peer.receivers.is_empty());
        peers.sort_by_key(|peer| peer.team);
        peers.dedup_by_key(|peer| peer.team);
        peers.truncate(MAX_PEERS);
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
        if is_new {
            // One that was started anew is not the one that it was; nor is one whose addresses another one has now.
            let is_told =
                |of: &Neighbour| of.team == hello.team || hello.members.iter().any(|own| of.has_address(own.mac));
            self.neighbours.retain(|_, neighbour| !is_told(neighbour));
            if self.neighbours.len() >= MAX_NEIGHBOURS {
                self.overlooked += 1;
                return;
            }
        }
        let neighbour = self.neighbours.entry(hello.system).or_insert_with(|| Neighbour::new(&hello, now));
        if !neighbour.is_in_reach(hello.sequence, now) {
            return;
        }
        let by_new = neighbour.hear(member, hello.place, now);
        let News { of_team: says_new, of_rivals } = neighbour.read(&hello, now);
        self.changed |= of_rivals;
        if is_new || says_new {
            self.changed = true;
            // So that it hears us as soon as we hear it, by members that are new, too.
            self.announcing.soon(self.neighbours.len(), now);
        }
        if by_new {
            self.segments.note_change();
        }
        if by_new || says_new {
            self.follow(hello.system, now);
        }
    }

    /// A probe of ours came back from this address.
    fn take_echo(&mut self, member: MemberId, src: Mac, stamp: u64, now: Time) {
        let found = self.neighbours.values_mut().find_map(|neighbour| Some((neighbour.place_of(src)?, neighbour)));
        let Some((place, neighbour)) = found else { return };
        let starts = neighbour.take_echo(member, place, stamp, now);
        // What came back by this path may say that another one is dead.
        if starts | neighbour.judge(self.paces.busy, now + RETRY) {
            let system = neighbour.system;
            self.changed = true;
            self.follow(system, now);
        }
    }

    /// Makes the paths to a neighbour follow from who hears whom.
    fn follow(&mut self, system: u64, now: Time) {
        let Some(neighbour) = self.neighbours.get_mut(&system) else { return };
        let chosen = neighbour.choose_paths(&self.own, now);
        self.changed |= chosen.new || chosen.fewer;
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

    /// Finds our segments anew after somebody was heard, or reached, otherwise than before.
    fn find_segments(&mut self) {
        if self.segments.take_changed() | self.changed {
            let active = self.own.iter().find(|own| own.usable && own.mac == self.team).map(|own| own.id);
            let heard: Vec<Heard> = self.neighbours.values().map(Neighbour::heard).collect();
            self.changed |= self.segments.find(active, &heard);
        }
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
        let count = self.neighbours.values().filter(|neighbour| neighbour.is_in_use(now)).count();
        u8::try_from(count).unwrap_or(u8::MAX).min(Hello::MAX_RIVALS)
    }

    /// Gives up the paths that are dead, and sends the probes that are due.
    fn probe(&mut self, now: Time) {
        let interval = self.paces.busy;
        let dead = self.neighbours.values_mut().filter_map(|of| of.judge(interval, now + RETRY).then_some(of.system));
        let dead: Vec<u64> = dead.collect();
        self.changed |= !dead.is_empty();
        dead.into_iter().for_each(|system| self.follow(system, now));
        let in_use = self.rivals(now);
        self.changed |= std::mem::replace(&mut self.in_use, in_use).max(1) != in_use.max(1);
        let paces = Paces::of(self.neighbours.values(), self.interval, now);
        self.paces = paces;
        let (random, stamps, mark, mut probes) = (&mut self.random, &mut self.stamps, self.mark, Vec::new());
        let mut is_busy = false;
        for neighbour in self.neighbours.values_mut() {
            let busy = neighbour.is_busy(now);
            let regular = neighbour.probe_at <= now;
            probes.extend(neighbour.probe((paces.busy, paces.retry), || marked(stamps.next(), mark), now));
            if regular {
                let idle = paces.idle_at(next_random(random));
                neighbour.probe_at = now + if busy { paces.busy } else { idle };
            } else if busy {
                neighbour.probe_at = neighbour.probe_at.min(now + paces.busy);
            }
            is_busy |= busy;
        }
        for probe in probes {
            let hello = self.hello(HelloKind::Probe, probe.member, probe.stamp);
            self.say(probe.member, probe.to, hello);
        }
        let next = if is_busy { paces.busy } else { LOOK };
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
