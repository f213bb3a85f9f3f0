//! A team that announced itself, and the paths to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_machine::{MemberId, Time, state};
use nicteam_plan::stripe::{Path, Peer, Receiver, Sender};
use nicteam_wire::{Hello, HelloMember, Mac};

use super::own::Own;
use super::pace::{Load, Paces, Wanted};
use super::probing::{Probing, REMEMBERED};
use super::segments::Heard;
use super::{delay, paths};

/// A team that announced itself.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Its number ([`Hello::system`]).
    pub system: u64,
    /// Its team's address.
    pub team: Mac,
    /// True if it takes frames with a redundancy tag.
    pub takes_rtags: bool,
    /// How many teams it has traffic with, as far as it knows.
    pub rivals: u8,
    /// What it says of its members.
    pub members: Vec<HelloMember>,
    /// From which follow the tokens of its members.
    pub(super) lost_tokens: u64,
    sequence: u32,
    /// When it announced itself last, as far as that counted.
    announced: Time,
    /// For how long it is known without a word.
    patience: Duration,
    /// When which of our members heard which of its last.
    heard: BTreeMap<(MemberId, u8), Time>,
    paths: BTreeMap<(MemberId, u8), Probing>,
    /// When the last probes left that came back, by whatever path.
    answered: BTreeSet<Time>,
    /// When its paths are probed next, but for those that failed.
    pub(super) probe_at: Time,
    /// Frames went to it or came from it; until then it counts as one with traffic.
    busy_until: Time,
    /// When it was heard first.
    since: Time,
    /// When a probe came back last.
    proven: Option<Time>,
    /// How many share its links, and ours: as it was when it had traffic last, or alone.
    sharing: Sharing,
}

state!(struct Neighbour { system, team, takes_rtags, rivals, members, lost_tokens, sequence, announced, patience, heard, paths, answered, probe_at, busy_until, since, proven, sharing });

/// How many teams send where we do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sharing {
    /// Teams that the neighbour has traffic with, at least 1.
    rivals: u8,
    /// Teams that we have traffic with, at least 1.
    in_use: u8,
}

state!(struct Sharing { rivals, in_use });

impl Sharing {
    /// Nobody else.
    const ALONE: Sharing = Sharing { rivals: 1, in_use: 1 };
}

/// A neighbour's rank where there is not room for all: the first ones stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Probes come back from it, and frames go to it or come from it; known since then.
    Busy(Time),
    /// Probes come back.
    Proven(Time),
    /// Nothing proves that it is there; the newest first, so that each has its turn.
    Unproven(std::cmp::Reverse<Time>),
}

/// One path to a neighbour, as a status shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStatus {
    /// Our member.
    pub member: MemberId,
    /// Place of the neighbour's.
    pub place: u8,
    /// True if probes come back.
    pub works: bool,
    /// How long probes took lately.
    pub round_trip: Option<Duration>,
}

/// A probe that is to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) member: MemberId,
    pub(super) to: Mac,
    pub(super) stamp: u64,
}

/// A neighbour is known as long as three announcements in a row are missing, and a half.
const MISSED_ANNOUNCEMENTS_HALVES: u32 = 7;
/// Between two announcements of one that does not say it.
const UNSAID_MS: u32 = 1000;
/// One of which no probe came back is known for so long without a word, whatever it says of its next.
const UNPROVEN_PATIENCE: Duration = Duration::from_secs(10);
/// For so long a probe that came back proves that the neighbour is there, if none of its paths works now.
const PROOF: Duration = Duration::from_secs(10);
/// After the last frame to or from a peer its paths are probed for so long as before.
const BUSY: Duration = Duration::from_secs(3);

/// Without an announcement that counted for so long, the next one counts whatever its number, and its addresses may be
/// another team's.
const OVERDUE: Duration = Duration::from_millis(3500);
/// More hellos than a team sends in that time: 2400 probes a second (`pace.rs`), and announcements.
const REACH: u32 = 1 << 16;

/// A path that takes so much longer than the quickest is a far one, microseconds. Far more than a
/// queue that stands or a processor that is late: taken for a far one, a path would be left out by
/// few narrow flows, which keep the quickest.
const FAR_US: u16 = 3000;

/// How long to wait after an announcement for another one.
pub(super) fn patience(hello: &Hello) -> Duration {
    let next_ms = if hello.next_ms == 0 { UNSAID_MS } else { hello.next_ms };
    Duration::from_millis(next_ms.into()) * MISSED_ANNOUNCEMENTS_HALVES / 2
}

