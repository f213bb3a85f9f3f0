//! Frames of members for the control side: listening sockets of each member, while the team wants any.
//!
//! What the process does a second is bounded, however many frames arrive: each kind of them has a [`Gate`] on each
//! member, one for the addresses that spoke for a while before a flood began and one for all others. A gate that has to refuse
//! frames has the kernel's filter let through a share of them only. Under a flood the thread is an ordinary one.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nicteam_dataplane::Kind as Dataplane;
use nicteam_sys::listen::{Kind, Listener, Protocols, Rule, Rules, Share, Tap};
use nicteam_sys::{random, sched};
use nicteam_team::{Listen, MemberId, Time, Traffic};

use super::Shell;
use crate::first::FirstError;
use crate::flood::{Gate, Limit, Sources, WINDOW};
use crate::{ControlFrames, Happened};

/// The most frames taken from a socket before the rest of the team has its turn.
const AT_ONCE: usize = 64;
/// So long the probes that leave carry the same mark. It has to be longer than a probe is waited for.
const MARK: Duration = Duration::from_secs(10);
/// Members from which on they share the limits of so many.
const SHARING: usize = 4;

/// The listening sockets.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    wanted: Listen,
    open: Vec<Open>,
    /// Of the sockets that are open, in their order, whether there is anything to read.
    readable: Vec<bool>,
    heard: BTreeMap<(MemberId, Kind), Heard>,
    /// By which echoes are told from what others make up: the last mark, and the one in use.
    marks: Vec<u32>,
    marked: Time,
    /// True if the thread may run before others, and does so when there is no flood.
    runs_first: bool,
    flooded: bool,
    /// When the gates that thin out are looked at next.
    look_at: Option<Time>,
    /// Memory for a frame.
    frame: Vec<u8>,
}

/// A socket of a member.
#[derive(Debug)]
struct Open {
    member: MemberId,
    index: u32,
    kinds: Vec<Kind>,
    /// None where it could not be opened.
    listener: Option<Listener>,
}

/// What is heard of a kind on a member.
#[derive(Debug)]
struct Heard {
    known: Gate,
    others: Gate,
    sources: Sources,
    /// True while it was said that there is a flood.
    flooded: bool,
}

impl Listeners {
    /// What becomes readable when a member has heard something.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.iter().filter_map(|open| open.listener.as_ref().map(AsFd::as_fd))
    }

    /// Which of [`Listeners::fds`] are readable.
    pub(super) fn set_readable(&mut self, readable: Vec<bool>) {
        self.readable = readable;
    }

    /// Any of them may be readable.
    pub(super) fn read_all(&mut self) {
        self.readable = vec![true; self.open.len()];
    }

    /// When to call [`Shell::hear`] though nothing is readable; none if there is no flood.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.look_at
    }

    /// The thread may run before others.
    pub(super) fn run_first(&mut self) {
        self.runs_first = sched::run_first().is_ok();
    }

    /// What was heard of each kind on all members together, and on which there is a flood.
    pub(super) fn counts(&self, name_of: impl Fn(MemberId) -> String) -> Vec<ControlFrames> {
        let of_kind = |kind: &Kind| {
            let heard = || self.heard.iter().filter(|((_, of), _)| of == kind);
            let sum = heard().flat_map(|(_, heard)| [heard.known.counts(), heard.others.counts()]);
            let (handled, dropped) = sum.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
            let flooded = heard().filter(|(_, heard)| heard.flooded).map(|((member, _), _)| name_of(*member));
            // Nobody waits for PAgP: without it there is nothing to show.
            let is_shown = *kind != Kind::Pagp || handled + dropped > 0;
            let kind = words(*kind).to_owned();
            heard().next().filter(|_| is_shown).map(|_| ControlFrames {
                kind,
                handled,
                dropped,
                flooded: flooded.collect(),
            })
        };
        Kind::ALL.iter().filter_map(of_kind).collect()
    }

    /// What a socket of a member is to hear of these kinds.
    fn rules(&self, member: MemberId, kinds: &[Kind]) -> Rules {
        let rule = |&kind: &Kind| {
            let heard = self.heard.get(&(member, kind));
            let share = heard.map(Heard::share).unwrap_or_default();
            // Where both have the same share nobody asks who spoke.
            let is_used = share.known != share.others;
            let known = heard.filter(|_| is_used).map(|heard| heard.sources.known()).unwrap_or_default();
            Rule { kind, known, share }
        };
        Rules { rules: kinds.iter().map(rule).collect(), marks: self.marks.clone() }
    }

    /// Lets the kernel hear by the gates as they are now, on this member or on all.
    fn set_rules(&self, member: Option<MemberId>) -> Result<(), nicteam_sys::Error> {
        let concerned = |open: &&Open| member.is_none_or(|member| open.member == member);
        let mut first = Ok(());
        for open in self.open.iter().filter(concerned) {
            let Some(listener) = &open.listener else { continue };
            first = first.and(listener.set_rules(&self.rules(open.member, &open.kinds)));
        }
        first
    }
}

