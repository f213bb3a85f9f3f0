//! What payload takes on the wire of a topology's cables.

pub use nicteam_predict::on_wire::{Packet, TAG_BYTES, datagram_bytes, udp_headers_bytes};

use crate::resolved::Topology;

/// A full TCP segment in an IP packet of so many bytes.
pub fn packet(topology: &Topology, bytes: f64) -> Packet {
    Packet::of(bytes, is_ipv6(topology))
}

/// The same, of the topology's mean MTU.
pub fn mean_packet(topology: &Topology) -> Packet {
    let sum: f64 = topology.cables.iter().map(|cable| f64::from(cable.mtu())).sum();
    packet(topology, sum / topology.cables.len().max(1) as f64)
}

/// True if hosts have IPv6 addresses; all of an experiment are of one family.
pub fn is_ipv6(topology: &Topology) -> bool {
    topology.hosts.iter().any(|host| host.address.is_ipv6())
}
