//! `Changed` is said when, and only when, something that a team builds on changed.

use super::Observation;
use crate::lacp::net::Net;

pub fn see(net: &Net, seen: &Observation) {
    let Observation::Rested { system, before, changed } = seen else { return };
    let now = net.rest(*system);
    let differs = (now.collecting, now.distributing, now.active, now.carrier)
        != (before.collecting, before.distributing, before.active, before.carrier);
    assert_eq!(*changed, differs, "system {system}: {before:?} -> {now:?}");
}
