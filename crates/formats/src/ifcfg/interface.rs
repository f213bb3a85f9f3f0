//! `ifcfg-bond0` -> addresses, the gateway, options.

use std::collections::BTreeMap;

use super::parts::{Assignment, Kind, Part, assignment};
use crate::draft::Draft;
use crate::names::shown;
use crate::reading::{At, Reading};
use crate::{Address, Route};

/// An interface's file.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// Its device; of `bond0:1` that is `bond0`.
    pub(super) device: String,
    pub(super) entries: Vec<Assignment>,
    /// Lines that are no assignments, or such that only a shell can do.
    strays: Vec<At>,
    pub(super) at: At,
}

/// Keys that say what is true of a team anyway.
const KNOWN: [&str; 16] = [
    "DEVICE",
    "NAME",
    "TYPE",
    "UUID",
    "USERCTL",
    "NM_CONTROLLED",
    "HOTPLUG",
    "MASTER",
    "SLAVE",
    "BONDING_MASTER",
    "IPV6INIT",
    "STARTMODE",
    "IPV4_FAILURE_FATAL",
    "IPV6_FAILURE_FATAL",
    "MASTER_UUID",
    "ONPARENT",
];

impl Interface {
    pub(super) fn read(part: &Part<'_>) -> Option<Interface> {
        let Kind::Interface(named) = &part.kind else { return None };
        let (mut entries, mut strays) = (Vec::new(), Vec::new());
        for line in part.lines() {
            match assignment(&line) {
                Some(entry) => entries.push(entry),
                None => strays.push(line.at),
            }
        }
        let device = entries.iter().rfind(|entry| entry.key == "DEVICE");
        let at = device.map_or_else(|| part.at(), |device| device.value_at.clone());
        let device = device.map_or(named.as_str(), |device| device.value.as_str());
        let device = device.split(':').next().unwrap_or(device).to_owned();
        Some(Interface { device, entries, strays, at })
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Assignment> {
        self.entries.iter().rfind(|entry| entry.key == key).filter(|entry| !entry.value.is_empty())
    }

    /// The bond that it is in.
    pub(super) fn master(&self) -> Option<&Assignment> {
        self.entry("MASTER")
    }

    /// True if it says of itself that it is a bond.
    pub(super) fn is_bond(&self) -> bool {
        let is = |key: &str, value: &str| self.entry(key).is_some_and(|entry| entry.value.eq_ignore_ascii_case(value));
        is("TYPE", "bond") || is("BONDING_MASTER", "yes") || self.entry("BONDING_OPTS").is_some()
    }

    fn leave_strays(&self, reading: &mut Reading<'_>, team: &str) {
        for at in &self.strays {
            reading.left(at, Some(team), "only a shell can say what this is: write `KEY=value`");
        }
    }

    /// Reads what it says of the bond.
    pub(super) fn read_into(&self, reading: &mut Reading<'_>, draft: &mut Draft) {
        self.leave_strays(reading, &draft.name);
        let mut addresses: BTreeMap<&str, Address> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| !entry.value.is_empty()) {
            if let Some(number) = numbered(&entry.key, "IPADDR") {
                match self.address(number, entry) {
                    Ok(address) => {
                        draft.add_address(address);
                        addresses.insert(number, address);
                    }
                    Err((message, hint)) => reading.wrong(&entry.value_at, message, hint),
                }
            }
        }
        for entry in self.entries.iter().filter(|entry| !entry.value.is_empty()) {
            self.read_entry(reading, draft, entry, &addresses);
        }
    }

    /// An address, with the netmask or the prefix of the same number; else the prefix of its class, as `ipcalc` has it.
    fn address(&self, number: &str, entry: &Assignment) -> Result<Address, (String, String)> {
        let error = |error: crate::AddressError| (error.to_string(), error.hint());
        if entry.value.contains('/') {
            return entry.value.parse().map_err(error);
        }
        let address =
            entry.value.parse().map_err(|_| error(crate::AddressError::NoAddress { text: shown(&entry.value) }))?;
        let length = ["PREFIX", "NETMASK"].iter().find_map(|key| self.entry(&format!("{key}{number}")));
        match (length, address) {
            (Some(length), _) => Address::with_netmask(address, &length.value).map_err(error),
            (None, std::net::IpAddr::V4(v4)) => Ok(Address::of_class(v4)),
            (None, _) => Ok(Address::host(address)),
        }
    }

