//! The marker protocol (IEEE 802.1AX-2014, 6.5): the responder, and the
//! generator that makes moving a flow safe.
//!
//! Links deliver in order: once a marker is answered, every frame that was sent
//! by the member before it has been taken in, and the flow may go on by another
//! member without overtaking itself.

use nicteam_machine::Time;
use nicteam_wire::{Marker, MarkerKind};

use super::markers::MarkerId;
use super::port::Port;
use super::states::ReceiveState;
use super::timer::{MARKER_TIMEOUT, PortTimer};

/// The frame that asks, or nothing: no carrier, or five markers in this second.
pub(super) fn ask(port: &mut Port, id: MarkerId, now: Time) -> Option<Vec<u8>> {
    if port.receive == ReceiveState::PortDisabled {
        return None;
    }
    port.markers.asked.take(now).ok()?;
    port.markers.awaited.push_back((id, now + MARKER_TIMEOUT));
    port.counters.markers_sent += 1;
    wait(port);
    let actor = port.actor();
    let marker = Marker { kind: MarkerKind::Information, port: actor.port, system: actor.system, transaction: id.0 };
    Some(marker.frame(port.params.mac))
}

/// The frame that answers a marker, or nothing if too many are asked for.
pub(super) fn answer(port: &mut Port, marker: Marker, now: Time) -> Option<Vec<u8>> {
    port.markers.answered.take(now).ok()?;
    port.counters.responses_sent += 1;
    Some(marker.response().frame(port.params.mac))
}

/// The markers that an answer settles: its own and those sent before it.
pub(super) fn answered(port: &mut Port, answer: Marker) -> Vec<MarkerId> {
    let (actor, id) = (port.actor(), MarkerId(answer.transaction));
    let awaited = port.markers.awaited.iter().position(|(awaited, _)| *awaited == id);
    let Some(place) = awaited.filter(|_| (answer.port, answer.system) == (actor.port, actor.system)) else {
        return Vec::new();
    };
    port.markers.unanswered = false;
    settle(port, place + 1)
}

/// The markers whose time is over.
pub(super) fn timeout(port: &mut Port, now: Time) -> Vec<MarkerId> {
    let late = port.markers.awaited.iter().take_while(|(_, deadline)| *deadline <= now).count();
    port.markers.unanswered |= late > 0;
    settle(port, late)
}

/// The markers that nobody will answer: the link is gone.
pub(super) fn give_up(port: &mut Port) -> Vec<MarkerId> {
    port.markers.unanswered = false;
    settle(port, port.markers.awaited.len())
}

fn settle(port: &mut Port, count: usize) -> Vec<MarkerId> {
    let settled = port.markers.awaited.drain(..count).map(|(id, _)| id).collect();
    wait(port);
    settled
}

fn wait(port: &mut Port) {
    match port.markers.awaited.front() {
        Some(&(_, deadline)) => port.timers.set(PortTimer::Marker, deadline),
        None => port.timers.stop(PortTimer::Marker),
    }
}
