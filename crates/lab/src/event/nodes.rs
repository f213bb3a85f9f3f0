//! Faults of a host or switch as a whole.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::protocol::{Disturb, Disturbance, ProcessAct, Request};
use crate::testbed::{Action, Deployment};

/// Nothing passes the cables of a switch, and its ports stay up.
pub(super) static HANG: Node =
    Node { name: "hang", act: |it, deployment| deployment.act(&it.disturbed(None, Disturbance::Silence(!it.over))) };
/// The LACPDUs that a switch sends are dropped.
pub(super) static LACP: Node = Node {
    name: "lacp",
    act: |it, deployment| deployment.act(&it.disturbed(Some(&it.node), Disturbance::LacpSilence(!it.over))),
};
/// The ports of a switch go down, and up again. Its bridge forgets the addresses of a port that goes down.
pub(super) static RESTART: Node = Node { name: "restart", act: Details::set_links };
/// The process of a team gets SIGSTOP, and SIGCONT.
pub(super) static STOP: Node =
    Node { name: "stop", act: |it, deployment| it.process([ProcessAct::Stop, ProcessAct::Continue], deployment) };
/// The process of a team gets SIGKILL; another one takes the team over.
pub(super) static KILL: Node =
    Node { name: "kill", act: |it, deployment| it.process([ProcessAct::Kill, ProcessAct::Start], deployment) };
/// A thread computes on the processor of the process of a team.
pub(super) static BUSY: Node =
    Node { name: "busy", act: |it, deployment| it.process([ProcessAct::Crowd, ProcessAct::Relieve], deployment) };
/// The links of a host go down before its team ends, so that it says goodbye to nobody, and up before its team begins.
pub(super) static REBOOT: Node = Node {
    name: "reboot",
    act: |it, deployment| {
        it.set_links(deployment)?;
        deployment.call(&it.node, &if it.over { Request::Boot } else { Request::Halt }).map(drop)
    },
};

/// A kind of fault of a node, and how it is carried out.
pub(super) struct Node {
    name: &'static str,
    act: fn(&Details, &mut dyn Deployment) -> Result<(), Error>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    devices: Vec<String>,
    team: Option<String>,
    over: bool,
}

impl Kind for Node {
    fn name(&self) -> &'static str {
        self.name
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let details: Details = read(self.name, details)?;
        (self.act)(&details, deployment)?;
        Ok(Place { node: details.node, team: details.team, member: None })
    }
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

    /// Does the first to the process of the host's team, or undoes it by the second.
    fn process(&self, acts: [ProcessAct; 2], deployment: &mut dyn Deployment) -> Result<(), Error> {
        let (team, act) = (self.team.clone().unwrap_or_default(), acts[usize::from(self.over)]);
        deployment.call(&self.node, &Request::Process { team, act }).map(drop)
    }
}
