//! The transmit machine (IEEE 802.1AX-2014, 6.4.16): at most three LACPDUs in
//! any second.

use nicteam_machine::Time;
use nicteam_wire::{LacpState, Lacpdu, PortInfo};

use super::port::Port;
use super::states::PeriodicState;
use super::timer::PortTimer;

/// The PDU that has to be sent now, if there is one.
pub(super) fn step(port: &mut Port, now: Time) -> Option<Vec<u8>> {
    if port.periodic == PeriodicState::None {
        port.ntt = false;
        port.timers.stop(PortTimer::Transmit);
    }
    if !port.ntt {
        return None;
    }
    if let Err(free) = port.sent.take(now) {
        port.timers.set(PortTimer::Transmit, free);
        return None;
    }
    port.ntt = false;
    port.timers.stop(PortTimer::Transmit);
    port.counters.lacpdus_sent += 1;
    Some(Lacpdu::new(port.actor(), port.partner).frame(port.params.mac))
}

/// The last PDU of a port: it aggregates no more (Linux bond_3ad.c, `bond_3ad_unbind_slave`). Nothing where nobody listens.
pub(super) fn farewell(port: &Port) -> Option<Vec<u8>> {
    const OVER: LacpState = LacpState(
        LacpState::AGGREGATION.0 | LacpState::SYNCHRONIZATION.0 | LacpState::COLLECTING.0 | LacpState::DISTRIBUTING.0,
    );
    if port.defaulted || port.periodic == PeriodicState::None {
        return None;
    }
    let actor = port.actor();
    let actor = PortInfo { state: actor.state.with(OVER, false), ..actor };
    Some(Lacpdu::new(actor, port.partner).frame(port.params.mac))
}
