//! What was built: hosts, switches, links, teams.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that was built for a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Hosts, in the order of the file, and behind them their guests.
    pub hosts: Vec<Host>,
    /// Switches, in the order of the file.
    pub switches: Vec<Switch>,
    /// One entry a cable.
    pub links: Vec<Link>,
    /// Hosts' teams and switches' link aggregation groups. The links of a host that
    /// speaks multipath TCP are here, too: mode `mptcp`, without a device.
    pub teams: Vec<Team>,
}

/// A host, or a guest on one: as an end of connections they are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its address with prefix length.
    pub address: String,
    /// The MAC address it sends from.
    pub mac: String,
    /// The device that carries the address: its team's, or its first link's, or its bridge with guests.
    pub device: String,
    /// Of a gateway, and for multipath TCP: its other links, each with its address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Further>,
    /// Of a guest: the host with its bridge; the guest's frames leave by that host's links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// True for a gateway: it forwarded between its links.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forwards: bool,
    /// How it reached subnets behind gateways: `10.0.1.0/24 via 10.0.0.2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<String>,
    /// Payload that its processor could send and receive, both together, bit/s; none: as much as the machine could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_bps: Option<u64>,
    /// The most that its TCP let others send it unread, bytes; none: as the kernel grew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window_bytes: Option<u32>,
    /// Receive queues of its devices, each served by one processor at a time; none: not bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_queues: Option<u32>,
}

impl Topology {
    /// The host with the links by which a host's frames leave: itself, or the parent of a guest.
    pub fn links_of<'t>(&'t self, name: &'t str) -> &'t str {
        let parent = self.hosts.iter().find(|host| host.name == name).and_then(|host| host.parent.as_deref());
        parent.unwrap_or(name)
    }
}

/// A further link of a host with an address on each link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Further {
    /// Its device.
    pub device: String,
    /// Its address with prefix length.
    pub address: String,
    /// Of a gateway: the MAC address it sends from by this link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
}

/// A switch: a learning bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// The model of a real switch; none: no particular one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SwitchModel>,
    /// How it spread over the links of its groups, in the words of the experiment file; none: plain ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<String>,
    /// `auto` or `desirable`: its ports spoke PAgP; none: they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagp: Option<String>,
    /// True for a real switch of which nothing was known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// A maker's switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchModel {
    /// Its name in the experiment file: `catalyst-2960s`.
    pub name: String,
    /// In words: `Cisco Catalyst 2960-S`.
    pub title: String,
    /// What of its choice of a link its maker does not say, and what was put in that place.
    pub assumed: String,
    /// What it can spread by, in the words of the experiment file, with the hash policy behind each; empty in older records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spreads: BTreeMap<String, String>,
}

/// A cable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// One end.
    pub a: LinkEnd,
    /// The other end.
    pub b: LinkEnd,
    /// Rate of the wire in each direction, bit/s, preamble and gap included.
    pub rate_bps: u64,
    /// Largest IP packet that passes, bytes.
    pub mtu: u32,
    /// The same of ends `a` and `b`, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtus: Option<[u32; 2]>,
    /// What the link was declared to do to frames; none: it is a plain cable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impaired: Option<Impaired>,
    /// What its ends held behind the wire, bytes; none: as its rate needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u32>,
    /// What its ends sent at once after a pause, bytes; none: as its rate needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_bytes: Option<u32>,
    /// True if its ends sent MTU-sized packets alone, as a card without offloads does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_offloads: bool,
}

/// What an impaired link was declared to do to frames, by direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Impaired {
    /// To those that end `a` sends.
    pub a_to_b: Impairments,
    /// To those that end `b` sends.
    pub b_to_a: Impairments,
}

/// What is done to the frames of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Impairments {
    /// Section of the experiment file; none: nothing is done in this direction.
    pub name: Option<String>,
    /// Delay, milliseconds.
    pub delay_ms: f64,
    /// Jitter, milliseconds: the greatest deviation if `uniform`, the standard deviation if `normal`.
    pub jitter_ms: f64,
    /// `uniform` or `normal`.
    pub jitter_distribution: String,
    /// True if jitter may let a frame overtake another.
    pub jitter_reorders: bool,
    /// Mean loss, 0 to 1.
    pub loss: f64,
    /// If losses come in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gemodel: Option<Gemodel>,
    /// Part of the frames that arrive twice, 0 to 1.
    pub duplicate: f64,
    /// Part of the frames that arrive with a bit changed, 0 to 1.
    #[serde(default)]
    pub corrupt: f64,
    /// Probability that a frame is not delayed when it has its turn, 0 to 1.
    pub reorder: f64,
    /// At least `reorder_gap - 1` frames are delayed after one that was not.
    pub reorder_gap: u32,
    /// Seed of the section; each direction of each cable draws numbers of its own from it.
    pub seed: u64,
}

/// The Gilbert-Elliott model: probabilities, 0 to 1, by the names of `netem loss gemodel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gemodel {
    /// From the good state to the bad one.
    pub p: f64,
    /// From the bad state to the good one.
    pub r: f64,
    /// `1-h`: loss in the bad state.
    pub loss_in_bad: f64,
    /// `1-k`: loss in the good state.
    pub loss_in_good: f64,
}

/// One end of a cable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Its engine: `nicteam` or another one; empty in older records, and where there was none (multipath TCP).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// What executed it frame by frame, in the engine's words: `bpf`, `packet`; empty in older records, which have one
    /// for all teams in their environment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dataplane: String,
    /// The program that ran it, with its version (`ovs-vswitchd (Open vSwitch) 3.1.0`); empty: nicteam itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine_version: String,
    /// Offloads of its ports that were on, by device and the kernel's names, where the engine reads frames through
    /// them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub offloads: BTreeMap<String, Vec<String>>,
}
