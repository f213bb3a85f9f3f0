//! A resolved topology as the record keeps it.

use nicteam_record as record;

use crate::experiment::{End, Team, Topology};

/// What a record says of a topology.
pub(crate) fn topology(topology: &Topology) -> record::Topology {
    let end = |end: &End| record::LinkEnd { node: end.node.clone(), device: end.device.clone() };
    record::Topology {
        hosts: topology
            .hosts
            .iter()
            .map(|host| record::Host {
                name: host.name.clone(),
                address: format!("{}/{}", host.address, host.prefix),
                mac: host.mac.to_string(),
                device: host.device.clone(),
            })
            .collect(),
        switches: topology.switches.iter().map(|switch| record::Switch { name: switch.name.clone() }).collect(),
        links: topology
            .cables
            .iter()
            .map(|cable| record::Link { a: end(&cable.a), b: end(&cable.b), rate_bps: cable.rate_bps, mtu: cable.mtu })
            .collect(),
        teams: topology.teams.iter().map(team).collect(),
    }
}

/// What a record says of a team.
fn team(team: &Team) -> record::Team {
    let options: std::collections::BTreeMap<String, String> =
        team.config.options().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // Where flows move with their load, no hash says which member they take.
    let moves = team.config.mode.balances_load() && team.config.tlb_dynamic_lb;
    let hashes = team.config.mode.hashes() && !moves;
    record::Team {
        node: team.node.clone(),
        device: team.device.clone(),
        peer: team.peer.clone(),
        mode: team.config.mode.to_string(),
        xmit_hash_policy: if hashes { team.config.xmit_hash_policy.to_string() } else { String::new() },
        options,
        members: team.members.clone(),
    }
}
