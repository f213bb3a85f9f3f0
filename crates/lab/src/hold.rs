//! Builds a run's topology and holds it, for a look around and for other programs' traffic.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use nicteam_dataplane::Kind;
use nicteam_sys::shape::Granularity;

use crate::Error;
use nicteam_experiment::{Experiment, Run};
use crate::fit::{dataplane, granularity};
use crate::run::{Options, unless_stopped};
use crate::testbed::{Deployment, Report, Setting};

/// A topology that is built; it goes with this value.
#[derive(Debug)]
pub struct Held {
    deployment: Deployment,
    built_in: Duration,
    granularity: Granularity,
    _reports: mpsc::Receiver<Report>,
}

/// Builds the topology of one run of an experiment. `options.output` is not used.
pub fn hold(experiment: &Experiment, run: &Run, options: &Options) -> Result<Held, Error> {
    let kind = dataplane(options.dataplane)?;
    let granularity = granularity(experiment, kind);
    let setting = Setting { binary: options.binary.clone(), dataplane: Some(kind), granularity };
    let (reports, inbox) = mpsc::channel();
    let start = Instant::now();
    let deployment = unless_stopped(|| Deployment::build(&run.topology, &setting, &reports))?;
    Ok(Held { deployment, built_in: start.elapsed(), granularity, _reports: inbox })
}

impl Held {
    /// Hosts and switches, each with the process whose network namespace is its own.
    pub fn nodes(&mut self) -> Vec<(String, u32)> {
        self.deployment.agents().map(|agent| (agent.node().to_owned(), agent.pid())).collect()
    }

    /// How long it took to build.
    pub fn built_in(&self) -> Duration {
        self.built_in
    }

    /// MTU-sized packets or GSO frames.
    pub fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// What runs its teams; none if it has none.
    pub fn dataplane(&self) -> Option<Kind> {
        self.deployment.dataplane()
    }

    /// Takes it down; how long that took, up to the end of the last process.
    pub fn take_down(self) -> Duration {
        let start = Instant::now();
        drop(self);
        start.elapsed()
    }
}
