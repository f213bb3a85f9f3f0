//! A run with something of its network changed, as a finding proposes it.

use nicteam_record::Change;

use crate::teams::{self, Grouping};
use nicteam_elements::engine;
use nicteam_elements::resolved::{Run, Team, Topology};

/// The run with these changes of its network.
///
/// # Errors
///
/// Which change cannot be made, and why, in words.
pub fn changed(run: &Run, changes: &[Change]) -> Result<Run, String> {
    let mut changed = run.clone();
    let refused = |change: &Change, why: &str| format!("{}={} at {}: {why}", change.what, change.value, change.node);
    for change in changes {
        make(&mut changed.topology, change).map_err(|why| refused(change, &why))?;
    }
    let Topology { teams, switches, cables, .. } = &mut changed.topology;
    for team in teams.iter() {
        team.config.check().map_err(|error| format!("{} of {}: {error}", team.device, team.node))?;
    }
    // A switch that bundles has a group for each team that wants one, and for no other.
    let is_switch = |node: &str| switches.iter().any(|switch| switch.name == node);
    let hosts: Vec<Team> = teams.iter().filter(|team| !is_switch(&team.node)).cloned().collect();
    let faces = |group: &Team, team: &Team| is_switch(&group.node) && group.peer == team.node;
    for team in &hosts {
        if !teams::wants_group(&team.config) {
            teams.retain(|group| !faces(group, team));
            continue;
        }
        let Some(switch) = switches.iter().find(|switch| switch.name == team.peer) else { continue };
        let model = switch.model;
        let Some(word) = switch.spread.as_deref() else { continue };
        let policy = model.and_then(|model| model.spread(word)).map_or(word, |spread| spread.policy.name());
        if teams.iter().any(|group| faces(group, team)) {
            continue;
        }
        let hash_buckets = model.map_or(0, |model| model.hash_buckets);
        let how = Grouping { policy: policy.to_owned(), hash_buckets, lacp: None, lacp_rate: "slow".to_owned() };
        let engine = engine::default();
        let config = teams::group(&how, engine, Some(&team.config)).map_err(|error| error.to_string())?;
        let ends = cables.iter().filter_map(|cable| match (&cable.a, &cable.b) {
            (own, far) if own.node == team.node && team.members.contains(&own.device) => Some(far),
            (far, own) if own.node == team.node && team.members.contains(&own.device) => Some(far),
            _ => None,
        });
        let members = ends.filter(|end| end.node == switch.name).map(|end| end.device.clone()).collect();
        let (node, device) = (switch.name.clone(), team.node.clone());
        let (peer, engine, mtu) = (team.node.clone(), engine.name().to_owned(), team.mtu);
        teams.push(Team { node, device, peer, engine, config, members, mtu, own_process: false });
    }
    Ok(changed)
}

/// Makes one change.
fn make(topology: &mut Topology, change: &Change) -> Result<(), String> {
    let Change { node, what, value } = change;
    let switch = topology.switches.iter_mut().find(|switch| switch.name == *node);
    let own = topology.teams.iter_mut().filter(|team| team.node == *node);
    let set =
        |team: &mut Team, option: &str, value: &str| team.config.set(option, value).map_err(|error| error.to_string());
    match (what.as_str(), switch) {
        ("spread", Some(switch)) => {
            let known = switch.model.map(|model| model.spread(value).map(|spread| spread.policy.name()));
            let policy = known.unwrap_or(Some(value)).ok_or("the switch has no such word")?;
            switch.spread = Some(value.clone());
            own.into_iter().try_for_each(|team| set(team, "xmit_hash_policy", policy))
        }
        ("lacp", Some(_)) => {
            let aggregates = |team: &&Team| team.config.mode.traits().aggregates(&team.config);
            let speaks: Vec<String> = topology.teams.iter().filter(aggregates).map(|team| team.node.clone()).collect();
            let mut groups = topology.teams.iter_mut().filter(|team| team.node == *node && speaks.contains(&team.peer));
            groups.try_for_each(|group| {
                set(group, "mode", "802.3ad")?;
                set(group, "lacp_active", "on")
            })
        }
        (_, Some(_)) => Err("a switch has no such option".to_owned()),
        ("without", None) => {
            let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, &cable.b), (&cable.b, &cable.a)]);
            let far =
                ends.into_iter().find(|(end, _)| end.node == *node && end.device == *value).map(|(_, far)| far.clone());
            for team in &mut topology.teams {
                team.members.retain(|device| !(team.node == *node && device == value));
                team.members
                    .retain(|device| far.as_ref().is_none_or(|far| team.node != far.node || device != &far.device));
            }
            Ok(())
        }
        (option, None) => {
            let team = topology.teams.iter_mut().find(|team| team.node == *node).ok_or("it has no team")?;
            set(team, option, value)?;
            if option == "mode" {
                // The groups that face it are made anew.
                let host = team.node.clone();
                let switches: Vec<&str> = topology.switches.iter().map(|switch| switch.name.as_str()).collect();
                topology.teams.retain(|group| group.peer != host || !switches.contains(&group.node.as_str()));
            }
            Ok(())
        }
    }
}
