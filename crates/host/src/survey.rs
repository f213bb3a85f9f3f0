//! What there is on this host, as values.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::Path;

use nicteam_dataplane::TeamDevice;
use nicteam_netlink::object::{Address, Device, Neighbour, Nexthop, Route, Rule};
use nicteam_netlink::{Link, Netlink};
use nicteam_sys::netns;

use crate::Error;

/// The network of a host at one moment.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Its devices.
    pub links: Vec<Link>,
    /// The same as the kernel tells them.
    pub devices: Vec<Device>,
    /// Their addresses.
    pub addresses: Vec<Address>,
    /// The routes of all tables, the kernel's own among them.
    pub routes: Vec<Route>,
    /// Policy rules.
    pub rules: Vec<Rule>,
    /// Neighbours, and addresses that are answered for.
    pub neighbours: Vec<Neighbour>,
    /// Nexthop objects.
    pub nexthops: Vec<Nexthop>,
    /// Settings of the devices that were asked for, by their names.
    pub sysctls: BTreeMap<String, Sysctls>,
    /// How many established TCP connections there are by each link-local address of this host.
    pub sessions: BTreeMap<Ipv6Addr, usize>,
}

/// The settings of a device, by their path below `/proc/sys/net` with `*` in the place of its name: `ipv4/conf/*/rp_filter`.
pub type Sysctls = BTreeMap<String, String>;

/// The folders below `/proc/sys/net` that have one for each device.
const FOLDERS: [&str; 4] = ["ipv4/conf", "ipv6/conf", "ipv4/neigh", "ipv6/neigh"];
/// What follows from something else: the MTU from the link, the others cannot be read or written as they are.
const DERIVED: [&str; 2] = ["mtu", "stable_secret"];

/// Of the calling thread's network namespace; `/proc/net` is of its process's.
const TCP: &str = "/proc/thread-self/net/tcp6";

impl Survey {
    /// Reads it, and the settings of these devices and of all that stands on them.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn take(devices: &[String]) -> Result<Survey, Error> {
        let mut netlink = Netlink::open()?;
        let mut survey = Survey {
            links: netlink.links()?,
            devices: netlink.devices()?,
            addresses: netlink.address_objects()?,
            routes: netlink.routes()?,
            rules: netlink.rules()?,
            neighbours: netlink.neighbours()?,
            nexthops: netlink.nexthops()?,
            sysctls: BTreeMap::new(),
            // Where the kernel has no IPv6 there are none.
            sessions: link_local_sessions(&std::fs::read_to_string(TCP).unwrap_or_default()),
        };
        let named = devices.iter().filter_map(|name| survey.link(name)).map(|link| link.index);
        let indexes: Vec<u32> = named.collect();
        let above = indexes.iter().flat_map(|index| survey.above(*index)).map(|device| device.name().to_owned());
        let names: Vec<String> = devices.iter().cloned().chain(above).collect();
        survey.sysctls = names.into_iter().map(|name| (name.clone(), sysctls_of(&name))).collect();
        Ok(survey)
    }

    /// The device of this name, or of this other name (`altname` is not known here).
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The device of the team of this name, which may have been renamed: the end behind it tells.
    pub fn device_of(&self, team: &str) -> Option<&Link> {
        match TeamDevice::among(&self.links, team) {
            Ok(Some(device)) => self.link_at(device.index),
            _ => self.link(team),
        }
    }

    /// The device of this index.
    pub fn link_at(&self, index: u32) -> Option<&Link> {
        self.links.iter().find(|link| link.index == index)
    }

    /// The name of the device of this index, as people are told it.
    pub fn name_of(&self, index: u32) -> String {
        self.link_at(index).map_or_else(|| format!("device {index}"), |link| link.name.clone())
    }

    /// The devices that stand on this one, each behind the one that it stands on.
    pub fn above(&self, index: u32) -> Vec<&Device> {
        let mut found: Vec<&Device> = Vec::new();
        let (mut below, mut next) = (index, 0);
        loop {
            let standing = self.devices.iter().filter(|device| stands_on(device, below));
            // One that stands on itself, however far around, is not looked at again.
            let new: Vec<&Device> = standing
                .filter(|device| device.index() != index && found.iter().all(|known| known.index() != device.index()))
                .collect();
            found.extend(new);
            let Some(device) = found.get(next) else { return found };
            (below, next) = (device.index(), next + 1);
        }
    }
}

/// True for a device that sends by that one: the other end of a veth pair does not.
fn stands_on(device: &Device, below: u32) -> bool {
    device.below() == Some(below) && device.index() != below && device.kind() != "veth"
}

/// The settings of a device; without those that this kernel does not tell.
pub(crate) fn sysctls_of(device: &str) -> Sysctls {
    let mut found = Sysctls::new();
    for folder in FOLDERS {
        let entries = std::fs::read_dir(Path::new("/proc/sys/net").join(folder).join(device)).into_iter().flatten();
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        for name in names.filter(|name| !DERIVED.contains(&name.as_str())) {
            if let Ok(value) = netns::read_sysctl(&format!("{folder}/{device}/{name}")) {
                found.insert(format!("{folder}/*/{name}"), value);
            }
        }
    }
    found
}

/// The established ones of a text of `/proc/net/tcp6` (Linux net/ipv6/tcp_ipv6.c, `get_tcp6_sock`): the address is four words
/// in the machine's byte order.
fn link_local_sessions(text: &str) -> BTreeMap<Ipv6Addr, usize> {
    /// `TCP_ESTABLISHED`.
    const ESTABLISHED: &str = "01";
    let local = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (address, _) = words.get(1)?.split_once(':')?;
        if words.get(3) != Some(&ESTABLISHED) || address.len() != 32 || !address.is_ascii() {
            return None;
        }
        let mut bytes = [0; 16];
        for (at, word) in bytes.chunks_exact_mut(4).enumerate() {
            word.copy_from_slice(&u32::from_str_radix(&address[8 * at..8 * at + 8], 16).ok()?.to_ne_bytes());
        }
        Some(Ipv6Addr::from(bytes)).filter(Ipv6Addr::is_unicast_link_local)
    };
    let mut sessions = BTreeMap::new();
    text.lines().filter_map(local).for_each(|address| *sessions.entry(address).or_default() += 1);
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn established_connections_by_link_local_addresses_are_counted() {
        let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
        let address = |last: u8| [word([0xfe, 0x80, 0, 0]), word([0; 4]), word([0; 4]), word([0, 0, 0, last])].concat();
        let global = [word([0x20, 1, 0x0d, 0xb8]), word([0; 4]), word([0; 4]), word([0, 0, 0, 1])].concat();
        let line =
            |local: &str, state: &str| format!("   0: {local}:0016 {}:A000 {state} 00000000:00000000", address(9));
        let lines = [
            "  sl  local_address   remote_address   st tx_queue".to_owned(),
            line(&address(1), "01"),
            line(&address(1), "01"),
            line(&address(2), "06"),
            line(&global, "01"),
            line("00", "01"),
            String::new(),
        ];
        let one: Ipv6Addr = "fe80::1".parse().unwrap();
        assert_eq!(link_local_sessions(&lines.join("\n")), BTreeMap::from([(one, 2)]));
    }
}
