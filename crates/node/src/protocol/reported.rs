//! What an agent reports: samples while traffic flows, and what tasks left.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use nicteam_record::{
    ConnectionSample, Disk, EventKind, MacMoveSample, MemberSample, Operations, Probes, Program, Relayed, Transfer,
};
use serde::{Deserialize, Serialize};

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
