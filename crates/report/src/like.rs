//! Many hosts: like ones as one.

use std::collections::BTreeSet;

use nicteam_findings::view::{MemberView, TeamView, busy_host_teams};
use nicteam_record::{Connection, Link, Looks, Run, Topology, drawn, names};

/// Hosts that are alike.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    /// In the order of the topology.
    pub(crate) hosts: Vec<&'a str>,
}

impl Group<'_> {
    /// `h0 to h15`.
    pub(crate) fn name(&self) -> String {
        names(&self.hosts)
    }

    pub(crate) fn has(&self, host: &str) -> bool {
        self.hosts.contains(&host)
    }
}

/// The hosts that are no guests, as they are drawn and named.
pub(crate) fn groups<'a>(topology: &'a Topology, connections: &[&Connection]) -> Vec<Group<'a>> {
    let own = || topology.hosts.iter().filter(|host| host.parent.is_none()).map(|host| host.name.as_str());
    let looks: Vec<Looks> = own().map(|host| looks(topology, connections, host)).collect();
    let named = |name: &str| own().find(|host| *host == name);
    drawn(&looks).iter().map(|group| Group { hosts: group.iter().filter_map(|name| named(name)).collect() }).collect()
}

/// What counts of a host.
fn looks(topology: &Topology, connections: &[&Connection], name: &str) -> Looks {
    let mut looks = Looks { name: name.to_owned(), ..Looks::default() };
    for team in topology.teams.iter().filter(|team| team.node == name) {
        let options = team.options.iter().map(|(option, value)| format!("{option} {value}"));
        looks.own.extend([team.mode.clone(), team.xmit_hash_policy.clone()].into_iter().chain(options));
        looks.own.push(format!("{} of {}, {}", team.device, team.members.len(), team.engine));
    }
    if let Some(host) = topology.hosts.iter().find(|host| host.name == name) {
        let guests = topology.hosts.iter().filter(|guest| guest.parent.as_deref() == Some(name)).count();
        looks.own.push(format!("{guests} guests, {} further links, forwards: {}", host.further.len(), host.forwards));
        looks.own.push(format!("{:?} {:?} {:?}", host.processor_bps, host.receive_window_bytes, host.receive_queues));
    }
    for link in &topology.links {
        for (near, far) in [(&link.a, &link.b), (&link.b, &link.a)].into_iter().filter(|(near, _)| near.node == name) {
            let group = topology.teams.iter().find(|team| team.node == far.node && team.peer == name);
            let spread = group.map_or("", |team| team.xmit_hash_policy.as_str());
            let kind = format!("{} {spread}", kind(link, near.node == link.a.node));
            looks.links.entry(far.node.clone()).or_default().push(kind);
        }
    }
    looks.roles = roles(topology, connections, name);
    looks
}

/// What a link is to the node at its end `a`, or at the other one.
fn kind(link: &Link, from_a: bool) -> String {
    let mut mtus = link.mtus.unwrap_or([link.mtu; 2]);
    let mut impaired = link.impaired.as_ref().map(|impaired| [&impaired.a_to_b, &impaired.b_to_a]);
    if !from_a {
        mtus.reverse();
        impaired = impaired.map(|[there, back]| [back, there]);
    }
    let Link { rate_bps, queue_bytes, without_offloads, .. } = link;
    format!("{rate_bps} {mtus:?} {impaired:?} {queue_bytes:?} {without_offloads}")
}

fn roles(topology: &Topology, connections: &[&Connection], name: &str) -> BTreeSet<(String, bool)> {
    let ends = connections.iter().flat_map(|of| [(&of.from, true, of), (&of.to, false, of)]);
    let own = ends.filter(|(end, ..)| topology.links_of(end) == name);
    own.map(|(_, connects, of)| (of.workload.clone(), connects)).collect()
}

/// Hosts' teams that are alike, and what their members carried.
#[derive(Clone, Debug)]
pub(crate) struct TeamGroup<'a> {
    /// `h0 to h15`.
    pub(crate) name: String,
    /// Each host's team.
    pub(crate) teams: Vec<TeamView<'a>>,
}

impl TeamGroup<'_> {
    /// Each member's load, by its place: of several hosts the mean.
    pub(crate) fn loads(&self, load: fn(&MemberView<'_>) -> f64) -> Vec<f64> {
        let places = self.teams.iter().map(|team| team.members.len()).max().unwrap_or(0);
        let mean = |place: usize| {
            let loads: Vec<f64> = self.teams.iter().filter_map(|team| team.members.get(place)).map(load).collect();
            loads.iter().sum::<f64>() / loads.len().max(1) as f64
        };
        (0..places).map(mean).collect()
    }
}

/// The teams of [`busy_host_teams`], those of hosts that are drawn as one together.
pub(crate) fn busy_groups(run: &Run) -> Vec<TeamGroup<'_>> {
    let teams = busy_host_teams(run);
    let connections: Vec<&Connection> = run.connections.iter().collect();
    let groups = groups(&run.topology, &connections);
    let of_group = |group: &Group<'_>| {
        let teams: Vec<TeamView<'_>> = teams.iter().filter(|team| group.has(team.team.node)).cloned().collect();
        (!teams.is_empty()).then(|| TeamGroup { name: group.name(), teams })
    };
    groups.iter().filter_map(of_group).collect()
}
