//! Many hosts: like ones are drawn as one.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_record::{Looks, drawn, names};

use crate::limit::MOST_NAMED;
use nicteam_elements::resolved::{Cable, Run, Topology};

/// Names between commas, or ranges of many.
pub(super) fn named(all: &[&str]) -> String {
    if all.len() <= MOST_NAMED { all.join(", ") } else { names(all) }
}

/// Hosts of which the first one is drawn.
pub(super) struct Like {
    /// `h0 to h15`.
    pub(super) name: String,
    pub(super) hosts: usize,
}

/// The network with the first of like hosts alone, and by its name whom it stands for.
pub(super) fn merged(topology: &Topology, runs: &[Run]) -> (Topology, BTreeMap<String, Like>) {
    let hosts: Vec<&str> =
        topology.hosts.iter().filter(|host| host.parent.is_none()).map(|host| host.name.as_str()).collect();
    let looks: Vec<Looks> = hosts.iter().map(|host| looks(topology, runs, host)).collect();
    let (mut like, mut left_out) = (BTreeMap::new(), BTreeSet::new());
    for group in drawn(&looks).into_iter().filter(|group| group.len() > 1) {
        like.insert(group[0].to_owned(), Like { name: names(&group), hosts: group.len() });
        left_out.extend(group[1..].iter().map(|name| (*name).to_owned()));
    }
    let mut merged = topology.clone();
    merged.hosts.retain(|host| !left_out.contains(topology.links_of(&host.name)));
    merged.cables.retain(|cable| !left_out.contains(&cable.a.node) && !left_out.contains(&cable.b.node));
    merged.teams.retain(|team| !left_out.contains(&team.node) && !left_out.contains(&team.peer));
    (merged, like)
}

fn looks(topology: &Topology, runs: &[Run], name: &str) -> Looks {
    let mut looks = Looks { name: name.to_owned(), ..Looks::default() };
    for team in topology.teams.iter().filter(|team| team.node == name) {
        looks.own.push(format!("{} of {} {:?}", team.device, team.members.len(), team.config));
    }
    if let Some(host) = topology.hosts.iter().find(|host| host.name == name) {
        let guests = topology.guests_of(name).count();
        looks.own.push(format!("{guests} {} {} {} {:?}", host.forwards, host.further.len(), host.mptcp, host.bounds));
    }
    for cable in &topology.cables {
        for (near, far) in
            [(&cable.a, &cable.b), (&cable.b, &cable.a)].into_iter().filter(|(near, _)| near.node == name)
        {
            let group = topology.teams.iter().find(|team| team.node == far.node && team.peer == name);
            let group = group.map(|group| &group.config);
            looks
                .links
                .entry(far.node.clone())
                .or_default()
                .push(format!("{} {group:?}", kind(cable, near.node == cable.a.node)));
        }
    }
    for workload in runs.iter().flat_map(|run| &run.workloads) {
        for (from, to) in &workload.pairs {
            let ends = [(from, true), (to, false)].into_iter().filter(|(end, _)| topology.links_of(end) == name);
            looks.roles.extend(ends.map(|(_, connects)| (workload.name.clone(), connects)));
        }
    }
    looks
}

/// What a cable is to the node at its end `a`, or at the other one.
fn kind(cable: &Cable, from_a: bool) -> String {
    let Cable { rate_bps, mtus, impaired, queue_bytes, without_offloads, .. } = cable;
    // Its two directions may differ in what is done to frames.
    let direction = if impaired.is_some() && from_a { "from a" } else { "" };
    let mtus = if from_a { *mtus } else { [mtus[1], mtus[0]] };
    format!("{rate_bps} {mtus:?} {direction} {impaired:?} {queue_bytes:?} {without_offloads}")
}
