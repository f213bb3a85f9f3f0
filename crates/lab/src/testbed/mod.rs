//! Testbeds: where an experiment's topology is built. One file a testbed, and one line in [`TESTBEDS`].

mod agents;
mod cabling;
mod deploy;
mod guests;
mod netns;
mod nodes;
mod relay;
mod ssh;
mod terms;

pub use ssh::ssh;
pub use terms::{Action, Deployment, Report, Setting, TeamRuns, TeamsSay, Testbed};

/// The testbeds that need no more than a topology, the one that is meant where none is named first.
pub(crate) static TESTBEDS: [&dyn Testbed; 1] = [&netns::Netns];
