//! A recorded run in the types of the crate `predict`, with teams that can be changed.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_predict::engines;
use nicteam_predict::{Cable, Flow, Network, Node, NodeKind, Prediction, Team, aggregated, predict, uses};
use nicteam_record::{self as record, Change, EventKind, LinkEnd, Run, Topology};
use nicteam_team::Config;

use crate::flows;

/// A recorded run's network and flows.
#[derive(Clone, Debug)]
pub struct Scene {
    names: Vec<String>,
    nodes: Vec<Node>,
    cables: Vec<Cable>,
    rates: Vec<u64>,
    /// Devices at the ends of each cable.
    devices: Vec<[String; 2]>,
    teams: Vec<Changeable>,
    /// How switches bundle the links to teams that want it.
    spreads: Vec<Spread>,
    flows: Vec<Flow>,
    /// The connection of the run that each flow is, or is a part of.
    of_connection: Vec<usize>,
    limit_bps: f64,
}

/// A team whose configuration can be changed.
#[derive(Clone, Debug)]
struct Changeable {
    node: usize,
    config: Config,
    /// Cables.
    members: Vec<usize>,
    /// Members that LACP leaves out, as far as the record says so.
    left_out: Vec<usize>,
}

/// How a switch bundles links.
#[derive(Clone, Debug)]
struct Spread {
    switch: usize,
    policy: String,
    /// Words of its maker, with the policies behind them; empty: it takes policies themselves.
    words: BTreeMap<String, String>,
}

/// Modes of links that have an address each: no teams.
const NO_TEAMS: [&str; 2] = ["mptcp", "multipath"];

impl Scene {
    /// The scene of a run; the error says why nothing can be predicted of it.
    ///
    /// # Errors
    ///
    /// A reason, in words.
    pub fn of(run: &Run) -> Result<Scene, String> {
        if let Some(reason) = unpredictable(run) {
            return Err(reason);
        }
        let topology = &run.topology;
        let names: Vec<String> = topology
            .hosts
            .iter()
            .map(|host| &host.name)
            .chain(topology.switches.iter().map(|it| &it.name))
            .cloned()
            .collect();
        let place = |name: &str| names.iter().position(|known| known == name);
        let cables = topology.links.iter().map(|link| cable(topology, link, &place)).collect::<Option<Vec<Cable>>>();
        let cables = cables.ok_or("a link of the record leads to no known node")?;
        let (flows, of_connection) = flows::of_run(run, &cables, &place)?;
        let mut scene = Scene {
            nodes: nodes(topology),
            rates: topology.links.iter().map(|link| link.rate_bps).collect(),
            devices: topology.links.iter().map(|link| [link.a.device.clone(), link.b.device.clone()]).collect(),
            teams: Vec::new(),
            spreads: Vec::new(),
            limit_bps: run.limit_bps,
            names,
            cables,
            flows,
            of_connection,
        };
        for team in topology.teams.iter().filter(|team| !NO_TEAMS.contains(&team.mode.as_str())) {
            scene.add_team(run, team)?;
        }
        Ok(scene)
    }

    fn add_team(&mut self, run: &Run, team: &record::Team) -> Result<(), String> {
        let node =
            self.node(&team.node).ok_or_else(|| format!("the team of {}, which is not in the record", team.node))?;
        let mut config = Config::default();
        config.set("mode", &team.mode).map_err(|_| format!("mode {} of {}", team.mode, team.node))?;
        // Options of another version, and those that say nothing (`primary=None`), are left at their defaults.
        for (option, value) in &team.options {
            let _ = config.set(option, value);
        }
        if !team.xmit_hash_policy.is_empty() {
            let unknown = |_| format!("policy {} of {}", team.xmit_hash_policy, team.node);
            config.set("xmit_hash_policy", &team.xmit_hash_policy).map_err(unknown)?;
        }
        let members: Vec<usize> = team.members.iter().filter_map(|device| self.cable(node, device)).collect();
        let is_idle = |port: &&record::Port| port.host == team.node && port.team == team.device && !port.aggregates;
        let left_out = run.ports.iter().filter(is_idle).filter_map(|port| self.cable(node, &port.member)).collect();
        if traits_hash(&config) && engines::hash_of(&team.engine, config.xmit_hash_policy).is_none() {
            return Err(format!("how engine {} chooses by {} is not known", team.engine, config.xmit_hash_policy));
        }
        if self.nodes[node].kind == NodeKind::Switch && !self.spreads.iter().any(|spread| spread.switch == node) {
            let model =
                run.topology.switches.iter().find(|switch| switch.name == team.node).and_then(|it| it.model.as_ref());
            let words = model.map(|model| model.spreads.clone()).unwrap_or_default();
            self.spreads.push(Spread { switch: node, policy: config.xmit_hash_policy.to_string(), words });
        }
        self.teams.push(Changeable { node, config, members, left_out });
        Ok(())
    }

