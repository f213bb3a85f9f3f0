//! How stripe chooses: the path by which a frame arrives first.
//!
//! Towards a peer that stripes, too, a *path* leads from a member of ours to a
//! member of the peer's. Each end of a path is busy until it has sent, or
//! received, what was given to it. When it is through, a frame is under way for as long
//! as the path's delay. It takes the path by which it would arrive first, and of
//! equal ones the next in turn. Ends of unlike rate so get their share by rate, a
//! longer way serves when the shorter ones have longer queues, and a frame never
//! waits for longer than it must: frames of one flow arrive in order, or nearly so.
//! What was tried, and what it is worth: `docs/ordering.md`. Where queues grow that the
//! sender does not see, flows that need no second path keep the one they have (`flows.rs`).
//!
//! Our members are one another's rivals for all peers, so their times are
//! common to all; those of the receiving members belong to their peer. What other
//! teams send there nobody knows; how many they are the peer says, and its members
//! are taken for as long as if each had an equal share. Else all who alone cannot fill its
//! fastest member would use that one only. What we reckon wrongly, probes show (`lateness.rs`).
//! Mirrored in `bpf/stripe.h`; a change here is a change there.

mod announcing;
mod auth;
mod delay;
mod discovery;
mod echoes;
mod flows;
mod gaps;
mod lateness;
mod lost;
mod mending;
mod neighbour;
mod neighbours;
mod notes;
mod pace;
mod paths;
mod peers;
mod plan_pace;
mod probing;
pub mod redundant;
mod segments;
mod stamps;

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::{Frame, GapReport, Hello, Lost, Mac, Rtag, Times};

pub use auth::{Refused, RefusedLast};
pub use discovery::{Discovery, MAX_NEIGHBOURS, Own};
pub use neighbour::{Neighbour, PathStatus};
pub use notes::{Note, Notes};
pub use peers::Peers;

use crate::balance::{self, Balance};
use crate::constants;
use crate::hash::hash;
use crate::plan::{Action, Leg, PlanState, Verdict};
use crate::{HashPolicy, MAX_MEMBERS, MemberId, MemberSet, Time};
use echoes::Echoes;
use flows::{Ends, Flows, SLACK};
use gaps::{Gaps, Told};
use lateness::Lateness;
use lost::LostReceivers;
use mending::Mending;
use redundant::{Classes, Recovered};

/// The most paths to one peer.
pub const MAX_PATHS: usize = constants::MAX_PATHS;
/// The most peers that frames are striped to.
pub const MAX_PEERS: usize = constants::MOST_PEERS;
/// The most addresses that those of one plan have together, each its team's and its members'.
pub const MAX_ADDRESSES: usize = constants::ADDRESSES_PER_PEER * MAX_PEERS;
/// The longest that a gap may be kept from who sends.
pub const MAX_SACK_DELAY: Duration = Duration::from_millis(100);

/// How a frame finds its member in mode stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// The team's address: what its stack sends from there is striped.
    pub team: Mac,
    /// The members that can send, by place.
    pub senders: Vec<Sender>,
    /// Those that frames are striped to, by address; at most [`MAX_PEERS`], with at most [`MAX_ADDRESSES`].
    pub peers: Peers,
    /// Group-addressed frames leave by these, and are taken from these: one member
    /// of each segment; at least one.
    pub group: MemberSet,
    /// What goes by two paths, towards peers that take it.
    pub redundant: Classes,
    /// How old a gap in what a TCP connection received from a peer is before the peer is told of it; 0: however old.
    pub sack_delay: Duration,
    /// What becomes of all other frames.
    pub other: Balance,
}

/// A member of ours that can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Which.
    pub id: MemberId,
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// What a report that it lost its carrier carries as a proof; 0 without a key.
    pub lost_token: u64,
}

