//! What stripe does with a frame from the stack.

use nicteam_machine::MemberSet;
use nicteam_wire::{Frame, Rtag};

use super::super::action::{Action, Leg};
use super::super::state::PlanState;
use super::super::{balance, hash};
use super::gaps::Told;
use super::peer::Peer;
use super::plan::Stripe;
use super::redundant;
use super::state::With;
use nicteam_options::HashPolicy;
use nicteam_options::StripePlain;

/// What to do with a frame from the stack.
pub(crate) fn choose(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) -> Action {
    if balance::punts(&stripe.other, frame) {
        return Action::Punt;
    }
    if frame.dst().is_multicast() {
        return Action::Send(stripe.group);
    }
    let peer = if frame.src() == stripe.team { stripe.peer(frame.dst()) } else { None };
    let is_redundant = |peer: &Peer| peer.takes_rtags && redundant::holds(&stripe.redundant, frame);
    let action = match peer {
        Some(peer) if is_redundant(peer) => send_twice(stripe, peer, frame, state),
        Some(peer) => {
            let gap = match state.stripe.tell_gap(stripe, peer, frame, state.now) {
                Some((_, Told::Nothing)) => return Action::Withhold,
                Some((report, Told::WithoutGap)) => Some(report),
                Some((_, Told::All)) | None => None,
            };
            let with = With::Flow {
                hash: peer.keeps_flows.then(|| hash::hash(HashPolicy::Layer34, frame)),
                recovery: state.stripe.recovery_path(peer, frame, state.now),
            };
            state.stripe.take_path(stripe, peer, frame.wire_bytes(), with, state.now).map(|path| {
                let Leg { member, src, dst } = stripe.leg(peer, path);
                Action::Stripe { member, src, dst, without: gap }
            })
        }
        None => None,
    };
    let action = action.or_else(|| send_plain(stripe, frame, state));
    action.unwrap_or_else(|| send_balanced(stripe, frame, state))
}

/// The same of a unicast frame to a host that does not stripe; nothing if it goes as in balance-alb.
fn send_plain(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) -> Option<Action> {
    let may_balance = balance::is_eligible(stripe.other.eligible, frame);
    let member = may_balance.then(|| state.stripe.take_member(stripe, frame, state.now)).flatten()?;
    Some(Action::Send(MemberSet::one(member)))
}

/// The same of what is not striped: as balance-alb does.
fn send_balanced(stripe: &Stripe, frame: &Frame<'_>, state: &mut PlanState) -> Action {
    let action = balance::choose(&stripe.other, frame, &mut state.loads);
    if let Action::Send(members) = action
        && stripe.plain.kind != StripePlain::Off
    {
        members.iter().for_each(|member| state.stripe.take_wire(stripe, member, frame, state.now));
    }
    action
}

/// The same of a frame that goes by two paths, or by the only one.
fn send_twice(stripe: &Stripe, peer: &Peer, frame: &Frame<'_>, state: &mut PlanState) -> Option<Action> {
    let bytes = frame.wire_bytes() + Rtag::LEN as u32;
    let first = state.stripe.take_path(stripe, peer, bytes, With::Flow { hash: None, recovery: None }, state.now)?;
    let second = state.stripe.take_path(stripe, peer, bytes, With::Copy(first), state.now);
    Some(Action::Redundant {
        sequence: state.streams.number(peer.team),
        first: stripe.leg(peer, first),
        second: second.map(|path| stripe.leg(peer, path)),
    })
}
