//! The real machines of a topology, and their devices.

use nicteam_experiment::{Host, Topology};

/// Where `ssh` goes.
pub fn destination(host: &Host) -> &str {
    host.ssh.as_deref().unwrap_or_default()
}

/// Whether a node is a real machine.
pub fn is_machine(topology: &Topology, node: &str) -> bool {
    topology.hosts.iter().any(|host| host.name == node && host.ssh.is_some())
}

/// The devices of a host, with their rates.
pub fn links(topology: &Topology, host: &str) -> Vec<(String, u64)> {
    let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, cable), (&cable.b, cable)]);
    let own = ends.filter(|(end, _)| end.node == host);
    own.map(|(end, cable)| (end.device.clone(), cable.rate_bps)).collect()
}