/// A team that stripes, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its team's address.
    pub team: Mac,
    /// Its number ([`nicteam_wire::Hello::system`]).
    pub system: u64,
    /// True if it takes frames with a redundancy tag.
    pub takes_rtags: bool,
    /// True if flows keep their path to it, but for those that need more than one: others
    /// send to it, too, and its members are unlike, or a way there is long.
    pub keeps_flows: bool,
    /// How many, with us, may act upon the same queue on the way to it: teams that it has traffic with,
    /// times those that we have; at least 1.
    pub sharers: u32,
    /// The member of ours that takes its group-addressed frames, of which other
    /// segments bring copies; none: whichever brings them.
    pub group_from: Option<MemberId>,
    /// Its members that can receive; at most [`MAX_MEMBERS`].
    pub receivers: Vec<Receiver>,
    /// Addresses of its other members: what is meant for them is the peer's, too.
    pub others: Vec<Mac>,
    /// The ways to it; 1 to [`MAX_PATHS`], or none: then it is like any other.
    pub paths: Vec<Path>,
}

/// A peer's member that can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Its own address.
    pub mac: Mac,
    /// Its rate, Mbit/s; at least 1.
    pub rate_mbps: u32,
    /// What of it is ours while others send there, too, Mbit/s; at least 1.
    pub share_mbps: u32,
    /// The token without which no report that it lost its carrier is obeyed, and with which one is; 0: none is needed.
    pub lost_token: u64,
}

/// A way from a member of ours to one of a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Index into [`Stripe::senders`].
    pub sender: usize,
    /// Index into [`Peer::receivers`].
    pub receiver: usize,
    /// How much longer a frame is under way by it than by the quickest path to
    /// this peer, microseconds; 65535 stands for all that is longer, too.
    pub delay_us: u16,
}

impl Path {
    /// How many ends it has in common with another.
    fn shares(self, other: &Path) -> u32 {
        u32::from(self.sender == other.sender) + u32::from(self.receiver == other.receiver)
    }
}

/// All ends of a path.
const BOTH_ENDS: u32 = constants::BOTH_ENDS;

/// Until when whose wires are taken.
#[derive(Clone, Debug, Default)]
pub struct StripeState {
    /// Nanoseconds, by place of our members.
    senders: [u64; MAX_MEMBERS],
    /// The same of a peer's members, by their addresses.
    receivers: BTreeMap<Mac, u64>,
    /// The path that is looked at first.
    turn: u32,
    echoes: Echoes,
    flows: Flows,
    gaps: Gaps,
    lateness: Lateness,
    lost: LostReceivers,
    mending: Mending,
}

/// How a frame goes with others.
#[derive(Clone, Copy, Debug)]
enum With {
    /// Behind those of its flow, by this hash, if that keeps its path; or by this path, if it mends something.
    Flow { hash: Option<u32>, mends: Option<Ends> },
    /// Its own copy goes by this path.
    Copy(Path),
}

/// A path as it looks to a frame.
#[derive(Clone, Copy, Debug)]
struct Look {
    path: Path,
    /// Ends that it has in common with the one of the frame's copy.
    shared: u32,
    /// When its wires are free, nanoseconds.
    start: u64,
    /// For how long they then are taken.
    wire_ns: u64,
    arrives: u64,
}

/// A wire counts as taken for this long at most: so one that was thought slower
/// than it is, or was down, does not stay unused. Where a receiving one would be for
/// longer, all of its peer count as taken for half as long less: what they
/// have over one another stays, and who sends more than they are thought to
/// carry still sends by their rates.
const LEAD: Duration = Duration::from_nanos(constants::LEAD_NS);
/// An echo whose probe was due longer ago, or is due later than a wire can be taken, is none of ours.
const LATE_PROBE: Duration = Duration::from_nanos(constants::LATE_PROBE_NS);

impl Stripe {
    /// The peer with this address: its team's or a member's.
    pub fn peer(&self, mac: Mac) -> Option<&Peer> {
        if self.is_own(mac) {
            return None;
        }
        self.peers.with_address(mac)
    }

