//! `Changed` is said when, and only when, something that a team builds on changed.

use super::Observation;
use crate::lacp::net::Net;
use crate::lacp::system::Rest;

pub fn see(net: &Net, seen: &Observation) {
    let Observation::Rested { system, before, changed } = seen else { return };
    let now = net.rest(*system);
    let seen = |rest: &Rest| (rest.receivers, rest.senders, rest.active, rest.carrier);
    let differs = seen(&now) != seen(before);
    assert_eq!(*changed, differs, "system {system}: {before:?} -> {now:?}");
}
