//! The team device: one end of a veth pair.

use nicteam_netlink::{AddrGenMode, Link, Netlink, VethEnd};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::random;
use nicteam_team::MAX_QUEUE_ID;
use nicteam_wire::Mac;
use nix::net::if_::if_indextoname;

use crate::Error;

/// The team device and the end behind it (`NAME-dp`), in one namespace.
///
/// The stack uses the device; each dataplane takes what it sends at the end
/// behind it and hands on what members receive by that end, so the device counts, queues
/// and shows to taps what passes; setting that end down shows the stack a lost carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamDevice {
    /// The team's name, by which its device was made ([`TeamDevice::called`] is how it is called now).
    pub name: String,
    /// Interface index.
    pub index: u32,
    /// Name of the end behind it.
    pub peer_name: String,
    /// Interface index of the end behind it.
    pub peer_index: u32,
}

impl TeamDevice {
    /// Makes the pair, or takes over the one that an earlier process left
    /// (`true`; then address, MTU and carrier stay as they are). A new one
    /// starts down and without carrier.
    ///
    /// # Errors
    /// The name cannot be a team's, or another device has it.
    pub fn create_or_adopt(netlink: &mut Netlink, name: &str, mac: Mac, mtu: u32) -> Result<(TeamDevice, bool), Error> {
        check_name(name)?;
        if let Some(device) = TeamDevice::find(netlink, name)? {
            return Ok((device, true));
        }
        let peer_name = TeamDevice::end_behind(name);
        let end = |name, mac| VethEnd { name, index: None, mac: Some(mac), netns: None, gso_max_segs: None };
        // Both get their address here: udev (`MACAddressPolicy=persistent`) changes those that the kernel has made up.
        netlink.add_veth_with_queues(&end(name, mac.0), &end(&peer_name, own_address()?), mtu, Some(TX_QUEUES))?;
        let device = TeamDevice::find(netlink, name)?.ok_or_else(|| Error::Taken(name.to_owned()))?;
        if let Err(error) = netlink.set_no_ipv6_address(device.peer_index) {
            device.delete(netlink)?;
            return Err(error.into());
        }
        Ok((device, false))
    }

    /// Lets a filter mark a frame of the stack for one of the queues that `queue_id` names, or not: a device of
    /// several queues costs each frame a hash over its addresses and ports. Nothing happens where veth devices
    /// cannot (before Linux 5.13): they have all queues. In the network namespace of the device.
    ///
    /// The end behind sends by one in any case: else native XDP, which has one queue of the team device's, is refused there.
    pub(crate) fn mark_queues(&self, on: bool) -> Result<(), Error> {
        let ethtool = Ethtool::open()?;
        for (device, queues) in [(&self.peer_name, 1), (&self.called(), if on { TX_QUEUES } else { 1 })] {
            match ethtool.set_tx_queues(device, queues) {
                Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => {}
                set => set?,
            }
        }
        Ok(())
    }

