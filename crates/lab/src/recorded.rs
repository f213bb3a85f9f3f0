//! A resolved topology as the record keeps it.

use std::collections::BTreeMap;

use nicteam_experiment::{End, Further, Host, Impaired, Switch, Team, Topology, Way};
use nicteam_impair::{Distribution, Gemodel, Impairments, Loss};
use nicteam_record as record;

use crate::testbed::TeamRuns;

/// The engine whose teams have a dataplane of ours, and counters.
pub(crate) const OWN_ENGINE: &str = "nicteam";

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
                further: further(host),
                parent: host.parent.clone(),
                forwards: host.forwards,
                routes: host.routes.iter().map(|it| format!("{}/{} via {}", it.to, it.prefix, it.via)).collect(),
                processor_bps: host.bounds.processor_bps,
                receive_window_bytes: host.bounds.receive_window_bytes,
                receive_queues: host.bounds.receive_queues,
            })
            .collect(),
        switches: topology.switches.iter().map(switch).collect(),
        links: topology
            .cables
            .iter()
            .map(|cable| record::Link {
                a: end(&cable.a),
                b: end(&cable.b),
                rate_bps: cable.rate_bps,
                mtu: cable.mtu(),
                mtus: (cable.mtus[0] != cable.mtus[1]).then_some(cable.mtus),
                impaired: cable.impaired.as_ref().map(impaired),
                queue_bytes: cable.queue_bytes,
                burst_bytes: cable.burst_bytes,
                without_offloads: cable.without_offloads,
            })
            .collect(),
        teams: topology.teams.iter().map(team).chain(multipath(topology)).collect(),
    }
}

fn switch(switch: &Switch) -> record::Switch {
    record::Switch {
        name: switch.name.clone(),
        model: switch.model.map(|model| record::SwitchModel {
            name: model.name.to_owned(),
            title: model.title.to_owned(),
            assumed: model.assumed.to_owned(),
            spreads: model.spreads.iter().map(|of| (of.word.to_owned(), of.policy.to_string())).collect(),
        }),
        spread: switch.spread.clone(),
        pagp: switch.pagp.map(|pagp| pagp.name().to_owned()),
        unknown: switch.unknown,
    }
}

fn further(host: &Host) -> Vec<record::Further> {
    let one = |further: &Further| record::Further {
        device: further.device.clone(),
        address: format!("{}/{}", further.address, further.prefix),
        mac: further.mac.map(|mac| mac.to_string()),
    };
    host.further.iter().map(one).collect()
}

/// The links of hosts whose links have an address each (multipath TCP, multipath storage), as if each host had a team: they
/// share what they carry, and so are shown alike.
fn multipath(topology: &Topology) -> impl Iterator<Item = record::Team> {
    let hosts = topology.hosts.iter().filter(|host| !host.further.is_empty() && !host.forwards);
    hosts.map(|host| {
        let further = host.further.iter().map(|further| further.device.clone());
        let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, &cable.b), (&cable.b, &cable.a)]);
        let peer = ends.filter(|(near, _)| near.node == host.name).map(|(_, far)| far.node.clone()).next();
        record::Team {
            node: host.name.clone(),
            device: String::new(),
            peer: peer.unwrap_or_default(),
            mode: if host.mptcp { "mptcp" } else { "multipath" }.to_owned(),
            xmit_hash_policy: String::new(),
            options: std::collections::BTreeMap::new(),
            members: std::iter::once(host.device.clone()).chain(further).collect(),
            engine: String::new(),
            dataplane: String::new(),
            engine_version: String::new(),
            offloads: BTreeMap::new(),
        }
    })
}

/// What a record says of an impaired link.
fn impaired(impaired: &Impaired) -> record::Impaired {
    record::Impaired { a_to_b: way(&impaired.a_to_b), b_to_a: way(&impaired.b_to_a) }
}

fn way(way: &Way) -> record::Impairments {
    let Impairments { delay, jitter, loss, duplicate, reorder, corrupt } = way.impairments;
    let gemodel = |model: Gemodel| record::Gemodel {
        p: model.to_bad.as_f64(),
        r: model.to_good.as_f64(),
        loss_in_bad: model.loss_in_bad.as_f64(),
        loss_in_good: model.loss_in_good.as_f64(),
    };
    let distribution = match jitter.distribution {
        Distribution::Uniform => "uniform",
        Distribution::Normal => "normal",
    };
    record::Impairments {
        name: way.name.clone(),
        delay_ms: delay.as_secs_f64() * 1e3,
        jitter_ms: jitter.amount.as_secs_f64() * 1e3,
        jitter_distribution: distribution.to_owned(),
        jitter_reorders: jitter.may_reorder,
        loss: loss.mean(),
        gemodel: match loss {
            Loss::Independent(_) => None,
            Loss::Gemodel(model) => Some(gemodel(model)),
        },
        duplicate: duplicate.as_f64(),
        corrupt: corrupt.as_f64(),
        reorder: reorder.map_or(0.0, |reorder| reorder.probability.as_f64()),
        reorder_gap: reorder.map_or(1, |reorder| reorder.gap),
        seed: way.seed,
    }
}

/// What a record says of a team.
fn team(team: &Team) -> record::Team {
    let mut options: BTreeMap<&str, String> = team.config.options_and_wish().into_iter().collect();
    // A secret is in force, and not shown.
    options.extend(team.config.shown_options());
    // Where flows move with their load, no hash says which member they take.
    let moves = team.config.mode.balances_load() && team.config.tlb_dynamic_lb;
    let hashes = team.config.mode.hashes() && !moves;
    record::Team {
        node: team.node.clone(),
        device: team.device.clone(),
        peer: team.peer.clone(),
        mode: team.config.mode.to_string(),
        xmit_hash_policy: if hashes { team.config.xmit_hash_policy.to_string() } else { String::new() },
        options: options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        members: team.members.clone(),
        engine: team.engine.clone(),
        dataplane: String::new(),
        engine_version: String::new(),
        offloads: BTreeMap::new(),
    }
}

/// The same with what ran its teams.
pub(crate) fn with_engines(mut topology: record::Topology, runs: &[TeamRuns]) -> record::Topology {
    for team in &mut topology.teams {
        if let Some(run) = runs.iter().find(|run| (&run.node, &run.device) == (&team.node, &team.device)) {
            team.engine.clone_from(&run.engine);
            team.dataplane.clone_from(&run.runs.dataplane);
            team.engine_version.clone_from(&run.runs.version);
            team.offloads.clone_from(&run.runs.offloads);
        }
    }
    topology
}

#[cfg(test)]
mod tests {
    use nicteam_team::Config;

    use super::*;

    #[test]
    fn a_key_is_not_recorded() {
        let mut config = Config::default();
        config.set("mode", "stripe").unwrap();
        config.set("stripe_key", "0123456789abcdef").unwrap();
        let (node, device, peer) = ("left".to_owned(), "team0".to_owned(), "sw".to_owned());
        let recorded = team(&Team {
            node,
            device,
            peer,
            engine: "nicteam".to_owned(),
            config,
            members: Vec::new(),
            mtu: 1500,
            own_process: false,
        });
        assert_eq!(recorded.options["mode"], "stripe");
        assert!(!format!("{recorded:?}").contains("0123456789abcdef"), "{recorded:?}");
    }
}
