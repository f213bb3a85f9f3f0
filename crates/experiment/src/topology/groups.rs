//! Groups of switches: the other ends of teams.

use std::collections::BTreeMap;

use nicteam_diagnostics::Problem;
use nicteam_team::{Config, MAX_MEMBERS};

use super::Builder;
use super::host::too_many_members;
use crate::switches;
use crate::teams::{self, Unfit};
use nicteam_elements::engine::{self, Engine};
use nicteam_elements::record::{Record, Span};
use nicteam_elements::resolved::Team;

impl Builder<'_, '_> {
    /// Link aggregation groups of switches that spread.
    pub(super) fn groups(&mut self, configs: &BTreeMap<String, Config>) -> Vec<Team> {
        let mut groups: Vec<Team> = Vec::new();
        let mut problems = Vec::new();
        for (switch, record) in &self.plan.switches {
            let ends = self.ends(&switch.value);
            if ends.is_empty() && self.all_links {
                let problem = Problem::at(&switch.span, format!("switch `{}` has no links", switch.value));
                self.problems
                    .push(problem.hint(format!("add `[[links]]` with `between = [\"HOST\", \"{}\"]`", switch.value)));
            }
            let Some((span, grouping)) = self.spec(&switch.value).and_then(|spec| spec.grouping.as_ref()) else {
                continue;
            };
            for (device, peer, mtu) in ends.clone() {
                let parallel = ends.iter().filter(|end| end.1 == peer).count();
                if let Some(group) = groups.iter_mut().find(|group| group.node == switch.value && group.device == peer)
                {
                    group.members.push(device);
                    group.mtu = group.mtu.min(mtu);
                } else if self.is_grouped(&peer, parallel, configs) {
                    let towards = configs.get(&peer);
                    let engine = group_engine(record);
                    match teams::group(grouping, engine, towards) {
                        Ok(config) => {
                            let (node, engine) = (switch.value.clone(), engine.name().to_owned());
                            let (device, members) = (peer.clone(), vec![device]);
                            groups.push(Team { node, device, peer, engine, config, members, mtu, own_process: false });
                        }
                        Err(error) => problems.push(unfit_group(record, engine, span, &error)),
                    }
                }
            }
            let sizes = groups.iter().filter(|group| group.node == switch.value).map(|group| group.members.len());
            let sizes: Vec<usize> = sizes.collect();
            let model = self.spec(&switch.value).and_then(|spec| spec.switch.model);
            problems.extend(model.and_then(|model| switches::check_limits(switch, model, &sizes)));
            problems.extend(
                sizes.iter().filter(|links| **links > MAX_MEMBERS).map(|links| too_many_members(switch, *links)),
            );
        }
        self.problems.extend(problems);
        groups
    }

    /// Whether a switch that spreads has a group, not plain ports, towards a peer with so many links.
    fn is_grouped(&self, peer: &str, links: usize, configs: &BTreeMap<String, Config>) -> bool {
        let by_host = configs.get(peer).is_some_and(teams::wants_group);
        by_host || (links > 1 && self.spec(peer).is_some_and(|spec| spec.grouping.is_some()))
    }
}

/// Who runs the groups of a switch. Another name has been refused where it was read.
fn group_engine(switch: &Record) -> &'static dyn Engine {
    switch.get::<&str>("engine").and_then(|named| engine::find(named.value)).unwrap_or_else(engine::default)
}

/// Why a switch has no such group, at the key that is to blame.
fn unfit_group(switch: &Record, engine: &dyn Engine, spread: &Span, error: &Unfit) -> Problem {
    match error {
        Unfit::Options(error) => Problem::at(spread, error.to_string()),
        Unfit::Engine(error) => {
            let key = if error.option == "xmit_hash_policy" { "spread" } else { error.option };
            let at = |key| switch.get::<&str>(key).map(|at| at.span);
            let span = at(key).or_else(|| at("engine")).unwrap_or_else(|| spread.clone());
            teams::refused_by(engine, error, &span)
        }
    }
}
