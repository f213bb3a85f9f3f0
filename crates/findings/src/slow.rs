//! Hosts that could not do more, whatever the links carry.

use nicteam_record::{Host, Run};

use crate::units::share;

/// A host whose processor did this part of what it can was limited by it: a late start is not caught up.
const ALL_BUT: f64 = 0.9;
/// A connection that had this part of the receive window in flight, by its mean round-trip time, was limited by it.
const WINDOW_FULL: f64 = 0.6;

/// What holds a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// Its processor: what it can do, and what it did, bit/s.
    Processor(u64, f64),
    /// Its receive window, bytes.
    Window(u32),
}

/// The host that held a connection, if one did; the one with less left to do first.
pub(super) fn host_of(run: &Run, connection: usize) -> Option<&str> {
    let own = run.connections.get(connection)?;
    let ends = [&own.to, &own.from].map(|name| run.topology.hosts.iter().find(|host| host.name == *name));
    let part = |host: &Host| match processor(run, host) {
        Some(Bound::Processor(can, did)) => share(did, can as f64),
        _ => 0.0,
    };
    let mut held: Vec<&Host> = ends.into_iter().flatten().filter(|host| processor(run, host).is_some()).collect();
    held.sort_by(|one, other| part(other).total_cmp(&part(one)));
    let by_processor = held.first().map(|host| host.name.as_str());
    by_processor.or_else(|| ends[0].filter(|host| fills_window(run, connection, host)).map(|host| host.name.as_str()))
}

/// What holds a host that held some connections.
pub(super) fn bound(run: &Run, name: &str) -> Option<Bound> {
    let host = run.topology.hosts.iter().find(|host| host.name == name)?;
    processor(run, host).or_else(|| host.receive_window_bytes.map(Bound::Window))
}

/// Its processor, if that did all that it can.
fn processor(run: &Run, host: &Host) -> Option<Bound> {
    let can = host.processor_bps?;
    let own = run.connections.iter().filter(|it| it.from == host.name || it.to == host.name);
    let asked = run.operations.iter().filter(|it| it.from == host.name || it.to == host.name);
    let asked_bytes: u64 = asked.map(|it| it.read_bytes.saturating_add(it.written_bytes)).sum();
    let did: f64 = own.map(|it| it.delivered_bps).sum::<f64>() + share(asked_bytes as f64 * 8e3, run.measured_ms);
    (share(did, can as f64) >= ALL_BUT).then_some(Bound::Processor(can, did))
}

/// Whether a connection had its receiver's window in flight.
fn fills_window(run: &Run, connection: usize, receiver: &Host) -> bool {
    let Some((window, own)) = receiver.receive_window_bytes.zip(run.connections.get(connection)) else { return false };
    let in_flight = own.delivered_bps / 8.0 * own.rtt_us / 1e6;
    in_flight >= WINDOW_FULL * f64::from(window)
}
