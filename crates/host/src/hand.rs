//! Takes steps. Each looks first whether it was taken already.

use std::collections::BTreeMap;
use std::net::IpAddr;

use nicteam_dataplane::TeamDevice;
use nicteam_netlink::object::{Address, Neighbour, Route};
use nicteam_netlink::{Link, Netlink};
use nicteam_sys::netns;
use nicteam_sys::packet::SendSocket;
use nicteam_wire::{Arp, Mac, Ndisc};
use nix::errno::Errno;

use crate::Error;
use crate::found::{Above, Found};
use crate::obstacles::team_of;
use crate::step::{Step, TEAM};
use crate::survey::{Sysctls, sysctls_of};

/// The index of a team's device, however it is called by now; `None`: there is none, or another device has its name.
pub(crate) fn device_of(netlink: &mut Netlink, team: &str) -> Result<Option<u32>, Error> {
    match TeamDevice::find(netlink, team) {
        Ok(device) => Ok(device.map(|device| device.index)),
        Err(nicteam_dataplane::Error::System(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// What takes steps.
#[derive(Debug)]
pub(crate) struct Hand {
    netlink: Netlink,
    team: String,
    /// Members that have another index by now; `None`: they are gone.
    indexes: BTreeMap<u32, Option<u32>>,
    addresses: Option<Vec<Address>>,
    neighbours: Option<Vec<Neighbour>>,
    /// It goes down, and may have gone.
    team_may_be_gone: bool,
    /// What could not be done and is no reason to give up.
    pub(crate) notes: Vec<String>,
}

impl Hand {
    /// For this team, which found that; it has to be there on its way up.
    pub(crate) fn new(team: &str, found: &Found, team_may_be_gone: bool) -> Result<Hand, Error> {
        let mut netlink = Netlink::open()?;
        let links = netlink.links()?;
        let (mut indexes, mut notes) = (BTreeMap::new(), Vec::new());
        for member in &found.members {
            let same = links.iter().find(|link| link.index == member.index);
            let now = same.or_else(|| links.iter().find(|link| link.name == member.name)).map(|link| link.index);
            if now.is_none() {
                notes.push(format!("{} is gone: what it was cannot be restored", member.name));
            }
            if now != Some(member.index) {
                indexes.insert(member.index, now);
            }
        }
        Ok(Hand { netlink, team: team.to_owned(), indexes, addresses: None, neighbours: None, team_may_be_gone, notes })
    }

    /// Takes a step that is not the team's own; true if something changed.
    pub(crate) fn take(&mut self, step: &Step) -> Result<bool, Error> {
        match step {
            // The process that runs the team takes these steps.
            Step::Start | Step::Stop => Ok(false),
            Step::Settings { device, settings, .. } => Ok(self.give_settings(device, settings)),
            Step::SetUp(index) => self.set_up(*index),
            Step::SwitchIpv6 { member, on } => self.switch_ipv6(*member, *on),
            Step::AddAddress(address) => self.add_address(address),
            Step::RemoveAddress(address) => {
                let Some(index) = self.index(address.index())? else { return Ok(false) };
                self.addresses = None;
                let removed = self.netlink.remove_address_object(&address.on(index, "", ""));
                is_done(removed, &[Errno::EADDRNOTAVAIL, Errno::ENODEV])
            }
            Step::KeepLinkLocal { device, keep } => self.keep_link_local(*device, keep),
            Step::AddRoute(route) => {
                let Some(route) = self.with_devices(route)? else { return Ok(false) };
                self.add_route(&route)
            }
            Step::RemoveRoute(route) => {
                let Some(route) = self.with_devices(route)? else { return Ok(false) };
                is_done(self.netlink.remove_route(&route), &[Errno::ESRCH, Errno::ENODEV])
            }
            Step::RemoveConnected { device, to } => self.remove_connected(*device, *to),
            Step::AddRule(rule) => is_done(self.netlink.add_rule(rule), &[Errno::EEXIST]),
            Step::RemoveRule(rule) => is_done(self.netlink.remove_rule(rule), &[Errno::ENOENT, Errno::ESRCH]),
            Step::SetNeighbour(neighbour) => self.set_neighbour(neighbour),
            Step::Remake { above, below } => self.remake(above, *below),
            Step::Announce { device, addresses } => {
                self.announce(*device, addresses)?;
                Ok(false)
            }
        }
    }

    /// The team has ended: what was read of devices is not true any more.
    pub(crate) fn look_again(&mut self) {
        (self.addresses, self.neighbours) = (None, None);
    }

    /// The index of a device by now; `None`: it is gone.
    fn index(&mut self, index: u32) -> Result<Option<u32>, Error> {
        match self.indexes.get(&index) {
            Some(now) => Ok(*now),
            None if index != TEAM => Ok(Some(index)),
            None => {
                let index = device_of(&mut self.netlink, &self.team)?;
                if index.is_none() && !self.team_may_be_gone {
                    return Err(nicteam_daemon::Error::DeviceGone(self.team.clone()).into());
                }
                self.indexes.insert(TEAM, index);
                Ok(index)
            }
        }
    }

    fn with_devices(&mut self, route: &Route) -> Result<Option<Route>, Error> {
        let mut now = BTreeMap::new();
        for index in route.devices() {
            let Some(is) = self.index(index)? else { return Ok(None) };
            now.insert(index, is);
        }
        Ok(Some(route.on(&|index| now.get(&index).copied().unwrap_or(index))))
    }

    /// One that a router advertised stands behind the one that the kernel makes at the next advertisement. The kernel knows its own
    /// by a flag that nobody else can set (`RTF_ADDRCONF`), and finds no room for it beside an equal one. Then it takes nothing
    /// of the advertisement, and the addresses end (Linux net/ipv6/ndisc.c, `ndisc_router_discovery`).
    fn add_route(&mut self, route: &Route) -> Result<bool, Error> {
        if !route.is_advertised() {
            return is_done(self.netlink.add_route(route), &[Errno::EEXIST]);
        }
        let behind = route.behind();
        let wanted = [route.settings(), behind.settings()];
        if self.netlink.routes()?.iter().any(|known| wanted.contains(&known.settings())) {
            return Ok(false);
        }
        is_done(self.netlink.add_route(&behind), &[Errno::EEXIST])
    }

    fn give_settings(&mut self, device: &str, settings: &Sysctls) -> bool {
        let own = sysctls_of(device);
        let mut changed = false;
        for (path, value) in settings.iter().filter(|(path, value)| own.get(*path).is_some_and(|own| own != *value)) {
            match netns::sysctl(&path.replace('*', device), value) {
                Ok(()) => changed = true,
                Err(error) => self.notes.push(error.to_string()),
            }
        }
        changed
    }

    fn set_up(&mut self, index: u32) -> Result<bool, Error> {
        let Some(index) = self.index(index)? else { return Ok(false) };
        match self.netlink.link_at(index)? {
            Some(link) if !link.up => Ok(self.netlink.set_up(index, true).map(|()| true)?),
            _ => Ok(false),
        }
    }

    fn switch_ipv6(&mut self, member: u32, on: bool) -> Result<bool, Error> {
        let Some(index) = self.index(member)? else { return Ok(false) };
        let is_of_team = |link: &Link| team_of(&link.alias) == Some(self.team.as_str());
        let Some(link) = self.netlink.link_at(index)?.filter(is_of_team) else { return Ok(false) };
        let (path, value) = (format!("ipv6/conf/{}/disable_ipv6", link.name), if on { "0" } else { "1" });
        // Where it cannot be written, the team could not switch it either.
        let is_other = netns::read_sysctl(&path).is_ok_and(|now| now != value);
        let changed = is_other && netns::sysctl(&path, value).is_ok();
        if changed {
            self.look_again();
        }
        Ok(changed)
    }

    fn addresses(&mut self) -> Result<&[Address], Error> {
        if self.addresses.is_none() {
            self.addresses = Some(self.netlink.address_objects()?);
        }
        Ok(self.addresses.as_deref().unwrap_or_default())
    }

    fn add_address(&mut self, address: &Address) -> Result<bool, Error> {
        let Some(index) = self.index(address.index())? else { return Ok(false) };
        let address = address.on(index, "", "");
        let known = self.addresses()?.iter().find(|known| known.index() == index && known.key() == address.key());
        match known.cloned() {
            // One that the kernel has just made, and that it would not use for a second.
            Some(known) if known.is_tentative() && !address.is_tentative() => {
                is_done(self.netlink.remove_address_object(&known), &[Errno::EADDRNOTAVAIL])?;
            }
            Some(_) => return Ok(false),
            None => {}
        }
        self.addresses = None;
        is_done(self.netlink.add_address_object(&address), &[Errno::EEXIST])
    }

    fn keep_link_local(&mut self, device: u32, keep: &[IpAddr]) -> Result<bool, Error> {
        let Some(index) = self.index(device)? else { return Ok(false) };
        let kept = |address: &Address| address.address().is_some_and(|address| keep.contains(&address));
        let made = |address: &&Address| address.index() == index && address.is_link_local_v6() && !kept(address);
        let surplus: Vec<Address> = self.addresses()?.iter().filter(made).cloned().collect();
        let mut changed = false;
        for address in surplus {
            self.addresses = None;
            changed |= is_done(self.netlink.remove_address_object(&address), &[Errno::EADDRNOTAVAIL])?;
        }
        Ok(changed)
    }

    fn remove_connected(&mut self, device: u32, to: (IpAddr, u8)) -> Result<bool, Error> {
        let Some(index) = self.index(device)? else { return Ok(false) };
        let mut changed = false;
        for route in self.netlink.routes()? {
            if route.is_connected() && !route.is_automatic() && route.to() == Some(to) && route.devices() == [index] {
                changed |= is_done(self.netlink.remove_route(&route), &[Errno::ESRCH])?;
            }
        }
        Ok(changed)
    }

    /// One that is set is restored; one that is learned is a help, and nothing that is changed.
    fn set_neighbour(&mut self, neighbour: &Neighbour) -> Result<bool, Error> {
        let Some(index) = self.index(neighbour.index())? else { return Ok(false) };
        let neighbour = neighbour.on(index);
        if self.neighbours.is_none() {
            self.neighbours = Some(self.netlink.neighbours()?);
        }
        let known = self.neighbours.iter().flatten().find(|known| {
            known.index() == index && known.address() == neighbour.address() && known.is_proxy() == neighbour.is_proxy()
        });
        let is_known = match known {
            Some(known) if neighbour.is_set() => known.settings() == neighbour.settings(),
            Some(known) => known.is_learned() || known.is_set(),
            None => false,
        };
        if is_known {
            return Ok(false);
        }
        match self.netlink.set_neighbour(&neighbour) {
            Ok(()) => {
                let is_set = neighbour.is_set();
                self.neighbours.get_or_insert_default().push(neighbour);
                Ok(is_set)
            }
            Err(_) if !neighbour.is_set() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn remake(&mut self, above: &Above, below: u32) -> Result<bool, Error> {
        let Some(below) = self.index(below)? else { return Ok(false) };
        let name = above.device.name();
        let now = self.netlink.devices()?.into_iter().find(|device| device.name() == name);
        let stands = now.as_ref().is_some_and(|device| device.below() == Some(below));
        if !stands {
            if let Some(old) = now {
                self.netlink.delete(old.index())?;
            }
            let largest_mtu = self.netlink.link_at(below)?.map_or(0, |link| link.mtu);
            self.netlink.add_device(&above.device, below, largest_mtu)?;
            (self.addresses, self.neighbours) = (None, None);
        }
        let mut changed = !stands;
        changed |= self.join_master(above)?;
        changed |= self.give_settings(name, &above.place.sysctls);
        if above.device.is_up() {
            changed |= self.set_up(above.device.index())?;
        }
        for address in &above.place.addresses {
            changed |= self.add_address(address)?;
        }
        Ok(changed)
    }

    fn join_master(&mut self, above: &Above) -> Result<bool, Error> {
        let Some(wanted) = &above.master else { return Ok(false) };
        let (Some(master), Some(device)) = (self.netlink.link(wanted)?, self.netlink.link(above.device.name())?) else {
            self.notes.push(format!("{wanted} is gone, of which {} was a part", above.device.name()));
            return Ok(false);
        };
        if device.master == Some(master.index) {
            return Ok(false);
        }
        Ok(self.netlink.set_master(device.index, Some(master.index)).map(|()| true)?)
    }

    /// Tells neighbours and switches where an address is now, for those that knew it elsewhere.
    fn announce(&mut self, device: u32, addresses: &[IpAddr]) -> Result<(), Error> {
        let Some(index) = self.index(device)? else { return Ok(()) };
        let Some(link) = self.netlink.link_at(index)? else { return Ok(()) };
        let (socket, mac) = (SendSocket::open(index)?, Mac(link.mac));
        for address in addresses {
            // One that is lost is no worse than none.
            let _ = socket.send(&announcement(mac, *address));
        }
        Ok(())
    }
}

fn announcement(mac: Mac, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => Arp::gratuitous(mac, address).frame(Mac::BROADCAST, mac, None),
        IpAddr::V6(address) => {
            let message = Ndisc::unsolicited(mac, address);
            message.frame(Ndisc::multicast_mac(message.dst), mac, None)
        }
    }
}

/// True if it was done, false if one of these says that it was done before.
fn is_done(done: nicteam_sys::Result<()>, before: &[Errno]) -> Result<bool, Error> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if before.iter().any(|errno| error.errno() == Some(*errno as i32)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
