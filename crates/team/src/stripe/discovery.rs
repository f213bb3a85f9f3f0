//! Who else stripes, and which paths to them work.
//!
//! Every member announces its team to a group address. A path is used once a
//! probe that went along it came back as an echo, and until three in a row did
//! not. Time is an argument; what is to be sent is collected by
//! [`Discovery::take_frames`].

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Hello, HelloKind, HelloMember, Mac};

use super::{MAX_PEERS, Path, Peer, Receiver, Sender, paths};
use crate::{MemberId, Time};

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
    sequence: u32,
    team: Mac,
    own: Vec<Own>,
    neighbours: BTreeMap<u64, Neighbour>,
    /// Systems that were heard when there was no more room.
    overlooked: u64,
    announced: Option<Time>,
    announce_at: Option<Time>,
    /// Announcements that follow one another quickly.
    quick: u32,
    probe_at: Option<Time>,
    /// [`Discovery::senders`] or [`Discovery::peers`] may say something else than before.
    changed: bool,
    outbox: Vec<(MemberId, Vec<u8>)>,
}

/// A team that announced itself.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Its number ([`Hello::system`]).
    pub system: u64,
    /// Its team's address.
    pub team: Mac,
    /// What it says of its members.
    pub members: Vec<HelloMember>,
    sequence: u32,
    /// When which of our members heard which of its last.
    heard: BTreeMap<(MemberId, u8), Time>,
    paths: BTreeMap<(MemberId, u8), Probing>,
}

/// One path to a neighbour, for those who look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStatus {
    /// Our member.
    pub member: MemberId,
    /// Place of the neighbour's.
    pub place: u8,
    /// True if probes come back.
    pub works: bool,
    /// How long the last took.
    pub round_trip: Option<Duration>,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Probing {
    works: bool,
    /// Probes since the last echo.
    unanswered: u32,
    round_trip: Option<Duration>,
    /// It did not work then, and others are tried.
    failed: Option<Time>,
}

/// Between two announcements of a member.
const ANNOUNCE: Duration = Duration::from_secs(1);
/// The same after something changed, and the least there ever is.
const QUICK: Duration = Duration::from_millis(20);
/// How many follow one another that quickly.
const QUICK_ANNOUNCEMENTS: u32 = 3;
/// What was not heard for so long is gone.
const SILENCE: Duration = Duration::from_millis(3500);
/// Between two probes of a path; longer if there are very many paths.
const PROBE: Duration = Duration::from_millis(100);
/// Probes a second of all paths together.
const PROBES_PER_S: u32 = 1000;
/// Unanswered probes after which a path does not work.
const LOST_PROBES: u32 = 3;
/// How long a path that failed is left alone.
const AVOID: Duration = Duration::from_secs(1);
/// Neighbours that are known at once.
const MAX_NEIGHBOURS: usize = 256;

impl Discovery {
    /// Nobody is known. `system` is a number that no other team has, and no
    /// earlier run of this one.
    pub fn new(system: u64) -> Discovery {
        Discovery {
            system,
            sequence: 0,
            team: Mac::default(),
            own: Vec::new(),
            neighbours: BTreeMap::new(),
            overlooked: 0,
            announced: None,
            announce_at: None,
            quick: 0,
            probe_at: None,
            changed: true,
            outbox: Vec::new(),
        }
    }

    /// The team's address and its members, all of them.
    pub fn set_own(&mut self, team: Mac, own: Vec<Own>, now: Time) {
        if (self.team, &self.own) == (team, &own) {
            return;
        }
        (self.team, self.own) = (team, own);
        self.changed = true;
        for neighbour in self.neighbours.values_mut() {
            let is_usable = |id: MemberId| self.own.iter().any(|own| own.id == id && own.usable);
            neighbour.heard.retain(|(id, _), _| is_usable(*id));
        }
        self.announce_soon(now);
        self.follow(now);
    }

    /// A hello that a member received from this address.
    pub fn handle_hello(&mut self, member: MemberId, src: Mac, hello: Hello, now: Time) {
        if hello.system == self.system || !self.own.iter().any(|own| own.id == member && own.usable) {
            return;
        }
        match hello.kind {
            HelloKind::Announce => self.hear(member, hello, now),
            HelloKind::Probe => self.echo(member, src, &hello),
            HelloKind::Echo => self.take_echo(member, &hello, now),
        }
    }

