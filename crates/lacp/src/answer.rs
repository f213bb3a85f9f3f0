//! LACP without its process: what can be said to a partner while nobody runs
//! the state machines, for how long, and how the next process goes on.
//!
//! A partner sends LACPDUs by itself, as often as it was asked to. As long as it says of itself what it said last, the
//! machines would say what they said last. So the dataplane, which sees the partner's PDUs, can answer for the
//! machines. That must end ([`lease`]): a link whose partner has more to say has to be left some time.

use std::time::Duration;

use nicteam_machine::{MemberId, Time, state};
use nicteam_wire::{LacpState, Lacpdu, PortInfo, SlowPdu};

use super::port::{Port, Selected};
use super::timer::{LONG_TIMEOUT, PortTimer, SHORT_TIMEOUT};
use super::{Lacp, LacpConfig, LacpRate, MuxState, PeriodicState, PortParams, ReceiveState, selection};

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

state!(struct Answer { member, frame, partner });

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

impl Lacp {
    /// What each port would say to its partner, should it speak as it did; of
    /// ports with a partner.
    pub fn answers(&self) -> Vec<Answer> {
        self.ports.iter().filter_map(|(&member, port)| of(member, port)).collect()
    }

    /// Takes a member in whose port an ended process of this system left with
    /// its partner: `answer` is what [`Lacp::answers`] said of it last, `silence`
    /// how long ago the partner last said that. It goes on where it was, so
    /// that the partner sees no change; it starts anew if the partner was silent
    /// for too long or would see another port. To be called between
    /// [`Lacp::begin_ports`] and its end, if there are several.
    pub fn resume_port(
        &mut self,
        member: MemberId,
        params: PortParams,
        (answer, silence): (&Answer, Duration),
        now: Time,
    ) {
        let mut port = Port::new(params, &self.config);
        if !resume(&mut port, answer, silence, &self.config, now) {
            return self.add_port(member, params, now);
        }
        self.assert_drained();
        self.drop_port(member);
        let is_attached = port.mux >= MuxState::Attached;
        self.ports.insert(member, port);
        if is_attached {
            self.active = selection::attached(&mut self.ports, member);
        }
        self.settle(now);
    }

    /// Nothing is agreed on and nobody speaks until [`Lacp::ports_complete`]: all ports
    /// of a system that begins, or goes on, are to be there first.
    pub fn begin_ports(&mut self) {
        self.beginning = true;
    }

    /// All ports are there.
    pub fn ports_complete(&mut self, now: Time) {
        self.assert_drained();
        self.beginning = false;
        self.settle(now);
    }
}

/// What this port would say to its partner now; nothing if it has none to speak to,
/// or if the partner sends to a port that does not collect: then they are about to
/// agree anew, and a process that stopped in the middle is better not spoken for.
fn of(member: MemberId, port: &Port) -> Option<Answer> {
    if port.receive != ReceiveState::Current || port.periodic == PeriodicState::None {
        return None;
    }
    let actor = port.actor();
    if port.heard.state.has(LacpState::DISTRIBUTING) && !actor.state.has(LacpState::COLLECTING) {
        return None;
    }
    let frame = Lacpdu::new(actor, port.partner).frame(port.params.mac);
    Some(Answer { member, frame, partner: port.heard })
}

/// Lets a new port go on where its predecessor stopped, whose partner has been
/// silent for so long; false if it has to start anew. Its aggregator is not set.
fn resume(port: &mut Port, answer: &Answer, silence: Duration, config: &LacpConfig, now: Time) -> bool {
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
