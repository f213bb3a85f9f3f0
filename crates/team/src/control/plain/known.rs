//! What is known of hosts.

use std::net::Ipv4Addr;

use nicteam_discovery::Discovery;
use nicteam_machine::Time;
use nicteam_wire::{Mac, Vlan};

use crate::control::balance::Balancer;

/// What is known of hosts from what the stack says to them, and from their hellos.
pub(super) struct Known<'a> {
    pub(super) balancer: Option<&'a Balancer>,
    pub(super) discovery: Option<&'a Discovery>,
}

impl Known<'_> {
    /// Where a host can be asked: its IPv4 addresses, each with the VLAN that it is in.
    pub(super) fn places_of(&self, mac: Mac) -> Vec<(Ipv4Addr, Option<Vlan>)> {
        self.balancer.map(|balancer| balancer.places_of(mac)).unwrap_or_default()
    }

    /// True of a host that stripes, whether there is a path to it or not: it answers by any of its members to any of ours,
    /// and has probes of its own.
    pub(super) fn stripes(&self, mac: Mac) -> bool {
        self.discovery.is_some_and(|discovery| discovery.is_neighbour(mac))
    }

    /// The hosts that the stack has spoken to since and that do not stripe, the last first.
    pub(super) fn spoken_since(&self, since: Time) -> Vec<Mac> {
        let spoken = self.balancer.map(|balancer| balancer.spoken_since(since)).unwrap_or_default();
        spoken.into_iter().filter(|mac| !self.stripes(*mac)).collect()
    }
}