    /// Time has come to [`Discovery::poll_timeout`]; harmless earlier.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.announce_at.is_some_and(|at| at <= now) {
            self.announce(now);
        }
        for neighbour in self.neighbours.values_mut() {
            neighbour.heard.retain(|_, heard| now.since(*heard) < SILENCE);
        }
        let known = self.neighbours.len();
        self.neighbours.retain(|_, neighbour| !neighbour.heard.is_empty());
        self.changed |= self.neighbours.len() < known;
        if self.probe_at.is_some_and(|at| at <= now) {
            self.probe(now);
        }
    }

    /// When to call [`Discovery::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.announce_at, self.probe_at].into_iter().flatten().min()
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
        usable.map(|own| Sender { id: own.id, mac: own.mac, rate_mbps: own.rate_mbps.max(1) }).collect()
    }

    /// Those that frames can be striped to, by address.
    pub fn peers(&self) -> Vec<Peer> {
        let senders = self.senders();
        let mut peers: Vec<Peer> = self.neighbours.values().map(|neighbour| neighbour.peer(&senders)).collect();
        peers.retain(|peer| !peer.receivers.is_empty());
        peers.sort_by_key(|peer| peer.team);
        peers.dedup_by_key(|peer| peer.team);
        peers.truncate(MAX_PEERS);
        peers
    }

    /// All that are known.
    pub fn neighbours(&self) -> impl Iterator<Item = &Neighbour> {
        self.neighbours.values()
    }

    /// Hellos of systems for which there was no room.
    pub fn overlooked(&self) -> u64 {
        self.overlooked
    }

    /// A neighbour announces itself.
    fn hear(&mut self, member: MemberId, hello: Hello, now: Time) {
        let is_new = !self.neighbours.contains_key(&hello.system);
        if is_new {
            // One that was started anew is not the one that it was.
            self.neighbours.retain(|_, neighbour| neighbour.team != hello.team);
            if self.neighbours.len() >= MAX_NEIGHBOURS {
                self.overlooked += 1;
                return;
            }
        }
        let neighbour = self.neighbours.entry(hello.system).or_insert_with(|| Neighbour::new(&hello));
        neighbour.heard.insert((member, hello.place), now);
        let mut says_more = is_new;
        if hello.sequence.wrapping_sub(neighbour.sequence) as i32 > 0 {
            neighbour.sequence = hello.sequence;
            says_more |= (neighbour.team, &neighbour.members) != (hello.team, &hello.members);
            neighbour.team = hello.team;
            neighbour.members = hello.members;
        }
        if says_more {
            self.changed = true;
            // So that it hears us as soon as we hear it, by members that are new, too.
            self.announce_soon(now);
        }
        self.follow(now);
    }

    /// Answers a probe of somebody known.
    fn echo(&mut self, member: MemberId, src: Mac, probe: &Hello) {
        if self.neighbours.contains_key(&probe.system) {
            let echo = self.hello(HelloKind::Echo, member, probe.stamp);
            self.say(member, src, echo);
        }
    }

    fn take_echo(&mut self, member: MemberId, echo: &Hello, now: Time) {
        let Some(neighbour) = self.neighbours.get_mut(&echo.system) else { return };
        let Some(path) = neighbour.paths.get_mut(&(member, echo.place)) else { return };
        let round_trip = now.since(Time::from_nanos(echo.stamp));
        self.changed |= !path.works;
        *path = Probing { works: true, unanswered: 0, round_trip: Some(round_trip), failed: None };
    }

    /// Makes the paths follow from who hears whom.
    fn follow(&mut self, now: Time) {
        let mut has_new = false;
        for neighbour in self.neighbours.values_mut() {
            let before = neighbour.paths.len();
            has_new |= neighbour.choose_paths(&self.own, now);
            self.changed |= has_new || neighbour.paths.len() < before;
        }
        if has_new {
            self.probe_at = Some(now);
        }
    }

    fn announce_soon(&mut self, now: Time) {
        self.quick = QUICK_ANNOUNCEMENTS;
        let earliest = self.announced.map_or(now, |last| now.max(last + QUICK));
        self.announce_at = Some(earliest);
    }

    fn announce(&mut self, now: Time) {
        let members = self.own.iter().map(|own| HelloMember {
            place: own.id.index() as u8,
            usable: own.usable,
            rate_mbps: own.rate_mbps,
            mac: own.mac,
        });
        let members: Vec<HelloMember> = members.collect();
        for own in self.senders() {
            let hello = self.hello(HelloKind::Announce, own.id, 0);
            self.say(own.id, Hello::GROUP, Hello { members: members.clone(), ..hello });
        }
        self.announced = Some(now);
        self.announce_at = Some(now + if self.quick > 0 { QUICK } else { ANNOUNCE });
        self.quick = self.quick.saturating_sub(1);
    }

    /// Probes every path that is chosen, and gives up those that stay silent.
    fn probe(&mut self, now: Time) {
        let mut failed = false;
        let mut probes = Vec::new();
        for neighbour in self.neighbours.values_mut() {
            for (&(member, place), path) in &mut neighbour.paths {
                if path.unanswered >= LOST_PROBES && path.failed.is_none() {
                    *path = Probing { failed: Some(now), ..Probing::default() };
                    (failed, self.changed) = (true, true);
                }
                if path.failed.is_none() {
                    path.unanswered += 1;
                    let addressee = neighbour.members.iter().find(|member| member.place == place);
                    probes.extend(addressee.map(|addressee| (member, addressee.mac)));
                }
            }
        }
        let unproven = self.neighbours.values().flat_map(|neighbour| neighbour.paths.values());
        let unproven = unproven.filter(|path| !path.works && path.failed.is_none()).count();
        let spread = Duration::from_secs(1) * probes.len() as u32 / PROBES_PER_S;
        let next = if unproven > 0 { QUICK } else { PROBE };
        for (member, addressee) in probes {
            let probe = self.hello(HelloKind::Probe, member, now.as_nanos());
            self.say(member, addressee, probe);
        }
        self.probe_at = (!self.neighbours.is_empty()).then(|| now + next.max(spread));
        let retry = |path: &Probing| path.failed.is_some_and(|failed| now.since(failed) >= AVOID);
        if failed || self.neighbours.values().any(|neighbour| neighbour.paths.values().any(retry)) {
            self.follow(now);
        }
    }

    fn hello(&mut self, kind: HelloKind, member: MemberId, stamp: u64) -> Hello {
        self.sequence = self.sequence.wrapping_add(1);
        let (system, sequence, team) = (self.system, self.sequence, self.team);
        Hello { kind, system, sequence, team, place: member.index() as u8, stamp, members: Vec::new() }
    }

    fn say(&mut self, member: MemberId, dst: Mac, hello: Hello) {
        if let Some(own) = self.own.iter().find(|own| own.id == member) {
            self.outbox.push((member, hello.frame(dst, own.mac)));
        }
    }
}

