//! What is known of the network step at a moment.

use nicteam_experiment as experiment;
use nicteam_lab::protocol::{Device, PathSeen};
use nicteam_record as record;
use serde::Serialize;

use crate::file::File;

/// The part of the limit at which the network step is right, 0 to 1.
pub const ENOUGH: f64 = 0.9;

/// What is known of the network step at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The experiment as it is now.
    pub file: &'a File,
    /// The run of the network step, resolved.
    pub run: &'a experiment::Run,
    /// The devices of every node, as their agents report them.
    pub devices: &'a [(String, Vec<Device>)],
    /// What passes each path, as its near end found out.
    pub paths: &'a [PathSeen],
    /// What was measured last; none: nothing yet.
    pub measured: Option<&'a record::Run>,
}

/// Figures of a run of access specifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Delivered payload as a part of the limit, 0 to 1.
    pub of_limit: f64,
    /// Delivered payload, bit/s.
    pub delivered_bps: f64,
    /// What the links could carry, bit/s.
    pub limit_bps: f64,
    /// Requests a second.
    pub ios_per_s: f64,
    /// Mean time to an answer, milliseconds; none: there was no answer.
    pub latency_ms: Option<f64>,
}

impl Figures {
    /// Those of a run.
    pub fn of(run: &record::Run) -> Figures {
        let mut latency = record::Histogram::default();
        run.operations.iter().for_each(|operations| latency.merge(&operations.latency));
        Figures {
            of_limit: run.of_limit,
            delivered_bps: run.delivered_bps,
            limit_bps: run.limit_bps,
            ios_per_s: run.operations.iter().map(|operations| operations.rate_per_s).sum(),
            latency_ms: latency.mean_us().map(|us| us / 1e3),
        }
    }
}

impl<'a> Seen<'a> {
    /// The cables between the two hosts of the workload, with their places in the topology: all that can be reached
    /// from the first over switches.
    pub fn cables(&self) -> Vec<(usize, &'a experiment::Cable)> {
        let topology = &self.run.topology;
        let Some((from, _)) = self.run.workloads.first().and_then(|workload| workload.pairs.first()) else {
            return Vec::new();
        };
        let reached = topology.segment(topology.links_of(from));
        let on_the_way = |cable: &experiment::Cable| {
            reached.contains(&cable.a.node.as_str()) && reached.contains(&cable.b.node.as_str())
        };
        topology.cables.iter().enumerate().filter(|(_, cable)| on_the_way(cable)).collect()
    }

    /// A device as its agent reports it.
    pub fn device(&self, end: &experiment::End) -> Option<&'a Device> {
        let of_node = self.devices.iter().find(|(node, _)| *node == end.node);
        of_node?.1.iter().find(|device| device.name == end.device)
    }

    /// Which of the cables between its two nodes it is, from 1, and how many there are.
    pub fn number(&self, place: usize) -> (usize, usize) {
        let cables = &self.run.topology.cables;
        let Some(cable) = cables.get(place) else { return (0, 0) };
        let alike = |other: &experiment::Cable| (&other.a.node, &other.b.node) == (&cable.a.node, &cable.b.node);
        (
            cables[..=place].iter().filter(|other| alike(other)).count(),
            cables.iter().filter(|other| alike(other)).count(),
        )
    }

    /// A key of the workload as a whole number.
    pub fn workload_number(&self, key: &str) -> Option<i64> {
        self.file.network(key)?.as_integer()
    }

    /// A key of the workload as text.
    pub fn workload_text(&self, key: &str) -> Option<&'a str> {
        self.file.network(key)?.as_str()
    }
}
