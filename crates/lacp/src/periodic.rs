//! The periodic transmission machine (IEEE 802.1AX-2014, 6.4.13): how often the
//! partner has to be spoken to.

use nicteam_machine::Time;
use nicteam_wire::LacpState;

use super::LacpConfig;
use super::port::Port;
use super::states::{PeriodicState, ReceiveState};
use super::timer::{FAST_PERIODIC, PortTimer, SLOW_PERIODIC};

/// Follows the port's and its partner's state.
pub(super) fn step(port: &mut Port, config: &LacpConfig, now: Time) {
    let next = wanted(port, config);
    match (port.periodic, next) {
        (old, new) if old == new => return,
        // The partner wants to hear more often, or for the first time: at once.
        (PeriodicState::None | PeriodicState::Slow, PeriodicState::Fast)
        | (PeriodicState::None, PeriodicState::Slow) => port.ntt = true,
        _ => {}
    }
    port.periodic = next;
    restart(port, now);
}

/// `periodic_timer` has run out.
pub(super) fn timeout(port: &mut Port, now: Time) {
    port.ntt = true;
    restart(port, now);
}

fn wanted(port: &Port, config: &LacpConfig) -> PeriodicState {
    let silent = matches!(port.receive, ReceiveState::PortDisabled | ReceiveState::LacpDisabled);
    let spoken_to = port.partner.state.has(LacpState::ACTIVITY);
    match port.partner.state.has(LacpState::TIMEOUT) {
        _ if silent || !(config.lacp_active || spoken_to) => PeriodicState::None,
        true => PeriodicState::Fast,
        false => PeriodicState::Slow,
    }
}

fn restart(port: &mut Port, now: Time) {
    match port.periodic {
        PeriodicState::None => port.timers.stop(PortTimer::Periodic),
        PeriodicState::Fast => port.timers.set(PortTimer::Periodic, now + FAST_PERIODIC),
        PeriodicState::Slow => port.timers.set(PortTimer::Periodic, now + SLOW_PERIODIC),
    }
}
