//! What the lab and its agents say to each other: a JSON value a line.
//!
//! The agent speaks first ([`Message::Hello`]). Then the lab sends
//! [`Request`]s, each answered by one [`Message::Done`] or
//! [`Message::Failed`], in order; [`Message::Sample`]s,
//! [`Message::Event`]s and [`Message::Trouble`]s come in between, whenever there is one. Nothing but
//! this goes over the agent's standard output. The agent ends when its
//! standard input closes.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use nicteam_impair::Impairments;
use nicteam_record::{ConnectionSample, MemberSample, Port, Relayed};
use serde::{Deserialize, Serialize};

/// Number of this protocol; both sides must have the same.
pub const PROTOCOL: u32 = 4;

/// What the lab asks of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Run a team.
    AddTeam(AddTeam),
    /// Carry frames over these impaired links: the agent has the near ends of
    /// the two cables of each.
    Relay(Vec<RelaySpec>),
    /// From now on show at each end of them whether the other end is up.
    FollowCarrier,
    /// Wait until the teams have agreed with their partners on their members;
    /// those that have not in a fair time are a [`Message::Trouble`].
    Settle,
    /// Measure these devices that belong to no team, too.
    Watch(Vec<String>),
    /// Be ready for these connections: the agent has their `server` end.
    Serve(Vec<ConnectionSpec>),
    /// Open these connections: the agent has their `client` end.
    Connect(Vec<ConnectionSpec>),
    /// Take a sample each so many milliseconds, beginning now.
    Sample {
        /// Milliseconds.
        interval_ms: u64,
    },
    /// Let the payload flow.
    Go,
    /// Tell how the members of the teams of mode 802.3ad are.
    Ports,
    /// Stop payload and samples.
    Stop,
}

/// A team to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddTeam {
    /// Its device.
    pub device: String,
    /// Options by the kernel's names.
    pub options: BTreeMap<String, String>,
    /// Members' devices.
    pub members: Vec<String>,
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
    /// The end that connects.
    pub client: SocketAddr,
    /// The end that is connected to.
    pub server: SocketAddr,
    /// True if the client sends the payload.
    pub client_sends: bool,
    /// What carries it.
    pub transport: Transport,
    /// To which of the processors its sender keeps, counted from 0; `None`: it runs on any.
    pub processor: Option<usize>,
}

/// What carries a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// As much as it can.
    Tcp {
        /// Congestion control of the sending end.
        congestion: String,
        /// Multipath TCP.
        mptcp: bool,
    },
    /// Numbered datagrams.
    Udp {
        /// Nanoseconds from one to the next.
        interval_ns: u64,
        /// Payload, bytes.
        size_bytes: u32,
    },
}

impl Transport {
    /// `tcp`, `mptcp` or `udp`.
    pub fn name(&self) -> &'static str {
        match self {
            Transport::Tcp { mptcp: false, .. } => "tcp",
            Transport::Tcp { mptcp: true, .. } => "mptcp",
            Transport::Udp { .. } => "udp",
        }
    }
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// First of all.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// Version of nicteam.
        nicteam: String,
    },
    /// The request is carried out.
    Done(Done),
    /// It is not.
    Failed {
        /// Why.
        error: String,
    },
    /// Counters at one moment.
    Sample(AgentSample),
    /// Something happened to a team.
    Event {
        /// In words.
        text: String,
    },
    /// Something could not be done; the agent goes on.
    Trouble {
        /// In words.
        text: String,
    },
}

/// What a carried out request yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// What runs the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataplane: Option<String>,
    /// Members of teams of mode 802.3ad; their host is for the lab to name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Port>,
}

/// Counters at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSample {
    /// `CLOCK_MONOTONIC` of the agent's machine, nanoseconds.
    pub at_ns: u64,
    /// Processor time of the agent so far, milliseconds.
    pub cpu_ms: f64,
    /// Members of teams, and watched devices (their team is empty).
    pub members: Vec<MemberSample>,
    /// Connections that end here.
    pub connections: Vec<ConnectionSample>,
    /// Directions of impaired links.
    pub relayed: Vec<Relayed>,
}
