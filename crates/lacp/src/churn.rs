//! The churn detection machines (IEEE 802.1AX-2014, 6.4.17): an end that does
//! not come into sync within 60 s is churned, and only people can repair that.

use nicteam_machine::Time;
use nicteam_wire::LacpState;

use super::port::Port;
use super::states::{ChurnState, End, ReceiveState};
use super::timer::{CHURN_DETECTION, PortTimer};

/// Follows the states of both ends.
pub(super) fn step(port: &mut Port, now: Time) {
    let disabled = port.receive == ReceiveState::PortDisabled;
    for end in [End::Actor, End::Partner] {
        let (info, timer, state) = match end {
            End::Actor => (port.actor(), PortTimer::ActorChurn, &mut port.churn.actor),
            End::Partner => (port.partner, PortTimer::PartnerChurn, &mut port.churn.partner),
        };
        let in_sync = info.state.has(LacpState::SYNCHRONIZATION);
        *state = match *state {
            _ if disabled => ChurnState::Monitor,
            _ if in_sync => ChurnState::None,
            ChurnState::Churned => ChurnState::Churned,
            ChurnState::Monitor | ChurnState::None => ChurnState::Monitor,
        };
        if disabled || *state != ChurnState::Monitor {
            port.timers.stop(timer);
        } else if !port.timers.is_set(timer) {
            port.timers.set(timer, now + CHURN_DETECTION);
        }
    }
}

/// One of the churn timers has run out.
pub(super) fn timeout(port: &mut Port, end: End) {
    let (state, count) = match end {
        End::Actor => (&mut port.churn.actor, &mut port.churn.actor_count),
        End::Partner => (&mut port.churn.partner, &mut port.churn.partner_count),
    };
    *state = ChurnState::Churned;
    *count = count.saturating_add(1);
}
