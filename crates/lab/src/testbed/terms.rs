//! What a testbed is.

use std::path::PathBuf;
use std::sync::mpsc;

use nicteam_dataplane::Kind;
use nicteam_experiment::Topology;
use nicteam_netlink::shape::Granularity;
use nicteam_node::Error;
use nicteam_node::protocol::{AgentSample, Disturb, Done, Notice, Request, Runs};
use nicteam_record::{BucketMember, Machine, OneSided, PagpHeard, Port};

/// A place where topologies are built.
pub trait Testbed: Sync {
    /// Its name in the record.
    fn name(&self) -> &'static str;

    /// Builds a topology, ready for traffic. What its nodes report goes to `reports`.
    ///
    /// # Errors
    /// The machine, or a node, refuses; then nothing of it is left.
    fn build(
        &self,
        topology: &Topology,
        setting: &Setting,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Box<dyn Deployment>, Error>;

    /// True if the links are there already and nothing is said to them: they have their own rates and offloads.
    fn has_real_links(&self) -> bool {
        false
    }
}

/// A topology that is built; it is taken down with this value.
pub trait Deployment {
    /// Hosts and switches, each with the process on this machine whose network namespace is its own, if it has one here.
    fn nodes(&self) -> Vec<(String, Option<u32>)>;

    /// What each team runs on.
    fn teams(&self) -> &[TeamRuns];

    /// The real machines of it.
    fn machines(&self) -> Vec<Machine> {
        Vec::new()
    }

    /// Asks one node.
    ///
    /// # Errors
    /// It refuses, or does not answer.
    fn call(&mut self, node: &str, request: &Request) -> Result<Done, Error>;

    /// Asks every node at once, then waits for every answer.
    ///
    /// # Errors
    /// One refuses, or does not answer.
    fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error>;

    /// Does something to the network while it is used.
    ///
    /// # Errors
    /// It cannot be done here.
    fn act(&mut self, action: &Action) -> Result<(), Error>;

    /// What the nodes say of their teams.
    ///
    /// # Errors
    /// A node does not say.
    fn teams_say(&mut self) -> Result<TeamsSay, Error> {
        let mut all = TeamsSay::default();
        for (node, Done { ports, buckets, pagp, one_sided, .. }) in self.call_all(&Request::Ports)? {
            let host = || node.clone();
            all.ports.extend(ports.into_iter().map(|port| Port { host: host(), ..port }));
            all.buckets.extend(buckets.into_iter().map(|bucket| BucketMember { host: host(), ..bucket }));
            all.pagp.extend(pagp.into_iter().map(|heard| PagpHeard { host: host(), ..heard }));
            all.one_sided.extend(one_sided.into_iter().map(|team| OneSided { host: host(), ..team }));
        }
        Ok(all)
    }
}

/// What nodes say of their teams, with the node at each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamsSay {
    /// How the members of the teams with LACP are.
    pub ports: Vec<Port>,
    /// Which member each bucket has.
    pub buckets: Vec<BucketMember>,
    /// At which members' other ends a port speaks PAgP.
    pub pagp: Vec<PagpHeard>,
    /// What teams in mode stripe do towards hosts that do not.
    pub one_sided: Vec<OneSided>,
}

/// Something that is done to a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A node's end of a cable is pulled, or plugged in again.
    Cable {
        /// Host or switch.
        node: String,
        /// Its device.
        device: String,
        /// True: it is plugged in.
        plugged: bool,
    },
    /// Something is done to the frames of impaired links, while their ends keep their carrier.
    Disturb(Vec<Disturb>),
    /// A guest goes from one host's bridge to another's, as it is. Nobody is told.
    MoveGuest {
        /// The guest.
        guest: String,
        /// The host that it leaves.
        from: String,
        /// The host that it goes to.
        to: String,
    },
}

/// What runs a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamRuns {
    /// Host or switch.
    pub node: String,
    /// The team's device.
    pub device: String,
    /// Name of the engine.
    pub engine: String,
    /// What the engine says of it.
    pub runs: Runs,
}

/// How a topology is built.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The nicteam binary that the agents run.
    pub binary: PathBuf,
    /// Dataplane of every team; none: what the machine can.
    pub dataplane: Option<Kind>,
    /// MTU-sized packets or GSO frames.
    pub granularity: Granularity,
    /// Links let two frames go at once instead of a burst, so that a packet takes as long as on the wire.
    pub smooth: bool,
}

/// What nodes report unasked. Times are the lab's own, `CLOCK_MONOTONIC` in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A node's counters.
    Sample(String, AgentSample),
    /// Something happened at a node.
    Notice(String, Notice),
    /// A node's agent has ended.
    Ended(String),
    /// Something has ended without which the node is not what it is to be; what, and how.
    Lost(String, String),
}
