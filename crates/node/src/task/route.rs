//! The congestion control of connections that somebody else opens.

use std::net::IpAddr;

use nicteam_netlink::Netlink;

use crate::error::Failure;

/// Gives connections to another host this congestion control, where their program names none.
pub(super) fn choose_congestion(other: IpAddr, congestion: &str) -> Result<(), Failure> {
    Ok(Netlink::open()?.route_with_congestion(other, congestion)?)
}