    fn read_entry(
        &self,
        reading: &mut Reading<'_>,
        draft: &mut Draft,
        entry: &Assignment,
        addresses: &BTreeMap<&str, Address>,
    ) {
        let value = entry.value.as_str();
        let is_address = ["IPADDR", "PREFIX", "NETMASK"].iter().any(|key| numbered(&entry.key, key).is_some());
        let mut leave = |why: &str| reading.left(&entry.at, Some(&draft.name), why);
        match entry.key.as_str() {
            "BONDING_OPTS" | "BONDING_MODULE_OPTS" => read_options(reading, draft, value, &entry.value_at),
            "BOOTPROTO" if matches!(value, "none" | "static" | "") => {}
            "BOOTPROTO" => {
                leave("DHCP stays in the old place: the file without bonding's lines works on the team as on a bond")
            }
            "ONBOOT" if value == "yes" => {}
            "ONBOOT" => leave("a team of /etc/nicteam comes up with the machine"),
            "MTU" => draft.set_mtu(reading, value, &entry.value_at),
            "MACADDR" | "LLADDR" => draft.set_mac(reading, value, &entry.value_at),
            "GATEWAY" | "IPV6_DEFAULTGW" => {
                let value = value.split('%').next().unwrap_or(value);
                match Route::parse(&format!("default via {value}{}", self.metric())) {
                    Ok(words) => draft.add_route(words.route),
                    Err(error) => reading.wrong(&entry.value_at, error.to_string(), error.hint()),
                }
            }
            "METRIC" if self.entry("GATEWAY").is_some() => {}
            "IPV6ADDR" => add_v6(reading, draft, value, &entry.value_at),
            "IPV6ADDR_SECONDARIES" => {
                value.split_whitespace().for_each(|address| add_v6(reading, draft, address, &entry.value_at));
            }
            "BRIDGE" => leave("the bridge stays in the old place: it takes the team as it took the bond"),
            key if KNOWN.contains(&key) || is_address || key.starts_with("BONDING_SLAVE") => {}
            key => match follows(key, value, addresses) {
                true => {}
                false => {
                    leave("nicteam has nothing for it: the file without bonding's lines works on the team as on a bond")
                }
            },
        }
    }

    fn metric(&self) -> String {
        self.entry("METRIC").map(|metric| format!(" metric {}", metric.value)).unwrap_or_default()
    }

    /// Lists what of a member's file is not its being one.
    pub(super) fn leave_members(&self, reading: &mut Reading<'_>, draft: &Draft) {
        self.leave_strays(reading, &draft.name);
        for entry in self.entries.iter().filter(|entry| !entry.value.is_empty()) {
            let why = match (entry.key.as_str(), entry.value.as_str()) {
                ("BOOTPROTO", "none" | "static") | ("ONBOOT", "yes") => continue,
                (key, _) if KNOWN.contains(&key) => continue,
                ("HWADDR", _) => "a team takes its members by their names",
                ("IPADDR" | "NETMASK" | "PREFIX" | "GATEWAY" | "NETWORK" | "BROADCAST", _) => {
                    "an address of a member has no effect in a bond: give it to the team, or take it out"
                }
                _ => "it is of a member, which the team takes",
            };
            reading.left(&entry.at, Some(&draft.name), why);
        }
    }
}

/// `mode=4 miimon=100`, with white space between.
pub(super) fn read_options(reading: &mut Reading<'_>, draft: &mut Draft, text: &str, at: &At) {
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some((name, value)) => draft.module_option(reading, name, value, at),
            None => reading.wrong(at, format!("`{}` is no option", shown(word)), "options are `mode=4 miimon=100`"),
        }
    }
}

/// `IPADDR`, `IPADDR0`, `IPADDR1`: what stands behind.
fn numbered<'k>(key: &'k str, name: &str) -> Option<&'k str> {
    key.strip_prefix(name).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True if a network or a broadcast address is what follows from the address.
fn follows(key: &str, value: &str, addresses: &BTreeMap<&str, Address>) -> bool {
    let of = |number: &str| addresses.get(number);
    if let Some(number) = numbered(key, "NETWORK") {
        return of(number).is_some_and(|address| address.network().address.to_string() == value);
    }
    match numbered(key, "BROADCAST").and_then(of) {
        Some(address) => address.broadcast().is_some_and(|broadcast| broadcast.to_string() == value),
        None => false,
    }
}

fn add_v6(reading: &mut Reading<'_>, draft: &mut Draft, text: &str, at: &At) {
    let text = text.split('%').next().unwrap_or(text);
    match text.parse() {
        // Without a length 64 bits, as `ifup-ipv6` has it.
        Ok(address) => draft.add_address(Address { address, prefix: if address.is_ipv4() { 32 } else { 64 } }),
        Err(_) => draft.address(reading, text, at),
    }
}