    /// True of the team's address and of those of its members that can send: a
    /// frame from there is one that came back.
    pub fn is_own(&self, mac: Mac) -> bool {
        self.team == mac || self.senders.iter().any(|sender| sender.mac == mac)
    }

    /// True if this is the address of a member of ours that can send, and it is this one's.
    fn is_senders(&self, member: MemberId, mac: Mac) -> bool {
        self.senders.iter().any(|sender| sender.id == member && sender.mac == mac)
    }

    /// True if a member takes a group-addressed frame from there: one of each
    /// segment does, and of those that bring the frames of a peer one.
    pub fn takes_group(&self, member: MemberId, src: Mac) -> bool {
        let from = self.peer(src).and_then(|peer| peer.group_from);
        self.group.contains(member) && from.is_none_or(|from| from == member)
    }

    /// The team behind a source address: frames that peers stripe come from their members' own.
    pub fn source(&self, src: Mac) -> Mac {
        self.peer(src).map_or(src, |peer| peer.team)
    }

    /// By whom a frame goes on a path of [`StripeState::take_path`], and with which addresses.
    fn leg(&self, peer: &Peer, path: Path) -> Leg {
        let (sender, receiver) = (self.senders[path.sender], peer.receivers[path.receiver]);
        Leg { member: sender.id, src: sender.mac, dst: receiver.mac }
    }
}

impl Peer {
    /// All its addresses, its team's first.
    pub fn addresses(&self) -> impl Iterator<Item = Mac> + '_ {
        let members = self.receivers.iter().map(|receiver| receiver.mac);
        std::iter::once(self.team).chain(members).chain(self.others.iter().copied())
    }
}

/// What to do with a frame from the stack.
pub(crate) fn choose(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) -> Action {
    if balance::punts(&stripe.other, frame) {
        return Action::Punt;
    }
    if frame.dst().is_multicast() {
        return Action::Send(stripe.group);
    }
    let peer = if frame.src() == stripe.team { stripe.peer(frame.dst()) } else { None };
    let is_redundant = |peer: &Peer| peer.takes_rtags && stripe.redundant.holds(frame);
    let action = match peer {
        Some(peer) if is_redundant(peer) => send_twice(stripe, peer, frame, state),
        Some(peer) => {
            let gap = match state.stripe.tell_gap(stripe, peer, frame, state.now) {
                Some((_, Told::Nothing)) => return Action::Withhold,
                Some((report, Told::WithoutGap)) => Some(report),
                Some((_, Told::All)) | None => None,
            };
            let with = With::Flow {
                hash: peer.keeps_flows.then(|| hash(HashPolicy::Layer34, frame)),
                mends: state.stripe.mended_by(peer, frame, state.now),
            };
            state.stripe.take_path(stripe, peer, frame.wire_bytes(), with, state.now).map(|path| {
                let Leg { member, src, dst } = stripe.leg(peer, path);
                Action::Stripe { member, src, dst, without: gap }
            })
        }
        None => None,
    };
    action.unwrap_or_else(|| balance::choose(&stripe.other, frame, &mut state.loads))
}

/// The same of a frame that goes by two paths, or by the only one.
fn send_twice(stripe: &Stripe, peer: &Peer, frame: &Frame<'_>, state: &mut PlanState) -> Option<Action> {
    let bytes = frame.wire_bytes() + Rtag::LEN as u32;
    let first = state.stripe.take_path(stripe, peer, bytes, With::Flow { hash: None, mends: None }, state.now)?;
    let second = state.stripe.take_path(stripe, peer, bytes, With::Copy(first), state.now);
    Some(Action::Redundant {
        sequence: state.streams.number(peer.team),
        first: stripe.leg(peer, first),
        second: second.map(|path| stripe.leg(peer, path)),
    })
}

