//! What a run needs of its topology.

use std::collections::BTreeSet;

use crate::resolved::{Run, Topology};

impl Run {
    /// The run with what its workloads and events can notice alone: the nodes that cables join to theirs, however far.
    /// A file may describe several networks, each for some of its runs; the others would only keep the machine busy.
    pub fn in_use(&self) -> Run {
        let ends = self.workloads.iter().flat_map(|workload| &workload.pairs);
        let hosts = ends.flat_map(|(from, to)| [from.as_str(), to.as_str()]);
        let named = hosts.chain(self.events.iter().map(|timed| timed.event.node()));
        let used = joined(named.map(|name| self.topology.links_of(name)), &self.topology);
        let is_used = |node: &str| used.contains(self.topology.links_of(node));
        let mut topology = self.topology.clone();
        topology.hosts.retain(|host| is_used(&host.name));
        topology.switches.retain(|switch| is_used(&switch.name));
        topology.cables.retain(|cable| is_used(&cable.a.node));
        topology.teams.retain(|team| is_used(&team.node));
        topology.targets.retain(|target| is_used(&target.host));
        Run { topology, ..self.clone() }
    }
}

/// These nodes, and all that cables join to them.
fn joined<'t>(nodes: impl Iterator<Item = &'t str>, topology: &'t Topology) -> BTreeSet<&'t str> {
    let mut open: Vec<&str> = nodes.collect();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            let ends = topology.cables.iter().map(|cable| [&*cable.a.node, &*cable.b.node]);
            open.extend(ends.filter(|ends| ends.contains(&node)).flatten());
        }
    }
    found
}
