//! What is built at a node: links, addresses, routes, teams, relays.

use std::collections::BTreeMap;
use std::net::IpAddr;

use nicteam_impair::Impairments;
use serde::{Deserialize, Serialize};

/// A node before it has links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSetup {
    /// Hosts have IPv6 addresses; else IPv6 is switched off.
    pub ipv6: bool,
    /// The node is a switch, or a host with guests, and has a bridge of the kernel's.
    pub bridge: bool,
    /// The node is a guest, which knows nothing of its host's links.
    #[serde(default)]
    pub guest: bool,
    /// The node forwards between its links.
    #[serde(default)]
    pub forwards: bool,
    /// The most memory that a TCP socket may take for what is on its way, each way, bytes; none: the kernel's own limit.
    #[serde(default)]
    pub tcp_buffer_bytes: Option<u32>,
    /// Payload that its processor can send and receive, both together, bit/s; none: as much as the machine can.
    #[serde(default)]
    pub processor_bps: Option<u64>,
    /// The most that TCP lets others send it unread, bytes; none: as the kernel grows it.
    #[serde(default)]
    pub receive_window_bytes: Option<u32>,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// Its device, which is there.
    pub device: String,
    /// What it may send, bit/s of the wire.
    pub rate_bps: u64,
    /// The most packets that a frame joins; 1: every frame is a packet.
    pub max_packets: u32,
    /// Bytes that may go at once; none: as many as suit the rate.
    pub burst_bytes: Option<u32>,
    /// Bytes that may wait; none: as many as suit the rate.
    #[serde(default)]
    pub queue_bytes: Option<u32>,
    /// It joins what it receives, by the queues that it was made with.
    #[serde(default)]
    pub joins_received: bool,
}

/// The addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    /// The device that carries the first.
    pub device: String,
    /// The MAC address that it is to have; none: it has the right one.
    pub mac: Option<String>,
    /// Its address.
    pub address: IpAddr,
    /// Length of its prefix.
    pub prefix: u8,
    /// Further devices, each with an address.
    pub further: Vec<FurtherAddress>,
    /// Subnets behind gateways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteSetup>,
    /// The host speaks multipath TCP.
    pub mptcp: bool,
    /// Others connect to this host, so it has to announce those.
    pub announces: bool,
}

/// A device beside a host's first, with its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FurtherAddress {
    /// The device.
    pub device: String,
    /// The MAC address that it is to have; none: that which it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    /// Its address.
    pub address: IpAddr,
    /// Length of its prefix.
    pub prefix: u8,
}

/// A way to a subnet behind a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSetup {
    /// The subnet.
    pub to: IpAddr,
    /// Length of its prefix.
    pub prefix: u8,
    /// The gateway's address.
    pub via: IpAddr,
}

/// A switch that speaks PAgP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeakPagp {
    /// `auto` or `desirable`.
    pub mode: String,
    /// What it calls itself.
    pub name: String,
    /// The ports that speak.
    pub ports: Vec<String>,
}

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The end that is connected to; it is prepared first.
    Server,
    /// The end that connects.
    Client,
}

/// A team to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddTeam {
    /// Who runs it: the name of an engine.
    pub engine: String,
    /// Its device.
    pub device: String,
    /// Options by the kernel's names.
    pub options: BTreeMap<String, String>,
    /// Members' devices.
    pub members: Vec<String>,
    /// The bridge that the engine is to make for guests, with the team as uplink; none: the device is to be the team's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge: Option<String>,
    /// Its MAC address; none: the first member's.
    pub mac: Option<String>,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// `bpf` or `packet`; none: what the machine can.
    pub dataplane: Option<String>,
    /// It runs in a process of its own, which faults can stop and kill.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_process: bool,
}

/// An impaired link to be: two cables, and what carries frames from one to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySpec {
    /// Its ends.
    pub ends: [RelayEnd; 2],
    /// What is done to the frames that each end sends.
    pub ways: [Way; 2],
}

/// One end of an impaired link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayEnd {
    /// Host or switch.
    pub node: String,
    /// Its device.
    pub device: String,
    /// Index of the agent's own end of the cable to it.
    pub near_index: u32,
}

/// One direction of an impaired link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// What is done to frames.
    pub impairments: Impairments,
    /// Seed of what is random about it.
    pub seed: u64,
}
