//! How an experiment is run.

use std::path::PathBuf;

use nicteam_dataplane::Kind;
use nicteam_node::task::{self, KINDS};
use nicteam_record::Run;

use crate::testbed::{TESTBEDS, Testbed};

/// How an experiment is run.
#[derive(Clone)]
pub struct Options {
    /// The nicteam binary, for the agents.
    pub binary: PathBuf,
    /// Folder of the bundle; it must not exist, the folder it is in must.
    pub output: PathBuf,
    /// Dataplane of every team; none: what the machine can.
    pub dataplane: Option<Kind>,
    /// `root` or `user namespace`.
    pub privileges: &'static str,
    /// Finds why a run delivered what it delivered, and puts it into the run.
    pub explain: fn(&mut Run),
    /// Where topologies are built; none: in network namespaces of this machine.
    pub testbed: Option<&'static dyn Testbed>,
    /// Kinds of traffic; none: those that come with nicteam.
    pub kinds: Option<&'static [&'static dyn task::Kind]>,
}

impl Options {
    /// Where topologies are built.
    pub(crate) fn testbed(&self) -> &'static dyn Testbed {
        self.testbed.unwrap_or(TESTBEDS[0])
    }

    /// Kinds of traffic.
    pub(crate) fn kinds(&self) -> &'static [&'static dyn task::Kind] {
        self.kinds.unwrap_or(&KINDS)
    }
}