/// What becomes of a frame with a redundancy tag that goes to the team's stack
/// with these addresses; nothing of one that has none.
pub(crate) fn recover(
    stripe: &Stripe,
    frame: &Frame<'_>,
    (src, dst): (Mac, Mac),
    state: &mut PlanState,
) -> Option<Verdict> {
    let (tag, inner) = Rtag::take(frame)?.ok()?;
    if dst != stripe.team || inner.payload().len() < redundant::MIN_PAYLOAD {
        return None;
    }
    let recovered = stripe.peer(frame.src()).map(|peer| {
        let Peer { team, system, .. } = *peer;
        state.streams.recover(team, system, tag.sequence, state.now)
    });
    Some(match recovered {
        // Nobody known: what is there twice is better than not at all.
        None | Some(Recovered::First) => Verdict::Untagged { src, dst },
        Some(Recovered::Duplicate) => Verdict::Duplicate,
    })
}

/// What to do with a hello that a member received: the probe of a peer goes back.
/// Its source must be known, for a peer may use a path that its probes prove, and
/// only where its members are known do its frames get their team's address.
pub(crate) fn receive_hello(stripe: &Stripe, member: MemberId, frame: &Frame<'_>) -> Verdict {
    if Lost::of_frame(frame).is_some() {
        return Verdict::Drop;
    }
    match stripe.is_senders(member, frame.dst()) && Hello::is_probe(frame) && stripe.peer(frame.src()).is_some() {
        true => Verdict::Echo,
        false => Verdict::ToMember,
    }
}

/// The same once more for a probe that would go back: there are too many.
pub(crate) fn bound_echo(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) -> Verdict {
    let Some(peer) = stripe.peer(frame.src()) else { return Verdict::Drop };
    let is_receiver = peer.receivers.iter().any(|receiver| receiver.mac == frame.src());
    match state.stripe.echoes.may((peer.team, is_receiver.then_some(frame.src())), state.now.as_nanos()) {
        true => Verdict::Echo,
        false => Verdict::Drop,
    }
}

/// The team gets a frame that a member received: by which path it came tells what is missing for good, and which
/// path lives.
pub(crate) fn note_arrival(stripe: &Stripe, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) {
    if frame.dst().is_multicast() {
        return;
    }
    let Some(peer) = stripe.peer(frame.src()) else { return };
    let Some(from) = peer.receivers.iter().position(|receiver| receiver.mac == frame.src()) else { return };
    state.stripe.mending.hear(stripe, peer, (member, frame.src()));
    if !stripe.sack_delay.is_zero() {
        state.stripe.gaps.note(frame, from, member.index(), state.now.as_nanos());
    }
}

/// A hello that a member received: what the forwarding ends say in it counts from now on.
pub(crate) fn take_hello(stripe: &Stripe, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) {
    take_echo(stripe, member, frame, state);
    if let Some((receiver, token)) = lost::of_hello(stripe, member, frame) {
        state.stripe.lost.tidy(MAX_PEERS * MAX_MEMBERS, stripe);
        state.stripe.lost.add(receiver, token, state.now.as_nanos());
    }
}

/// A hello of our own leaves: a probe that comes back contradicts what was reported before it left.
pub(crate) fn note_hello(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) {
    if Hello::is_probe(frame)
        && let Some((mac, stamp)) = lost::of_probe(stripe, frame)
    {
        state.stripe.lost.probe(mac, stamp);
    }
}

/// An echo: its member has carrier, and what it says of its path's queues.
fn take_echo(stripe: &Stripe, member: MemberId, frame: &Frame<'_>, state: &mut PlanState) {
    if stripe.is_senders(member, frame.dst())
        && !Hello::is_probe(frame)
        && let Some(stamp) = Hello::stamp_of_probe(frame)
    {
        state.stripe.lost.contradict(frame.src(), stamp, state.now.as_nanos());
    }
    if let Some(times) = Times::of_echo(frame).filter(|_| stripe.is_senders(member, frame.dst()))
        && let Some(peer) = stripe.peer(frame.src())
    {
        state.stripe.take_times(stripe, peer, (member, frame.src()), times, frame.wire_bytes(), state.now);
    }
}

