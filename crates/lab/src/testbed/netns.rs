//! Testbed `netns`: a network namespace a host and a switch, on one machine.
//!
//! A namespace belongs to its agent and has no name: when the agent ends,
//! however it ends, the kernel takes the namespace and everything in it.

use std::sync::mpsc;

use nicteam_experiment::{EXISTING, Topology};
use nicteam_node::Error;
use nicteam_node::protocol::{Done, NodeSetup, Request};

use super::agents::{Agent, Agents};
use super::cabling::{Cabling, Wire, first_index};
use super::terms::{Action, Deployment, Report, Setting, TeamRuns, Testbed};
use super::{deploy, guests, relay};

/// The testbed.
#[derive(Debug)]
pub(super) struct Netns;

impl Testbed for Netns {
    fn name(&self) -> &'static str {
        "netns"
    }

    fn build(
        &self,
        topology: &Topology,
        setting: &Setting,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Box<dyn Deployment>, Error> {
        let is_there = topology.teams.iter().any(|team| team.engine == EXISTING);
        if is_there || topology.hosts.iter().any(|host| host.ssh.is_some()) {
            let message = "the hosts of this experiment, or their teams, are those of real machines";
            return Err(Error::Missing(format!("{message}; hint: only `nicteam lab run` uses testbed `ssh` yet")));
        }
        let mut agents = Agents::default();
        let mut cabling = Cabling::new(setting.granularity);
        for node in nodes(topology) {
            let agent = Agent::start(&setting.binary, node, reports.clone())?;
            cabling.add(node, agent.pid())?;
            agents.add(agent);
        }
        agents.greet()?;
        agents.call_each(deploy::set_ups(topology))?;
        if relay::is_needed(topology) {
            agents.of(relay::NODE)?.call(&Request::SetUp(NodeSetup::default()))?;
        }
        for (number, cable) in (0..).zip(&topology.cables) {
            let wire = Wire {
                mtus: cable.mtus,
                rx_queues: [&cable.a, &cable.b].map(|end| deploy::receive_queues(topology, &end.node)),
                without_offloads: cable.without_offloads,
            };
            match cable.impaired {
                Some(_) => relay::lay(&mut cabling, cable, &wire, first_index(number))?,
                None => cabling.lay(cable, &wire, first_index(number))?,
            }
        }
        guests::lay(&mut cabling, topology)?;
        agents.call_each(deploy::shapes(topology, setting))?;
        agents.call_each(deploy::finishing(topology))?;
        relay::start(&mut agents, topology)?;
        let teams = deploy::add_teams(&mut agents, topology, setting)?;
        agents.call_each(guests::bridges(topology))?;
        deploy::join(&mut agents, topology)?;
        // Who runs a team may have taken the limit from its members, as Open vSwitch does with what it adopts.
        agents.call_each(deploy::shapes(topology, setting))?;
        relay::follow_carrier(&mut agents, topology)?;
        deploy::settle(&mut agents, topology)?;
        Ok(Box::new(Namespaces { agents, teams }))
    }
}

/// A topology that is built; it goes with this value.
#[derive(Debug)]
struct Namespaces {
    agents: Agents,
    teams: Vec<TeamRuns>,
}

impl Deployment for Namespaces {
    fn nodes(&self) -> Vec<(String, Option<u32>)> {
        self.agents.nodes().map(|(node, pid)| (node.to_owned(), Some(pid))).collect()
    }

    fn teams(&self) -> &[TeamRuns] {
        &self.teams
    }

    fn call(&mut self, node: &str, request: &Request) -> Result<Done, Error> {
        self.agents.of(node)?.call(request)
    }

    fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error> {
        self.agents.call_all(request)
    }

    fn act(&mut self, action: &Action) -> Result<(), Error> {
        match action {
            // A veth end that is set down takes the carrier from the other one.
            Action::Cable { node, device, plugged } => {
                let request = Request::SetDevice { device: device.clone(), up: *plugged };
                self.call(node, &request).map(drop)
            }
            Action::Disturb(disturbed) => relay::disturb(&mut self.agents, disturbed),
            Action::MoveGuest { guest, from, to } => guests::move_to(&mut self.agents, guest, from, to),
        }
    }
}

/// Everything that has an agent.
fn nodes(topology: &Topology) -> impl Iterator<Item = &str> {
    let hosts = topology.hosts.iter().map(|host| host.name.as_str());
    let switches = topology.switches.iter().map(|switch| switch.name.as_str());
    hosts.chain(switches).chain(relay::is_needed(topology).then_some(relay::NODE))
}
