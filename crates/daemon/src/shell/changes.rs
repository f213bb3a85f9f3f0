//! What others change while the team runs: links, addresses, names, the team device itself.

use std::collections::BTreeMap;

use nicteam_dataplane::Port;
use nicteam_netlink::{Change, Link};
use nicteam_sys::multicast::{self, Membership};
use nicteam_team::{FailOverMac, Group, MemberId, Subnet};
use nicteam_wire::{Mac, ethertype};

use super::Shell;
use crate::first_error::FirstError;
use crate::ports::Member;
use crate::upper_devices;
use crate::{Error, Happened};

impl Shell {
    /// Takes in what changed in the namespace, one by one.
    pub(super) fn take_changes(&mut self) {
        let changes = self.monitor.changes().unwrap_or_else(|error| {
            self.tell(Err(error));
            vec![Change::Lost]
        });
        let is_lost = changes.contains(&Change::Lost);
        let own = self.own_devices();
        let links =
            changes.iter().filter_map(|change| if let Change::Link(link) = change { Some(link.index) } else { None });
        let links: Vec<u32> = links.filter(|index| own.contains(index)).collect();
        let filters = changes.iter().any(|change| matches!(change, Change::Filters(index) if own.contains(index)));
        for change in without_superseded(changes) {
            let taken = self.take_change(change);
            self.tell(taken);
        }
        if filters || is_lost {
            self.repair_dataplane();
        }
        if !links.is_empty() || is_lost {
            self.repair_devices(|index| is_lost || links.contains(&index));
        }
    }

    /// The interface indexes of the team's devices.
    fn own_devices(&self) -> Vec<u32> {
        let members = self.members.iter().map(|member| member.port.index);
        members.chain([self.device.index, self.device.peer_index]).collect()
    }

    fn take_change(&mut self, change: Change) -> Result<(), Error> {
        match change {
            Change::Link(link) => self.follow(&link),
            Change::LinkGone(index) => self.lose(index),
            Change::Addresses(index) if self.upper_devices.iter().any(|device| device.index == index) => {
                self.announce_addresses()
            }
            Change::Addresses(_) | Change::Filters(_) => Ok(()),
            Change::Lost => self.read_anew(),
        }
    }

    /// Takes in a device as it is now.
    fn follow(&mut self, link: &Link) -> Result<(), Error> {
        if upper_devices::concerns(link, &self.upper_devices) {
            self.follow_upper_devices()?;
            // Addresses that a device above adds make the team device take every frame without a word.
            self.follow_filter()?;
        }
        if link.index == self.device.index {
            return self.follow_device(link);
        }
        self.welcome(link)?;
        if let Some(member) = self.members.iter_mut().find(|member| member.port.index == link.index) {
            let id = member.port.id;
            let before = std::mem::replace(&mut member.port.name, link.name.clone());
            self.rename(id, before);
            self.read_links_of(&[id], Member::read);
        }
        Ok(())
    }

    /// The team calls a member as the system does.
    pub(super) fn rename(&mut self, id: MemberId, before: String) {
        let Some(member) = self.members.iter().find(|member| member.port.id == id) else { return };
        let to = member.port.name.clone();
        if to != before {
            let renamed = self.team.rename_member(id, &to);
            self.tell(renamed);
            self.note(Happened::Renamed { from: before, to });
        }
    }

    /// Lets the members follow what a user did to the team device.
    fn follow_device(&mut self, link: &Link) -> Result<(), Error> {
        if link.name != self.called {
            let from = std::mem::replace(&mut self.called, link.name.clone());
            self.note(Happened::DeviceRenamed { from, to: link.name.clone() });
        }
        let mut first = FirstError::default();
        if link.mtu != self.mtu {
            self.mtu = link.mtu;
            first.note(self.netlink.set_mtu(self.device.peer_index, link.mtu));
            let mtu = self.member_mtu();
            for member in &self.members {
                first.note(member.set_mtu(&mut self.netlink, mtu));
            }
        }
        if link.mac != self.mac.0 {
            first.note(self.follow_mac());
        }
        if link.takes_all != self.takes_all {
            first.note(self.follow_filter());
        }
        first.result()
    }

    /// Lets the members take every frame while the team device does; a message
    /// about it may be old.
    fn follow_filter(&mut self) -> Result<(), Error> {
        let before = self.takes_all;
        self.read_filter()?;
        if self.takes_all == before { Ok(()) } else { self.set_filters() }
    }

    /// Reads whether the team device takes every frame.
    pub(super) fn read_filter(&mut self) -> Result<(), Error> {
        self.takes_all = self.netlink.link_at(self.device.index)?.is_some_and(|link| link.takes_all);
        Ok(())
    }

    /// Lets every member take what the team device takes.
    pub(super) fn set_filters(&mut self) -> Result<(), Error> {
        let mut first = FirstError::default();
        for member in &self.members {
            first.note(member.take_all(&mut self.netlink, self.takes_all));
        }
        first.result()
    }

