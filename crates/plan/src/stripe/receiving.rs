//! What stripe does with frames from members, and learns from them.

use nicteam_machine::{MAX_MEMBERS, MemberId};
use nicteam_wire::{Frame, Hello, Lost, Mac, Rtag, Times};

use super::super::action::Verdict;
use super::super::state::PlanState;
use super::gaps::Told;
use super::limits::MAX_PEERS;
use super::peer::Peer;
use super::plan::Stripe;
use super::redundant::Recovered;
use super::{lost, redundant};

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
    state.stripe.retransmissions.hear(stripe, peer, (member, frame.src()));
    if !stripe.sack_delay.is_zero() {
        state.stripe.gaps.note(frame, from, member.index(), state.now.as_nanos());
    }
}

/// The team gets a frame that a member received: if it is no peer's, what it acknowledges counts. What becomes of it
/// if it is not handed on as it is.
pub(crate) fn hear_plain(
    stripe: &Stripe,
    verdict: Verdict,
    frame: &Frame<'_>,
    state: &mut PlanState,
) -> Option<Verdict> {
    let is_from = |peer: &Peer| peer.receivers.iter().any(|receiver| receiver.mac == frame.src());
    if frame.dst().is_multicast() || stripe.peer(frame.src()).is_some_and(is_from) {
        return None;
    }
    let (gap, told) = state.stripe.hear_plain(stripe, frame, state.now)?;
    let (src, dst) = match verdict {
        Verdict::ToTeamAs { src, dst } => (src, dst),
        _ => (frame.src(), frame.dst()),
    };
    match told {
        Told::All => None,
        Told::WithoutGap => Some(Verdict::WithoutGap { src, dst, gap }),
        Told::Nothing => Some(Verdict::Withhold),
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
