//! The teams of an agent's node, and its devices without a team.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::lock;
use nicteam_node::protocol::{AddTeam, ProcessAct, Runs};
use nicteam_record::{BucketMember, MemberSample, OneSided, PagpHeard, Port};

use crate::counters;
use crate::engine::{Engine, Running};

/// What is measured on a node.
pub(super) struct Teams {
    engines: Vec<&'static dyn Engine>,
    running: Mutex<Vec<Box<dyn Running>>>,
    watched: Mutex<Vec<String>>,
}

impl Teams {
    /// No team yet; these can run some.
    pub(super) fn new(engines: &[&'static dyn Engine]) -> Teams {
        Teams { engines: engines.to_vec(), running: Mutex::default(), watched: Mutex::default() }
    }

    /// Runs a team; what runs it.
    pub(super) fn add(&self, team: &AddTeam, output: &Output) -> Result<Runs, Failure> {
        let found = self.engines.iter().find(|engine| engine.name() == team.engine);
        let engine = found.ok_or_else(|| format!("no engine `{}` for {}", team.engine, team.device))?;
        let running = engine.add(team, output)?;
        let runs = Runs { dataplane: running.dataplane(), version: running.version(), offloads: running.offloads() };
        lock(&self.running).push(running);
        Ok(runs)
    }

    /// Does something to the process of a team.
    pub(super) fn act(&self, team: &str, act: ProcessAct, output: &Output) -> Result<(), Failure> {
        let running = lock(&self.running);
        let found = running.iter().find(|running| running.device() == team);
        found.ok_or_else(|| format!("there is no team {team}"))?.act(act, output)
    }

    /// Takes every team down.
    pub(super) fn remove_all(&self) -> Result<(), Failure> {
        let running = std::mem::take(&mut *lock(&self.running));
        running.into_iter().try_for_each(|team| team.remove())
    }

    /// Makes a device a port of the bridge that an engine made; false: there is none.
    pub(super) fn plug(&self, device: &str) -> Result<bool, Failure> {
        some(&lock(&self.running), |team| team.plug(device))
    }

    /// Takes a device out of that bridge; false: there is none.
    pub(super) fn unplug(&self, device: &str) -> Result<bool, Failure> {
        some(&lock(&self.running), |team| team.unplug(device))
    }

    /// Waits until the teams have agreed with their partners on their members.
    pub(super) fn settle(&self, output: &Output) -> Result<(), Failure> {
        lock(&self.running).iter().try_for_each(|team| team.settle(output))
    }

    /// How the members of the teams with LACP are.
    pub(super) fn ports(&self) -> Result<Vec<Port>, Failure> {
        let running = lock(&self.running);
        Ok(running.iter().map(|team| team.ports()).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Which member each bucket has, of the teams that can tell.
    pub(super) fn buckets(&self) -> Result<Vec<BucketMember>, Failure> {
        let running = lock(&self.running);
        Ok(running.iter().map(|team| team.buckets()).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Processes beside this one that work for teams, each once.
    pub(super) fn processes(&self) -> Vec<u32> {
        let processes = lock(&self.running).iter().flat_map(|team| team.processes()).collect::<BTreeSet<_>>();
        processes.into_iter().collect()
    }

    /// What the teams heard of switches that speak PAgP.
    pub(super) fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        let running = lock(&self.running);
        Ok(running.iter().map(|team| team.pagp()).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// What the teams in mode stripe do towards hosts that do not.
    pub(super) fn one_sided(&self) -> Result<Vec<OneSided>, Failure> {
        let running = lock(&self.running);
        let all = running.iter().map(|team| team.one_sided()).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Measures these devices, too.
    pub(super) fn watch(&self, devices: Vec<String>) {
        lock(&self.watched).extend(devices);
    }

    /// What every member and every watched device carried.
    pub(super) fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        let mut samples = Vec::new();
        for team in lock(&self.running).iter() {
            samples.extend(team.sample(netlink)?);
        }
        for device in lock(&self.watched).iter() {
            samples.push(counters::of_device(netlink, "", device)?);
        }
        Ok(samples)
    }
}

/// Asks one team after the other, until one has done it.
fn some(running: &[Box<dyn Running>], ask: impl Fn(&dyn Running) -> Result<bool, Failure>) -> Result<bool, Failure> {
    for team in running {
        if ask(team.as_ref())? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl fmt::Debug for Teams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = lock(&self.running);
        f.debug_list().entries(running.iter().map(|team| team.device().to_owned())).finish()
    }
}
