//! LACP without its process: what can be said to a partner while nobody runs
//! the state machines, for how long, and how the next process goes on.
//!
//! A partner speaks on by itself, as often as it was asked to. As long as it
//! says of itself what it said last, the machines would say what they said last,
//! so whoever sees its PDUs can answer for them. That must end ([`lease`]): a
//! link whose partner has more to say has to be left some time.

use std::time::Duration;

use nicteam_wire::{LacpState, Lacpdu, PortInfo, SlowPdu};

use super::port::{Port, Selected};
use super::timer::{LONG_TIMEOUT, PortTimer, SHORT_TIMEOUT};
use super::{LacpConfig, LacpRate, MuxState, PeriodicState, ReceiveState};
use crate::{MemberId, Time};

/// What a member says to a partner that says on what it last said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The member.
    pub member: MemberId,
    /// The frame, from the destination address on, no check sequence.
    pub frame: Vec<u8>,
    /// What the partner says of itself; anything else is not answered by this.
    pub partner: PortInfo,
}

/// For how long an aggregate is kept without its process: 30 s at the fast
/// rate, 180 s at the slow one.
///
/// That is ten short timeouts, or two long ones. A stall of 10 s, or of 120 s,
/// and the restart of a service pass within it. What it costs: a link that
/// breaks meanwhile is not left before, as in a mode without LACP.
pub fn lease(rate: LacpRate) -> Duration {
    match rate {
        LacpRate::Fast => 10 * SHORT_TIMEOUT,
        LacpRate::Slow => 2 * LONG_TIMEOUT,
    }
}

/// What this port would say to its partner now; nothing if it has none to speak to.
pub(super) fn of(member: MemberId, port: &Port) -> Option<Answer> {
    if port.receive != ReceiveState::Current || port.periodic == PeriodicState::None {
        return None;
    }
    let frame = Lacpdu::new(port.actor(), port.partner).frame(port.params.mac);
    Some(Answer { member, frame, partner: port.heard })
}

/// Lets a new port go on where its predecessor stopped, whose partner has been
/// silent for so long; false if it has to start anew. Its aggregator is not set.
pub(super) fn resume(port: &mut Port, answer: &Answer, silence: Duration, config: &LacpConfig, now: Time) -> bool {
    let Ok(SlowPdu::Lacp(said)) = SlowPdu::parse(&answer.frame) else { return false };
    let timeout = if config.lacp_rate == LacpRate::Fast { SHORT_TIMEOUT } else { LONG_TIMEOUT };
    let left = timeout.saturating_sub(silence);
    let same = port.params.link.carrier && port.speaks_lacp() && is_same(&said.actor, &port.actor());
    if !same || left.is_zero() || answer.partner.system == config.ad_actor_system {
        return false;
    }
    port.heard = answer.partner;
    port.partner = said.partner;
    port.defaulted = false;
    port.matched = said.partner.state.has(LacpState::SYNCHRONIZATION);
    port.receive = ReceiveState::Current;
    port.timers.set(PortTimer::CurrentWhile, now + left);
    port.mux = mux(said.actor.state);
    port.selected = if port.mux >= MuxState::Attached { Selected::Selected } else { Selected::Unselected };
    port.ntt = true;
    true
}

/// True if the partner takes both for the same port of the same system.
fn is_same(one: &PortInfo, other: &PortInfo) -> bool {
    let aggregates = |info: &PortInfo| info.state.has(LacpState::AGGREGATION);
    PortInfo { state: other.state, ..*one } == *other && aggregates(one) == aggregates(other)
}

/// The state of a mux machine, by what its port says of itself.
fn mux(state: LacpState) -> MuxState {
    let states = [
        (LacpState::DISTRIBUTING, MuxState::Distributing),
        (LacpState::COLLECTING, MuxState::Collecting),
        (LacpState::SYNCHRONIZATION, MuxState::Attached),
    ];
    states.into_iter().find(|(bit, _)| state.has(*bit)).map_or(MuxState::Detached, |(_, mux)| mux)
}