impl Neighbour {
    fn new(hello: &Hello) -> Neighbour {
        Neighbour {
            system: hello.system,
            team: hello.team,
            members: hello.members.clone(),
            sequence: hello.sequence,
            heard: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// The paths that are in use or tried.
    pub fn paths(&self) -> impl Iterator<Item = PathStatus> + '_ {
        self.paths.iter().map(|(&(member, place), path)| PathStatus {
            member,
            place,
            works: path.works,
            round_trip: path.round_trip,
        })
    }

    fn usable(&self) -> Vec<&HelloMember> {
        self.members.iter().filter(|member| member.usable).collect()
    }

    /// True if there are paths that nothing is known of yet.
    fn choose_paths(&mut self, own: &[Own], now: Time) -> bool {
        self.paths.retain(|_, path| path.failed.is_none_or(|failed| now.since(failed) < AVOID));
        let senders: Vec<&Own> = own.iter().filter(|own| own.usable).collect();
        let receivers = self.usable();
        let key = |s: usize, r: usize| (senders[s].id, receivers[r].place);
        let may = |s: usize, r: usize| {
            self.heard.contains_key(&key(s, r)) && self.paths.get(&key(s, r)).is_none_or(|path| path.failed.is_none())
        };
        let sends: Vec<u32> = senders.iter().map(|own| own.rate_mbps.max(1)).collect();
        let receives: Vec<u32> = receivers.iter().map(|member| rate(member)).collect();
        let chosen: Vec<(MemberId, u8)> =
            paths::choose(&sends, &receives, may).into_iter().map(|(s, r)| key(s, r)).collect();
        let has_new = chosen.iter().any(|key| !self.paths.contains_key(key));
        self.paths.retain(|key, path| path.failed.is_some() || chosen.contains(key));
        for key in chosen {
            self.paths.entry(key).or_default();
        }
        has_new
    }

    /// As the plan sees it.
    fn peer(&self, senders: &[Sender]) -> Peer {
        let usable = self.usable();
        let index = |&(member, place): &(MemberId, u8)| {
            let sender = senders.iter().position(|sender| sender.id == member)?;
            let receiver = usable.iter().position(|receiver| receiver.place == place)?;
            Some(Path { sender, receiver })
        };
        let working = self.paths.iter().filter(|(_, path)| path.works);
        Peer {
            team: self.team,
            receivers: usable.iter().map(|member| Receiver { mac: member.mac, rate_mbps: rate(member) }).collect(),
            paths: working.filter_map(|(key, _)| index(key)).collect(),
        }
    }
}

/// A neighbour's rate, Mbit/s; what it does not know is taken for a gigabit.
fn rate(member: &HelloMember) -> u32 {
    if member.rate_mbps == 0 { 1000 } else { member.rate_mbps }
}