impl StripeState {
    /// The plan of this generation is executed from now on, if it was not before.
    pub(crate) fn follow(&mut self, generation: u64) {
        self.lost.follow(generation);
    }

    /// When we reckon the wires of a path to be free for a probe, nanoseconds: what the
    /// probe is to say ([`Times::due`]). Nothing of a member that is no peer's.
    pub fn due(&self, stripe: &Stripe, member: MemberId, dst: Mac, now: Time) -> Option<u64> {
        let peer = stripe.peer(dst)?;
        peer.receivers.iter().find(|receiver| receiver.mac == dst)?;
        Some(now.as_nanos().max(self.senders[member.index()]).max(self.taken(dst)))
    }

    /// What becomes of a report to a peer; nothing of another frame, or where there is one path alone: what is
    /// missing there is lost.
    fn tell_gap(&mut self, stripe: &Stripe, peer: &Peer, frame: &Frame<'_>, now: Time) -> Option<(GapReport, Told)> {
        if stripe.sack_delay.is_zero() || peer.paths.len() < 2 {
            return None;
        }
        let report = GapReport::of(frame)?;
        let delay = stripe.sack_delay.as_nanos() as u64;
        let told = self.gaps.tell(&report, delay, now.as_nanos());
        if told == Told::All {
            self.mending.tell(stripe, peer, now.as_nanos());
        }
        Some((report, told))
    }

    /// The path by which a frame to a peer is to go because it mends something, where there are several.
    fn mended_by(&mut self, peer: &Peer, frame: &Frame<'_>, now: Time) -> Option<Ends> {
        match peer.paths.len() {
            0 | 1 => None,
            _ => self.mending.path_of(peer, frame, now.as_nanos()),
        }
    }

    /// A probe of so many bytes went along this path and was due, and arrived, then.
    fn take_times(
        &mut self,
        stripe: &Stripe,
        peer: &Peer,
        ends: (MemberId, Mac),
        times: Times,
        bytes: u32,
        now: Time,
    ) -> Option<()> {
        let now = now.as_nanos();
        if times.due > now.saturating_add(LEAD.as_nanos() as u64) || times.due + LATE_PROBE.as_nanos() as u64 <= now {
            return None;
        }
        let of = |path: &Path| Some((stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?));
        let ends_of = |path: &Path| of(path).map(|(sender, receiver)| (sender.id, receiver.mac));
        let path = peer.paths.iter().find(|path| ends_of(path) == Some(ends))?;
        let (sender, receiver) = of(path)?;
        let reckoned = wire_ns(bytes, sender.rate_mbps.min(receiver.rate_mbps)) + u64::from(path.delay_us) * 1000;
        let late = times.arrived.wrapping_sub(times.due).wrapping_sub(reckoned) as i64;
        let all: Vec<_> = peer.paths.iter().filter_map(ends_of).collect();
        self.lateness.tidy(MAX_PEERS * MAX_PATHS, now);
        let sharing = |shares: &dyn Fn(&Path) -> bool| {
            let found: Vec<_> = peer.paths.iter().filter(|other| shares(other)).filter_map(ends_of).collect();
            (found.len() > 1).then_some(found)
        };
        let at_receiver = sharing(&|other| other.receiver == path.receiver);
        let own_is_sender = at_receiver.is_some();
        let siblings = at_receiver.or_else(|| sharing(&|other| other.sender == path.sender)).unwrap_or_default();
        let (own, shared) = self.lateness.take(ends, &all, &siblings, late, now)?.excess(peer.sharers);
        let (of_sender, of_receiver) = if own_is_sender { (own, shared) } else { (shared, own) };
        let lead = LEAD.as_nanos() as u64;
        let put = |taken: &mut u64, excess: u64| *taken = ((*taken).max(now) + excess).min(now + lead);
        if of_sender > 0 {
            put(&mut self.senders[sender.id.index()], of_sender);
        }
        if of_receiver > 0 {
            put(self.receivers.entry(receiver.mac).or_default(), of_receiver);
        }
        Some(())
    }

