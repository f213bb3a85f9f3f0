//! The teams of an agent's node, and its devices without a team.

use std::fmt;
use std::sync::Mutex;

use nicteam_record::{MemberSample, PagpHeard, Port};
use nicteam_sys::netlink::Netlink;
use nicteam_sys::shape;

use crate::engine::{Engine, Running};
use crate::error::Failure;
use crate::lock::lock;
use crate::protocol::AddTeam;
use crate::say::Output;

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

    /// Runs a team; what executes it.
    pub(super) fn add(&self, team: &AddTeam, output: &Output) -> Result<String, Failure> {
        let found = self.engines.iter().find(|engine| engine.name() == team.engine);
        let engine = found.ok_or_else(|| format!("no engine `{}` for {}", team.engine, team.device))?;
        let running = engine.add(team, output)?;
        let dataplane = running.dataplane();
        lock(&self.running).push(running);
        Ok(dataplane)
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

    /// What the teams heard of switches that speak PAgP.
    pub(super) fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        let running = lock(&self.running);
        Ok(running.iter().map(|team| team.pagp()).collect::<Result<Vec<_>, _>>()?.concat())
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
            let link = netlink.link(device)?.ok_or_else(|| format!("{device} is gone"))?;
            samples.push(MemberSample {
                team: String::new(),
                member: device.clone(),
                tx_frames: link.stats.tx_frames,
                tx_bytes: link.stats.tx_bytes,
                tx_drops: link.stats.tx_drops + shape::drops(netlink, link.index)?,
                rx_frames: link.stats.rx_frames,
                rx_bytes: link.stats.rx_bytes,
                rx_drops: link.stats.rx_drops,
            });
        }
        Ok(samples)
    }
}

impl fmt::Debug for Teams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = lock(&self.running);
        f.debug_list().entries(running.iter().map(|team| team.device().to_owned())).finish()
    }
}
