//! The timeline of a run: what happened in it, and when.

use serde::{Deserialize, Serialize};

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, milliseconds since the run's measured window began; negative before it.
    pub t_ms: f64,
    /// Host or switch it happened on; `impaired links` for what stands between their ends.
    pub node: String,
    /// What sort of thing it is.
    pub kind: EventKind,
    /// Device of the team it happened to, if it happened to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The member's device, or the device of a link without a team, if it happened to one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// What happened, in words, without the node's name: `team0: eth0 went down`.
    pub text: String,
}

/// What sort of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A team changed its state: a member, the active one, its carrier, LACP.
    Team,
    /// Something could not be done.
    Trouble,
    /// The lab did something to the network, as the experiment asked: cut a cable, killed a process.
    Fault,
    /// A path to a disk changed its state.
    Path,
    /// A kind of a later version.
    #[serde(other)]
    Other,
}

impl EventKind {
    /// Its name in the record.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Team => "team",
            EventKind::Trouble => "trouble",
            EventKind::Fault => "fault",
            EventKind::Path => "path",
            EventKind::Other => "other",
        }
    }
}