    /// The path by which so many bytes arrive first, or that their flow keeps, or that mends; its ends are
    /// taken for as long as they take on the wire. Beside a copy's it is one that
    /// shares neither end with it, or if there is none, one of them.
    fn take_path(&mut self, stripe: &Stripe, peer: &Peer, bytes: u32, with: With, now: Time) -> Option<Path> {
        let now = now.as_nanos();
        self.turn = self.turn.wrapping_add(1);
        let first = (self.turn as usize).checked_rem(peer.paths.len())?;
        let (behind, ahead) = peer.paths.split_at(first);
        let ends = |path: &Path| (stripe.senders[path.sender].id, peer.receivers[path.receiver].mac);
        let kept = match with {
            With::Flow { hash, mends } => {
                let kept = hash.and_then(|hash| self.flows.kept(hash, now));
                mends.or(kept)
            }
            With::Copy(_) => None,
        };
        let (mut best, mut keeps): (Option<Look>, Option<Look>) = (None, None);
        for path in ahead.iter().chain(behind) {
            let look = self.look(stripe, peer, *path, bytes, with, now)?;
            if kept == Some(ends(path)) {
                keeps = Some(look);
            }
            let is_better = |best: Look| (look.shared, look.arrives) < (best.shared, best.arrives);
            if look.shared < BOTH_ENDS && best.is_none_or(is_better) {
                best = Some(look);
            }
        }
        let best = best?;
        let slack = SLACK.as_nanos() as u64;
        let Look { path, wire_ns: on_wire, .. } = keeps.filter(|kept| kept.start <= best.start + slack).unwrap_or(best);
        if let With::Flow { hash: Some(hash), .. } = with {
            self.flows.take(hash, ends(&path), on_wire, now);
        }
        let (sender, receiver) = (stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?);
        let lead = LEAD.as_nanos() as u64;
        let longer = |taken: u64, rate_mbps: u32| taken.max(now) + wire_ns(bytes, rate_mbps);
        let taken = &mut self.senders[sender.id.index()];
        *taken = longer(*taken, sender.rate_mbps).min(now + lead);
        if self.receivers.len() > MAX_PEERS * MAX_MEMBERS {
            // A wire that is free needs no note: so those of peers that are gone go, too.
            self.receivers.retain(|_, taken| *taken > now);
        }
        let taken = self.receivers.entry(receiver.mac).or_default();
        *taken = longer(*taken, receiver.share_mbps);
        if *taken > now + lead {
            for receiver in &peer.receivers {
                self.receivers.entry(receiver.mac).and_modify(|taken| *taken = taken.saturating_sub(lead / 2));
            }
        }
        Some(path)
    }

    /// How a path looks to a frame of so many bytes.
    fn look(&self, stripe: &Stripe, peer: &Peer, path: Path, bytes: u32, with: With, now: u64) -> Option<Look> {
        let (sender, receiver) = (stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?);
        let free = now.max(self.senders[sender.id.index()]).max(self.taken(receiver.mac));
        let start = free + self.lost.penalty(receiver.mac, now);
        let wire_ns = wire_ns(bytes, sender.rate_mbps.min(receiver.rate_mbps));
        let arrives = start + wire_ns + u64::from(path.delay_us) * 1000;
        let shared = if let With::Copy(copy) = with { copy.shares(&path) } else { 0 };
        Some(Look { path, shared, start, wire_ns, arrives })
    }

    fn taken(&self, receiver: Mac) -> u64 {
        self.receivers.get(&receiver).copied().unwrap_or_default()
    }
}

/// How long so many bytes take at this rate, nanoseconds.
fn wire_ns(bytes: u32, rate_mbps: u32) -> u64 {
    u64::from(bytes) * 8000 / u64::from(rate_mbps.max(1))
}