impl Neighbour {
    pub(super) fn new(hello: &Hello, now: Time) -> Neighbour {
        let mut new = Neighbour {
            system: hello.system,
            team: hello.team,
            takes_rtags: hello.takes_rtags,
            rivals: hello.rivals,
            members: Vec::new(),
            lost_tokens: hello.stamp,
            sequence: hello.sequence.wrapping_sub(1),
            announced: now,
            patience: Duration::ZERO,
            heard: BTreeMap::new(),
            paths: BTreeMap::new(),
            answered: BTreeSet::new(),
            probe_at: now,
            busy_until: now,
            since: now,
            proven: None,
            sharing: Sharing::ALONE,
        };
        new.read(hello, now);
        new
    }

    /// The paths that are in use or tried.
    pub fn paths(&self) -> impl Iterator<Item = PathStatus> + '_ {
        self.paths.iter().map(|(&(member, place), path)| PathStatus {
            member,
            place,
            works: path.works(),
            round_trip: path.round_trip(),
        })
    }

    /// Takes in what it announces. Of two announcements the one with the higher sequence counts.
    pub(super) fn read(&mut self, hello: &Hello, now: Time) -> News {
        if hello.sequence.wrapping_sub(self.sequence) as i32 <= 0 && !self.is_overdue(now) {
            return News::default();
        }
        self.announced = now;
        self.patience = patience(hello);
        self.sequence = hello.sequence;
        let of_team = (self.team, self.takes_rtags, &self.members, self.lost_tokens)
            != (hello.team, hello.takes_rtags, &hello.members, hello.stamp);
        (self.team, self.takes_rtags, self.lost_tokens) = (hello.team, hello.takes_rtags, hello.stamp);
        self.members.clone_from(&hello.members);
        News { of_team, of_rivals: std::mem::replace(&mut self.rivals, hello.rivals) != hello.rivals }
    }

    /// A member of ours heard one of its; true if it did not hear it before.
    pub(super) fn hear(&mut self, member: MemberId, place: u8, now: Time) -> bool {
        self.heard.insert((member, place), now).is_none()
    }

    /// A frame of its data came to a member of ours. Anybody can write its address into a frame, so that
    /// keeps what an announcement said, and says nothing new.
    pub(super) fn refresh(&mut self, member: MemberId, place: u8, now: Time) {
        if let Some(heard) = self.heard.get_mut(&(member, place)) {
            *heard = now;
        }
    }

    /// True if this may be the number of an announcement of its, an earlier or a later one: not so far from the last
    /// that counted, or any at all if that is long ago. So a forged announcement without a key makes all that follow
    /// look old for that long at most.
    pub(super) fn is_in_reach(&self, sequence: u32, now: Time) -> bool {
        let distance = (sequence.wrapping_sub(self.sequence) as i32).unsigned_abs();
        distance <= REACH || self.is_overdue(now)
    }

    /// True if no announcement of its counted for so long that any number may be its next.
    pub(super) fn is_overdue(&self, now: Time) -> bool {
        now.since(self.announced) >= OVERDUE
    }

    /// How many of our members hear how many of its.
    pub(super) fn hearings(&self) -> usize {
        self.heard.len()
    }

    /// Our members that hear it.
    pub(super) fn heard_by(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.heard.keys().map(|(member, _)| *member)
    }

    /// As our segments follow from it.
    pub(super) fn heard(&self) -> Heard {
        let usable = |place: u8| self.members.iter().any(|member| member.usable && member.place == place);
        let active = self.members.iter().find(|member| member.usable && member.mac == self.team);
        Heard {
            system: self.system,
            by: self.heard.keys().filter(|(_, place)| usable(*place)).copied().collect(),
            reached_by: self.paths.iter().filter(|(_, path)| path.works()).map(|((member, _), _)| *member).collect(),
            active: active.map(|member| member.place),
        }
    }

    /// Forgets what was not heard for long; false if nothing is left.
    pub(super) fn is_heard(&mut self, now: Time) -> bool {
        let patience = self.patience(now);
        self.heard.retain(|_, heard| now.since(*heard) < patience);
        !self.heard.is_empty()
    }

    /// When something is to be done about it, of what time alone brings: a probe, or what is not heard any more, or
    /// counts as something else from then on.
    pub(super) fn due(&self, now: Time) -> Option<Time> {
        let paths = self.paths.values().map(|path| if path.has_failed() { path.retry_at } else { self.probe_at });
        let patience = self.patience(now);
        let unheard = self.heard.values().map(|heard| *heard + patience);
        let ends = [self.busy_until].into_iter().chain(self.proven.map(|proven| proven + PROOF));
        paths.chain(unheard).chain(ends.filter(|end| *end > now)).min()
    }

    /// For how long it is known without a word.
    fn patience(&self, now: Time) -> Duration {
        if self.is_proven(now) { self.patience } else { self.patience.min(UNPROVEN_PATIENCE) }
    }

    /// True if a path to it works, or did lately.
    pub(super) fn is_proven(&self, now: Time) -> bool {
        self.proven.is_some_and(|proven| now.since(proven) < PROOF) || self.paths.values().any(Probing::works)
    }

    /// Since when nothing has proven that it is there; nothing if something does.
    pub(super) fn unproven_since(&self, now: Time) -> Option<Time> {
        (!self.is_proven(now)).then(|| self.proven.map_or(self.since, |proven| self.since.max(proven + PROOF)))
    }

    /// Whether it stays where there is not room for all.
    pub(super) fn rank(&self, now: Time) -> Rank {
        match self.is_proven(now) {
            true if self.is_in_use(now) => Rank::Busy(self.since),
            true => Rank::Proven(self.since),
            false => Rank::Unproven(std::cmp::Reverse(self.proven.map_or(self.since, |proven| self.since.max(proven)))),
        }
    }

    /// True if a probe of it came back since it was heard first.
    pub(super) fn was_proven(&self) -> bool {
        self.proven.is_some()
    }

    /// While it has traffic, the teams count that share its links and ours; true if that is new. We have traffic with
    /// `in_use`. Afterwards none counts, so that it begins as one that is alone: others that come and go make no plan
    /// for it.
    pub(super) fn share(&mut self, in_use: u8, now: Time) -> bool {
        let sharing = match self.is_in_use(now) {
            true => Sharing { rivals: self.rivals.max(1), in_use: in_use.max(1) },
            false => Sharing::ALONE,
        };
        std::mem::replace(&mut self.sharing, sharing) != sharing
    }

    /// True if it is taken to share links with others, or we do.
    pub(super) fn shares(&self) -> bool {
        self.sharing != Sharing::ALONE
    }

    /// Only these members of ours can hear.
    pub(super) fn retain_members(&mut self, own: &[Own]) {
        self.heard.retain(|(id, _), _| own.iter().any(|own| own.id == *id && own.usable));
    }

    /// Frames went to it or came from it; true if that is new.
    pub(super) fn has_traffic(&mut self, now: Time) -> bool {
        let is_new = self.busy_until <= now;
        self.busy_until = now + BUSY;
        is_new
    }

    /// The place of its member with this address.
    pub(super) fn place_of(&self, mac: Mac) -> Option<u8> {
        self.members.iter().find(|member| member.mac == mac).map(|member| member.place)
    }

    /// Its team's address and its members'.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Mac> + '_ {
        std::iter::once(self.team).chain(self.members.iter().map(|member| member.mac))
    }

    /// An echo of a path; nothing if it is none of this neighbour's probes.
    pub(super) fn take_echo(&mut self, member: MemberId, place: u8, stamp: u64, now: Time) -> Option<Echoed> {
        let is_in_use = self.is_in_use(now);
        let path = self.paths.get_mut(&(member, place))?;
        let worked = path.works();
        let left = path.take_echo(stamp, now)?;
        // One that failed and is back is asked again at once.
        path.retry_at = now;
        let starts = path.works() && !worked;
        self.answered.insert(left);
        if self.answered.len() > REMEMBERED {
            self.answered.pop_first();
        }
        // It answers, and so it is there, whatever became of its process.
        self.heard.insert((member, place), now);
        self.proven = Some(now);
        // Few probes say little of a delay, and without traffic it is nobody's concern.
        let working = self.paths.values_mut().filter(|path| path.works());
        let delays = (starts || is_in_use) && delay::settle(working.map(|path| &mut path.delay));
        Some(Echoed { starts, delays })
    }

    /// Finds the paths that are dead; true if there are any. They are tried again at `retry_at`.
    pub(super) fn judge(&mut self, interval: Duration, retry_at: Time) -> bool {
        let mut dead = false;
        for path in self.paths.values_mut().filter(|path| !path.has_failed()) {
            if path.misses(&self.answered, interval) || path.is_alone_and_silent(interval) {
                path.fail(retry_at);
                dead = true;
            }
        }
        dead
    }

    /// True if frames went to it or came from it lately.
    pub(super) fn is_in_use(&self, now: Time) -> bool {
        now < self.busy_until
    }

    /// How often its paths are to be probed.
    pub(super) fn wanted(&self, now: Time) -> Wanted {
        match self.is_in_use(now) && self.is_proven(now) {
            true => Wanted::Busy,
            false if self.paths.values().any(Probing::is_urgent) => Wanted::Trial,
            false => Wanted::Idle,
        }
    }

    /// Its paths, by how they are probed.
    pub(super) fn load(&self, now: Time) -> Load {
        let failed = self.paths.values().filter(|path| path.has_failed()).count();
        Load::new(self.wanted(now), self.is_proven(now), (self.paths.len() - failed, failed))
    }

    /// The probes that are due; of failed paths, every `retry`, or sooner once one came back.
    pub(super) fn probe(&mut self, paces: Paces, mut stamp: impl FnMut() -> u64, now: Time) -> Vec<Outgoing> {
        let interval = paces.quick(self.wanted(now));
        let retry = if self.is_proven(now) { paces.retry } else { paces.unproven_retry };
        let regular = self.probe_at <= now;
        let mut probes = Vec::new();
        for (&(member, place), path) in &mut self.paths {
            let due = if path.has_failed() { path.retry_at <= now } else { regular };
            let addressee = self.members.iter().find(|member| member.place == place);
            if let Some(addressee) = addressee.filter(|_| due) {
                path.retry_at = now + if path.is_urgent() { interval } else { retry };
                let stamp = stamp();
                path.send(stamp, now);
                probes.push(Outgoing { member, to: addressee.mac, stamp });
            }
        }
        probes
    }

    /// Chooses the paths anew.
    pub(super) fn choose_paths(&mut self, own: &[Own], now: Time) -> Chosen {
        let senders: Vec<&Own> = own.iter().filter(|own| own.usable).collect();
        let receivers: Vec<&HelloMember> = self.members.iter().filter(|member| member.usable).collect();
        let key = |s: usize, r: usize| (senders[s].id, receivers[r].place);
        let may = |s: usize, r: usize| {
            self.heard.contains_key(&key(s, r)) && self.paths.get(&key(s, r)).is_none_or(|path| !path.has_failed())
        };
        let sends: Vec<u32> = senders.iter().map(|own| own.rate_mbps.max(1)).collect();
        let receives: Vec<u32> = receivers.iter().map(|member| rate(member)).collect();
        let chosen: Vec<(MemberId, u8)> =
            paths::choose(&sends, &receives, may).into_iter().map(|(s, r)| key(s, r)).collect();
        let possible = |(member, place): (MemberId, u8)| {
            senders.iter().any(|own| own.id == member) && receivers.iter().any(|other| other.place == place)
        };
        let (before, heard) = (self.paths.len(), &self.heard);
        self.paths.retain(|key, path| match path.has_failed() {
            true => possible(*key) && heard.contains_key(key),
            false => chosen.contains(key),
        });
        let (kept, fewer) = (self.paths.len(), self.paths.len() < before);
        for key in chosen {
            self.paths.entry(key).or_insert_with(|| Probing::new(now));
        }
        Chosen { new: self.paths.len() > kept, fewer }
    }

    /// As the plan sees it. `lost_token`: of its member with this address.
    pub(super) fn peer(&self, senders: &[Sender], lost_token: impl Fn(Mac) -> u64) -> Peer {
        let usable: Vec<&HelloMember> = self.members.iter().filter(|member| member.usable).collect();
        let path = |(&(member, place), path): (&(MemberId, u8), &Probing)| {
            let sender = senders.iter().position(|sender| sender.id == member)?;
            let receiver = usable.iter().position(|receiver| receiver.place == place)?;
            Some(Path { sender, receiver, delay_us: path.delay.excess_us() })
        };
        let paths: Vec<Path> = self.paths.iter().filter(|(_, path)| path.works()).filter_map(path).collect();
        Peer {
            team: self.team,
            system: self.system,
            takes_rtags: self.takes_rtags,
            keeps_flows: (self.sharing.rivals > 1 && usable.windows(2).any(|pair| rate(pair[0]) != rate(pair[1])))
                || paths.iter().any(|path| path.delay_us >= FAR_US),
            sharers: u32::from(self.sharing.rivals) * u32::from(self.sharing.in_use),
            group_from: None,
            others: self.members.iter().filter(|member| !member.usable).map(|member| member.mac).collect(),
            receivers: usable.iter().map(|member| self.receiver(member, lost_token(member.mac))).collect(),
            paths,
        }
    }

    fn receiver(&self, member: &HelloMember, lost_token: u64) -> Receiver {
        let rate_mbps = rate(member);
        let share_mbps = (rate_mbps / u32::from(self.sharing.rivals)).max(1);
        Receiver { mac: member.mac, rate_mbps, share_mbps, lost_token }
    }
}

/// What is new in an announcement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The team or its members.
    pub(super) of_team: bool,
    /// How many it has traffic with.
    pub(super) of_rivals: bool,
}

/// What an echo changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Echoed {
    /// Its path works now, and did not before.
    pub(super) starts: bool,
    /// Delays of paths.
    pub(super) delays: bool,
}

/// What [`Neighbour::choose_paths`] changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    /// There are paths that nothing is known of yet.
    pub(super) new: bool,
    /// Some are gone.
    pub(super) fewer: bool,
}

/// A neighbour's rate, Mbit/s; what it does not know is taken for a gigabit.
fn rate(member: &HelloMember) -> u32 {
    if member.rate_mbps == 0 { 1000 } else { member.rate_mbps }
}
