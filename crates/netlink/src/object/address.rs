//! Addresses (`RTM_NEWADDR`; include/uapi/linux/if_addr.h).

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};

use super::{Object, family, kind, octets};
use crate::Netlink;
use nicteam_sys::Result;

/// An address of a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(Object);

/// How long an address may be used; seconds, [`Lifetimes::FOR_EVER`] without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// For new connections.
    pub preferred_s: u32,
    /// At all.
    pub valid_s: u32,
}

impl Lifetimes {
    /// What the kernel has for "no end".
    pub const FOR_EVER: u32 = u32::MAX;
}

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_LABEL: u16 = 3;
const IFA_CACHEINFO: u16 = 6;
const IFA_FLAGS: u16 = 8;
const IFA_PROTO: u16 = 11;
/// `IFAPROT_KERNEL_LL`, since Linux 5.18.
const KERNEL_LINK_LOCAL: u8 = 3;

const SECONDARY: u32 = 0x01;
const NODAD: u32 = 0x02;
const OPTIMISTIC: u32 = 0x04;
const DADFAILED: u32 = 0x08;
const DEPRECATED: u32 = 0x20;
const TENTATIVE: u32 = 0x40;
const PERMANENT: u32 = 0x80;
const NOPREFIXROUTE: u32 = 0x200;
/// What the kernel finds out by itself, and nobody may set; of IPv6, a secondary address is a temporary one.
const STATE: u32 = SECONDARY | OPTIMISTIC | DADFAILED | DEPRECATED | TENTATIVE | PERMANENT;

impl Address {
    /// A permanent one.
    pub fn new(index: u32, address: IpAddr, prefix: u8) -> Address {
        let mut object = Object::new(kind::ADDRESS);
        object.set_byte(0, family(address));
        object.set_byte(1, prefix);
        object.set_header_u32(4, index);
        object.set(IFA_LOCAL, octets(address));
        object.set(IFA_ADDRESS, octets(address));
        Address(object)
    }

    /// As a text for files.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    /// Reads such a text.
    pub fn from_hex(text: &str) -> Option<Address> {
        Object::from_hex(text).filter(|object| object.kind == kind::ADDRESS).map(Address)
    }

    /// Its device.
    pub fn index(&self) -> u32 {
        self.0.header_u32(4)
    }

    /// The address itself; `None` of a family that is neither IPv4 nor IPv6.
    pub fn address(&self) -> Option<IpAddr> {
        self.0.address_of(IFA_LOCAL).or_else(|| self.0.address_of(IFA_ADDRESS))
    }

    /// Bits of its prefix.
    pub fn prefix(&self) -> u8 {
        self.0.byte(1)
    }

    /// The other end of a point-to-point link.
    pub fn peer(&self) -> Option<IpAddr> {
        self.0.address_of(IFA_ADDRESS).filter(|peer| self.address() != Some(*peer))
    }

