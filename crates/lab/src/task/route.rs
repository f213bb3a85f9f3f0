//! The congestion control of connections that somebody else opens.

use std::net::IpAddr;

use nicteam_sys::netlink::Netlink;

use crate::error::Failure;

/// Gives connections to another host this congestion control, where their program names none.
pub(super) fn choose_congestion(own: IpAddr, other: IpAddr, congestion: &str) -> Result<(), Failure> {
    let mut netlink = Netlink::open()?;
    let device = netlink.all_addresses()?.into_iter().find(|(_, address, _)| *address == own);
    let (index, ..) = device.ok_or_else(|| format!("no device has {own}"))?;
    Ok(netlink.route_with_congestion(other, index, congestion)?)
}
