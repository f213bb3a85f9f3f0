//! Testbeds: where an experiment's topology is built.

mod agents;
mod netns;
mod relay;

use std::path::PathBuf;

use nicteam_dataplane::Kind;
use nicteam_sys::shape::Granularity;

pub(crate) use agents::{Agent, Report};
pub(crate) use netns::Deployment;

/// How a topology is built.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The nicteam binary that the agents run.
    pub(crate) binary: PathBuf,
    /// Dataplane of every team; none: what the machine can.
    pub(crate) dataplane: Option<Kind>,
    /// MTU-sized packets or GSO frames.
    pub(crate) granularity: Granularity,
}
