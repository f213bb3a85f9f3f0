//! What keeps a team from coming up or going down.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a team cannot come up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What is in the way, on what.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Refusal {
    /// A refusal with its cure.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; hint: {}", self.what, self.hint)
    }
}

/// A team that did not come up, or did not go down.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something is in the way, and nothing was changed.
    #[error("{}", refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Refused {
        /// Everything that is.
        refusals: Vec<Refusal>,
    },
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The team's own part failed.
    #[error(transparent)]
    Team(#[from] nicteam_daemon::Error),
    /// A running team refused.
    #[error("{}{}", .0, .0.hint.as_ref().map_or_else(String::new, |hint| format!("; hint: {hint}")))]
    Asked(#[from] nicteam_daemon::control::Refusal),
    /// The team's process did not begin.
    #[error("team {team} did not start: {why}")]
    NotStarted {
        /// The team.
        team: String,
        /// Why.
        why: String,
    },
    /// Something else is bringing this team up or down.
    #[error("another process is bringing team {team} up or down; hint: try again")]
    Busy {
        /// The team.
        team: String,
    },
    /// What is noted of what was found cannot be read.
    #[error(
        "the journal {path} cannot be used: {why}; hint: `nicteam team del {team}` takes the team down and restores its members; remove the file then"
    )]
    Journal {
        /// The team.
        team: String,
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// A signal asked to stop ([`nicteam_sys::process::catch_termination`]).
    #[error("a signal stopped team {team} on its way up")]
    Interrupted {
        /// The team.
        team: String,
    },
    /// Something was not restored.
    #[error(
        "could not {step}: {source}; hint: `nicteam down {team}` tries again what is left; without {path} it gives up"
    )]
    NotRestored {
        /// The team.
        team: String,
        /// The first step that failed.
        step: String,
        /// The journal.
        path: String,
        /// Why.
        source: Box<Error>,
    },
    /// There is nothing of this name to take down.
    #[error("no team `{team}` in this network namespace; hint: `nicteam team list` lists them")]
    NoTeam {
        /// The name.
        team: String,
    },
}
