//! Builds a run's topology and holds it, for a look around and for other programs' traffic.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use nicteam_experiment::{Event, Experiment, Run, Topology, Workload};
use nicteam_netlink::shape::Granularity;
use nicteam_node::Error;
use nicteam_node::clock;
use nicteam_node::protocol::{AgentSample, Device, PathSeen, Request};
use nicteam_node::task;
use nicteam_record::{Member, Sample};

use crate::fit::{dataplane, granularity};
use crate::machine::check_machine;
use crate::options::Options;
use crate::run::unless_stopped;
use crate::testbed::{Deployment, Report, Setting};
use crate::watch::{LOOK_BACK, of_late};
use crate::{event, target};

/// A topology that is built; it goes with this value.
pub struct Held {
    deployment: Box<dyn Deployment>,
    built_in: Duration,
    granularity: Granularity,
    reports: mpsc::Receiver<Report>,
    /// Of late, since there is somebody who wants them.
    samples: Vec<Sample>,
}

/// Builds the topology of one run of an experiment. `options.output` is not used.
pub fn hold(experiment: &Experiment, run: &Run, options: &Options) -> Result<Held, Error> {
    check_machine(&Experiment { runs: vec![run.clone()], ..experiment.clone() })?;
    let kind = dataplane(options.dataplane)?;
    let granularity = granularity(experiment, kind);
    let setting = Setting {
        binary: options.binary.clone(),
        dataplane: Some(kind),
        granularity,
        smooth: run.measures_latency_alone(),
    };
    let (reports, inbox) = mpsc::channel();
    let start = Instant::now();
    let deployment = unless_stopped(|| {
        let mut deployment = options.testbed().build(&run.topology, &setting, &reports)?;
        target::serve(&mut *deployment, &run.topology)?;
        Ok(deployment)
    })?;
    Ok(Held { deployment, built_in: start.elapsed(), granularity, reports: inbox, samples: Vec::new() })
}

impl Held {
    /// Hosts and switches, each with the process whose network namespace is its own.
    pub fn nodes(&self) -> Vec<(String, u32)> {
        let here = |(node, pid): (String, Option<u32>)| Some((node, pid?));
        self.deployment.nodes().into_iter().filter_map(here).collect()
    }

    /// How long it took to build.
    pub fn built_in(&self) -> Duration {
        self.built_in
    }

    /// MTU-sized packets or GSO frames.
    pub fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// What runs its teams: `bpf`, `packet`; none if it has none.
    pub fn dataplane(&self) -> Option<&str> {
        self.deployment.teams().first().map(|team| team.runs.dataplane.as_str())
    }

    /// Carries a fault out, or what undoes it.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn carry_out(&mut self, event: &dyn Event) -> Result<(), Error> {
        event::carry_out(event, &mut *self.deployment).map(drop)
    }

    /// Has every node count what its links carry, for [`Held::carried`].
    ///
    /// # Errors
    /// A node cannot.
    pub fn sample(&mut self, interval: Duration) -> Result<(), Error> {
        self.deployment.call_all(&Request::Sample { interval_ms: interval.as_millis() as u64 }).map(drop)
    }

    /// What members carried of late ([`crate::LOOK_BACK`]), and what nodes have told since the last time.
    pub fn carried(&mut self) -> (Vec<Member>, Vec<(String, String)>) {
        let (now_ms, mut told) = (clock::monotonic_ns() as f64 / 1e6, Vec::new());
        for report in self.reports.try_iter() {
            match report {
                Report::Sample(host, AgentSample { at_ns, members, .. }) => {
                    self.samples.push(Sample { t_ms: at_ns as f64 / 1e6, host, members, ..Sample::default() });
                }
                Report::Notice(node, notice) => told.push((node, notice.text)),
                Report::Lost(node, what) => told.push((node, what)),
                Report::Ended(node) => told.push((node, "has ended".to_owned())),
            }
        }
        self.samples.retain(|sample| sample.t_ms >= now_ms - 4e3 * LOOK_BACK.as_secs_f64());
        (of_late(&self.samples, now_ms), told)
    }

    /// Every device of every node, by node.
    ///
    /// # Errors
    /// A node does not tell.
    pub fn devices(&mut self) -> Result<Vec<(String, Vec<Device>)>, Error> {
        let told = self.deployment.call_all(&Request::Devices)?;
        Ok(told.into_iter().map(|(node, done)| (node, done.devices)).collect())
    }

    /// What passes the paths between the hosts of a workload, link by link, as those who connect find out. It takes less than
    /// three seconds.
    ///
    /// # Errors
    /// A host does not tell.
    pub fn examine(&mut self, workload: &Workload, topology: &Topology) -> Result<Vec<PathSeen>, Error> {
        let mut seen = Vec::new();
        for (client, server) in &workload.pairs {
            let paths = task::paths_between(topology, client, server);
            seen.extend(self.deployment.call(client, &Request::Examine(paths))?.paths);
        }
        Ok(seen)
    }

    /// Takes it down; how long that took, up to the end of the last process.
    pub fn take_down(self) -> Duration {
        let start = Instant::now();
        drop(self);
        start.elapsed()
    }
}
