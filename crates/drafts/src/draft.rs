//! A team while it is read: each of its parts knows its place.

use std::collections::BTreeMap;

use nicteam_diagnostics::team_options;
use nicteam_machine::MAX_MEMBERS;
use nicteam_options::{Config, ConfigError, ConfigOption};
use nicteam_syntax::At;
use nicteam_wire::Mac;

use crate::names::{accept_ra, check_device, check_team, host_mac, mtu, shown};
use crate::once_each::OnceEach;
use crate::reading::Reading;
use crate::{Address, Route, Team};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: At,
}

/// What becomes of options that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// They are wrong.
    Refuse,
    /// The kernel refuses the one that is to blame, and the program that the format belongs to goes on: it stays.
    Leave,
}

/// A team while it is read.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub at: At,
    /// Its members, in their order.
    pub members: Vec<Placed<String>>,
    /// Its MAC address, if it is set.
    pub mac: Option<Mac>,
    /// Its MTU, if it is set.
    pub mtu: Option<u32>,
    /// What it does with router advertisements (`accept_ra`), if it is set.
    pub accept_ra: Option<u8>,
    /// The dataplane that is asked for.
    pub dataplane: Option<String>,
    /// Its addresses.
    pub addresses: OnceEach<Address>,
    /// Its routes.
    pub routes: OnceEach<Route>,
    options: Vec<Given>,
    /// What to do where no members are named.
    pub members_hint: String,
    /// Something that names members could not be read, and an error says so.
    lacks_members: bool,
}

/// An option in the kernel's words.
#[derive(Clone, Debug)]
struct Given {
    name: &'static str,
    value: String,
    /// Where its name stands.
    name_at: At,
    /// The whole setting.
    at: At,
}

impl Draft {
    /// A team of this name that has nothing yet.
    pub fn new(name: &str, at: At) -> Draft {
        Draft {
            name: name.to_owned(),
            at,
            members: Vec::new(),
            mac: None,
            mtu: None,
            accept_ra: None,
            dataplane: None,
            addresses: OnceEach::default(),
            routes: OnceEach::default(),
            options: Vec::new(),
            members_hint: "`--members eth1,eth2` names them".to_owned(),
            lacks_members: false,
        }
    }

    /// True if this device is a member.
    pub fn has_member(&self, device: &str) -> bool {
        self.members.iter().any(|member| member.value == device)
    }

    /// The value of an option that was given, in the kernel's words.
    pub fn value(&self, option: &str) -> Option<&str> {
        self.options.iter().find(|given| given.name == option).map(|given| given.value.as_str())
    }

    /// Adds a member; one that is there already stays where it is.
    pub fn member(&mut self, reading: &mut Reading<'_>, device: &str, at: &At) {
        // One too many is an error; more are not looked at.
        if self.members.len() > MAX_MEMBERS {
            return;
        }
        match check_device(device) {
            Err((message, hint)) => self.wrong_member(reading, at, message, hint),
            Ok(()) if self.has_member(device) => {}
            Ok(()) if device == self.name => {
                self.wrong_member(
                    reading,
                    at,
                    format!("`{device}` is the team itself"),
                    "its members are other devices",
                );
            }
            Ok(()) => self.members.push(Placed { value: device.to_owned(), at: at.clone() }),
        }
    }

    /// Something that names members is wrong. If the team has no others, that is not an error of its own.
    pub fn wrong_member(
        &mut self,
        reading: &mut Reading<'_>,
        at: &At,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.lacks_members = true;
        reading.wrong(at, message, hint);
    }

    /// Sets an option that is meant for the kernel's bond, by the kernel's name or number.
    pub fn option(&mut self, reading: &mut Reading<'_>, name: &str, value: &str, name_at: &At, value_at: &At) {
        if ConfigOption::named(name).is_some_and(|option| asks_drivers(option.name, value)) {
            return reading.left(&whole(name_at, value_at), Some(&self.name), ASKS_DRIVERS);
        }
        self.own_option(reading, name, value, name_at, value_at);
    }

