//! Puts back what others took away from the team's devices.
//!
//! One list says what must be so on each device ([`Shell::wanted`]), beside what the dataplane has there
//! ([`Dataplane::missing`](nicteam_dataplane::Dataplane::missing)). It is gone through when the kernel says that something changed. Whether a member is set
//! up is its user's decision, as with the kernel's bond, and so are address and MTU of the team device, which members follow.

use nicteam_netlink::{AddrGenMode, Link};
use nicteam_team::FailOverMac;
use nicteam_wire::Mac;

use super::Shell;
use crate::{Error, Happened};

/// Something that must be so on a device.
#[derive(Clone, Copy)]
enum Wanted {
    Mac(Mac),
    Mtu(u32),
    AllMulticast,
    Promiscuous,
    NoIpv6Address,
    /// The end behind shows the stack a carrier, or none.
    Up(bool),
}

impl Wanted {
    /// What people call it.
    fn words(self) -> &'static str {
        match self {
            Wanted::Mac(_) => "MAC address",
            Wanted::Mtu(_) => "MTU",
            Wanted::AllMulticast => "allmulticast",
            Wanted::Promiscuous => "promiscuous mode",
            Wanted::NoIpv6Address => "IPv6 address mode",
            Wanted::Up(_) => "administrative state",
        }
    }

    /// True if it is so.
    fn is_so(self, link: &Link) -> bool {
        match self {
            Wanted::Mac(mac) => link.mac == mac.0,
            Wanted::Mtu(mtu) => link.mtu == mtu,
            Wanted::AllMulticast => link.all_multicast,
            Wanted::Promiscuous => link.promiscuous,
            Wanted::NoIpv6Address => link.addr_gen_mode.is_none_or(|mode| mode == AddrGenMode::None),
            Wanted::Up(up) => link.up == up,
        }
    }
}

impl Shell {
    /// Puts back whatever is not as it must be.
    pub(super) fn repair(&mut self) {
        self.repair_dataplane();
        self.repair_devices(|_| true);
    }

    /// Puts back what is not as it must be on these devices.
    pub(super) fn repair_devices(&mut self, is_meant: impl Fn(u32) -> bool) {
        if self.held || self.gone {
            return;
        }
        for (index, device, wanted) in self.wanted().into_iter().filter(|(index, ..)| is_meant(*index)) {
            // A message about it may be old.
            let link = match self.netlink.link_at(index) {
                Ok(Some(link)) => link,
                Ok(None) => continue,
                Err(error) => {
                    self.tell(Err(error));
                    continue;
                }
            };
            for wanted in wanted {
                let what = wanted.words();
                if !wanted.is_so(&link) && self.repairs.may(&device, what, self.clock.now()) {
                    let made = self.make_so(index, wanted);
                    self.note_repair(&device, what, made);
                }
            }
        }
    }

    /// Puts back what the dataplane had on devices.
    pub(super) fn repair_dataplane(&mut self) {
        if self.held || self.gone {
            return;
        }
        let missing = self.dataplane.missing().unwrap_or_else(|error| {
            self.tell(Err(error));
            Vec::new()
        });
        for missing in missing {
            if self.repairs.may(&missing.device, missing.what, self.clock.now()) {
                let restored = self.dataplane.restore(&missing);
                self.note_repair(&missing.device, missing.what, restored.map_err(Error::from));
            }
        }
    }

    fn note_repair(&mut self, device: &str, what: &'static str, done: Result<(), Error>) {
        let begins = self.repairs.done(device, what, self.clock.now());
        match done {
            Ok(()) => self.note(Happened::Repaired { device: device.to_owned(), what: what.to_owned() }),
            Err(error) => self.tell(Err(error)),
        }
        if begins {
            let (device, what) = (device.to_owned(), what.to_owned());
            self.note(Happened::Conflict { device, what });
        }
    }

    /// What must be so, device by device: index, name, and the list.
    fn wanted(&self) -> Vec<(u32, String, Vec<Wanted>)> {
        // With `fail_over_mac` a member's address is its own, or moves.
        let has_mac = self.team.config().mac_policy() == FailOverMac::None;
        let mut devices = Vec::new();
        for port in self.members.iter().map(|member| &member.port) {
            let mut wanted = vec![Wanted::Mtu(self.member_mtu()), Wanted::AllMulticast, Wanted::NoIpv6Address];
            wanted.extend(has_mac.then(|| Wanted::Mac(self.team.device_mac(port.id))));
            wanted.extend(self.takes_all.then_some(Wanted::Promiscuous));
            devices.push((port.index, port.name.clone(), wanted));
        }
        let behind = vec![Wanted::Mtu(self.mtu), Wanted::Up(self.team.carrier())];
        devices.push((self.device.peer_index, self.device.peer_name.clone(), behind));
        devices
    }

    /// Makes it so, on a member as when it joined.
    fn make_so(&mut self, index: u32, wanted: Wanted) -> Result<(), Error> {
        let netlink = &mut self.netlink;
        let member = self.members.iter().find(|member| member.port.index == index);
        match (wanted, member) {
            (Wanted::Mac(mac), Some(member)) => member.set_mac(netlink, mac),
            (Wanted::Mtu(mtu), Some(member)) => member.set_mtu(netlink, mtu),
            (Wanted::NoIpv6Address, Some(member)) => member.keep_from_ipv6(netlink),
            (Wanted::Mac(mac), None) => Ok(netlink.set_mac(index, mac.0)?),
            (Wanted::Mtu(mtu), None) => Ok(netlink.set_mtu(index, mtu)?),
            (Wanted::NoIpv6Address, None) => Ok(netlink.set_addr_gen_mode(index, AddrGenMode::None)?),
            (Wanted::AllMulticast, _) => Ok(netlink.set_all_multicast(index, true)?),
            (Wanted::Promiscuous, _) => Ok(netlink.set_promiscuous(index, true)?),
            (Wanted::Up(up), _) => Ok(netlink.set_up(index, up)?),
        }
    }
}
