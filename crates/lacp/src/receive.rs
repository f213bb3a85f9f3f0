//! The receive machine (IEEE 802.1AX-2014, 6.4.12): what is known of the partner.

use nicteam_machine::Time;
use nicteam_wire::{LacpState, Lacpdu, Mac, PortInfo};

use super::port::{Port, Selected};
use super::states::ReceiveState;
use super::timer::{LONG_TIMEOUT, PortTimer, SHORT_TIMEOUT};
use super::{LacpConfig, LacpRate};

/// What a port took from a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A port that does not listen hears nothing.
    Nothing,
    /// Our own PDU came back.
    Ourselves,
    /// The partner.
    Partner,
}

/// Bits of a state whose change makes a partner select anew.
const SELECTING: LacpState = LacpState::AGGREGATION;
/// Bits that a partner has to know rightly.
const KNOWN: LacpState =
    LacpState(LacpState::ACTIVITY.0 | LacpState::TIMEOUT.0 | LacpState::AGGREGATION.0 | LacpState::SYNCHRONIZATION.0);

/// Forgets the partner and starts anew (`INITIALIZE`).
pub(super) fn initialize(port: &mut Port, config: &LacpConfig, now: Time) {
    port.selected = Selected::Unselected;
    port.timers.stop(PortTimer::CurrentWhile);
    port.timers.stop(PortTimer::Loop);
    record_default(port, config);
    port.receive = ReceiveState::PortDisabled;
    follow_link(port, config, now);
}

/// Enters or leaves `PORT_DISABLED`.
pub(super) fn follow_link(port: &mut Port, config: &LacpConfig, now: Time) {
    match (port.params.link.carrier, port.receive) {
        (true, ReceiveState::PortDisabled) if port.speaks_lacp() => expire(port, now),
        (true, ReceiveState::PortDisabled) => {
            port.selected = Selected::Unselected;
            record_default(port, config);
            port.receive = ReceiveState::LacpDisabled;
        }
        (false, _) => {
            port.receive = ReceiveState::PortDisabled;
            set_partner(port, LacpState::SYNCHRONIZATION, false);
            port.matched = false;
            port.timers.stop(PortTimer::CurrentWhile);
            port.timers.stop(PortTimer::Loop);
        }
        (true, _) => {}
    }
}

/// `current_while_timer` has run out.
pub(super) fn timeout(port: &mut Port, config: &LacpConfig, now: Time) {
    match port.receive {
        ReceiveState::Current => {
            port.counters.expired += 1;
            expire(port, now);
        }
        ReceiveState::Expired => {
            port.counters.defaulted += 1;
            default(port, config);
        }
        ReceiveState::PortDisabled | ReceiveState::LacpDisabled | ReceiveState::Defaulted => {}
    }
}

/// What is assumed of a partner, or asked of it, changed with the configuration.
pub(super) fn reconfigure(port: &mut Port, config: &LacpConfig, old_rate: LacpRate, now: Time) {
    // A partner that was just asked to speak seldom must not be taken for silent;
    // one that was asked to speak often has the short time from now on.
    if let (ReceiveState::Current, Some(at)) = (port.receive, port.timers.at(PortTimer::CurrentWhile)) {
        let at = match (old_rate, config.lacp_rate) {
            (LacpRate::Fast, LacpRate::Slow) => at + (LONG_TIMEOUT - SHORT_TIMEOUT),
            (LacpRate::Slow, LacpRate::Fast) => at.min(now + SHORT_TIMEOUT),
            _ => at,
        };
        port.timers.set(PortTimer::CurrentWhile, at);
    }
    if port.defaulted && port.receive != ReceiveState::Expired && port.receive != ReceiveState::PortDisabled {
        record_default(port, config);
    }
}

