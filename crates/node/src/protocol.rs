//! What the lab and its agents say to each other: a JSON value a line.
//!
//! The agent speaks first ([`Message::Hello`]). Then the lab sends
//! [`Request`]s, each answered by one [`Message::Done`] or
//! [`Message::Failed`], in order; [`Message::Sample`]s and
//! [`Message::Notice`]s come in between, whenever there is one. Nothing but
//! this goes over the agent's standard output. The agent ends when its
//! standard input closes.
//!
//! Times are the agent's own; the lab knows by how much its clock differs
//! ([`Hello::boot_id`], [`Request::Clock`]).

mod faults;
mod reported;
mod setup;
mod targets;

use std::net::{IpAddr, SocketAddr};

use nicteam_record::{BucketMember, OneSided, PagpHeard, Port};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use faults::{Disturb, Disturbance, ProcessAct, Used};
pub use reported::{AgentSample, FlowSample, Notice, Outcomes, Runs, TaskSample};
pub use setup::{
    AddTeam, Addresses, FurtherAddress, LinkSetup, NodeSetup, RelayEnd, RelaySpec, Role, RouteSetup, SpeakPagp, Way,
};
pub use targets::{ServeTarget, Serves, TargetAct};

/// Number of this protocol; both sides must have the same.
pub const PROTOCOL: u32 = 14;

/// What the lab asks of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Tell the time.
    Clock,
    /// Make the node a fit place for measuring, before it has links.
    SetUp(NodeSetup),
    /// Limit what these devices send, and set them up. Those that have their limit are left as they are.
    Shape(Vec<LinkSetup>),
    /// Let these devices send frames as a wire has them, with nothing left to the other end's offloads.
    FinishFrames(Vec<String>),
    /// Run a team.
    AddTeam(AddTeam),
    /// Make these devices ports of the node's bridge.
    Plug(Vec<String>),
    /// Take this device out of the node's bridge, before it goes to another node's.
    Unplug(String),
    /// Give the node its addresses.
    Address(Addresses),
    /// Set a device down or up: a fault, and its end.
    SetDevice {
        /// The device.
        device: String,
        /// True: up.
        up: bool,
    },
    /// Tell the switches where this device's addresses are: it was moved.
    Announce {
        /// The device.
        device: String,
        /// By gratuitous ARP.
        arp: bool,
        /// By RARP, five times in less than a second.
        rarp: bool,
    },
    /// Carry frames over these impaired links: the agent has the near ends of
    /// the two cables of each.
    Relay(Vec<RelaySpec>),
    /// Do something to the frames of impaired links; their carrier stays.
    Disturb(Vec<Disturb>),
    /// Let a device send and take in IP packets of at most so many bytes.
    SetMtu {
        /// The device.
        device: String,
        /// Bytes.
        mtu: u32,
    },
    /// Remove every filter from what a device receives and sends.
    RemoveFilters {
        /// The device.
        device: String,
    },
    /// Do something to the process of a team that has one of its own.
    Process {
        /// Its device.
        team: String,
        /// What.
        act: ProcessAct,
    },
    /// End every team, and forget the addresses: the node loses its power. Its links are down.
    Halt,
    /// Set up anew the teams and the addresses that the node had.
    Boot,
    /// Limit what a device sends, which has a limit, to another rate.
    ChangeRate {
        /// The device.
        device: String,
        /// What it may send, bit/s of the wire.
        rate_bps: u64,
    },
    /// Limit what a device of a real machine sends.
    HoldBack {
        /// The device.
        device: String,
        /// What it may send, bit/s of the wire; 0: nothing; none: as before.
        rate_bps: Option<u64>,
    },
    /// From now on show at each end of them whether the other end is up.
    FollowCarrier,
    /// Wait until the teams have agreed with their partners on their members;
    /// those that have not in a fair time are a [`Message::Notice`].
    Settle,
    /// Measure these devices that belong to no team, too.
    Watch(Vec<String>),
    /// Serve storage, and answer once it can be used.
    Serve(ServeTarget),
    /// Do something with storage that is served.
    Target {
        /// Its name.
        name: String,
        /// What.
        act: TargetAct,
    },
    /// Tell of the node's devices.
    Devices,
    /// Find out what passes these paths, whose near end is here.
    Examine(Vec<PathSpec>),
    /// Prepare one end of each of these connections.
    Prepare {
        /// Which end.
        role: Role,
        /// The connections.
        connections: Vec<ConnectionSpec>,
    },
    /// Take a sample each so many milliseconds, beginning now.
    Sample {
        /// Milliseconds.
        interval_ms: u64,
    },
    /// Let the payload flow.
    Start,
    /// The measured window begins: begin what is carried once, from beginning to end.
    Begin {
        /// How long it is at most, milliseconds.
        measured_ms: u64,
    },
    /// Let a switch's ports ask for a partner that speaks PAgP.
    SpeakPagp(SpeakPagp),
    /// Tell how the members of the teams with LACP are, which member each bucket has, and what the teams heard of PAgP.
    Ports,
    /// Tell what the node's processes use.
    Used,
    /// End clients whose servers are to outlive them.
    EndClients,
    /// Stop payload and samples.
    Stop,
}