    /// Sets an option of a team, by the kernel's name; of one that is given twice the later one holds, as in the kernel.
    pub fn own_option(&mut self, reading: &mut Reading<'_>, name: &str, value: &str, name_at: &At, value_at: &At) {
        match in_kernels_words(name, value) {
            Ok((name, value)) => {
                if let Some(place) = self.options.iter().position(|given| given.name == name) {
                    let before = self.options.remove(place);
                    if before.value != value {
                        let is_other = before.at.source != name_at.source;
                        let place =
                            if is_other { format!("at {}", reading.place(name_at)) } else { "further down".to_owned() };
                        reading.left(&before.at, Some(&self.name), format!("`{name}` is given again {place}"));
                    }
                }
                let option = Given { name, value, name_at: name_at.clone(), at: whole(name_at, value_at) };
                // Others depend on it.
                let place = if name == "mode" { 0 } else { self.options.len() };
                self.options.insert(place, option);
            }
            Err(error) => {
                let problem = team_options::refused(&error, &name_at.span(), &value_at.span());
                reading.problem(name_at.source, problem);
            }
        }
    }

    /// Adds to an option that is a list, of which `value` is the whole.
    pub fn extend_option(&mut self, reading: &mut Reading<'_>, name: &str, value: &str, name_at: &At, value_at: &At) {
        self.options.retain(|given| given.name != name);
        self.option(reading, name, value, name_at, value_at);
    }

    /// Sets an option as a file of sysfs takes it: of one that is a list, `+10.0.0.1` adds to it.
    pub fn as_in_sysfs(&mut self, reading: &mut Reading<'_>, name: &str, value: &str, at: &At) {
        let added = list_in_sysfs(name).zip(value.strip_prefix('+'));
        let Some((list, added)) = added else { return self.option(reading, name, value, at, at) };
        let held = self.value(list).filter(|held| !held.is_empty());
        let whole = held.into_iter().chain([added]).collect::<Vec<_>>().join(",");
        self.extend_option(reading, list, &whole, at, at);
    }

    /// Sets an option as the driver has it when it is loaded (`modinfo bonding`): not all of them are a bond's.
    pub fn module_option(&mut self, reading: &mut Reading<'_>, name: &str, value: &str, at: &At) {
        match ConfigOption::named(name) {
            Some(option) => self.option(reading, option.name, &signless(value), at, at),
            None => {
                let why = format!("`{}` is the driver's and no option of a bond", shown(name));
                reading.left_as(at, format!("{name}={value}"), Some(&self.name), why);
            }
        }
    }

    /// Takes an option out again, for this reason.
    fn leave_option(&mut self, reading: &mut Reading<'_>, name: &str, why: &str) {
        if let Some(place) = self.options.iter().position(|given| given.name == name) {
            let option = self.options.remove(place);
            reading.left(&option.at, Some(&self.name), why);
        }
    }

    /// A bond has one monitor: to the kernel the later one over sysfs, and over netlink an error.
    fn choose_monitor(&mut self, reading: &mut Reading<'_>) {
        let is_on = |option: &str| self.value(option).is_some_and(|value| value != "0");
        if is_on("miimon") && is_on("arp_interval") {
            self.leave_option(reading, "arp_interval", "`miimon` is given, too, and a bond has one of them");
        }
    }

    /// NetworkManager's `balance-slb`: what its bond of balance-xor needs rules of nftables for is a mode of Open vSwitch's,
    /// which asks nothing of the switch either.
    pub fn balance_slb(&mut self, reading: &mut Reading<'_>, value: &str, at: &At) {
        if value != "1" {
            return;
        }
        for option in ["xmit_hash_policy", "mode"] {
            self.forget(option);
        }
        self.option(reading, "mode", "ovs-balance-slb", at, at);
    }

