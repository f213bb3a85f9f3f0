//! Why a dataplane cannot do its work.

use crate::Kind;

/// A dataplane that cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The machine or this build lacks what the dataplane needs.
    #[error("the {kind} dataplane is not available: {reason}")]
    Unavailable {
        /// Which.
        kind: Kind,
        /// What is missing, and how to get it.
        reason: String,
    },
    /// The eBPF loader failed.
    #[error("cannot {operation}: {message}")]
    Bpf {
        /// What was tried.
        operation: String,
        /// What the loader said.
        message: String,
    },
    /// The name cannot be a team device's.
    #[error("`{0}` cannot be a team's name: 1 to 12 characters, no `/`, no space")]
    Name(String),
    /// A device of the team's name is there and is not a team.
    #[error("a device `{0}` exists and is no team; hint: choose another name, or remove it with `ip link del {0}`")]
    Taken(String),
    /// A user has moved the team device.
    #[error(
        "the device of team `{team}` was moved into another network namespace, where no team can follow it; hint: move \
         the members there and make the team there, or remove what is left with `ip link del {peer}`"
    )]
    Elsewhere {
        /// The team.
        team: String,
        /// The end behind, which stayed.
        peer: String,
    },
}
