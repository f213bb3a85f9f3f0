//! What a run needs of its topology.

use crate::resolved::Run;

impl Run {
    /// The run with what its workloads and events can notice alone: the nodes that cables join to theirs, however far.
    /// A file may describe several networks, each for some of its runs; the others would only keep the machine busy.
    pub fn in_use(&self) -> Run {
        let ends = self.workloads.iter().flat_map(|workload| &workload.pairs);
        let hosts = ends.flat_map(|(from, to)| [from.as_str(), to.as_str()]);
        let named = hosts.chain(self.events.iter().map(|timed| timed.event.node()));
        let used = self.topology.joined(named.map(|name| self.topology.links_of(name)), |_| true);
        let is_used = |node: &str| used.contains(self.topology.links_of(node));
        let mut topology = self.topology.clone();
        topology.hosts.retain(|host| is_used(&host.name));
        topology.switches.retain(|switch| is_used(&switch.name));
        topology.cables.retain(|cable| is_used(&cable.a.node));
        topology.teams.retain(|team| is_used(&team.node));
        topology.targets.retain(|target| is_used(&target.host));
        Run { topology, ..self.clone() }
    }

    /// Whether how long packets are on their way is all that it measures.
    pub fn measures_latency_alone(&self) -> bool {
        !self.workloads.is_empty() && self.workloads.iter().all(|workload| workload.task.measures_latency())
    }
}
