//! `ifcfg-bond0` -> addresses, the gateway, options.

use std::collections::BTreeMap;

use nicteam_drafts::Reading;
use nicteam_drafts::draft::{Draft, signless};
use nicteam_drafts::names::shown;
use nicteam_drafts::{Address, Route};
use nicteam_scripts::openvswitch;
use nicteam_syntax::At;
use nicteam_syntax::ini;
use nicteam_syntax::shell::quoted;

use super::assignment::{Assignment, Stray};
use super::parts::{Kind, Part};

/// An interface's file.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// Its device; of `bond0:1` that is `bond0`.
    pub(super) device: String,
    pub(super) entries: Vec<Assignment>,
    /// Of each key the place of its last entry, which holds.
    last: BTreeMap<String, usize>,
    /// Lines that are no assignments, or such that only a shell can do.
    strays: Vec<Stray>,
    pub(super) at: At,
}

/// What stays in the file of a bond.
const STAYS: &str =
    "a team has nothing for it: it stays in this file, which serves the team's device as it served the bond's";

/// The same of a bridge that the bond is in.
pub(super) const BRIDGE_STAYS: &str = "the bridge stays in this file: it takes the team's device as it took the bond's";

/// Keys that say what is true of a team anyway.
const KNOWN: &[&str] = &[
    "DEVICE",
    "NAME",
    "TYPE",
    "UUID",
    "USERCTL",
    "USERCONTROL",
    "NM_CONTROLLED",
    "HOTPLUG",
    "MASTER",
    "SLAVE",
    "BONDING_MASTER",
    "IPV6INIT",
    "IPV4_FAILURE_FATAL",
    "IPV6_FAILURE_FATAL",
    "MASTER_UUID",
    "ONPARENT",
    "DEVICETYPE",
    "TEAM_CONFIG",
    "TEAM_MASTER",
    "TEAM_MASTER_UUID",
    "TEAM_PORT_CONFIG",
    "IPV6_ADDR_GEN_MODE",
    "ARPCHECK",
    "ARPUPDATE",
    "AUTOCONNECT_PRIORITY",
    "AUTOCONNECT_SLAVES",
    "AUTOCONNECT_RETRIES",
    "BOND_PORT_QUEUE_ID",
    "BOND_PORT_PRIO",
    "OVS_BRIDGE",
    "OVS_OPTIONS",
    "OVS_EXTRA",
    "OVSBOOTPROTO",
];
/// Settings that NetworkManager writes into every file.
const DEFAULTS: &[(&str, &str)] = &[
    ("PROXY_METHOD", "none"),
    ("BROWSER_ONLY", "no"),
    ("DEFROUTE", "yes"),
    ("IPV6_DEFROUTE", "yes"),
    ("PEERDNS", "yes"),
    ("PEERROUTES", "yes"),
    ("IPV6_PEERDNS", "yes"),
    ("IPV6_PEERROUTES", "yes"),
    ("IPV6_PRIVACY", "no"),
    ("IPV6_AUTOCONF", "yes"),
    ("IPV6_DISABLED", "no"),
    ("IPV6FORWARDING", "no"),
    ("DHCPV6C", "no"),
    ("VLAN", "no"),
    ("ONBOOT", "yes"),
    ("BOOTPROTO", "none"),
    ("BOOTPROTO", "static"),
    ("STARTMODE", "auto"),
    ("STARTMODE", "onboot"),
    ("STARTMODE", "boot"),
    ("STARTMODE", "on"),
    ("STARTMODE", "hotplug"),
    ("STARTMODE", "nfsroot"),
];

fn says_nothing(key: &str, value: &str) -> bool {
    KNOWN.contains(&key) || DEFAULTS.iter().any(|(of, default)| *of == key && default.eq_ignore_ascii_case(value))
}

