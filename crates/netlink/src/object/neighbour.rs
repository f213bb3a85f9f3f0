//! Neighbours (`RTM_NEWNEIGH`; include/uapi/linux/neighbour.h).

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use nix::errno::Errno;

use super::{Object, family, kind, octets};
use crate::Netlink;
use nicteam_sys::Result;

/// A neighbour of a device: somebody whose MAC address is known, or an address that is answered for (`proxy`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour(Object);

const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NDA_PROTOCOL: u16 = 12;
const NDA_FLAGS_EXT: u16 = 15;

/// Places in `ndmsg`.
const INDEX: usize = 4;
const STATE: usize = 8;
const FLAGS: usize = 10;
const TYPE: usize = 11;

const REACHABLE: u16 = 0x02;
const STALE: u16 = 0x04;
const DELAY: u16 = 0x08;
const PROBE: u16 = 0x10;
const PERMANENT: u16 = 0x80;
const PROXY: u8 = 0x08;
const EXT_LEARNED: u8 = 0x10;
const RTN_UNICAST: u8 = 1;

impl Neighbour {
    /// As a text for files.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    /// Reads such a text.
    pub fn from_hex(text: &str) -> Option<Neighbour> {
        Object::from_hex(text).filter(|object| object.kind == kind::NEIGHBOUR).map(Neighbour)
    }

    /// The device.
    pub fn index(&self) -> u32 {
        self.0.header_u32(INDEX)
    }

    /// Its address; `None` of a family that is neither IPv4 nor IPv6.
    pub fn address(&self) -> Option<IpAddr> {
        self.0.address_of(NDA_DST)
    }

    /// Somebody has set it: it stays until it is removed.
    pub fn is_set(&self) -> bool {
        self.state() & PERMANENT != 0 || self.is_proxy()
    }

    /// The kernel has learned its MAC address, which may be used.
    pub fn is_learned(&self) -> bool {
        let known = self.state() & (REACHABLE | STALE | DELAY | PROBE) != 0;
        known && self.0.byte(TYPE) == RTN_UNICAST && self.0.attribute(NDA_LLADDR).is_some()
    }

    /// Its address is answered for.
    pub fn is_proxy(&self) -> bool {
        self.0.byte(FLAGS) & PROXY != 0
    }

    /// The same one at another device. What was learned is to be used, and asked for again at the next occasion.
    pub fn on(&self, index: u32) -> Neighbour {
        let mut object = self.0.clone();
        object.set_header_u32(INDEX, index);
        // Counters and times are the kernel's.
        object.keep(&[NDA_DST, NDA_LLADDR, NDA_PROTOCOL, NDA_FLAGS_EXT]);
        if self.state() & PERMANENT == 0 {
            let [low, high] = STALE.to_ne_bytes();
            object.set_byte(STATE, low);
            object.set_byte(STATE + 1, high);
        }
        Neighbour(object)
    }

    /// One that is to come, with an entry that is reserved: nothing is known of it, so that the kernel asks for its MAC address by
    /// ARP or neighbour discovery as ever, and changes what it knows of it as ever. But the entry stays, and does not
    /// count against `gc_thresh3`, the most entries that all network namespaces have together. (Linux exempts what
    /// `NTF_EXT_LEARNED` marks since 5.0.)
    pub fn reserved(index: u32, address: IpAddr) -> Neighbour {
        let mut object = Object::new(kind::NEIGHBOUR);
        object.set_byte(0, family(address));
        object.set_header_u32(INDEX, index);
        object.set_byte(FLAGS, EXT_LEARNED);
        object.set(NDA_DST, octets(address));
        Neighbour(object)
    }

    /// What can be compared of one that somebody has set.
    pub fn settings(&self) -> Neighbour {
        let Neighbour(mut object) = self.on(self.index());
        object.sort();
        Neighbour(object)
    }

    /// Like `ip neighbour`: `10.0.0.9 proxy`.
    pub fn words(&self) -> String {
        let address = self.address().map_or_else(|| "?".to_owned(), |address| address.to_string());
        format!("{address}{}", if self.is_proxy() { " proxy" } else { "" })
    }

    fn state(&self) -> u16 {
        u16::from_ne_bytes([self.0.byte(STATE), self.0.byte(STATE + 1)])
    }
}

impl Netlink {
    /// The neighbours of every device, and the addresses that are answered for, as the kernel tells them.
    pub fn neighbours(&mut self) -> Result<Vec<Neighbour>> {
        let mut found = Vec::new();
        for (family, flags) in
            [(libc::AF_INET, 0), (libc::AF_INET6, 0), (libc::AF_INET, PROXY), (libc::AF_INET6, PROXY)]
        {
            let mut request = Object::new(kind::NEIGHBOUR);
            request.set_byte(0, family as u8);
            request.set_byte(FLAGS, flags);
            let dumped = self.dump(&request, "neighbours")?.into_iter().map(Neighbour);
            found.extend(dumped.filter(|neighbour| neighbour.address().is_some()));
        }
        Ok(found)
    }

    /// Sets a neighbour, in place of what was known of its address.
    pub fn set_neighbour(&mut self, neighbour: &Neighbour) -> Result<()> {
        let operation = || format!("set the neighbour {} of device {}", neighbour.words(), neighbour.index());
        self.make(&neighbour.on(neighbour.index()).0, NLM_F_CREATE | NLM_F_REPLACE, operation)
    }

    /// Reserves the entry of a neighbour that is to come ([`Neighbour::reserved`]). One that is there stays as it is.
    pub fn reserve_neighbour(&mut self, index: u32, address: IpAddr) -> Result<()> {
        let neighbour = Neighbour::reserved(index, address);
        let operation = || format!("reserve the entry of the neighbour {address} of device {index}");
        match self.make(&neighbour.0, NLM_F_CREATE | NLM_F_EXCL, operation) {
            Err(error) if error.errno() == Some(Errno::EEXIST as i32) => Ok(()),
            other => other,
        }
    }
}