/// A connection to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionSpec {
    /// Its number in the run.
    pub index: u32,
    /// Its number in its workload, from 0.
    #[serde(default)]
    pub place: u32,
    /// The end that connects.
    pub client: SocketAddr,
    /// The end that is connected to.
    pub server: SocketAddr,
    /// The devices of both, the client's first.
    #[serde(default)]
    pub interfaces: [Interface; 2],
    /// By which addresses it goes, if its kind takes every path; else none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathSpec>,
    /// VLAN of its frames, 1 to 4094; none: they have no tag.
    #[serde(default)]
    pub vlan: Option<u16>,
    /// True if the client sends the payload.
    pub client_sends: bool,
    /// The kind of its traffic.
    pub kind: String,
    /// What that kind has to know of it.
    pub each: Value,
    /// To which of the processors its sender keeps, counted from 0; `None`: it runs on any.
    pub processor: Option<usize>,
}

/// One of the paths of a connection that takes all of them: the n-th link of both hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// The client's device.
    pub device: String,
    /// Its address.
    pub client: IpAddr,
    /// The server's address on that link.
    pub server: IpAddr,
}

/// A device as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Largest IP packet that it sends, bytes.
    pub mtu: u32,
    /// It is set up.
    pub up: bool,
    /// It has a carrier.
    pub carrier: bool,
    /// The most packets that a frame joins; 1: every frame is a packet.
    pub max_packets: u32,
}

/// What passes a path, as its near end finds out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathSeen {
    /// Which.
    pub path: PathSpec,
    /// MTU of the near end's device, bytes.
    pub own_mtu: u32,
    /// The largest IP packet that passes there, bytes; none: no answer at all.
    pub there_bytes: Option<u32>,
    /// The largest that passes back.
    pub back_bytes: Option<u32>,
    /// It carries what both ends send.
    pub is_good: bool,
    /// What is wrong, a sentence each.
    pub findings: Vec<String>,
    /// Round-trip time of a short packet, microseconds.
    pub round_trip_us: Option<u64>,
}

/// Where an end of a connection is on Ethernet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The host's device that has its address.
    pub device: String,
    /// The device's MAC address.
    pub mac: String,
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// First of all.
    Hello(Hello),
    /// The request is carried out.
    Done(Box<Done>),
    /// It is not.
    Failed {
        /// Why.
        error: String,
    },
    /// Counters at one moment.
    Sample(AgentSample),
    /// Something happened.
    Notice(Notice),
    /// Something has ended without which the node is not what it is to be.
    Lost {
        /// What, and how.
        error: String,
    },
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Version of nicteam.
    pub nicteam: String,
    /// Names what its machine's clock counts from (`/proc/sys/kernel/random/boot_id`): who has the same has the same clock.
    #[serde(default)]
    pub boot_id: String,
}

/// What a carried out request yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// What runs the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// What serves storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<Serves>,
    /// The node's devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Device>,
    /// What passes paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathSeen>,
    /// SHA-256, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The agent's clock, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// What the node's processes use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// Members of teams of mode 802.3ad; their host is for the lab to name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Port>,
    /// What tasks left that is no connection.
    #[serde(default, skip_serializing_if = "Outcomes::is_empty")]
    pub outcomes: Outcomes,
    /// Buckets of teams that spread by them and can tell; their host is for the lab to name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<BucketMember>,
    /// Members at whose other end a port speaks PAgP; likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pagp: Vec<PagpHeard>,
    /// What teams in mode stripe do towards hosts that do not; likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_sided: Vec<OneSided>,
}