    /// Takes in the team device's address as it is now; a message about it may be old.
    fn follow_mac(&mut self) -> Result<(), Error> {
        let link = self.netlink.link_at(self.device.index)?;
        let Some(link) = link.filter(|link| link.mac != self.mac.0) else { return Ok(()) };
        if self.team.config().mac_policy() != FailOverMac::None {
            // The team says what its address is (Linux bond_main.c, bond_set_mac_address).
            return Ok(self.netlink.set_mac(self.device.index, self.mac.0)?);
        }
        self.mac = Mac(link.mac);
        let mut first = FirstError::default();
        self.team.handle_mac(self.mac);
        for member in &self.members {
            first.note(member.set_mac(&mut self.netlink, self.team.device_mac(member.port.id)));
        }
        self.drain();
        first.result()
    }

    /// Gives a member, or the team device, another address.
    pub(super) fn set_mac(&mut self, member: Option<MemberId>, mac: Mac) -> Result<(), Error> {
        let Some(id) = member else {
            self.mac = mac;
            return Ok(self.netlink.set_mac(self.device.index, mac.0)?);
        };
        match self.members.iter().find(|member| member.port.id == id) {
            Some(member) => member.set_mac(&mut self.netlink, mac),
            None => Ok(()),
        }
    }

    /// Lets a member take every frame, or no more than the team device wants.
    pub(super) fn take_all(&mut self, id: MemberId, on: bool) -> Result<(), Error> {
        match self.members.iter().find(|member| member.port.id == id) {
            Some(member) => member.take_all(&mut self.netlink, on || self.takes_all),
            None => Ok(()),
        }
    }

    /// Tells the team which multicast groups its stack has joined.
    pub(super) fn read_groups(&mut self) {
        let groups = multicast::groups(self.device.index).unwrap_or_else(|error| {
            self.tell(Err(error));
            Vec::new()
        });
        let group = |of: &Membership| Group { address: of.group, igmp_v2: of.old_querier };
        self.team.handle_groups(&groups.iter().map(group).collect::<Vec<_>>(), self.clock.now());
        self.drain();
    }

    /// Takes in what is above the team, if it is not what it was.
    fn follow_upper_devices(&mut self) -> Result<(), Error> {
        let links = self.netlink.links()?;
        if upper_devices::upper_devices(&links, self.device.index) == self.upper_devices {
            return Ok(());
        }
        self.announce_addresses()
    }

    /// A device is gone.
    fn lose(&mut self, index: u32) -> Result<(), Error> {
        self.gone |= index == self.device.index;
        if !self.gone && self.upper_devices.iter().any(|device| device.index == index) {
            self.announce_addresses()?;
        }
        let Some(place) = self.members.iter().position(|member| member.port.index == index) else {
            return Ok(());
        };
        let Port { id, name, .. } = self.members[place].port.clone();
        let removed = self.team.remove_member(id, self.clock.now());
        self.note(Happened::Left { member: name.clone() });
        self.members.remove(place).forget();
        self.drain();
        // The kernel has taken the filters with the device.
        let _ = self.dataplane.detach(id);
        if !self.gone {
            self.await_return(id, name);
        }
        Ok(removed?)
    }

    /// Reads everything, after changes were missed.
    fn read_anew(&mut self) -> Result<(), Error> {
        let links = self.netlink.links()?;
        let mut first = FirstError::default();
        let known = self.members.iter().map(|member| member.port.index).chain([self.device.index]);
        let gone: Vec<u32> = known.filter(|&index| links.iter().all(|link| link.index != index)).collect();
        for index in gone {
            first.note(self.lose(index));
        }
        for link in &links {
            first.note(self.follow(link));
        }
        first.note(self.announce_addresses());
        first.result()
    }

    /// Tells the team which addresses to announce after a failover, and from
    /// which to ask: its own and those of the devices above.
    ///
    /// Announced are those that are reached at the team's Ethernet address,
    /// behind one customer tag at most.
    pub(super) fn announce_addresses(&mut self) -> Result<(), Error> {
        self.upper_devices = upper_devices::upper_devices(&self.netlink.links()?, self.device.index);
        let (mut announced, mut subnets) = (Vec::new(), Vec::new());
        for (index, address, prefix_len) in self.netlink.all_addresses()? {
            let Some(device) = self.upper_devices.iter().find(|device| device.index == index) else { continue };
            let vlan = match device.tags[..] {
                [] => Some(0),
                [tag] if tag.protocol == ethertype::VLAN => Some(tag.tci),
                _ => None,
            };
            let own = index == self.device.index || device.mac == self.mac;
            announced.extend(vlan.filter(|_| own).map(|vlan| (vlan, address)));
            subnets.push(Subnet { tags: device.tags.clone(), address, prefix_len });
        }
        self.team.handle_addresses(announced);
        self.team.handle_subnets(subnets);
        self.drain();
        Ok(())
    }
}

/// Of several messages about a device that are there at once, the last says all.
fn without_superseded(changes: Vec<Change>) -> Vec<Change> {
    let mut last = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        if let Change::Link(link) = change {
            last.insert(link.index, at);
        }
    }
    let is_last = |(at, change): &(usize, Change)| match change {
        Change::Link(link) => last.get(&link.index) == Some(at),
        _ => true,
    };
    changes.into_iter().enumerate().filter(is_last).map(|(_, change)| change).collect()
}
