//! Experiments that cannot be run.

use std::io;
use std::path::PathBuf;

/// What an agent's part of a request can fail with, in words for the lab's user.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// An experiment that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The bundle cannot be written.
    #[error(transparent)]
    Bundle(#[from] nicteam_record::BundleError),
    /// A host or switch reports a failure.
    #[error("{node}: {message}")]
    Agent {
        /// Host or switch.
        node: String,
        /// What it says.
        message: String,
    },
    /// The machine cannot run what the file asks for.
    #[error("{0}")]
    Experiment(nicteam_experiment::Diagnostics),
    /// Something that an experiment needs is not to be had here: the engine of a team, or who serves a target.
    #[error("{0}")]
    Missing(String),
    /// A file of the bundle cannot be written.
    #[error("cannot {operation} {path}: {source}")]
    File {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The wanted dataplane is not to be had here.
    #[error(transparent)]
    Dataplane(#[from] nicteam_dataplane::Error),
    /// The folder for the results is there already.
    #[error("{0} exists already; hint: choose another folder with --output, or move that one away")]
    OutputExists(PathBuf),
    /// The folder in which the results are to get theirs is not there.
    #[error(
        "there is no folder {parent} to make {output} in; hint: `mkdir -p {parent}` makes it, or choose another with --output",
        parent = parent.display(), output = output.display()
    )]
    NoParent {
        /// The folder for the results.
        output: PathBuf,
        /// What is not there.
        parent: PathBuf,
    },
    /// A signal asked to stop; everything that was built is gone again.
    #[error("stopped by {0}")]
    Interrupted(&'static str),
}