impl Heard {
    fn new(kind: Kind, members: usize, now: Time) -> Heard {
        let [known, others] = limits(kind, members).map(|limit| Gate::new(limit, now));
        Heard { known, others, sources: Sources::default(), flooded: false }
    }

    fn share(&self) -> Share {
        Share { known: self.known.halvings(), others: self.others.halvings() }
    }

    /// A frame came; true if it is to be handled.
    fn admit(&mut self, frame: &[u8], now: Time) -> bool {
        let Some(&source) = frame.get(6..).and_then(<[u8]>::first_chunk::<6>) else { return false };
        let gate = if self.sources.knows(source) { &mut self.known } else { &mut self.others };
        let admitted = gate.admit(now);
        if admitted && !self.flooded {
            self.sources.hear(source, now);
        }
        admitted
    }

    /// True if the kernel is to let another share through.
    fn adapt(&mut self, now: Time) -> bool {
        self.known.adapt(now) | self.others.adapt(now)
    }

    fn is_flooded(&self, now: Time) -> bool {
        self.known.is_flooded(now) || self.others.is_flooded(now)
    }
}

impl Shell {
    /// Opens and closes sockets, so that the members hear what the team wants.
    /// One that cannot be opened is tried again when the team wants something else.
    pub(super) fn adjust_listeners(&mut self) {
        let wanted = self.team.listens();
        if wanted != self.listeners.wanted {
            self.listeners.wanted = wanted;
            self.listeners.open.clear();
            self.listeners.heard.clear();
            // Another discovery may begin, which knows none.
            self.listeners.marks.clear();
        }
        let is_member =
            |id: MemberId, index: u32| self.members.iter().any(|m| (m.port.id, m.port.index) == (id, index));
        self.listeners.open.retain(|open| is_member(open.member, open.index));
        let Listeners { open, heard, .. } = &mut self.listeners;
        let is_open = |id: MemberId| open.iter().any(|open| open.member == id);
        heard.retain(|&(member, _), _| is_open(member));
        if wanted == Listen::default() {
            return;
        }
        let ports = self.members.iter().map(|member| (member.port.id, member.port.index));
        let new: Vec<(MemberId, u32)> = ports.filter(|port| !is_open(port.0)).collect();
        self.mark_probes();
        if !new.is_empty() {
            self.listen_on(&new);
        }
    }

    /// Opens the sockets of new members.
    fn listen_on(&mut self, new: &[(MemberId, u32)]) {
        let Listen { slow, hellos, arp, neighbours, pagp } = self.listeners.wanted;
        let kinds = Protocols { slow, hellos, arp, neighbours, pagp }.kinds();
        // Echoes are not to wait, or be lost, behind others. eBPF lets them pass to where no other frame is seen. And PAgP,
        // so that no other frame pays for its being listened to.
        let (echo, pagp) = match self.kind() {
            Dataplane::Bpf => (Tap::Hellos, Tap::Llc),
            Dataplane::Packet => (Tap::Ahead, Tap::Ahead),
        };
        let apart = |kind: Kind| kinds.iter().copied().filter(move |of| *of == kind).collect::<Vec<_>>();
        let others = kinds.iter().copied().filter(|kind| ![Kind::Echo, Kind::Pagp].contains(kind)).collect();
        let sockets = [(others, Tap::Ahead), (apart(Kind::Echo), echo), (apart(Kind::Pagp), pagp)];
        let (now, count) = (self.clock.now(), self.members.len());
        let mut first = FirstError::default();
        for &(member, index) in new {
            for (kinds, tap) in sockets.iter().filter(|(kinds, _)| !kinds.is_empty()) {
                let listener = Listener::open(index, *tap, &self.listeners.rules(member, kinds));
                let listener = listener.map_err(|error| first.note(Err(error))).ok();
                self.listeners.open.push(Open { member, index, kinds: kinds.clone(), listener });
            }
            for &kind in &kinds {
                self.listeners.heard.insert((member, kind), Heard::new(kind, count, now));
            }
        }
        for ((_, kind), heard) in &mut self.listeners.heard {
            let [known, others] = limits(*kind, count);
            heard.known.set_limit(known);
            heard.others.set_limit(others);
        }
        self.tell(first.result());
    }

    /// Gives the probes another mark from time to time, so that echoes that somebody heard
    /// and sends again are not even read.
    fn mark_probes(&mut self) {
        let now = self.clock.now();
        let is_due = self.listeners.marks.is_empty() || now.since(self.listeners.marked) >= MARK;
        if !self.listeners.wanted.hellos || !is_due {
            return;
        }
        let mark = match random::number() {
            // The upper half; a mark is any number.
            Ok(number) => (number >> 32) as u32,
            Err(error) => return self.tell(Err(error)),
        };
        let last = self.listeners.marks.last().copied();
        self.listeners.marks = last.into_iter().chain([mark]).collect();
        self.listeners.marked = now;
        // First the echo has to be heard, then the probe may leave.
        let set = self.listeners.set_rules(None);
        self.tell(set);
        self.team.mark_probes(mark);
    }