    /// Forgets an option that was given.
    pub fn forget(&mut self, option: &str) {
        self.options.retain(|given| given.name != option);
    }

    /// What to do for a setting of IPv6 that the kernel keeps of a device.
    pub fn by_sysctl(&self, setting: &str, value: u8) -> String {
        format!("a team has nothing for it: write `net.ipv6.conf.{}.{setting} = {value}` into /etc/sysctl.d", self.name)
    }

    /// Sets the MAC address.
    pub fn set_mac(&mut self, reading: &mut Reading<'_>, text: &str, at: &At) {
        match host_mac(text) {
            Ok(mac) => self.mac = Some(mac),
            Err(wrong) => reading.refuse(at, wrong),
        }
    }

    /// Sets the MTU.
    pub fn set_mtu(&mut self, reading: &mut Reading<'_>, text: &str, at: &At) {
        match mtu(text) {
            Ok(mtu) => self.mtu = Some(mtu),
            Err(wrong) => reading.refuse(at, wrong),
        }
    }

    /// True if this is the MTU of the team, which its members have, too.
    pub fn has_mtu(&self, text: &str) -> bool {
        self.mtu.is_some_and(|mtu| text.parse() == Ok(mtu))
    }

    /// Whether router advertisements are taken, in the kernel's numbers.
    pub fn set_accept_ra(&mut self, reading: &mut Reading<'_>, text: &str, at: &At) {
        match accept_ra(text) {
            Ok(accept_ra) => self.accept_ra = Some(accept_ra),
            Err(wrong) => reading.refuse(at, wrong),
        }
    }

    /// Adds an address; one that is there already is one.
    pub fn add_address(&mut self, address: Address) {
        self.addresses.add(address);
    }

    /// Adds a route; one that is there already is one.
    pub fn add_route(&mut self, route: Route) {
        self.routes.add(route);
    }

    /// The address `10.0.0.1/24`.
    pub fn address(&mut self, reading: &mut Reading<'_>, text: &str, at: &At) {
        match text.parse::<Address>() {
            Ok(address) => self.add_address(address),
            Err(error) => reading.wrong(at, error.to_string(), error.hint()),
        }
    }

    /// The team, as far as it is one.
    pub fn finish(mut self, reading: &mut Reading<'_>, conflicts: Conflicts) -> Team {
        if conflicts == Conflicts::Leave {
            self.choose_monitor(reading);
        }
        if let Err(wrong) = check_team(&self.name) {
            reading.refuse(&self.at, wrong);
        }
        self.check_members(reading);
        let Draft { name, at, members, mac, mtu, accept_ra, dataplane, addresses, routes, mut options, .. } = self;
        if reading.is_sound() {
            check_options(reading, (&name, &at), &mut options, conflicts);
        }
        let members: Vec<String> = members.into_iter().map(|member| member.value).collect();
        for option in options.iter().filter(|option| matches!(option.name, "primary" | "active_slave")) {
            if !option.value.is_empty() && !members.contains(&option.value) && reading.is_sound() {
                let message = format!("`{}` {} is no member of team {name}", option.name, shown(&option.value));
                reading.wrong(&option.name_at, message, format!("its members are {}", members.join(", ")));
            }
        }
        let options = options.into_iter().map(|option| (option.name.to_owned(), option.value)).collect();
        let (addresses, routes) = (addresses.into_list(), routes.into_list());
        Team { name, members, options, mac, mtu, accept_ra, dataplane, addresses, routes }
    }

    fn check_members(&self, reading: &mut Reading<'_>) {
        match self.members.get(MAX_MEMBERS) {
            Some(one) => {
                let message = format!("team {} has more than {MAX_MEMBERS} members", self.name);
                reading.wrong(&one.at, message, "take this one and those after it out");
            }
            None if self.members.is_empty() && !self.lacks_members => {
                reading.wrong(
                    &self.at,
                    format!("team {} has no members", shown(&self.name)),
                    self.members_hint.clone(),
                );
            }
            None => {}
        }
    }
}

