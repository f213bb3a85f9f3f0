//! Testbed `ssh`: hosts are real machines. An agent of each works in a network namespace there, which borrows the links.
//! Nothing is done to switches.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

use nicteam_experiment::{Cable, Experiment, Host, Topology, show_rate};
use nicteam_node::Error;
use nicteam_node::protocol::{Done, Request};
use nicteam_record::Machine;
use nicteam_remote::look::{self, Root, Seen, Wanted};
use nicteam_remote::{connection, shell};

use super::agents::{Agent, Agents};
use super::deploy;
use super::nodes::ends;
use super::terms::{Action, Deployment, Report, Setting, TeamRuns, Testbed};
use crate::lab_id::LabId;
use crate::output::failed;

/// The machines of an experiment, after nothing was found that speaks against using them.
#[derive(Clone, Debug, Default)]
pub struct Machines(BTreeMap<String, Seen>);

/// The links of a host: each one's device, and its rate in bit/s.
type Links = Vec<(String, u64)>;

/// Looks at the machines of an experiment, without a change there; none if it has no such hosts. `share`: links that carry
/// other traffic may be used.
///
/// # Errors
/// A machine cannot be reached, or something there speaks against using it.
pub fn preflight(experiment: &Experiment, binary: &Path, share: bool) -> Result<Option<Machines>, Error> {
    let mut hosts: BTreeMap<&str, (&Host, Links)> = BTreeMap::new();
    for run in &experiment.runs {
        for host in run.topology.hosts.iter().filter(|host| host.ssh.is_some()) {
            hosts.entry(&host.name).or_insert_with(|| (host, links(&run.topology, &host.name)));
        }
        let other =
            run.topology.teams.iter().find(|team| team.engine != "nicteam" && is_remote(&run.topology, &team.node));
        if let Some(team) = other {
            let what = format!("testbed `ssh` does not support teams of engine `{}` yet", team.engine);
            return Err(Error::Missing(format!("{what}; hint: use engine `nicteam`")));
        }
    }
    let binary_bytes = std::fs::metadata(binary).map_err(failed("read", binary))?.len();
    let (mut machines, mut objections) = (Machines::default(), Vec::new());
    for (name, (host, links)) in hosts {
        let devices: Vec<String> = links.iter().map(|(device, _)| device.clone()).collect();
        let told = connection::ask(connection::program().as_deref(), destination(host), &shell::look(&devices));
        let seen = look::read(&told.map_err(|message| Error::Agent { node: name.to_owned(), message })?);
        let machine = std::env::consts::ARCH;
        let wanted = Wanted { host: name, machine, binary_bytes, links: &links, share, in_place: false };
        objections.extend(look::objections(&seen, &wanted));
        machines.0.insert(name.to_owned(), seen);
    }
    match objections.is_empty() {
        true => Ok(Some(machines).filter(|machines| !machines.0.is_empty())),
        false => Err(Error::Missing(objections.join("\n"))),
    }
}

impl Machines {
    /// What will be done to them, a line each.
    pub fn words(&self, experiment: &Experiment) -> String {
        let plan = |(name, seen): (&String, &Seen)| {
            let run = experiment.runs.iter().find(|run| is_remote(&run.topology, name))?;
            let host = run.topology.hosts.iter().find(|host| host.name == *name)?;
            let links = links(&run.topology, name).into_iter().map(|(link, rate_bps)| (link, show_rate(rate_bps)));
            Some(look::plan(seen, name, destination(host), &links.collect::<Vec<_>>(), None))
        };
        self.0.iter().filter_map(plan).collect()
    }
}

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
            let devices = links(topology, &host.name).into_iter().map(|(device, _)| device);
            let seen = self.machines.0.get(&host.name).cloned().unwrap_or_default();
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
        let own = hosts_alone(topology);
        agents.call_each(deploy::set_ups(&own))?;
        for (node, device, mtu) in topology.cables.iter().flat_map(mtus).filter(|end| is_remote(topology, end.0)) {
            let agent = agents.of(node)?;
            agent.call(&Request::SetMtu { device: device.to_owned(), mtu })?;
            agent.call(&Request::SetDevice { device: device.to_owned(), up: true })?;
        }
        let teams = deploy::add_teams(&mut agents, &own, setting)?;
        deploy::join(&mut agents, &own)?;
        deploy::settle(&mut agents, &own)?;
        Ok(Box::new(Remote { agents, teams, machines: recorded }))
    }
}

/// A topology that is built; the machines get everything back with this value.
#[derive(Debug)]
struct Remote {
    agents: Agents,
    teams: Vec<TeamRuns>,
    machines: Vec<Machine>,
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
        self.agents.of(node)?.call(request)
    }

    fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error> {
        self.agents.call_all(request)
    }

    fn act(&mut self, _action: &Action) -> Result<(), Error> {
        Err(Error::Missing("testbed `ssh` does nothing to cables yet; hint: use testbed `netns`".to_owned()))
    }
}

fn destination(host: &Host) -> &str {
    host.ssh.as_deref().unwrap_or_default()
}

fn is_remote(topology: &Topology, node: &str) -> bool {
    topology.hosts.iter().any(|host| host.name == node && host.ssh.is_some())
}

/// The devices of a host, with their rates.
fn links(topology: &Topology, host: &str) -> Links {
    let own = ends(topology).filter(|(end, _)| end.node == host);
    own.map(|(end, cable)| (end.device.clone(), cable.rate_bps)).collect()
}

/// Both ends of a cable: node, device, MTU.
fn mtus(cable: &Cable) -> [(&str, &str, u32); 2] {
    let [a, b] = cable.mtus;
    [(&cable.a.node, &cable.a.device, a), (&cable.b.node, &cable.b.device, b)]
}

/// What agents build: switches and their groups are there.
fn hosts_alone(topology: &Topology) -> Topology {
    let mut own = Topology { switches: Vec::new(), ..topology.clone() };
    own.teams.retain(|team| is_remote(topology, &team.node));
    own
}
