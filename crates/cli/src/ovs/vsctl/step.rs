//! One step of a line, done.

use nicteam_daemon::control::Request;
use nicteam_netlink::{Link, Netlink};
use nicteam_vsctl::Step;

use super::bonds;
use super::here::{BOND, BRIDGE};
use crate::failure::Failure;
use crate::team;

/// Carries a step out.
pub(super) fn carry_out(netlink: &mut Netlink, step: &Step) -> Result<(), Failure> {
    match step {
        Step::AddBridge { bridge } => {
            netlink.add_bridge(bridge)?;
            let index = link(netlink, bridge)?.index;
            netlink.set_alias(index, BRIDGE)?;
            // The kernel's bridge forwards only while it is up.
            Ok(netlink.set_up(index, true)?)
        }
        Step::DeleteBridge { bridge } => {
            let index = link(netlink, bridge)?.index;
            Ok(netlink.delete(index)?)
        }
        Step::AddPort { bridge, port } => join(netlink, bridge, port).map(drop),
        Step::AddBond { bridge, port, interfaces, options } => {
            bonds::make(port, interfaces, options)?;
            match join(netlink, bridge, port).and_then(|index| {
                netlink.set_alias(index, BOND)?;
                Ok(netlink.set_up(index, true)?)
            }) {
                Ok(()) => Ok(()),
                Err(failure) => team::remove(port).and(Err(failure)),
            }
        }
        Step::DeletePort { port, is_bond, .. } => {
            let Some(link) = netlink.link(port)? else { return Ok(()) };
            match *is_bond && link.alias == BOND {
                true => team::remove(port),
                false => Ok(netlink.set_master(link.index, None)?),
            }
        }
        Step::AddInterface { port, interface } => {
            team::order(port, &Request::AddMember { device: interface.clone() }).map(drop)
        }
        Step::DeleteInterface { port, interface } => {
            team::order(port, &Request::RemoveMember { device: interface.clone() }).map(drop)
        }
        Step::SetBond { port, options } => bonds::set(netlink, port, options),
        Step::SetMtu { device, mtu } => {
            let index = link(netlink, device)?.index;
            Ok(netlink.set_mtu(index, *mtu)?)
        }
    }
}

/// Makes a device a port of a bridge; its index.
pub(super) fn join(netlink: &mut Netlink, bridge: &str, port: &str) -> Result<u32, Failure> {
    let [bridge, port] = [link(netlink, bridge)?.index, link(netlink, port)?.index];
    netlink.set_master(port, Some(bridge))?;
    Ok(port)
}

/// A device that has to be there.
pub(super) fn link(netlink: &mut Netlink, device: &str) -> Result<Link, Failure> {
    netlink.link(device)?.ok_or_else(|| Failure::failed(format!("no device {device}")))
}
