//! What takes a step back, if a later one of its line fails.

use nicteam_daemon::{PersistedTeam, StateStore};
use nicteam_netlink::{Link, Netlink};
use nicteam_vsctl::Step;

use super::here::BOND;
use super::{bonds, step as one};
use crate::failure::Failure;
use crate::team;

/// What takes a step back.
pub(super) enum Undo {
    /// This step.
    Step(Step),
    /// The team that was this bond is started, and becomes a port of this bridge again.
    Bond { bridge: String, persisted: Box<PersistedTeam>, device: Box<Link> },
}

impl Undo {
    /// What takes this step back, as things are before it is done; none: it changes nothing.
    pub(super) fn of(netlink: &mut Netlink, step: &Step) -> Result<Option<Undo>, Failure> {
        let undo = match step {
            Step::AddBridge { bridge } => Step::DeleteBridge { bridge: bridge.clone() },
            Step::DeleteBridge { bridge } => Step::AddBridge { bridge: bridge.clone() },
            Step::AddPort { bridge, port } => deletion(bridge, port, false),
            Step::AddBond { bridge, port, .. } => deletion(bridge, port, true),
            Step::DeletePort { bridge, port, is_bond } => {
                return match netlink.link(port)? {
                    Some(device) if *is_bond && device.alias == BOND => bond(bridge, device),
                    Some(_) => Ok(Some(Undo::Step(Step::AddPort { bridge: bridge.clone(), port: port.clone() }))),
                    None => Ok(None),
                };
            }
            Step::AddInterface { port, interface } => {
                Step::DeleteInterface { port: port.clone(), interface: interface.clone() }
            }
            Step::DeleteInterface { port, interface } => {
                Step::AddInterface { port: port.clone(), interface: interface.clone() }
            }
            Step::SetBond { port, options } => {
                return Ok(bonds::before(port, options)?
                    .map(|options| Undo::Step(Step::SetBond { port: port.clone(), options })));
            }
            Step::SetMtu { device, .. } => {
                Step::SetMtu { device: device.clone(), mtu: one::link(netlink, device)?.mtu }
            }
        };
        Ok(Some(Undo::Step(undo)))
    }

    /// Takes the step back.
    pub(super) fn carry_out(&self, netlink: &mut Netlink) -> Result<(), Failure> {
        match self {
            Undo::Step(step) => one::carry_out(netlink, step),
            Undo::Bond { bridge, persisted, device } => {
                team::begin(persisted)?;
                let index = one::join(netlink, bridge, &device.name)?;
                netlink.set_alias(index, &device.alias)?;
                Ok(netlink.set_up(index, device.up)?)
            }
        }
    }
}

fn deletion(bridge: &str, port: &str, is_bond: bool) -> Step {
    Step::DeletePort { bridge: bridge.to_owned(), port: port.to_owned(), is_bond }
}

fn bond(bridge: &str, device: Link) -> Result<Option<Undo>, Failure> {
    let persisted =
        StateStore::here().and_then(|store| store.load(&device.name)).map_err(|error| team::not_started(&error))?;
    Ok(persisted.map(|persisted| Undo::Bond {
        bridge: bridge.to_owned(),
        persisted: Box::new(persisted),
        device: Box::new(device),
    }))
}