impl Interface {
    pub(super) fn read(part: &Part<'_>) -> Option<Interface> {
        let Kind::Interface(named) = &part.kind else { return None };
        let (entries, strays) = part.assignments();
        let device = entries.iter().rfind(|entry| entry.key == "DEVICE");
        let at = device.map_or_else(|| part.at(), |device| device.value_at.clone());
        let device = device.map_or(named.as_str(), |device| device.value.as_str());
        let device = device.split(':').next().unwrap_or(device).to_owned();
        let last = entries.iter().enumerate().map(|(place, entry)| (entry.key.clone(), place)).collect();
        Some(Interface { device, entries, last, strays, at })
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Assignment> {
        self.last.get(key).and_then(|place| self.entries.get(*place)).filter(|entry| !entry.value.is_empty())
    }

    /// True if it says of itself that it is a bond or a team.
    pub(super) fn is_bond(&self) -> bool {
        let is = |key: &str, value: &str| self.entry(key).is_some_and(|entry| entry.value.eq_ignore_ascii_case(value));
        is("TYPE", "bond")
            || self.says("BONDING_MASTER", true)
            || self.entry("BONDING_OPTS").is_some()
            || self.is_team()
            || self.is_openvswitch()
    }

    /// True if it says of itself that it is a bond of Open vSwitch's.
    pub(super) fn is_openvswitch(&self) -> bool {
        self.entry("TYPE").is_some_and(|entry| entry.value.eq_ignore_ascii_case("OVSBond"))
    }

    /// What a bond of Open vSwitch's is told (its `rhel/etc_sysconfig_network-scripts_ifup-ovs`, 3.1).
    pub(super) fn read_openvswitch(&self, reading: &mut Reading<'_>, draft: &mut Draft) {
        let words = |key: &str| -> Vec<(String, At)> {
            let entry = self.entry(key);
            let words = |of: &Assignment| of.value.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            entry.into_iter().flat_map(|of| words(of).into_iter().map(|word| (word, of.value_at.clone()))).collect()
        };
        let Some(bridge) = self.entry("OVS_BRIDGE") else {
            let hint = "a bond of Open vSwitch is a port of a bridge: `OVS_BRIDGE=br0`";
            return reading.wrong(&self.at, "`OVS_BRIDGE` is missing", hint);
        };
        let bridge = bridge.value.as_str();
        let said = openvswitch::Bond { bridge, settings: words("OVS_OPTIONS"), more: words("OVS_EXTRA") };
        said.give(reading, draft);
        let why = format!(
            "the bond is a port of {bridge}: the kernel's bridge takes the team, `TYPE=Bridge` in the file of {bridge} \
             and `BRIDGE={bridge}` in this one"
        );
        reading.left_as(&self.at, draft.name.clone(), Some(&draft.name), why);
        let command = format!("ovs-vsctl del-port {} {}", quoted(bridge), quoted(&draft.name));
        let what = format!("take {} out of {bridge}: Open vSwitch builds it again when it starts", draft.name);
        reading.disable(&self.at, what, Some(command));
    }

    /// True if it says of itself that it is a team of teamd's.
    pub(super) fn is_team(&self) -> bool {
        let is_team = |key: &str| self.entry(key).is_some_and(|entry| entry.value.eq_ignore_ascii_case("team"));
        is_team("TYPE") || is_team("DEVICETYPE") || self.entry("TEAM_CONFIG").is_some()
    }

    /// Refuses what a bond cannot be built without, and who finds its device by its address. `master`: the bond or team that
    /// it is in.
    pub(super) fn check(&self, reading: &mut Reading<'_>, master: Option<&str>) {
        for stray in &self.strays {
            if let Some(key) = stray.key.as_deref().filter(|key| is_essential(key)) {
                reading.wrong(&stray.at, format!("the value of `{key}` cannot be read"), stray.why);
            }
        }
        let address = self.entry("HWADDR").filter(|_| self.entry("DEVICE").is_none());
        if let Some((address, bond)) = address.zip(master) {
            let message = format!("only its machine knows which device is in {}", shown(bond));
            let hint = "add `DEVICE=eth1`: a team's members are named, and `ip -br link` tells whose address this is";
            reading.wrong(&address.value_at, message, hint);
        }
    }

    /// True for a device that its file makes.
    pub(super) fn is_made(&self) -> bool {
        self.says("VLAN", true)
            || self.entry("TYPE").is_some_and(|entry| entry.value.eq_ignore_ascii_case("vlan"))
            || self.entry("ETHERDEVICE").is_some()
            || self.device.rsplit_once('.').is_some_and(|(_, id)| id.parse::<u16>().is_ok())
    }

    /// Its lines by which it is a member.
    pub(super) fn member_lines(&self) -> impl Iterator<Item = &Assignment> {
        let is_one = |entry: &&Assignment| {
            matches!(&*entry.key, "MASTER" | "SLAVE" | "MASTER_UUID" | "TEAM_MASTER" | "TEAM_MASTER_UUID")
        };
        self.entries.iter().filter(is_one)
    }

    /// Its lines that a bond is built from, not those that configure its device.
    pub(super) fn bond_lines(&self) -> impl Iterator<Item = &Assignment> {
        let is_one = |entry: &&Assignment| match entry.key.as_str() {
            "TYPE" | "DEVICETYPE" => ["bond", "team"].iter().any(|kind| entry.value.eq_ignore_ascii_case(kind)),
            key => key.starts_with("BONDING_") || key == "TEAM_CONFIG",
        };
        self.entries.iter().filter(is_one)
    }

    fn leave_strays(&self, reading: &mut Reading<'_>, team: &str) {
        for stray in self.strays.iter().filter(|stray| !stray.key.as_deref().is_some_and(is_essential)) {
            reading.left(&stray.at, Some(team), stray.why);
        }
    }

    /// Reads what it says of the bond; true if something of it stays that the team's device still needs.
    pub(super) fn read_into(&self, reading: &mut Reading<'_>, draft: &mut Draft) -> bool {
        self.leave_strays(reading, &draft.name);
        let mut stays = false;
        let mut addresses: BTreeMap<&str, Address> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| !entry.value.is_empty()) {
            if let Some(number) = suffix(&entry.key, "IPADDR") {
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
            stays |= self.read_entry(reading, draft, entry, &addresses);
        }
        draft.accept_ra = self.accept_ra().or(draft.accept_ra);
        stays
    }

    /// Whether it takes router advertisements, if it says so (`ifup-ipv6`; NetworkManager alike).
    fn accept_ra(&self) -> Option<u8> {
        let is_left = self.says("IPV6INIT", false) || self.says("IPV6_DISABLED", true);
        if is_left || self.says("IPV6_SET_SYSCTLS", false) || self.says("IPV6_FORCE_ACCEPT_RA", true) {
            return None;
        }
        match (self.flag("IPV6_AUTOCONF"), self.says("IPV6FORWARDING", true)) {
            (Some(true), true) => Some(2),
            (Some(false), _) | (None, true) => Some(0),
            _ => None,
        }
    }

    /// The gateway that holds: the first one by its number.
    fn is_gateway(&self, entry: &Assignment) -> bool {
        let given = self.entries.iter().filter(|entry| !entry.value.is_empty());
        let numbers = given.filter_map(|entry| numbered(&entry.key, "GATEWAY"));
        let order = |number: &str| (number.len(), number.to_owned());
        numbers.min_by_key(|number| order(number)) == numbered(&entry.key, "GATEWAY")
    }

    /// An address, with the netmask or the prefix of the same number; else the prefix of its class, as `ipcalc` has it.
    fn address(&self, number: &str, entry: &Assignment) -> Result<Address, (String, String)> {
        let error = |error: nicteam_drafts::AddressError| (error.to_string(), error.hint());
        if entry.value.contains('/') {
            return entry.value.parse().map_err(error);
        }
        let address = entry
            .value
            .parse()
            .map_err(|_| error(nicteam_drafts::AddressError::NoAddress { text: shown(&entry.value) }))?;
        let length = ["PREFIX", "PREFIXLEN", "NETMASK"].iter().find_map(|key| self.entry(&format!("{key}{number}")));
        match (length, address) {
            (Some(length), _) => Address::with_netmask(address, &length.value).map_err(error),
            (None, std::net::IpAddr::V4(v4)) => Ok(Address::of_class(v4)),
            (None, _) => Ok(Address::host(address)),
        }
    }

    /// True if the line stays, and the team's device still needs it.
    fn read_entry(
        &self,
        reading: &mut Reading<'_>,
        draft: &mut Draft,
        entry: &Assignment,
        addresses: &BTreeMap<&str, Address>,
    ) -> bool {
        let (key, value) = (entry.key.as_str(), entry.value.as_str());
        let mut leave = |why: &str| reading.left(&entry.at, Some(&draft.name), why);
        match key {
            "BONDING_OPTS" | "BONDING_MODULE_OPTS" => read_options(reading, draft, value, &entry.value_at),
            _ if says_nothing(key, value) || names_members(key) => {}
            "ONBOOT" | "STARTMODE" => leave("a team of /etc/nicteam comes up with the machine"),
            "MTU" => draft.set_mtu(reading, value, &entry.value_at),
            "MACADDR" if !value.contains(':') => {
                leave("NetworkManager chooses an address for the bond: write it into `mac`")
            }
            "MACADDR" | "LLADDR" => draft.set_mac(reading, value, &entry.value_at),
            "METRIC" | "IPV4_ROUTE_METRIC" | "IPV6_ROUTE_METRIC" => {}
            "DEFROUTE" | "IPV6_DEFROUTE" if !self.asks() => {}
            "PEERDNS" | "PEERROUTES" if !self.asks() => {}
            "IPV6ADDR" | "IPV6ADDR_SECONDARIES" | "IPV6_DEFAULTGW" if self.says("IPV6INIT", false) => {
                leave("it has no effect in the old place: `IPV6INIT=no`");
            }
            "IPV6ADDR" => add_v6(reading, draft, value, &entry.value_at),
            "IPV6ADDR_SECONDARIES" => {
                value.split_whitespace().for_each(|address| add_v6(reading, draft, address, &entry.value_at));
            }
            "IPV6_DEFAULTGW" => self.read_gateway(reading, draft, entry, "IPV6_DEFROUTE"),
            "IPV6_DISABLED" => leave(&draft.by_sysctl("disable_ipv6", 1)),
            "IPV6_AUTOCONF" if ini::flag(value).is_some() => {}
            key if numbered(key, "GATEWAY").is_some() && !self.is_gateway(entry) => {
                leave("it has no effect in the old place: the first gateway holds");
            }
            key if numbered(key, "GATEWAY").is_some() => self.read_gateway(reading, draft, entry, "DEFROUTE"),
            key if is_address(key, addresses) || follows(key, value, addresses) => {}
            key if key.starts_with("BROADCAST") || key.starts_with("NETWORK") => {
                leave("the team has what follows from its address");
            }
            "BOOTPROTO" => {
                leave("DHCP stays in this file, which asks for an address of the team's device as of the bond's");
                return true;
            }
            "BRIDGE" => {
                leave(BRIDGE_STAYS);
                return true;
            }
            _ => {
                leave(STAYS);
                return true;
            }
        }
        false
    }

    /// Yes or no, if it says so.
    fn flag(&self, key: &str) -> Option<bool> {
        self.entry(key).and_then(|entry| ini::flag(&entry.value))
    }

    fn says(&self, key: &str, is_on: bool) -> bool {
        self.flag(key) == Some(is_on)
    }

    /// True if it gets addresses from elsewhere.
    fn asks(&self) -> bool {
        let is_static =
            |entry: &Assignment| ["none", "static"].iter().any(|word| entry.value.eq_ignore_ascii_case(word));
        self.entry("BOOTPROTO").is_some_and(|entry| !is_static(entry)) || self.says("DHCPV6C", true)
    }

    fn read_gateway(&self, reading: &mut Reading<'_>, draft: &mut Draft, entry: &Assignment, switch: &str) {
        if self.says(switch, false) {
            return reading.left(
                &entry.at,
                Some(&draft.name),
                format!("it has no effect in the old place: `{switch}=no`"),
            );
        }
        let gateway = entry.value.split('%').next().unwrap_or_default();
        match Route::parse(&format!("default via {gateway}{}", self.metric(entry.key.starts_with("IPV6")))) {
            Ok(words) => draft.add_route(words.route),
            Err(error) => reading.wrong(&entry.value_at, error.to_string(), error.hint()),
        }
    }

    /// initscripts' `METRIC` is of IPv4 alone.
    fn metric(&self, is_v6: bool) -> String {
        let keys: &[&str] = if is_v6 { &["IPV6_ROUTE_METRIC"] } else { &["METRIC", "IPV4_ROUTE_METRIC"] };
        let metric = keys.iter().find_map(|key| self.entry(key)).filter(|metric| metric.value != "-1");
        metric.map(|metric| format!(" metric {}", metric.value)).unwrap_or_default()
    }

    /// Lists what of a member's file is not its being one.
    pub(super) fn leave_members(&self, reading: &mut Reading<'_>, draft: &Draft) {
        self.leave_strays(reading, &draft.name);
        for entry in self.entries.iter().filter(|entry| !entry.value.is_empty()) {
            let why = match (entry.key.as_str(), entry.value.as_str()) {
                (key, value) if says_nothing(key, value) => continue,
                ("ONBOOT" | "STARTMODE", _) => continue,
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
    let mut slb = None;
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some((name @ ("arp_ip_target" | "ns_ip6_target"), value)) => {
                // The scripts add each to those that are there.
                let before = draft.value(name).filter(|value| !value.is_empty()).map(|value| format!("{value},"));
                let all = before.unwrap_or_default() + &signless(value);
                draft.extend_option(reading, name, &all, at, at);
            }
            Some(("balance-slb", value)) => slb = Some(value),
            Some((name, value)) => draft.module_option(reading, name, value, at),
            None => reading.wrong(at, format!("`{}` is no option", shown(word)), "options are `mode=4 miimon=100`"),
        }
    }
    if let Some(value) = slb {
        draft.balance_slb(reading, value, at);
    }
}

/// `IPADDR`, `IPADDR0`, SUSE's `IPADDR_1`: what stands behind.
fn numbered<'k>(key: &'k str, name: &str) -> Option<&'k str> {
    let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit()) || number.starts_with('_');
    key.strip_prefix(name).filter(|number| is_number(number))
}

