//! What is done to links while they carry.

use nicteam_impair::Impairments;
use serde::{Deserialize, Serialize};

/// Something that is done to the frames of an impaired link, until it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disturb {
    /// Host or switch at one of its ends.
    pub node: String,
    /// Its device.
    pub device: String,
    /// The host or switch whose frames alone are concerned; none: those of both ends.
    pub from: Option<String>,
    /// What.
    pub disturbance: Disturbance,
}

/// What is done to frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    /// All are dropped, and both ends keep their carrier (true), or no longer (false).
    Silence(bool),
    /// LACPDUs are dropped (true), or no longer (false).
    LacpSilence(bool),
    /// This, in place of what was declared; none: what was declared.
    Impair(Option<Impairments>),
}

/// What is done to the process of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessAct {
    /// It is stopped (SIGSTOP).
    Stop,
    /// It continues (SIGCONT).
    Continue,
    /// It is killed (SIGKILL).
    Kill,
    /// Another one is started, which takes the team over.
    Start,
    /// A program computes on the processor where it runs.
    Crowd,
    /// No longer.
    Relieve,
}

/// What the processes of a node use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// Open descriptors.
    pub descriptors: u64,
    /// Resident memory, bytes.
    pub memory_bytes: u64,
}