    /// Hands on what the members have heard.
    pub(super) fn hear(&mut self) {
        let mut listeners = std::mem::take(&mut self.listeners);
        let mut any = false;
        let readable = std::mem::take(&mut listeners.readable);
        let open = listeners.open.iter().filter_map(|open| Some((open.member, open.listener.as_ref()?)));
        for (member, listener) in open.zip(readable).filter_map(|(open, readable)| readable.then_some(open)) {
            for _ in 0..AT_ONCE {
                match listener.receive(&mut listeners.frame) {
                    Ok(true) => {
                        any = true;
                        let now = self.clock.now();
                        let heard =
                            Kind::of(&listeners.frame).and_then(|kind| listeners.heard.get_mut(&(member, kind)));
                        if heard.is_some_and(|heard| heard.admit(&listeners.frame, now)) {
                            self.team.handle_frame(member, &listeners.frame, now);
                            self.drain();
                        }
                    }
                    Ok(false) => break,
                    Err(error) => {
                        self.tell(Err(error));
                        break;
                    }
                }
            }
        }
        self.listeners = listeners;
        if any || self.listeners.look_at.is_some_and(|at| at <= self.clock.now()) {
            self.follow_floods();
        }
    }

    /// Lets the kernel drop what is too much, and gives way to others while there is such.
    fn follow_floods(&mut self) {
        let now = self.clock.now();
        let adapted: Vec<(MemberId, Kind)> =
            self.listeners.heard.iter_mut().filter_map(|(key, heard)| heard.adapt(now).then_some(*key)).collect();
        for (member, kind) in adapted {
            self.count_lost(member, kind);
            let set = self.listeners.set_rules(Some(member));
            self.tell(set);
        }
        let mut changed = Vec::new();
        for (&(member, kind), heard) in &mut self.listeners.heard {
            let flooded = heard.is_flooded(now);
            if std::mem::replace(&mut heard.flooded, flooded) != flooded {
                heard.sources.forget_new();
                changed.push((member, kind, flooded));
            }
        }
        for (member, kind, begins) in changed {
            self.note(Happened::Flood { member: self.name_of(member), kind: words(kind).to_owned(), begins });
        }
        let flooded = self.listeners.heard.values().any(|heard| heard.flooded);
        self.listeners.look_at = flooded.then(|| now + WINDOW);
        if std::mem::replace(&mut self.listeners.flooded, flooded) != flooded && self.listeners.runs_first {
            let set = if flooded { sched::run_as_others() } else { sched::run_first() };
            self.tell(set);
        }
    }

    /// Counts what the socket of a kind had no room for.
    fn count_lost(&mut self, member: MemberId, kind: Kind) {
        let socket = self.listeners.open.iter().find(|open| open.member == member && open.kinds.contains(&kind));
        let lost = socket.and_then(|open| open.listener.as_ref()).map_or(Ok(0), Listener::take_lost);
        match lost {
            Ok(lost) => {
                if let Some(heard) = self.listeners.heard.get_mut(&(member, kind)) {
                    heard.others.add_dropped(lost);
                }
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Tells the team what each member carried, standby members included.
    pub(super) fn read_traffic(&mut self) {
        let counters = match self.dataplane.counters() {
            Ok(counters) => counters,
            Err(error) => {
                self.tell(Err(error));
                Vec::new()
            }
        };
        let traffic: Vec<(MemberId, Traffic)> = counters
            .into_iter()
            .map(|(id, of)| (id, Traffic { tx_frames: of.tx_frames, rx_frames: of.rx_frames + of.rx_drops }))
            .collect();
        self.team.handle_traffic(&traffic, self.clock.now());
        self.drain();
    }
}

/// What is handled of a kind on one of so many members: of known addresses, and of others.
fn limits(kind: Kind, members: usize) -> [Limit; 2] {
    let limit = |per_s, burst| Limit { per_s, burst };
    let each = |limit: Limit| Limit { per_s: limit.per_s * SHARING as u32 / members.max(SHARING) as u32, ..limit };
    match kind {
        // A neighbour says 50 a second at most, when there are many, by each of its members.
        Kind::Hello => [each(limit(1600, 400)), each(limit(800, 400))],
        // 2400 probes a second leave at most, by one member if there is but one; and all of a moment at once.
        Kind::Echo => [limit(4000, 800), limit(4000, 800)],
        // A partner says three a second at most. Others are as many as there are ports at its end of a bad cable.
        Kind::Lacp | Kind::Marker => [limit(50, 50), limit(50, 50)],
        // A port says one a second.
        Kind::Pagp => [limit(20, 20), limit(20, 20)],
        Kind::Arp | Kind::Neighbour => [each(limit(1000, 400)), each(limit(500, 400))],
    }
}

/// A kind for people.
fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Hello => "hellos",
        Kind::Echo => "echoes",
        Kind::Lacp => "LACPDUs",
        Kind::Marker => "markers",
        Kind::Arp => "ARP",
        Kind::Neighbour => "neighbour discovery",
        Kind::Pagp => "PAgP",
    }
}
