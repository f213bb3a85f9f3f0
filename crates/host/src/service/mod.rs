//! What a service manager needs of teams: which ones boot, by which file; when a team's devices are there; what a changed file
//! means for a running team.
//!
//! `/etc/nicteam/*.toml` is what boots. Each file is read by itself, so one that is wrong keeps no team of another file down.

mod files;
mod generator;
mod job;
mod reload;
mod waiting;

use std::path::PathBuf;

pub use files::{FOLDER, files, named};
pub use generator::{Generated, generate};
pub use job::{Job, job, restart_unit, unit_of};
pub use reload::{Reloaded, forget, is_noted, note, reload};
pub use waiting::{Absent, wait_for_devices};

/// A team that a file does not give.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or its folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or the folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is wrong.
    #[error("{0}")]
    Wrong(nicteam_diagnostics::Diagnostics),
    /// No file has this team.
    #[error(
        "no file in {} has a team `{team}`; hint: {}", folder.display(),
        match known.as_slice() { [] => "there is none; a file there with a section [teams.NAME] makes one".to_owned(), known => format!("the teams there are {}", known.join(", ")) }
    )]
    NoTeam {
        /// The team.
        team: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// The teams that are there.
        known: Vec<String>,
    },
    /// Two files have a team of this name.
    #[error("team `{team}` stands in {} and in {}; hint: remove it from one of them", files[0].display(), files[1].display())]
    Twice {
        /// The team.
        team: String,
        /// Both.
        files: [PathBuf; 2],
    },
    /// The team itself could not be changed.
    #[error(transparent)]
    Host(#[from] crate::Error),
}
