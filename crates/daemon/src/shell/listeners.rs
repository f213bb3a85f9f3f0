//! Frames of members for the control side: listening sockets of each member, while the team wants any.
//!
//! What the process does a second is bounded, however many frames arrive: each kind of them has a [`Gate`] on each
//! member, one for the addresses that spoke for a while before a flood began and one for all others. A gate that has to refuse
//! frames has the kernel's filter let through a share of them only. Under a flood the thread is an ordinary one.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

use nicteam_sys::listen::{Kind, Listener, Rule, Rules, Share};
use nicteam_sys::sched;
use nicteam_team::{Listen, MemberId, Time};

use crate::ControlFrames;
use crate::flood::{Gate, Limit, Sources};

/// Members from which on they share the limits of so many.
const SHARING: usize = 4;

/// The listening sockets.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    pub(super) wanted: Listen,
    pub(super) open: Vec<Open>,
    /// Of the sockets that are open, in their order, whether there is anything to read.
    pub(super) readable: Vec<bool>,
    pub(super) heard: BTreeMap<(MemberId, Kind), Heard>,
    /// By which echoes are told from what others make up: the last mark, and the one in use.
    pub(super) marks: Vec<u32>,
    pub(super) marked: Time,
    /// True if the thread may run before others, and does so when there is no flood.
    pub(super) runs_first: bool,
    pub(super) flooded: bool,
    /// When the gates that thin out are looked at next.
    pub(super) look_at: Option<Time>,
    /// Memory for a frame.
    pub(super) frame: Vec<u8>,
}

/// A socket of a member.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) member: MemberId,
    pub(super) index: u32,
    pub(super) kinds: Vec<Kind>,
    /// None where it could not be opened.
    pub(super) listener: Option<Listener>,
}

/// What is heard of a kind on a member.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) known: Gate,
    pub(super) others: Gate,
    pub(super) sources: Sources,
    /// True while it was said that there is a flood.
    pub(super) flooded: bool,
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
    pub(super) fn rules(&self, member: MemberId, kinds: &[Kind]) -> Rules {
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
    pub(super) fn set_rules(&self, member: Option<MemberId>) -> Result<(), nicteam_sys::Error> {
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
    pub(super) fn new(kind: Kind, members: usize, now: Time) -> Heard {
        let [known, others] = limits(kind, members).map(|limit| Gate::new(limit, now));
        Heard { known, others, sources: Sources::default(), flooded: false }
    }

    pub(super) fn share(&self) -> Share {
        Share { known: self.known.halvings(), others: self.others.halvings() }
    }

    /// A frame came; true if it is to be handled.
    pub(super) fn admit(&mut self, frame: &[u8], now: Time) -> bool {
        let Some(&source) = frame.get(6..).and_then(<[u8]>::first_chunk::<6>) else { return false };
        let gate = if self.sources.knows(source) { &mut self.known } else { &mut self.others };
        let admitted = gate.admit(now);
        if admitted && !self.flooded {
            self.sources.hear(source, now);
        }
        admitted
    }

    /// True if the kernel is to let another share through.
    pub(super) fn adapt(&mut self, now: Time) -> bool {
        self.known.adapt(now) | self.others.adapt(now)
    }

    pub(super) fn is_flooded(&self, now: Time) -> bool {
        self.known.is_flooded(now) || self.others.is_flooded(now)
    }
}

/// What is handled of a kind on one of so many members: of known addresses, and of others.
pub(super) fn limits(kind: Kind, members: usize) -> [Limit; 2] {
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
pub(super) fn words(kind: Kind) -> &'static str {
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
