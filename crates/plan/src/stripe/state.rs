//! What is remembered from frame to frame: whose wires are taken how long, and what the other files here know.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::{MAX_MEMBERS, MemberId, Time};
use nicteam_wire::{Frame, GapReport, Mac, Times};

use super::echoes::Echoes;
use super::flows::{Ends, Flows, SLACK};
use super::gaps::{Gaps, Told};
use super::limits::{LEAD, MAX_PATHS, MAX_PEERS};
use super::lost::LostReceivers;
use super::peer::{Path, Peer};
use super::plain::PlainReport;
use super::plain::state::PlainState;
use super::plan::Stripe;
use super::queueing_delay::QueueingDelay;
use super::retransmissions::Retransmissions;
use super::senders::{Senders, wire_ns};

/// Until when whose wires are taken.
#[derive(Clone, Debug, Default)]
pub struct StripeState {
    senders: Senders,
    /// The same of a peer's members, by their addresses.
    receivers: BTreeMap<Mac, u64>,
    /// The path that is looked at first.
    turn: u32,
    pub(super) echoes: Echoes,
    flows: Flows,
    pub(super) gaps: Gaps,
    queueing_delay: QueueingDelay,
    pub(super) lost: LostReceivers,
    pub(super) retransmissions: Retransmissions,
    plain: PlainState,
}

/// How a frame goes with others.
#[derive(Clone, Copy, Debug)]
pub(super) enum With {
    /// Behind those of its flow, by this hash, if the flow keeps its path; or by this path, if the frame is for a loss
    /// recovery.
    Flow { hash: Option<u32>, recovery: Option<Ends> },
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

/// All ends of a path.
const BOTH_ENDS: u32 = nicteam_machine::constants::BOTH_ENDS;
/// An echo whose probe was due longer ago, or is due later than a wire can be taken, is none of ours.
const LATE_PROBE: Duration = Duration::from_nanos(nicteam_machine::constants::LATE_PROBE_NS);

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
        Some(self.senders.free_at(member, now.as_nanos()).max(self.taken(dst)))
    }

    /// What becomes of a report to a peer; nothing of another frame, or where there is one path alone: what is
    /// missing there is lost.
    pub(super) fn tell_gap(
        &mut self,
        stripe: &Stripe,
        peer: &Peer,
        frame: &Frame<'_>,
        now: Time,
    ) -> Option<(GapReport, Told)> {
        if stripe.sack_delay.is_zero() || peer.paths.len() < 2 {
            return None;
        }
        let report = GapReport::of(frame)?;
        let delay = stripe.sack_delay.as_nanos() as u64;
        let told = self.gaps.tell(&report, delay, now.as_nanos());
        if told == Told::All {
            self.retransmissions.tell(stripe, peer, now.as_nanos());
        }
        Some((report, told))
    }

    /// The path for a frame to a peer that is for a loss recovery; none if the peer has one path alone.
    pub(super) fn recovery_path(&mut self, peer: &Peer, frame: &Frame<'_>, now: Time) -> Option<Ends> {
        match peer.paths.len() {
            0 | 1 => None,
            _ => self.retransmissions.path_of(peer, frame, now.as_nanos()),
        }
    }

    /// The member by which a frame to a host that does not stripe goes; nothing of a frame that goes as in balance-alb.
    pub(super) fn take_member(&mut self, stripe: &Stripe, frame: &Frame<'_>, now: Time) -> Option<MemberId> {
        self.plain.choose(stripe, frame, &mut self.senders, &mut self.turn, now.as_nanos())
    }

    /// A frame that is not striped leaves by a member: it adds to that member's transmit backlog, too.
    pub(super) fn take_wire(&mut self, stripe: &Stripe, member: MemberId, frame: &Frame<'_>, now: Time) {
        if let Some(sender) = stripe.senders.iter().find(|sender| sender.id == member) {
            self.senders.send(member, wire_ns(frame.wire_bytes(), sender.rate_mbps), now.as_nanos());
        }
    }

    /// What becomes of a report of a host that does not stripe; nothing of another frame, and of one that goes on as it is.
    pub(super) fn hear_plain(&mut self, stripe: &Stripe, frame: &Frame<'_>, now: Time) -> Option<(GapReport, Told)> {
        let is_striped = self.plain.hear(stripe, frame, now.as_nanos());
        if !is_striped || stripe.sack_delay.is_zero() {
            return None;
        }
        let report = GapReport::of(frame)?;
        let told = self.gaps.tell(&report, stripe.sack_delay.as_nanos() as u64, now.as_nanos());
        Some((report, told))
    }

    /// What is known of hosts that do not stripe; that one was striped to, once.
    pub fn take_plain_report(&mut self, now: Time) -> PlainReport {
        self.plain.take_report(now.as_nanos())
    }

    /// A probe of so many bytes went along this path and was due, and arrived, then.
    pub(super) fn take_times(
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
        self.queueing_delay.tidy(MAX_PEERS * MAX_PATHS, now);
        let sharing = |shares: &dyn Fn(&Path) -> bool| {
            let found: Vec<_> = peer.paths.iter().filter(|other| shares(other)).filter_map(ends_of).collect();
            (found.len() > 1).then_some(found)
        };
        let at_receiver = sharing(&|other| other.receiver == path.receiver);
        let own_is_sender = at_receiver.is_some();
        let siblings = at_receiver.or_else(|| sharing(&|other| other.sender == path.sender)).unwrap_or_default();
        let (own, shared) = self.queueing_delay.take(ends, &all, &siblings, late, now)?.excess(peer.sharers);
        let (of_sender, of_receiver) = if own_is_sender { (own, shared) } else { (shared, own) };
        if of_sender > 0 {
            self.senders.wait(sender.id, of_sender, now);
        }
        if of_receiver > 0 {
            let taken = self.receivers.entry(receiver.mac).or_default();
            *taken = ((*taken).max(now) + of_receiver).min(now + LEAD.as_nanos() as u64);
        }
        Some(())
    }

    /// The path by which so many bytes arrive first, or the one that their flow keeps, or the one for a loss recovery.
    /// The transmit backlogs of both its ends grow by the time that the bytes take on the wire. For a copy it is a path
    /// that shares no end with the path of the other copy, or if there is none, one that shares one end.
    pub(super) fn take_path(
        &mut self,
        stripe: &Stripe,
        peer: &Peer,
        bytes: u32,
        with: With,
        now: Time,
    ) -> Option<Path> {
        let now = now.as_nanos();
        self.turn = self.turn.wrapping_add(1);
        let first = (self.turn as usize).checked_rem(peer.paths.len())?;
        let (behind, ahead) = peer.paths.split_at(first);
        let ends = |path: &Path| (stripe.senders[path.sender].id, peer.receivers[path.receiver].mac);
        let kept = match with {
            With::Flow { hash, recovery } => {
                let kept = hash.and_then(|hash| self.flows.kept(hash, now));
                recovery.or(kept)
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
        self.senders.send(sender.id, wire_ns(bytes, sender.rate_mbps), now);
        if self.receivers.len() > MAX_PEERS * MAX_MEMBERS {
            // A wire that is free needs no note: so those of peers that are gone go, too.
            self.receivers.retain(|_, taken| *taken > now);
        }
        let taken = self.receivers.entry(receiver.mac).or_default();
        *taken = (*taken).max(now) + wire_ns(bytes, receiver.share_mbps);
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
        let free = self.senders.free_at(sender.id, now).max(self.taken(receiver.mac));
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
