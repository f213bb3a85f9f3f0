//! What is said over a team's socket.

use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::{Entry, OptionChange, TeamStatus};

/// Number of this protocol; both sides must have the same.
pub const PROTOCOL: u32 = 1;

/// What can be asked of a team's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// How is it? [`Answer::Status`].
    Status,
    /// Set these options, all or none. [`Answer::Done`].
    Set {
        /// Name and value of each, in the order given.
        options: Vec<(String, String)>,
    },
    /// Take a device in. [`Answer::Done`].
    AddMember {
        /// The device.
        device: String,
    },
    /// Let a member go. [`Answer::Done`].
    RemoveMember {
        /// Its device.
        device: String,
    },
    /// Make a member the active one. [`Answer::Done`].
    Activate {
        /// Its device.
        device: String,
    },
    /// Open vSwitch's balance-slb: give a bucket a member. [`Answer::Done`].
    Migrate {
        /// The bucket.
        bucket: u8,
        /// The member's device.
        device: String,
    },
    /// Open vSwitch's modes: enable a member or disable it, until its link says otherwise. [`Answer::Done`].
    EnableMember {
        /// Its device.
        device: String,
        /// Enable it.
        enable: bool,
    },
    /// Tell the events kept so far, one [`Answer::Event`] each, then [`Answer::Done`].
    Events,
    /// The same of those with a greater number.
    EventsAfter {
        /// The number.
        number: u64,
    },
    /// All, then go on with each event when it happens. Nothing more can be asked over this connection.
    Follow,
    /// What was it told lately? [`Answer::Recording`]. Over the socket of those who may change it.
    Record,
    /// Take the team down and end. [`Answer::Done`].
    Remove,
    /// End and leave the team as it is, for the next process. [`Answer::Done`].
    Leave,
}

impl Request {
    /// True for what changes the team or ends its process.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::Status | Self::Events | Self::EventsAfter { .. } | Self::Follow | Self::Record)
    }
}

/// What a team's process says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// First of all.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// Version of the program.
        nicteam: String,
        /// The team.
        team: String,
        /// The process.
        pid: u32,
    },
    /// The team at this moment.
    Status(Box<TeamStatus>),
    /// What was asked is done.
    Done(Done),
    /// What was asked cannot be done, and nothing has changed.
    Refused(Refusal),
    /// Something happened.
    Event(Entry),
    /// So many bytes of a recording follow, behind this line: what follows [`nicteam_team::replay::head`] in a file.
    Recording {
        /// How many.
        bytes: u64,
    },
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Options that have another value now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<OptionChange>,
    /// What the user should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