    /// The node of this name.
    fn node(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The cable at a node's device.
    fn cable(&self, node: usize, device: &str) -> Option<usize> {
        (0..self.cables.len()).find(|cable| {
            (0..2).any(|end| self.cables[*cable].ends[end] == node && self.devices[*cable][end] == device)
        })
    }

    /// Whether a node is a switch.
    pub fn is_switch(&self, name: &str) -> bool {
        self.node(name).is_some_and(|node| self.nodes[node].kind == NodeKind::Switch)
    }

    /// Names of the switches at the other ends of a host's team.
    pub(crate) fn switches_of(&self, host: &str) -> Vec<&str> {
        let own = self.teams.iter().filter(|team| self.names[team.node] == host);
        let far = own.flat_map(|team| team.members.iter().map(|cable| self.far(*cable, team.node)));
        let mut names: Vec<&str> =
            far.filter(|far| self.nodes[*far].kind == NodeKind::Switch).map(|far| self.names[far].as_str()).collect();
        names.dedup();
        names
    }

    /// The configuration of the team of a host, or of the first group of a switch.
    pub(crate) fn config(&self, node: &str) -> Option<&Config> {
        let node = self.node(node)?;
        self.teams.iter().find(|team| team.node == node).map(|team| &team.config)
    }

    /// What a switch can spread by, in its maker's words; empty: by policies themselves.
    pub(crate) fn words_of(&self, switch: &str) -> Vec<&str> {
        let node = self.node(switch);
        let spread = self.spreads.iter().find(|spread| Some(spread.switch) == node);
        spread.map_or_else(Vec::new, |spread| spread.words.keys().map(String::as_str).collect())
    }

    /// Devices of members at a node whose links are slower than others of the same team.
    pub(crate) fn slow_members(&self, node: &str) -> Vec<&str> {
        let Some(node) = self.node(node) else { return Vec::new() };
        let Some(team) = self.teams.iter().find(|team| team.node == node) else { return Vec::new() };
        let most = team.members.iter().map(|cable| self.rates[*cable]).max();
        let slow = team.members.iter().filter(|cable| Some(self.rates[**cable]) < most);
        slow.map(|cable| self.devices[*cable][usize::from(self.cables[*cable].ends[0] != node)].as_str()).collect()
    }

    fn far(&self, cable: usize, node: usize) -> usize {
        let [a, b] = self.cables[cable].ends;
        if a == node { b } else { a }
    }

    /// The scene with these changes; none if one of them cannot be made.
    #[must_use]
    pub fn changed(&self, changes: &[Change]) -> Option<Scene> {
        let mut scene = self.clone();
        for change in changes {
            scene.change(change)?;
        }
        scene.regroup()?;
        Some(scene)
    }

    fn change(&mut self, change: &Change) -> Option<()> {
        let node = self.node(&change.node)?;
        let is_switch = self.nodes[node].kind == NodeKind::Switch;
        match (change.what.as_str(), is_switch) {
            ("spread", true) => {
                let none = Spread { switch: node, policy: String::new(), words: BTreeMap::new() };
                let mut spread = self.spreads.iter().find(|spread| spread.switch == node).cloned().unwrap_or(none);
                let policy =
                    if spread.words.is_empty() { Some(&change.value) } else { spread.words.get(&change.value) };
                spread.policy = policy?.clone();
                for team in self.teams.iter_mut().filter(|team| team.node == node) {
                    team.config.set("xmit_hash_policy", &spread.policy).ok()?;
                }
                self.spreads.retain(|other| other.switch != node);
                self.spreads.push(spread);
            }
            ("lacp", true) => {
                let speaks = |team: &Changeable| team.config.mode.traits().aggregates(&team.config);
                let partners: Vec<Vec<usize>> = self
                    .teams
                    .iter()
                    .filter(|team| team.node != node && speaks(team))
                    .map(|team| team.members.clone())
                    .collect();
                let faces = |team: &Changeable| partners.iter().flatten().any(|cable| team.members.contains(cable));
                for team in self.teams.iter_mut().filter(|team| faces(team)) {
                    if team.node == node {
                        team.config.set("mode", "802.3ad").ok()?;
                        team.config.set("lacp_active", "on").ok()?;
                    }
                    team.left_out.clear();
                }
            }
            ("without", _) => {
                let cable = self.cable(node, &change.value)?;
                self.teams.iter_mut().for_each(|team| team.members.retain(|member| *member != cable));
            }
            (option, false) => {
                let team = self.teams.iter_mut().find(|team| team.node == node)?;
                team.config.set(option, &change.value).ok()?;
                team.left_out.clear();
                if option == "mode" {
                    // The groups that face it are made anew.
                    let (own, nodes) = (team.members.clone(), &self.nodes);
                    let faces = |team: &Changeable| team.members.iter().any(|cable| own.contains(cable));
                    self.teams.retain(|team| nodes[team.node].kind != NodeKind::Switch || !faces(team));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Makes the groups of switches as the teams at the other ends want them now.
    fn regroup(&mut self) -> Option<()> {
        let is_host = |team: &&Changeable| self.nodes[team.node].kind != NodeKind::Switch;
        let hosts: Vec<Changeable> = self.teams.iter().filter(is_host).cloned().collect();
        for team in hosts {
            let traits = team.config.mode.traits();
            let groups = |scene: &Scene| {
                scene.teams.iter().position(|other| {
                    scene.nodes[other.node].kind == NodeKind::Switch
                        && other.members.iter().any(|cable| team.members.contains(cable))
                })
            };
            if !traits.needs_group(&team.config) {
                while let Some(group) = groups(self) {
                    self.teams.remove(group);
                }
                continue;
            }
            let far = self.far(*team.members.first()?, team.node);
            let spread = self.spreads.iter().find(|spread| spread.switch == far);
            let (Some(spread), None) = (spread, groups(self)) else { continue };
            let mut config = Config::default();
            let mode = if traits.aggregates(&team.config) { "802.3ad" } else { "balance-xor" };
            config.set("mode", mode).ok()?;
            config.set("xmit_hash_policy", &spread.policy).ok()?;
            self.teams.push(Changeable { node: far, config, members: team.members.clone(), left_out: Vec::new() });
        }
        Some(())
    }

    /// What it delivers.
    pub fn predict(&self) -> Foreseen<'_> {
        let network = Network {
            nodes: self.nodes.clone(),
            cables: self.cables.clone(),
            teams: self.teams.iter().map(|team| self.team(team)).collect(),
        };
        Foreseen { prediction: predict(&network, &self.flows), scene: self }
    }

    fn team(&self, team: &Changeable) -> Team {
        let lacp = |of: &Changeable| of.config.mode.traits().aggregates(&of.config);
        let faces = |other: &&Changeable| {
            other.node != team.node && other.members.iter().any(|cable| team.members.contains(cable))
        };
        let partners = || self.teams.iter().filter(faces).filter(|other| lacp(other));
        let has_partner = lacp(team) && partners().next().is_some();
        let is_used = |cable: &&usize| {
            !has_partner || !team.left_out.contains(cable) && partners().all(|other| !other.left_out.contains(cable))
        };
        let mut members: Vec<usize> = team.members.iter().filter(is_used).copied().collect();
        if has_partner && !team.config.mode.traits().openvswitch {
            members = aggregated(&members, |cable| self.rates[cable]);
        }
        let (sends, receives) = uses(&team.config, has_partner);
        let is_primary = |cable: &usize| {
            let end = usize::from(self.cables[*cable].ends[0] != team.node);
            Some(self.devices[*cable][end].as_str()) == team.config.primary.as_deref()
        };
        let preferred = members.iter().position(is_primary).unwrap_or(0);
        Team { node: team.node, members, preferred, sends, receives }
    }
}

/// What a scene delivers.
pub struct Foreseen<'s> {
    prediction: Prediction,
    scene: &'s Scene,
}

impl Foreseen<'_> {
    /// As a part of the run's limit.
    pub fn of_limit(&self) -> f64 {
        let limit = self.scene.limit_bps;
        if limit > 0.0 { self.prediction.total_bps() / limit } else { 0.0 }
    }

    /// How many links from a node to a peer some connections of the run use, and how many there are.
    pub fn links(&self, node: &str, peer: &str, connections: &[u32]) -> Option<[usize; 2]> {
        let scene = self.scene;
        let (from, to) = (scene.node(node)?, scene.node(peer)?);
        let leads = |cable: &usize| {
            let ends = scene.cables[*cable].ends;
            ends == [from, to] || ends == [to, from]
        };
        let all = (0..scene.cables.len()).filter(leads).count();
        let connections: BTreeSet<u32> = connections.iter().copied().collect();
        let own = (0..scene.flows.len()).filter(|flow| connections.contains(&(scene.of_connection[*flow] as u32)));
        let mut used: BTreeSet<usize> = BTreeSet::new();
        for hop in own.flat_map(|flow| self.prediction.hops(flow)) {
            match hop {
                nicteam_predict::Hop::Cable { cable, from: at, .. } if at == from && leads(&cable) => {
                    used.insert(cable);
                }
                // Striped frames use all links of the team.
                nicteam_predict::Hop::Team { .. } => used.extend((0..scene.cables.len()).filter(leads)),
                _ => {}
            }
        }
        Some([used.len(), all])
    }
}

/// Whether a hash alone chooses among the members of a team with this configuration.
fn traits_hash(config: &Config) -> bool {
    config.mode.traits().has_hash_buckets()
}

/// Why nothing can be said of a run.
fn unpredictable(run: &Run) -> Option<String> {
    let changes = |way: &record::Impairments| {
        way.loss > 0.0 || way.gemodel.is_some() || way.jitter_ms > 0.0 || way.duplicate > 0.0 || way.reorder > 0.0
    };
    let impaired = || run.topology.links.iter().filter_map(|link| link.impaired.as_ref());
    match () {
        () if run.connections.is_empty() => Some("no connection is recorded".to_owned()),
        () if !run.programs.is_empty() => Some("programs open connections of their own".to_owned()),
        () if !run.disks.is_empty() || !run.transfers.is_empty() || !run.operations.is_empty() => {
            Some("what storage, and programs that wait for answers, ask for is not known".to_owned())
        }
        () if run.connections.iter().any(|connection| connection.datagrams.is_some()) => {
            Some("at which rate datagrams were to be sent is not recorded".to_owned())
        }
        () if run.events.iter().any(|event| event.kind == EventKind::Fault) => {
            Some("the network was changed while it ran".to_owned())
        }
        () if impaired().any(|link| changes(&link.a_to_b) || changes(&link.b_to_a)) => {
            Some("links lose, copy or reorder frames, and TCP's rate depends on how it reacts".to_owned())
        }
        () => None,
    }
}

fn nodes(topology: &Topology) -> Vec<Node> {
    let host = |host: &record::Host| Node {
        kind: if host.forwards { NodeKind::Gateway } else { NodeKind::Host },
        processor_bps: host.processor_bps.map(|bps| bps as f64),
    };
    topology.hosts.iter().map(host).chain(topology.switches.iter().map(|_| Node::switch())).collect()
}

fn cable(topology: &Topology, link: &record::Link, place: &impl Fn(&str) -> Option<usize>) -> Option<Cable> {
    let mac = |end: &LinkEnd| {
        let host = topology.hosts.iter().find(|host| host.forwards && host.name == end.node)?;
        let further = host.further.iter().find(|further| further.device == end.device);
        further.map_or(Some(host.mac.as_str()), |further| further.mac.as_deref())?.parse().ok()
    };
    Some(Cable {
        ends: [place(&link.a.node)?, place(&link.b.node)?],
        rate_bps: link.rate_bps as f64,
        mtu: link.mtu,
        up: true,
        macs: [mac(&link.a), mac(&link.b)],
    })
}