/// The same of SUSE's, where any letters may follow: `IPADDR_A`, `IPADDRold`; RHEL has `IPADDR_START` in files of ranges.
fn suffix<'k>(key: &'k str, name: &str) -> Option<&'k str> {
    let is_one = |suffix: &str| suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    key.strip_prefix(name).filter(|suffix| is_one(suffix) && !matches!(*suffix, "_START" | "_END"))
}

fn is_address(key: &str, addresses: &BTreeMap<&str, Address>) -> bool {
    let of = |name: &&str| suffix(key, name).is_some_and(|suffix| addresses.contains_key(suffix));
    ["IPADDR", "PREFIX", "PREFIXLEN", "NETMASK"].iter().any(|name| numbered(key, name).is_some() || of(name))
}

/// Without it nobody knows what the bond is, or who is in it.
fn is_essential(key: &str) -> bool {
    const KEYS: &[&str] =
        &["BONDING_OPTS", "BONDING_MODULE_OPTS", "MASTER", "TEAM_CONFIG", "TEAM_MASTER", "TEAM_PORT_CONFIG"];
    KEYS.contains(&key) || names_members(key)
}

/// Whose value is members of the bond.
pub(super) fn names_members(key: &str) -> bool {
    key.starts_with("BONDING_SLAVE") || key == "BOND_IFACES"
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
