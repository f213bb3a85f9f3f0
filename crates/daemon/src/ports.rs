//! Member devices: how they enter a team, what the team may ask of them, how they leave.

use nicteam_dataplane::Port;
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netlink::{Link, Netlink};
use nicteam_team::{Duplex, MemberId, MemberLink};
use nicteam_wire::Mac;

use crate::Error;

/// A member device and what it was before it joined.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The device in its place.
    pub(crate) port: Port,
    original: Link,
}

/// Finds a device that may join.
pub(crate) fn find(netlink: &mut Netlink, team: &str, device: &str) -> Result<Link, Error> {
    let absent = || Error::NoDevice { team: team.to_owned(), device: device.to_owned() };
    let link = netlink.link(device)?.ok_or_else(absent)?;
    match link.master {
        Some(_) => Err(Error::Enslaved { device: device.to_owned() }),
        None => Ok(link),
    }
}

/// What a device says of its link.
pub(crate) fn read(ethtool: &Ethtool, device: &str) -> Result<MemberLink, Error> {
    let settings = ethtool.settings(device)?;
    Ok(MemberLink {
        carrier: ethtool.carrier(device)?,
        speed_mbps: settings.speed_mbps,
        duplex: settings.full_duplex.map(|full| if full { Duplex::Full } else { Duplex::Half }),
    })
}

impl Member {
    /// Prepares a device: no IPv6 address of its own, the team's MAC address
    /// (so that a real NIC does not filter what is sent to the team) and MTU, and up.
    pub(crate) fn enter(netlink: &mut Netlink, link: Link, id: MemberId, mac: Mac, mtu: u32) -> Result<Member, Error> {
        let port = Port { id, name: link.name.clone(), index: link.index };
        netlink.set_no_ipv6_address(link.index)?;
        if link.mac != mac.0 {
            set_mac(netlink, &link, mac.0)?;
        }
        if link.mtu != mtu {
            netlink.set_mtu(link.index, mtu)?;
        }
        netlink.set_up(link.index, true)?;
        Ok(Member { port, original: link })
    }

    /// Gives the device back as it was: address, MTU, up or down.
    pub(crate) fn leave(&self, netlink: &mut Netlink) -> Result<(), Error> {
        let Link { index, mac, mtu, up, .. } = self.original;
        netlink.set_up(index, up)?;
        netlink.set_mtu(index, mtu)?;
        set_mac(netlink, &self.original, mac)
    }
}

/// Sets an address; drivers that refuse while the device is up get it down for a moment.
fn set_mac(netlink: &mut Netlink, link: &Link, mac: [u8; 6]) -> Result<(), Error> {
    if netlink.set_mac(link.index, mac).is_ok() {
        return Ok(());
    }
    netlink.set_up(link.index, false)?;
    let set = netlink.set_mac(link.index, mac);
    netlink.set_up(link.index, link.up)?;
    Ok(set?)
}
