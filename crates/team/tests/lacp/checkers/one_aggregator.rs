//! The ports that collect belong to the active aggregator, have one key and one
//! partner, and without a partner they are one.

use super::Observation;
use crate::lacp::net::Net;

pub fn see(net: &Net, seen: &Observation) {
    let Observation::Rested { system, .. } = seen else { return };
    let lacp = net.lacp(*system);
    let (collecting, distributing) = (lacp.collecting(), lacp.distributing());
    assert_eq!(collecting.bits() | distributing.bits(), collecting.bits(), "who distributes collects");
    if collecting.is_empty() {
        return;
    }
    let active = lacp.active_aggregator().expect("ports collect, and no aggregator is active");
    let ports: Vec<_> = net.system(*system).seen.iter().filter(|port| collecting.contains(port.member)).collect();
    for port in &ports {
        assert_eq!(port.aggregator, Some(active.id), "{port:?}");
        assert_eq!(port.actor.key, active.actor_key, "{port:?}");
        assert_eq!((port.partner.system, port.partner.key), (active.partner_system, active.partner_key), "{port:?}");
    }
    let strangers = ports.iter().filter(|port| port.defaulted).count();
    assert!(strangers == 0 || ports.len() == 1, "several ports without a partner: {ports:?}");
}