/// Takes in a PDU.
pub(super) fn pdu(port: &mut Port, pdu: &Lacpdu, config: &LacpConfig, now: Time) -> Heard {
    if matches!(port.receive, ReceiveState::PortDisabled | ReceiveState::LacpDisabled) {
        return Heard::Nothing;
    }
    if pdu.actor.system == config.ad_actor_system {
        port.timers.set(PortTimer::Loop, now + LONG_TIMEOUT);
        return Heard::Ourselves;
    }
    port.timers.stop(PortTimer::Loop);
    let actor = port.actor();
    if !same_port(&pdu.actor, &port.partner) {
        port.selected = Selected::Unselected;
    }
    port.ntt |= !same_port(&pdu.partner, &actor) || differ(pdu.partner.state, actor.state, KNOWN);
    record(port, pdu, &actor);
    let wait = if config.lacp_rate == LacpRate::Fast { SHORT_TIMEOUT } else { LONG_TIMEOUT };
    port.timers.set(PortTimer::CurrentWhile, now + wait);
    port.receive = ReceiveState::Current;
    Heard::Partner
}

fn expire(port: &mut Port, now: Time) {
    port.receive = ReceiveState::Expired;
    port.matched = false;
    set_partner(port, LacpState::SYNCHRONIZATION, false);
    set_partner(port, LacpState::TIMEOUT, true);
    port.timers.set(PortTimer::CurrentWhile, now + SHORT_TIMEOUT);
}

fn default(port: &mut Port, config: &LacpConfig) {
    port.receive = ReceiveState::Defaulted;
    if !same_port(&default_partner(config), &port.partner) {
        port.selected = Selected::Unselected;
    }
    record_default(port, config);
}

/// `recordPDU`.
fn record(port: &mut Port, pdu: &Lacpdu, actor: &PortInfo) {
    let individual = !pdu.actor.state.has(LacpState::AGGREGATION);
    let maintained = pdu.actor.state.has(LacpState::ACTIVITY)
        || actor.state.has(LacpState::ACTIVITY) && pdu.partner.state.has(LacpState::ACTIVITY);
    port.matched = (same_port(&pdu.partner, actor) || individual) && maintained;
    port.heard = pdu.actor;
    port.partner = pdu.actor;
    let in_sync = port.matched && pdu.actor.state.has(LacpState::SYNCHRONIZATION);
    set_partner(port, LacpState::SYNCHRONIZATION, in_sync);
    port.defaulted = false;
}

/// `recordDefault`.
fn record_default(port: &mut Port, config: &LacpConfig) {
    port.partner = default_partner(config);
    port.matched = false;
    port.defaulted = true;
}

/// `Partner_Admin_*`: the numbers are the kernel's (`ad_initialize_port`), the
/// state is in sync, as IEEE 802.1AX-2014 (6.4.9, `recordDefault`) has it, so
/// that one member can serve a partner without LACP, unless `lacp_strict`
/// forbids it. Who wants to hear often speaks often to nobody, too: a partner
/// that starts to listen is then found within a second, not within 30.
fn default_partner(config: &LacpConfig) -> PortInfo {
    let serves = LacpState::SYNCHRONIZATION | LacpState::COLLECTING | LacpState::DISTRIBUTING;
    PortInfo {
        system_priority: 0xffff,
        system: Mac::default(),
        key: 1,
        port_priority: 255,
        port: 1,
        state: LacpState::default()
            .with(serves, !config.lacp_strict)
            .with(LacpState::TIMEOUT, config.lacp_rate == LacpRate::Fast),
    }
}

/// True if both name the same port, for the selection logic and for the partner.
fn same_port(one: &PortInfo, other: &PortInfo) -> bool {
    PortInfo { state: other.state, ..*one } == *other && !differ(one.state, other.state, SELECTING)
}

fn differ(one: LacpState, other: LacpState, bits: LacpState) -> bool {
    (one.0 ^ other.0) & bits.0 != 0
}

fn set_partner(port: &mut Port, bits: LacpState, on: bool) {
    port.partner.state = port.partner.state.with(bits, on);
}