    /// The prefix to which the kernel makes a route for it; `None` if it makes none.
    pub fn network(&self) -> Option<(IpAddr, u8)> {
        let (address, prefix) = (self.peer().or_else(|| self.address())?, self.prefix());
        let whole = address.is_ipv4() && prefix >= 32;
        let made = self.flags() & NOPREFIXROUTE == 0 && (!whole || self.peer().is_some());
        let network = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
                IpAddr::from((u32::from(address) & mask).to_be_bytes())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
                IpAddr::from((u128::from(address) & mask).to_be_bytes())
            }
        };
        made.then_some((network, prefix))
    }

    /// True for an address to which the kernel makes a route with this one.
    pub fn reaches(&self, other: IpAddr) -> bool {
        let is_in = |(network, prefix): (IpAddr, u8)| {
            network == other || Address::new(0, other, prefix).network() == Some((network, prefix))
        };
        self.network().is_some_and(is_in)
    }

    /// Its lifetimes, if it has an end.
    pub fn lifetimes(&self) -> Option<Lifetimes> {
        let preferred_s = self.0.u32_of(IFA_CACHEINFO)?;
        let rest = self.0.attribute(IFA_CACHEINFO)?.get(4..)?;
        let valid_s = u32::from_ne_bytes(rest.first_chunk().copied()?);
        (valid_s != Lifetimes::FOR_EVER).then_some(Lifetimes { preferred_s, valid_s })
    }

    /// The same one so many seconds later; `None`: it has ended.
    pub fn later(&self, by_s: u32) -> Option<Address> {
        let Some(Lifetimes { preferred_s, valid_s }) = self.lifetimes() else { return Some(self.clone()) };
        let valid_s = valid_s.checked_sub(by_s).filter(|left| *left > 0)?;
        // One that is preferred for ever does not get there.
        let preferred_s = if preferred_s == Lifetimes::FOR_EVER { valid_s } else { preferred_s.saturating_sub(by_s) };
        let mut info = self.0.attribute(IFA_CACHEINFO)?.to_vec();
        info[..4].copy_from_slice(&preferred_s.to_ne_bytes());
        info[4..8].copy_from_slice(&valid_s.to_ne_bytes());
        let mut object = self.0.clone();
        object.set(IFA_CACHEINFO, info);
        Some(Address(object))
    }

    /// The same one with the lifetimes of another.
    pub fn with_lifetimes_of(&self, other: &Address) -> Address {
        let mut object = self.0.clone();
        match other.0.attribute(IFA_CACHEINFO) {
            Some(info) => object.set(IFA_CACHEINFO, info.to_vec()),
            None => object.remove(&[IFA_CACHEINFO]),
        }
        Address(object)
    }

    /// A link-local one of IPv6.
    pub fn is_link_local_v6(&self) -> bool {
        matches!(self.address(), Some(IpAddr::V6(address)) if address.is_unicast_link_local())
    }

    /// A link-local one of IPv6 that the kernel made, because the device has IPv6; one that somebody has set is not.
    pub fn is_made_link_local(&self) -> bool {
        self.is_link_local_v6() && self.0.attribute(IFA_PROTO) == Some(&[KERNEL_LINK_LOCAL])
    }

    /// A temporary one of IPv6 (RFC 8981), which only the kernel can make.
    pub fn is_temporary(&self) -> bool {
        self.address().is_some_and(|address| address.is_ipv6()) && self.flags() & SECONDARY != 0
    }

    /// The kernel still looks whether somebody else has it, or found somebody.
    pub fn is_tentative(&self) -> bool {
        self.flags() & (TENTATIVE | DADFAILED) != 0
    }

    /// The same one at another device; a label that begins with the device's name goes with it.
    pub fn on(&self, index: u32, old_name: &str, name: &str) -> Address {
        let mut object = self.0.clone();
        object.set_header_u32(4, index);
        if let Some(rest) = self.0.text_of(IFA_LABEL).and_then(|label| label.strip_prefix(old_name)) {
            let label = format!("{name}{rest}");
            // IFNAMSIZ; a longer one cannot be.
            object.set_text(IFA_LABEL, if label.len() < 16 { &label } else { name });
        }
        Address(object)
    }

    /// What tells it from others of its device: two with the same are one to the kernel.
    pub fn key(&self) -> (Option<IpAddr>, Option<IpAddr>, u8) {
        // IPv6 has an address once, whatever its prefix.
        let prefix = if self.address().is_some_and(|address| address.is_ipv6()) { 0 } else { self.prefix() };
        (self.address(), if prefix == 0 { None } else { self.0.address_of(IFA_ADDRESS) }, prefix)
    }

    /// What can be compared: without lifetimes, and what the kernel finds out by itself.
    pub fn settings(&self) -> Address {
        let mut object = self.settable();
        object.remove(&[IFA_CACHEINFO]);
        object.sort();
        Address(object)
    }

    /// Like `ip address`: `10.0.0.1/24`.
    pub fn words(&self) -> String {
        let address = self.address().map_or_else(|| "?".to_owned(), |address| address.to_string());
        format!("{address}/{}", self.prefix())
    }

    fn flags(&self) -> u32 {
        self.0.u32_of(IFA_FLAGS).unwrap_or_else(|| u32::from(self.0.byte(2)))
    }

    fn set_flags(object: &mut Object, flags: u32) {
        object.set_byte(2, flags as u8);
        object.set_u32(IFA_FLAGS, flags);
    }

    /// Without what cannot be set. A temporary address is one like others then, with the end that it had, and without the
    /// route of its prefix, which is another one's.
    fn settable(&self) -> Object {
        let mut object = self.0.clone();
        let temporary = if self.is_temporary() { NOPREFIXROUTE } else { 0 };
        Address::set_flags(&mut object, self.flags() & !STATE | temporary);
        object
    }
}

