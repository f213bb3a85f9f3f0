//! How long the system that decides insists on its choice of an aggregator.
//!
//! A partner of this kind follows (`selection`). The kernel's bonding never
//! does: two that prefer different aggregators wait for each other for ever.
//! So who has attached a port and is not followed in time gives way to an
//! aggregator on which the partner is in sync.

use nicteam_machine::Time;
use nicteam_wire::LacpState;

use super::port::Port;
use super::timer::{PortTimer, SHORT_TIMEOUT};
use super::{MuxState, ReceiveState};

/// Follows the port and what its partner says of it.
pub(super) fn step(port: &mut Port, now: Time) {
    let in_sync = port.partner.state.has(LacpState::SYNCHRONIZATION);
    let heard = port.receive == ReceiveState::Current;
    if in_sync || !heard {
        port.refused = false;
    }
    if in_sync || !heard || port.mux < MuxState::Attached || port.refused {
        port.timers.stop(PortTimer::Insist);
    } else if !port.timers.is_set(PortTimer::Insist) {
        port.timers.set(PortTimer::Insist, now + SHORT_TIMEOUT);
    }
}

/// The partner was asked for long enough.
pub(super) fn timeout(port: &mut Port) {
    port.refused = true;
}