/// Two teams of one name, and a member of two teams: where the second one stands.
pub fn check_together(reading: &mut Reading<'_>, drafts: &[Draft]) {
    let (mut names, mut members): (BTreeMap<&str, &Draft>, BTreeMap<&str, &Draft>) = Default::default();
    for draft in drafts {
        if let Some(first) = names.get(&*draft.name) {
            let other = reading.place(&first.at);
            let hint = format!("the other one stands at {other}: choose another name, or join the two");
            reading.wrong(&draft.at, format!("a second team `{}`", shown(&draft.name)), hint);
        }
        names.entry(&draft.name).or_insert(draft);
        for member in &draft.members {
            if let Some(first) = members.get(&*member.value) {
                let message = format!("`{}` is a member of team {}, too", shown(&member.value), shown(&first.name));
                reading.wrong(&member.at, message, "a device is in one team alone: take it out of one of them");
            }
        }
        for member in &draft.members {
            members.entry(&member.value).or_insert(draft);
        }
    }
}

/// The kernel's name of an option that is a list of addresses, of which a line written into sysfs is one.
pub fn list_in_sysfs(name: &str) -> Option<&'static str> {
    ConfigOption::named(name).map(|option| option.name).filter(|name| name.ends_with("_target"))
}

/// True for the kernel's `use_carrier 0`, with which a bond asks its drivers by ioctl (Linux bond_options.c).
fn asks_drivers(option: &str, value: &str) -> bool {
    option == "use_carrier" && matches!(value.trim(), "0" | "off")
}

/// Why that is not taken over.
const ASKS_DRIVERS: &str =
    "carrier is what drivers say, here and in newer kernels: the old ways of asking them are not used";

/// A setting: from its name to the end of its value.
fn whole(name_at: &At, value_at: &At) -> At {
    let end = if value_at.source == name_at.source { value_at.end.max(name_at.end) } else { name_at.end };
    At { end, ..name_at.clone() }
}

/// An option by the kernel's name with its value in the kernel's words: `mode 4` is `mode 802.3ad`.
pub fn in_kernels_words(name: &str, value: &str) -> Result<(&'static str, String), ConfigError> {
    let option =
        ConfigOption::named(name).ok_or_else(|| ConfigError::UnknownOption { name: name.trim().to_owned() })?;
    let mut config = Config::default();
    config.set(option.name, value)?;
    Ok((option.name, config.option(option.name).unwrap_or_else(|| value.trim().to_owned())))
}

/// Lists of addresses as sysfs takes them, one by one with a sign: `+10.0.0.1,+10.0.0.2`.
pub fn signless(value: &str) -> String {
    if value.starts_with('+') { value.replace('+', "") } else { value.to_owned() }
}

/// Refuses options that do not go together, or leaves those that the kernel would refuse.
fn check_options(reading: &mut Reading<'_>, team: (&str, &At), options: &mut Vec<Given>, conflicts: Conflicts) {
    let check = |options: &[Given]| {
        let mut config = Config::default();
        options.iter().try_for_each(|option| config.set(option.name, &option.value))?;
        config.check()
    };
    while let Err(error) = check(options) {
        let blamed = team_options::blamed(&error, options.iter().map(|option| option.name));
        match blamed.filter(|_| conflicts == Conflicts::Leave) {
            Some(place) => {
                let option = options.remove(place);
                let why = format!("{error}; the kernel refuses it, too");
                reading.left(&option.at, Some(team.0), why);
            }
            None => {
                let at = blamed.map_or(team.1, |place| &options[place].name_at).clone();
                let hint = format!("change or remove it in team `{}`", team.0);
                return reading.wrong(&at, error.to_string(), hint);
            }
        }
    }
}