impl Netlink {
    /// The addresses of every device, as the kernel tells them.
    pub fn address_objects(&mut self) -> Result<Vec<Address>> {
        let objects = self.dump(&Object::new(kind::ADDRESS), "addresses")?;
        Ok(objects.into_iter().map(Address).filter(|address| address.address().is_some()).collect())
    }

    /// Adds an address, with all that it had. IPv6 uses it at once: somebody else had to have it until now, or this host.
    ///
    /// # Errors
    /// `EEXIST`: the device has it.
    pub fn add_address_object(&mut self, address: &Address) -> Result<()> {
        let operation = || format!("add {} to device {}", address.words(), address.index());
        let settable = address.settable();
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        if address.address().is_none_or(|address| address.is_ipv4()) {
            return self.make(&settable, flags, operation);
        }
        // With this flag no duplicate is looked for, and it would stay for ever; without it later none is looked for, either
        // (Linux net/ipv6/addrconf.c, inet6_addr_modify).
        let mut at_once = settable.clone();
        let wanted = Address(settable.clone()).flags();
        Address::set_flags(&mut at_once, wanted | NODAD);
        self.make(&at_once, flags, operation)?;
        if wanted & NODAD != 0 { Ok(()) } else { self.make(&settable, NLM_F_REPLACE, operation) }
    }

    /// Removes an address.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL`: the device has no such.
    pub fn remove_address_object(&mut self, address: &Address) -> Result<()> {
        self.unmake(&address.0, || format!("remove {} from device {}", address.words(), address.index()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_goes_with_the_device() {
        let mut object = Address::new(3, [10, 0, 0, 1].into(), 24).0;
        object.set_text(IFA_LABEL, "eth0:web");
        let moved = Address(object).on(7, "eth0", "team0");
        assert_eq!((moved.index(), moved.0.text_of(IFA_LABEL)), (7, Some("team0:web")));
        assert_eq!(moved.on(3, "team0", "eth0").0.text_of(IFA_LABEL), Some("eth0:web"));
    }

    #[test]
    fn the_kernel_makes_a_route_for_a_prefix() {
        let of = |address: &str, prefix| Address::new(3, address.parse().unwrap(), prefix).network();
        assert_eq!(of("10.1.2.3", 16), Some(("10.1.0.0".parse().unwrap(), 16)));
        assert_eq!(of("2001:db8::7", 64), Some(("2001:db8::".parse().unwrap(), 64)));
        assert_eq!(of("10.1.2.3", 32), None);
        assert_eq!(of("10.1.2.3", 0), Some(("0.0.0.0".parse().unwrap(), 0)));
    }

    #[test]
    fn lifetimes_go_on_and_end() {
        let lasts = |preferred_s: u32, valid_s: u32| {
            let mut address = Address::new(3, [10, 0, 0, 1].into(), 24);
            let info = [preferred_s, valid_s, 7, 8].iter().flat_map(|word| word.to_ne_bytes()).collect();
            address.0.set(IFA_CACHEINFO, info);
            address
        };
        let left = |address: &Address, by_s| {
            address.later(by_s).map(|address| address.lifetimes().map(|left| (left.preferred_s, left.valid_s)))
        };
        assert_eq!(left(&lasts(100, 300), 50), Some(Some((50, 250))));
        assert_eq!(left(&lasts(100, 300), 200), Some(Some((0, 100))));
        assert_eq!(left(&lasts(100, 300), 300), None);
        assert_eq!(left(&lasts(Lifetimes::FOR_EVER, 300), 100), Some(Some((200, 200))));
        assert_eq!(left(&lasts(Lifetimes::FOR_EVER, Lifetimes::FOR_EVER), 100), Some(None));
        assert_eq!(left(&Address::new(3, [10, 0, 0, 1].into(), 24), 100), Some(None));
        let renewed = lasts(100, 300).with_lifetimes_of(&lasts(500, 900));
        assert_eq!(renewed, lasts(500, 900));
    }

    #[test]
    fn what_the_kernel_finds_out_is_not_set() {
        let mut address = Address::new(3, "2001:db8::1".parse().unwrap(), 64);
        Address::set_flags(&mut address.0, TENTATIVE | PERMANENT | 0x400);
        assert_eq!(Address(address.settable()).flags(), 0x400);
        Address::set_flags(&mut address.0, SECONDARY);
        assert!(address.is_temporary() && Address(address.settable()).flags() == NOPREFIXROUTE);
    }
}
