//! Puts back what others took away from the team's devices.
//!
//! One list says what must be so on each device ([`Shell::wanted`]), beside what the dataplane has there
//! ([`Dataplane::missing`](nicteam_dataplane::Dataplane::missing)). It is gone through when the kernel says that something changed. Whether a member is set
//! up is its user's decision, as with the kernel's bond, and so are address and MTU of the team device, which members follow.

use nicteam_sys::netlink::{AddrGenMode, Link};
use nicteam_team::FailOverMac;
use nicteam_wire::Mac;

use super::Shell;
use crate::{Error, Happened};

/// Something that must be so on a device.
struct Wanted {
    index: u32,
    device: String,
    what: &'static str,
    is: fn(&Link, &Value) -> bool,
    make: fn(&mut nicteam_sys::netlink::Netlink, u32, &Value) -> nicteam_sys::Result<()>,
    value: Value,
}

/// How it must be; what a line does not need is nothing.
#[derive(Clone, Copy, Default)]
struct Value {
    mac: Mac,
    mtu: u32,
    up: bool,
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
        for wanted in self.wanted().into_iter().filter(|wanted| is_meant(wanted.index)) {
            // A message about it may be old.
            let link = match self.netlink.link_at(wanted.index) {
                Ok(Some(link)) => link,
                Ok(None) => continue,
                Err(error) => {
                    self.tell(Err(error));
                    continue;
                }
            };
            if !(wanted.is)(&link, &wanted.value) && self.repairs.may(&wanted.device, wanted.what, self.clock.now()) {
                let made = (wanted.make)(&mut self.netlink, wanted.index, &wanted.value);
                self.note_repair(&wanted.device, wanted.what, made.map_err(Error::from));
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

    /// What must be so, device by device.
    fn wanted(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        let mtu = self.member_mtu();
        for member in &self.members {
            let mut want = |what, is, make, value| {
                let (index, device) = (member.port.index, member.port.name.clone());
                wanted.push(Wanted { index, device, what, is, make, value });
            };
            // With `fail_over_mac` a member's address is its own, or moves.
            if self.team.config().mac_policy() == FailOverMac::None {
                let value = Value { mac: self.team.device_mac(member.port.id), ..Value::default() };
                let make: fn(&mut _, u32, &Value) -> _ =
                    |netlink: &mut nicteam_sys::netlink::Netlink, index, value| netlink.set_mac(index, value.mac.0);
                want("MAC address", |link, value| link.mac == value.mac.0, make, value);
            }
            let value = Value { mtu, ..Value::default() };
            want(
                "MTU",
                |link, value| link.mtu == value.mtu,
                |netlink, index, value| netlink.set_mtu(index, value.mtu),
                value,
            );
            want(
                "allmulticast",
                |link, _| link.all_multicast,
                |netlink, index, _| netlink.set_all_multicast(index, true),
                value,
            );
            if self.takes_all {
                want(
                    "promiscuous mode",
                    |link, _| link.promiscuous,
                    |netlink, index, _| netlink.set_promiscuous(index, true),
                    value,
                );
            }
            want(
                "IPv6 address mode",
                |link, _| link.addr_gen_mode.is_none_or(|mode| mode == AddrGenMode::None),
                |netlink, index, _| netlink.set_addr_gen_mode(index, AddrGenMode::None),
                value,
            );
        }
        let value = Value { mtu: self.mtu, up: self.team.carrier(), ..Value::default() };
        let mut want = |what, is, make| {
            let (index, device) = (self.device.peer_index, self.device.peer_name.clone());
            wanted.push(Wanted { index, device, what, is, make, value });
        };
        want("MTU", |link, value| link.mtu == value.mtu, |netlink, index, value| netlink.set_mtu(index, value.mtu));
        want(
            "administrative state",
            |link, value| link.up == value.up,
            |netlink, index, value| netlink.set_up(index, value.up),
        );
        wanted
    }
}
