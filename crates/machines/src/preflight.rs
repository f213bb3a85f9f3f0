//! Looks at the machines, before anything is changed there.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use nicteam_bundles::Bundle;
use nicteam_experiment::{EXISTING, Experiment, Host, Topology, show_rate};
use nicteam_remote::connection;
use nicteam_remote::look::{self, Seen, Wanted};
use nicteam_remote::shell::{self, Program};

use crate::hosts::{destination, is_machine, links};
use crate::{existing, faults};

/// The machines of an experiment, after nothing was found that speaks against using them.
#[derive(Clone, Debug, Default)]
pub struct Machines(BTreeMap<String, Machine>);

/// A machine, before anything was done to it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// What it says of itself.
    pub seen: Seen,
    /// The bundle that is measured as it is; none: the machine lends its links.
    pub bundle: Option<Bundle>,
}

/// Why the machines are not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// One cannot be asked; why.
    Failed(String),
    /// Something speaks against it, a line each.
    Unfit(String),
}

/// Looks at the machines of an experiment, without a change there; none if it has no such hosts. The experiment gets what was
/// found of bundles that are measured as they are. `share`: links that carry other traffic may be used.
///
/// # Errors
/// A machine cannot be reached, or something speaks against using it.
pub fn preflight(experiment: &mut Experiment, binary: &Path, share: bool) -> Result<Option<Machines>, Error> {
    let mut hosts: BTreeMap<String, (Host, Vec<(String, u64)>)> = BTreeMap::new();
    let mut objections = Vec::new();
    for run in &experiment.runs {
        for host in run.topology.hosts.iter().filter(|host| host.ssh.is_some()) {
            let found = || (host.clone(), links(&run.topology, &host.name));
            hosts.entry(host.name.clone()).or_insert_with(found);
            objections.extend(engine_objection(host, &run.topology));
        }
        objections.extend(run.events.iter().filter_map(|timed| faults::objection(&*timed.event, &run.topology)));
    }
    if hosts.is_empty() {
        return Ok(None);
    }
    objections.dedup();
    unless_any(objections)?;
    let bytes = std::fs::read(binary).map_err(|error| Error::Failed(format!("cannot read {binary:?}: {error}")))?;
    let program = Program::of(bytes);
    // Each takes a second and more.
    let looked: Vec<_> = thread::scope(|scope| {
        let look = |(host, links): &(Host, Vec<(String, u64)>)| {
            let (host, links, program) = (host.clone(), links.clone(), &program);
            scope.spawn(move || look_at(&host, links, program, share))
        };
        let threads: Vec<_> = hosts.values().map(look).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let (mut machines, mut objections) = (Machines::default(), Vec::new());
    for looked in looked {
        let (name, machine, found) = looked?;
        objections.extend(found);
        machines.0.insert(name, machine);
    }
    unless_any(objections)?;
    for (name, machine) in &machines.0 {
        let Some(bundle) = &machine.bundle else { continue };
        experiment.runs.iter_mut().for_each(|run| existing::adapt(&mut run.topology, name, bundle, &machine.seen));
    }
    Ok(Some(machines))
}

fn unless_any(objections: Vec<String>) -> Result<(), Error> {
    if objections.is_empty() { Ok(()) } else { Err(Error::Unfit(objections.join("\n"))) }
}

/// Teams are ours, or there already.
fn engine_objection(host: &Host, topology: &Topology) -> Option<String> {
    let team = topology.teams.iter().find(|team| team.node == host.name);
    let engine = team.map_or("", |team| &team.engine);
    let name = &host.name;
    match (engine, host.bundle.is_some()) {
        (EXISTING, true) | ("nicteam" | "", false) => None,
        (EXISTING, false) | (_, true) => {
            let what = format!("{name}: `bundle` of a host and engine `{}` of its team go together", EXISTING);
            Some(format!("{what}; hint: give it both, or neither"))
        }
        (other, false) => {
            let what = format!("testbed `ssh` does not support teams of engine `{other}` yet");
            Some(format!("{what}; hint: use engine `nicteam`, or `existing` for one that is there already"))
        }
    }
}

/// What a machine is like, and what speaks against using it.
fn look_at(
    host: &Host,
    links: Vec<(String, u64)>,
    program: &Program,
    share: bool,
) -> Result<(String, Machine, Vec<String>), Error> {
    let name = &host.name;
    let failed = |message: String| Error::Failed(format!("{name}: {message}"));
    let bundle = host.bundle.as_ref().map(|bundle| existing::read(destination(host), bundle, program));
    let bundle = bundle.transpose().map_err(failed)?;
    let (in_place, in_file) = (bundle.is_some(), links.len());
    let links = match &bundle {
        Some(bundle) => bundle.members.iter().map(|member| (member.name.clone(), 0)).collect(),
        None => links,
    };
    let devices: Vec<String> = links.iter().map(|(device, _)| device.clone()).collect();
    let ssh = connection::program();
    let told = connection::ask(ssh.as_deref(), destination(host), &shell::look(&devices)).map_err(failed)?;
    let seen = look::read(&told);
    let (machine, binary_bytes) = (std::env::consts::ARCH, program.bytes.len() as u64);
    let wanted = Wanted { host: name, machine, binary_bytes, links: &links, share, in_place };
    let mut objections = look::objections(&seen, &wanted);
    objections.extend(bundle.iter().flat_map(|bundle| existing::objections(host, in_file, bundle, &seen)));
    Ok((name.clone(), Machine { seen, bundle }, objections))
}

impl Machines {
    /// The machine of a host.
    pub fn of(&self, host: &str) -> Machine {
        self.0.get(host).cloned().unwrap_or_default()
    }

    /// What will be done to them, a line each.
    pub fn words(&self, experiment: &Experiment) -> String {
        let plan = |(name, machine): (&String, &Machine)| {
            let run = experiment.runs.iter().find(|run| is_machine(&run.topology, name))?;
            let host = run.topology.hosts.iter().find(|host| host.name == *name)?;
            let links = links(&run.topology, name).into_iter().map(|(link, rate_bps)| (link, show_rate(rate_bps)));
            let bundle = machine.bundle.as_ref().map(existing::words);
            let links: Vec<_> = links.collect();
            Some(look::plan(&machine.seen, name, destination(host), &links, bundle.as_deref()))
        };
        self.0.iter().filter_map(plan).collect()
    }
}
