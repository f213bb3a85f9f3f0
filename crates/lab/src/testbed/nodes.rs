//! What stands in a topology about a node.

use nicteam_experiment::{Cable, End, Team, Topology};

use crate::engine::{self, Engine};

/// The bridge of a switch, or of a host that has one.
pub(super) const BRIDGE: &str = "br0";

/// Who runs a team.
pub(super) fn engine_of(team: &Team) -> Option<&'static dyn Engine> {
    engine::find(&team.engine)
}

/// The ends of cables at a node that belong to no team.
pub(super) fn bare_ends<'a>(topology: &'a Topology, node: &'a str) -> impl Iterator<Item = &'a str> {
    let of_team = move |device: &str| {
        topology.teams.iter().any(|team| team.node == node && team.members.iter().any(|member| member == device))
    };
    let own = ends(topology).map(|(end, _)| end).filter(move |end| end.node == node && !of_team(&end.device));
    own.map(|end| end.device.as_str())
}

/// Both ends of every cable.
pub(super) fn ends(topology: &Topology) -> impl Iterator<Item = (&End, &Cable)> {
    topology.cables.iter().flat_map(|cable| [(&cable.a, cable), (&cable.b, cable)])
}
