//! What a run carries: its workloads, and between which hosts.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_diagnostics::{Problem, list};

use super::{Resolver, meant};
use crate::gateways;
use crate::topology::Built;
use nicteam_elements::pattern::{Ends, Pair};
use nicteam_elements::record::{At, Record};
use nicteam_elements::resolved::{Direction, Topology, Workload};
use nicteam_elements::task::{self, Said};

impl Resolver<'_, '_> {
    /// The workloads of a run.
    pub(super) fn workloads(&mut self, run: &Record, span: Duration, built: &Built) -> Vec<Workload> {
        let known = self.named("workloads");
        let Some(names) = run.get::<&[At<String>]>("workloads") else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let mut workloads = Vec::new();
        for name in names.value {
            let Some((defined, record)) = known.iter().find(|(defined, _)| defined.value == name.value) else {
                if self.file.is_broken("workloads") {
                    continue;
                }
                let all = known.iter().map(|(defined, _)| defined.value.as_str());
                let hint = meant(&name.value, all, |all| match known {
                    [] => format!("add a section `[workloads.{}]`", name.value),
                    _ => format!("there are {}", list(all)),
                });
                self.problems.push(Problem::at(&name.span, format!("no workload `{}`", name.value)).hint(hint));
                continue;
            };
            if !seen.insert(&name.value) {
                let problem = Problem::at(&name.span, format!("the run names workload `{}` twice", name.value));
                self.problems.push(problem.hint("for more connections raise `connections`"));
                continue;
            }
            workloads.extend(self.workload(defined, record, span, built));
        }
        workloads
    }

    /// `span`: how long its run is driven.
    pub(super) fn workload(
        &mut self,
        name: &At<String>,
        record: &Record,
        span: Duration,
        built: &Built,
    ) -> Option<Workload> {
        let ends = Ends::of(name, record, self.problems)?;
        let hosts: Vec<_> = built.topology.hosts.iter().map(|host| host.name.as_str()).collect();
        let mut known = true;
        for named in [Some(&ends.from), ends.to.as_ref()].into_iter().flatten() {
            known &= self.check_hosts(named.value, &hosts);
        }
        // Of lists with a name twice there could be any number of pairs.
        let pairs = if known { ends.pairs(self.problems)? } else { return None };
        let pair_count = pairs.len();
        let connections = record.get::<u64>("connections");
        if connections.as_ref().map_or(pair_count > 4096, |at| at.value < pair_count as u64) {
            let named = ends.to.as_ref().unwrap_or(&ends.from);
            let span = connections.as_ref().map_or(&named.span, |at| &at.span);
            let message = format!("workload `{}` has {pair_count} pairs of hosts and fewer connections", name.value);
            self.problems.push(Problem::at(span, message).hint(format!("each pair needs one: at least {pair_count}")));
            return None;
        }
        if !self.check_bridged(&pairs, &built.topology) {
            return None;
        }
        if built.all_links {
            let stays = task::stays_in_segment(record);
            self.problems.extend(gateways::check_reachable(&pairs, &built.topology, stays));
        }
        let pairs = pairs.into_iter().map(|(from, to)| (from.value.clone(), to.value.clone())).collect();
        let direction = match record.get::<&str>("direction").map_or("send", |at| at.value) {
            "receive" => Direction::Receive,
            "both" => Direction::Both,
            _ => Direction::Send,
        };
        let connections = connections.map_or(pair_count as u32, |at| at.value as u32);
        let targets: Vec<&str> = self.named("targets").iter().map(|(target, _)| target.value.as_str()).collect();
        let (defaults, problems) = (self.defaults, &mut *self.problems);
        let task = task::resolve(&mut Said {
            name,
            record,
            defaults,
            targets: &targets,
            topology: &built.topology,
            connections,
            pairs: pair_count as u32,
            direction,
            span,
            problems,
        })?;
        let connections = task.planned(connections);
        Some(Workload { name: name.value.clone(), connections, pairs, direction, task })
    }

    /// Every name a host's, none twice.
    fn check_hosts(&mut self, names: &[At<String>], hosts: &[&str]) -> bool {
        let mut all_known = true;
        let mut seen = BTreeSet::new();
        for name in names {
            if !hosts.contains(&name.value.as_str()) {
                all_known = false;
                if self.file.is_broken("hosts") {
                    continue;
                }
                let is_switch = self.named("switches").iter().any(|(switch, _)| switch.value == name.value);
                let hint = match is_switch {
                    true => "it is a switch; traffic goes between hosts".to_owned(),
                    false => {
                        meant(&name.value, hosts.iter().copied(), |hosts| format!("the hosts are {}", list(hosts)))
                    }
                };
                self.problems.push(Problem::at(&name.span, format!("no host `{}`", name.value)).hint(hint));
            } else if !seen.insert(&name.value) {
                let problem = Problem::at(&name.span, format!("host `{}` is named twice", name.value));
                self.problems.push(problem.hint("for more connections raise `connections`"));
                all_known = false;
            }
        }
        all_known
    }

    /// Traffic leaves a host by its links: what stays behind one bridge would be measured against nothing.
    fn check_bridged(&mut self, pairs: &[Pair<'_>], topology: &Topology) -> bool {
        let known = self.problems.len();
        for (source, target) in pairs {
            let host = topology.links_of(&source.value);
            if source.value != target.value && host == topology.links_of(&target.value) {
                let message = format!("`{}` and `{}` are both on host `{host}`", source.value, target.value);
                let problem = Problem::at(&target.span, message).also(&source.span, "from here");
                self.problems.push(problem.hint("traffic goes between different hosts, so that it passes their links"));
            }
        }
        self.problems.len() == known
    }
}
