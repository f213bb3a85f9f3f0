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

mod targets;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use nicteam_impair::Impairments;
use nicteam_record::{
    BucketMember, ConnectionSample, Disk, EventKind, MacMoveSample, MemberSample, OneSided, Operations, PagpHeard,
    Port, Probes, Program, Relayed, Transfer,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use targets::{ServeTarget, Serves, TargetAct};

/// Number of this protocol; both sides must have the same.
pub const PROTOCOL: u32 = 11;

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
    /// Let an impaired link drop every frame, or carry again; both ends keep their carrier.
    Silence {
        /// Host or switch at one of its ends.
        node: String,
        /// Its device.
        device: String,
        /// False: it drops every frame.
        carries: bool,
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
    /// End clients whose servers are to outlive them.
    EndClients,
    /// Stop payload and samples.
    Stop,
}

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

/// Something that happened at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// `CLOCK_MONOTONIC` of the agent's machine, nanoseconds.
    pub at_ns: u64,
    /// What sort of thing it is.
    pub kind: EventKind,
    /// Device of the team it happened to, if it happened to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The member's device, if it happened to one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// In words.
    pub text: String,
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

/// What tasks left that is no connection; workloads, and hosts where they are empty, are for the lab to name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outcomes {
    /// How programs that are not ours ended.
    pub programs: Vec<Program>,
    /// Requests that were answered one by one.
    pub operations: Vec<Operations>,
    /// What was carried from beginning to end.
    pub transfers: Vec<Transfer>,
    /// Probes of the way to another host.
    pub probes: Vec<Probes>,
    /// Disks that were used, with their paths.
    pub disks: Vec<Disk>,
    /// What happened to tasks that they could not tell meanwhile.
    pub notices: Vec<Notice>,
}

impl Outcomes {
    /// True without anything.
    pub fn is_empty(&self) -> bool {
        *self == Outcomes::default()
    }

    /// This and another one.
    pub fn add(&mut self, other: Outcomes) {
        let Outcomes { programs, operations, transfers, probes, disks, notices } = other;
        self.programs.extend(programs);
        self.operations.extend(operations);
        self.transfers.extend(transfers);
        self.probes.extend(probes);
        self.disks.extend(disks);
        self.notices.extend(notices);
    }
}

/// What runs a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// What executes it frame by frame, in the engine's words: `bpf`, `packet`.
    pub dataplane: String,
    /// The program that runs it, with its version; empty: nicteam itself.
    #[serde(default)]
    pub version: String,
    /// Offloads of its ports that are on, by device, where they say what its frames are.
    #[serde(default)]
    pub offloads: BTreeMap<String, Vec<String>>,
}

/// Counters at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSample {
    /// `CLOCK_MONOTONIC` of the agent's machine, nanoseconds.
    pub at_ns: u64,
    /// Processor time of the agent, and of what runs its teams beside it, so far, milliseconds.
    pub cpu_ms: f64,
    /// Members of teams, and watched devices (their team is empty).
    pub members: Vec<MemberSample>,
    /// Connections that end here.
    pub connections: Vec<ConnectionSample>,
    /// Directions of impaired links.
    pub relayed: Vec<Relayed>,
    /// TCP sockets of what opens connections of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSample>,
    /// Tasks that end by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskSample>,
    /// A switch's: addresses that it learned at another port than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_moves: Option<MacMoveSample>,
}

/// How far a task is that ends by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSample {
    /// Its number in the run.
    pub index: u32,
    /// Bytes that are done.
    pub done_bytes: u64,
    /// Bytes that are to be done.
    pub all_bytes: u64,
    /// When it ended by itself, well or not, milliseconds since the measured window began ([`Request::Begin`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<f64>,
    /// Why it cannot go on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A TCP socket of a program or of a task that opens connections of its own, by its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSample {
    /// Number of the program or task in the run; [`FlowSample::BY_THE_OTHER_END`] where the other end's agent alone knows.
    pub program: u32,
    /// Its own address.
    pub local: SocketAddr,
    /// The other end's.
    pub remote: SocketAddr,
    /// Payload received so far, bytes.
    pub received_bytes: u64,
    /// Payload sent and acknowledged so far, bytes.
    pub acked_bytes: u64,
    /// Segments with payload sent.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Its congestion control.
    pub congestion: String,
}

impl FlowSample {
    /// In place of a number: that which the socket at the other end has.
    pub const BY_THE_OTHER_END: u32 = u32::MAX;
}