    /// True if the name can be a team's: as the kernel's `dev_valid_name`, short enough for the end behind, and of
    /// printable ASCII alone.
    pub fn is_name(name: &str) -> bool {
        let fits = (1..=MAX_NAME).contains(&name.len()) && name != "." && name != "..";
        fits && name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b':' | b'%'))
    }

    /// Shows the stack a carrier, or none.
    pub fn set_carrier(&self, netlink: &mut Netlink, carrier: bool) -> Result<(), Error> {
        Ok(netlink.set_up(self.peer_index, carrier)?)
    }

    /// Removes the pair.
    pub fn delete(&self, netlink: &mut Netlink) -> Result<(), Error> {
        Ok(netlink.delete(self.index)?)
    }

    /// What the system calls the device now: a user may have renamed it.
    pub fn called(&self) -> String {
        let name = if_indextoname(self.index).ok().and_then(|name| name.into_string().ok());
        name.unwrap_or_else(|| self.name.clone())
    }

    /// Name of the end behind the device of the team of this name.
    pub fn end_behind(team: &str) -> String {
        format!("{team}{PEER_SUFFIX}")
    }

    /// The pair of the team of this name; `None` if neither name is taken. The device may have been renamed since.
    ///
    /// # Errors
    /// Another device has one of the names, or a user has moved the team device into another network namespace.
    pub fn find(netlink: &mut Netlink, name: &str) -> Result<Option<TeamDevice>, Error> {
        let Some(peer) = netlink.link(&TeamDevice::end_behind(name))? else {
            return if netlink.link(name)?.is_some() { Err(Error::Taken(name.to_owned())) } else { Ok(None) };
        };
        let device = peer.peer.map_or(Ok(None), |index| netlink.link_at(index))?;
        pair(name, &peer, device.as_ref()).map(Some)
    }

    /// The same among the devices of a namespace.
    ///
    /// # Errors
    /// As [`TeamDevice::find`].
    pub fn among(links: &[Link], name: &str) -> Result<Option<TeamDevice>, Error> {
        let named = |name: &str| links.iter().find(|link| link.name == name);
        let Some(peer) = named(&TeamDevice::end_behind(name)) else {
            return if named(name).is_some() { Err(Error::Taken(name.to_owned())) } else { Ok(None) };
        };
        pair(name, peer, links.iter().find(|link| Some(link.index) == peer.peer)).map(Some)
    }

    /// The team whose device is called so by now; `None`: it is no team's.
    ///
    /// # Errors
    /// The kernel cannot be asked.
    pub fn team_of(netlink: &mut Netlink, device: &str) -> Result<Option<String>, Error> {
        let Some(link) = netlink.link(device)? else { return Ok(None) };
        let Some(peer) = link.peer.map_or(Ok(None), |index| netlink.link_at(index))? else { return Ok(None) };
        let team = peer.name.strip_suffix(PEER_SUFFIX).filter(|team| pair(team, &peer, Some(&link)).is_ok());
        Ok(team.map(str::to_owned))
    }
}

/// A frame can be marked for a queue below the number of queues alone
/// (`tcf_skbedit_act`), and `queue_id` names them up to the highest.
const TX_QUEUES: u32 = MAX_QUEUE_ID as u32 + 1;
/// What the name of the end behind adds to the team's.
const PEER_SUFFIX: &str = "-dp";
/// Bytes of a device name (`IFNAMSIZ` - 1), less the suffix.
const MAX_NAME: usize = 15 - PEER_SUFFIX.len();

/// An address of nobody's, for the end behind: random, for one host, locally administered.
fn own_address() -> Result<[u8; 6], Error> {
    let mut address: [u8; 6] = random::bytes()?;
    address[0] = address[0] & 0xfc | 2;
    Ok(address)
}

/// The pair of an end behind that has its name, and of the device at its other end, if that is a team's.
fn pair(name: &str, peer: &Link, device: Option<&Link>) -> Result<TeamDevice, Error> {
    let peer_name = peer.name.clone();
    if peer.kind != "veth" {
        return Err(Error::Taken(peer_name));
    }
    if peer.peer_elsewhere {
        return Err(Error::Elsewhere { team: name.to_owned(), peer: peer_name });
    }
    let is_other_end = |device: &&Link| device.kind == "veth" && device.peer == Some(peer.index);
    // Of a pair that is called otherwise the end behind has the mode that we gave it.
    let is_ours = |device: &&Link| device.name == name || peer.addr_gen_mode == Some(AddrGenMode::None);
    match device.filter(is_other_end).filter(is_ours) {
        Some(device) => {
            Ok(TeamDevice { name: name.to_owned(), index: device.index, peer_name, peer_index: peer.index })
        }
        None => Err(Error::Taken(peer_name)),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    if TeamDevice::is_name(name) { Ok(()) } else { Err(Error::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["t", "team0", "bond-uplink1"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "a:1", "team%d", "thirteenchars", "t\u{e9}am"] {
            assert!(matches!(check_name(bad), Err(Error::Name(_))), "{bad}");
        }
    }
}
