//! What was built: hosts, switches, links, teams.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that was built for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Hosts, in the order of the file.
    pub hosts: Vec<Host>,
    /// Switches, in the order of the file.
    pub switches: Vec<Switch>,
    /// One entry a cable.
    pub links: Vec<Link>,
    /// Hosts' teams and switches' link aggregation groups.
    pub teams: Vec<Team>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its address with prefix length.
    pub address: String,
    /// The MAC address it sends from.
    pub mac: String,
    /// The device that carries the address: its team's, or its only link's.
    pub device: String,
}

/// A switch: a learning bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// Its name.
    pub name: String,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// One end.
    pub a: LinkEnd,
    /// The other end.
    pub b: LinkEnd,
    /// Rate of the wire in each direction, bit/s, preamble and gap included.
    pub rate_bps: u64,
    /// Largest IP packet, bytes.
    pub mtu: u32,
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// Host or switch.
    pub node: String,
    /// Device at that end.
    pub device: String,
}

/// A team: a host's, or a switch's link aggregation group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Host or switch.
    pub node: String,
    /// Its device.
    pub device: String,
    /// Node at the other end of its links.
    pub peer: String,
    /// `mode`, in the kernel's words.
    pub mode: String,
    /// `xmit_hash_policy`; empty where the mode does not hash.
    pub xmit_hash_policy: String,
    /// Every option and its value, in the kernel's words.
    pub options: BTreeMap<String, String>,
    /// Members' devices, by place.
    pub members: Vec<String>,
}
