//! Testbed `ssh`: hosts are real machines. An agent of each works in a network namespace there, which borrows the links, or
//! beside the team that is measured as it is. Nothing is done to switches.

use std::process::Command;
use std::sync::mpsc;

use nicteam_experiment::{Cable, Host, Topology};
use nicteam_machines::{Machines, destination, ends_of, is_machine, links};
use nicteam_node::Error;
use nicteam_node::protocol::{Disturb, Disturbance, Done, Request};
use nicteam_record::Machine;
use nicteam_remote::look::Root;
use nicteam_remote::{connection, shell};

use super::agents::{Agent, Agents};
use super::deploy;
use super::terms::{Action, Deployment, Report, Setting, TeamRuns, Testbed};
use crate::lab_id::LabId;
use crate::output::failed;

/// The testbed with these machines. It lasts as long as the program.
pub fn ssh(machines: Machines) -> &'static dyn Testbed {
    Box::leak(Box::new(Ssh { machines }))
}

/// The testbed.
#[derive(Debug)]
struct Ssh {
    machines: Machines,
}

impl Testbed for Ssh {
    fn name(&self) -> &'static str {
        "ssh"
    }

    fn has_real_links(&self) -> bool {
        true
    }

    fn build(
        &self,
        topology: &Topology,
        setting: &Setting,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Box<dyn Deployment>, Error> {
        let program = std::fs::read(&setting.binary).map_err(failed("read", &setting.binary))?;
        let program = shell::Program::of(program);
        let mut agents = Agents::default();
        let (mut started, mut machines) = (Vec::new(), Vec::new());
        for host in &topology.hosts {
            let lent = host.bundle.is_none().then(|| links(topology, &host.name));
            let devices = lent.into_iter().flatten().map(|(device, _)| device);
            let seen = self.machines.of(&host.name).seen;
            let lab = LabId::own().to_string();
            let silence = shell::SILENCE_S.to_string();
            let words = ["--node", &host.name, "--lab", &lab, "--silence", &silence, "--"];
            let words: Vec<String> = words.into_iter().map(str::to_owned).chain(devices).collect();
            let script = shell::install(&program, &words, seen.root == Root::Sudo);
            let words = shell::command(connection::program().as_deref(), destination(host), &script);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            started.push(Agent::over(command, true, &host.name, reports.clone())?);
            machines.push((host, seen));
        }
        started.iter().try_for_each(|agent| agent.send(&program.bytes))?;
        started.into_iter().for_each(|agent| agents.add(agent));
        agents.greet()?;
        let mut recorded = Vec::new();
        for (host, seen) in machines {
            let clock_error_us = agents.of(&host.name)?.clock_error_ns() as f64 / 1e3;
            let (host, ssh) = (host.name.clone(), destination(host).to_owned());
            let kernel = format!("{} {}", seen.system, seen.kernel);
            recorded.push(Machine { host, ssh, kernel, architecture: seen.machine, clock_error_us });
        }
        let (own, lent) = (of_hosts(topology, |_| true), of_hosts(topology, |host| host.bundle.is_none()));
        agents.call_each(deploy::set_ups(&lent))?;
        for (node, device, mtu) in lent.cables.iter().flat_map(mtus).filter(|end| is_machine(&lent, end.0)) {
            let agent = agents.of(node)?;
            agent.call(&Request::SetMtu { device: device.to_owned(), mtu })?;
            agent.call(&Request::SetDevice { device: device.to_owned(), up: true })?;
        }
        let mut teams = deploy::add_teams(&mut agents, &own, setting)?;
        for team in &mut teams {
            let bundle = self.machines.of(&team.node).bundle;
            team.runs.dataplane = bundle.map_or(team.runs.dataplane.clone(), |it| it.kind.title().to_owned());
        }
        deploy::join(&mut agents, &lent)?;
        deploy::settle(&mut agents, &own)?;
        Ok(Box::new(Remote { agents, teams, machines: recorded, topology: own }))
    }
}

/// A topology that is built; the machines get everything back with this value.
#[derive(Debug)]
struct Remote {
    agents: Agents,
    teams: Vec<TeamRuns>,
    machines: Vec<Machine>,
    topology: Topology,
}

impl Remote {
    /// Limits what a device sends; none: no longer, and at 0 it sends nothing.
    fn hold_back(&mut self, node: &str, device: String, rate_bps: Option<u64>) -> Result<(), Error> {
        self.agents.of(node)?.call(&Request::HoldBack { device, rate_bps }).map(drop)
    }
}

impl Deployment for Remote {
    fn nodes(&self) -> Vec<(String, Option<u32>)> {
        self.machines.iter().map(|machine| (machine.host.clone(), None)).collect()
    }

    fn teams(&self) -> &[TeamRuns] {
        &self.teams
    }

    fn machines(&self) -> Vec<Machine> {
        self.machines.clone()
    }

    fn call(&mut self, node: &str, request: &Request) -> Result<Done, Error> {
        if let Request::ChangeRate { device, rate_bps } = request {
            // The link has its own limit.
            let own = links(&self.topology, node).into_iter().find(|(link, _)| link == device);
            let rate_bps = Some(*rate_bps).filter(|bps| own.is_none_or(|(_, own_bps)| own_bps != *bps));
            self.hold_back(node, device.clone(), rate_bps)?;
            return Ok(Done::default());
        }
        self.agents.of(node)?.call(request)
    }

    fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error> {
        self.agents.call_all(request)
    }

    fn act(&mut self, action: &Action) -> Result<(), Error> {
        let refused = || Error::Missing("testbed `ssh` cannot do that; hint: use testbed `netns`".to_owned());
        match action {
            // Many drivers take the carrier from the other end, too.
            Action::Cable { node, device, plugged } => {
                self.call(node, &Request::SetDevice { device: device.clone(), up: *plugged }).map(drop)
            }
            Action::Disturb(disturbed) => {
                disturbed.iter().try_for_each(|Disturb { node, device, from, disturbance }| {
                    let Disturbance::Silence(is_silent) = disturbance else { return Err(refused()) };
                    let ends = ends_of(&self.topology, node, device, from.as_deref());
                    let silent = is_silent.then_some(0);
                    ends.into_iter().try_for_each(|(node, device)| self.hold_back(&node, device, silent))
                })
            }
            Action::MoveGuest { .. } => Err(refused()),
        }
    }
}

/// Both ends of a cable: node, device, MTU.
fn mtus(cable: &Cable) -> [(&str, &str, u32); 2] {
    let [a, b] = cable.mtus;
    [(&cable.a.node, &cable.a.device, a), (&cable.b.node, &cable.b.device, b)]
}

/// What agents build, of these hosts: switches and their groups are there.
fn of_hosts(topology: &Topology, takes: impl Fn(&Host) -> bool) -> Topology {
    let mut own = Topology { switches: Vec::new(), ..topology.clone() };
    own.hosts.retain(takes);
    own.teams.retain(|team| own.hosts.iter().any(|host| host.name == team.node));
    own
}
