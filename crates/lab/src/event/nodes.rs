//! Faults of a host or switch as a whole.

use nicteam_node::Error;
use nicteam_node::protocol::{Disturb, Disturbance, ProcessAct, Request};
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::{Action, Deployment};

/// Nothing passes the cables of a switch, and its ports stay up.
pub(super) const HANG: Kind = Kind {
    name: "hang",
    carry_out: |details, deployment| {
        of(details, |it| deployment.act(&it.disturbed(None, Disturbance::Silence(!it.over))))
    },
};
/// The LACPDUs that a switch sends are dropped.
pub(super) const LACP: Kind = Kind {
    name: "lacp",
    carry_out: |details, deployment| {
        of(details, |it| deployment.act(&it.disturbed(Some(&it.node), Disturbance::LacpSilence(!it.over))))
    },
};
/// The ports of a switch go down, and up again. Its bridge forgets the addresses of a port that goes down.
pub(super) const RESTART: Kind =
    Kind { name: "restart", carry_out: |details, deployment| of(details, |it| it.set_links(deployment)) };
/// The process of a team gets SIGSTOP, and SIGCONT.
pub(super) const STOP: Kind = Kind {
    name: "stop",
    carry_out: |details, deployment| process(details, [ProcessAct::Stop, ProcessAct::Continue], deployment),
};
/// The process of a team gets SIGKILL; another one takes the team over.
pub(super) const KILL: Kind = Kind {
    name: "kill",
    carry_out: |details, deployment| process(details, [ProcessAct::Kill, ProcessAct::Start], deployment),
};
/// A thread computes on the processor of the process of a team.
pub(super) const BUSY: Kind = Kind {
    name: "busy",
    carry_out: |details, deployment| process(details, [ProcessAct::Crowd, ProcessAct::Relieve], deployment),
};
/// The links of a host go down before its team ends, so that it says goodbye to nobody, and up before its team begins.
pub(super) const REBOOT: Kind = Kind {
    name: "reboot",
    carry_out: |details, deployment| {
        of(details, |it| {
            it.set_links(deployment)?;
            deployment.call(&it.node, &if it.over { Request::Boot } else { Request::Halt }).map(drop)
        })
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    devices: Vec<String>,
    team: Option<String>,
    over: bool,
}

/// Does something to a node; where that is.
fn of(details: &Value, act: impl FnOnce(&Details) -> Result<(), Error>) -> Result<Place, Error> {
    let details: Details = read("a fault of a node", details)?;
    act(&details)?;
    Ok(Place { node: details.node, team: details.team, member: None })
}

/// Does the first to the process of a host's team, or undoes it by the second.
fn process(details: &Value, acts: [ProcessAct; 2], deployment: &mut dyn Deployment) -> Result<Place, Error> {
    of(details, |it| {
        let (team, act) = (it.team.clone().unwrap_or_default(), acts[usize::from(it.over)]);
        deployment.call(&it.node, &Request::Process { team, act }).map(drop)
    })
}

impl Details {
    /// Every end of a cable at the node goes down, or up again.
    fn set_links(&self, deployment: &mut dyn Deployment) -> Result<(), Error> {
        self.devices.iter().try_for_each(|device| {
            deployment.act(&Action::Cable { node: self.node.clone(), device: device.clone(), plugged: self.over })
        })
    }

    /// A disturbance of every cable of the node.
    fn disturbed(&self, from: Option<&str>, disturbance: Disturbance) -> Action {
        let (node, from) = (&self.node, from.map(str::to_owned));
        let of =
            |device: &String| Disturb { node: node.clone(), device: device.clone(), from: from.clone(), disturbance };
        Action::Disturb(self.devices.iter().map(of).collect())
    }
}
