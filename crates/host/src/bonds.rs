//! What runs on this host as a configuration: bonds of the kernel's driver, and teams of ours.

use std::fs;
use std::path::Path;

use nicteam_daemon::control::{Client, TeamState, teams};
use nicteam_daemon::{StateStore, TeamStatus};
use nicteam_dataplane::Choice;
use nicteam_formats::{Address, Disable, Import, Left, Place, Route, Team, quoted};
use nicteam_netlink::Netlink;
use nicteam_netlink::object::{self, Device};
use nicteam_team::{Config, ConfigOption};
use nicteam_wire::Mac;

use crate::Error;

/// What netlink does not say of a bond stands in files below this folder.
const SYS: &str = "/sys/class/net";
/// The main routing table.
const MAIN: u32 = 254;
/// What the kernel gives a route of IPv6 that nobody gave a metric.
const USUAL_METRIC_V6: u32 = 1024;
/// What devices have by themselves, bytes: a team has it without being told.
const USUAL_MTU: u32 = 1500;

/// What runs in the calling thread's network namespace: teams of ours, then the kernel's bonds; or the one of this name.
///
/// # Errors
/// The kernel, or a team, does not tell; there is nothing of this name.
pub fn running(name: Option<&str>) -> Result<Import, Error> {
    let host = Host::read()?;
    let mut import = Import::default();
    for listed in teams()?.into_iter().filter(|listed| name.is_none_or(|name| name == listed.team)) {
        own(&listed.team, listed.state, &host, &mut import)?;
    }
    for bond in host.devices.iter().filter(|device| device.kind() == "bond") {
        if name.is_none_or(|name| name == bond.name()) {
            kernels(bond, &host, &mut import);
        }
    }
    match name {
        Some(name) if import.network.teams.is_empty() => Err(Error::NoTeam { team: name.to_owned() }),
        _ => Ok(import),
    }
}

/// What the kernel tells.
struct Host {
    devices: Vec<Device>,
    addresses: Vec<object::Address>,
    routes: Vec<object::Route>,
}

impl Host {
    fn read() -> Result<Host, Error> {
        let mut netlink = Netlink::open()?;
        let (devices, addresses) = (netlink.devices()?, netlink.address_objects()?);
        Ok(Host { devices, addresses, routes: netlink.routes()? })
    }

    fn device(&self, index: u32) -> Option<&Device> {
        self.devices.iter().find(|device| device.index() == index)
    }

    fn named(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name() == name)
    }

    /// Adds the addresses and routes of a device to a team.
    fn add_addresses(&self, device: &Device, team: &mut Team, left: &mut Vec<Left>) {
        let stays = |text: String, why: &str| Left {
            place: place(device.name()),
            text,
            why: why.to_owned(),
            team: Some(device.name().to_owned()),
        };
        for of in self.addresses.iter().filter(|of| of.index() == device.index()) {
            // The kernel makes these itself.
            let Some(address) = of.address().filter(|_| !of.is_link_local_v6() && !of.is_temporary()) else { continue };
            if of.lifetimes().is_some() {
                left.push(stays(of.words(), "it is leased or advertised, and comes again from the host that gave it"));
            } else if of.peer().is_some() {
                left.push(stays(of.words(), "an address of a team has no other end"));
            } else {
                team.addresses.push(Address { address, prefix: of.prefix() });
            }
        }
        for route in self.routes.iter().filter(|route| route.devices().contains(&device.index())) {
            if route.is_automatic() || route.is_connected() || route.is_advertised() {
                continue;
            }
            let single = route.devices().len() == 1 && route.nexthop().is_none();
            match route.to().filter(|_| single) {
                Some((to, prefix)) if !to.is_multicast() => {
                    let usual = route.metric() == 0 || to.is_ipv6() && route.metric() == USUAL_METRIC_V6;
                    team.routes.push(Route {
                        to: Address { address: to, prefix },
                        via: route.via(),
                        metric: (!usual).then(|| route.metric()),
                        table: (route.table() != MAIN).then(|| route.table()),
                    });
                    if let Some(source) = route.source() {
                        left.push(stays(route.words(), &format!("a team's route names no source: it names {source}")));
                    }
                }
                Some(_) => {}
                None => left.push(stays(route.words(), "a team's route has one next hop")),
            }
        }
    }

    /// Adds what stands on a device.
    fn add_above(&self, device: &Device, left: &mut Vec<Left>) {
        for above in self.devices.iter().filter(|above| above.below() == Some(device.index())) {
            left.push(Left {
                place: place(device.name()),
                text: format!("{} {}", above.kind(), above.name()),
                why: format!("it stands on {}: make it again on the team", device.name()),
                team: Some(device.name().to_owned()),
            });
        }
        if let Some(master) = device.master().and_then(|master| self.device(master)) {
            left.push(Left {
                place: place(device.name()),
                text: format!("master {}", master.name()),
                why: format!(
                    "our file has no key for a bridge: `ip link set {} master {}` once the team is up",
                    quoted(device.name()),
                    quoted(master.name())
                ),
                team: Some(device.name().to_owned()),
            });
        }
    }
}

/// Nothing of a running host stands in a line of a text.
fn place(name: &str) -> Place {
    Place { path: format!("{SYS}/{name}"), line: 1, column: 1 }
}

/// A bond of the kernel's driver.
fn kernels(bond: &Device, host: &Host, import: &mut Import) {
    let name_of = |index: u32| host.device(index).map(|device| device.name().to_owned());
    let mut told = bond.bond_options(&name_of);
    let members = members(bond, host);
    for member in members.iter().filter_map(|member| host.named(member)) {
        for (option, value) in member.bond_member_options() {
            let of = format!("{}:{value}", member.name());
            match told.iter_mut().find(|(known, _)| *known == option) {
                Some((_, values)) => *values = format!("{values},{of}"),
                None => told.push((option, of)),
            }
        }
    }
    add_from_sys(bond, &mut told);
    let name = bond.name();
    let mut team = Team { name: name.to_owned(), ..Team::default() };
    let (options, refused) = changed(&told);
    team.options = options;
    for (option, value) in refused {
        import.left.push(Left {
            place: place(name),
            text: format!("{option} {value}"),
            why: "a team has no such option, or not with this value".to_owned(),
            team: Some(name.to_owned()),
        });
    }
    let first = members.first().and_then(|member| host.named(member)).and_then(Device::bond_permanent_mac);
    team.mac = bond.mac().filter(|mac| first != Some(*mac)).map(Mac);
    team.mtu = Some(bond.mtu()).filter(|mtu| *mtu != USUAL_MTU);
    team.members = members;
    host.add_addresses(bond, &mut team, &mut import.left);
    host.add_above(bond, &mut import.left);
    if team.members.is_empty() {
        let why = "it has no members, and a team has one at least".to_owned();
        import.left.push(Left { place: place(name), text: name.to_owned(), why, team: None });
        return;
    }
    import.disable.push(Disable {
        place: place(name),
        what: format!("take {name} away: its members are the driver's. Who made it makes it again: `nicteam doctor` looks for that"),
        command: Some(format!("ip link delete {}", quoted(name))),
    });
    import.network.teams.push(team);
}

/// Its members, in the order in which they joined if the files below `/sys` are this namespace's.
fn members(bond: &Device, host: &Host) -> Vec<String> {
    let all: Vec<String> = host
        .devices
        .iter()
        .filter(|device| device.master() == Some(bond.index()))
        .map(|device| device.name().to_owned())
        .collect();
    let told = read_sys(bond, "bonding/slaves").unwrap_or_default();
    let mut ordered: Vec<String> =
        told.split_whitespace().filter(|name| all.iter().any(|of| of == name)).map(str::to_owned).collect();
    ordered.extend(all.into_iter().filter(|name| !ordered.contains(name)).collect::<Vec<_>>());
    ordered
}

/// A file of a device, if the files below `/sys` are those of this namespace's devices.
fn read_sys(device: &Device, file: &str) -> Option<String> {
    let folder = Path::new(SYS).join(device.name());
    let index = fs::read_to_string(folder.join("ifindex")).ok()?;
    let same = index.trim().parse() == Ok(device.index());
    same.then(|| fs::read_to_string(folder.join(file)).ok()).flatten()
}

/// What netlink did not tell: options of newer kernels that have a file alone.
fn add_from_sys(bond: &Device, told: &mut Vec<(&'static str, String)>) {
    for option in Config::OPTIONS {
        if told.iter().any(|(known, _)| *known == option.name)
            || matches!(option.name, "num_unsol_na" | "active_slave" | "prio" | "queue_id" | "actor_port_prio")
        {
            continue;
        }
        if let Some(text) = read_sys(bond, &format!("bonding/{}", option.name)) {
            // `802.3ad 4`, or targets with spaces between.
            let is_list = option.name.ends_with("_target");
            let words: Vec<&str> = text.split_whitespace().collect();
            let value = if is_list { words.join(",") } else { words.first().copied().unwrap_or("").to_owned() };
            told.push((option.name, value));
        }
    }
}

/// Options in the kernel's words, refused ones beside them.
type Changed = (Vec<(String, String)>, Vec<(&'static str, String)>);

/// Those of the options that differ from what a team of that mode has by itself.
fn changed(told: &[(&'static str, String)]) -> Changed {
    let (mut config, mut refused) = (Config::default(), Vec::new());
    let is_zero = |name: &str| told.iter().any(|(known, value)| *known == name && value == "0");
    let mut set = |name: &'static str, value: &str| {
        if config.set(name, value).is_err() {
            refused.push((name, value.to_owned()));
        }
    };
    // In the order in which the kernel would take them; of the two monitors one is on at most.
    for option in Config::OPTIONS.iter().filter(|option| option.lasts()) {
        let value = told.iter().find(|(known, _)| *known == option.name).map(|(_, value)| value.as_str());
        let Some(value) = value else { continue };
        match option.name {
            "miimon" if value == "0" && !is_zero("arp_interval") => {}
            "arp_interval" if value == "0" => {}
            // Asking the drivers in their old ways.
            "use_carrier" => {}
            "ad_actor_system" if value == "00:00:00:00:00:00" => {}
            // Such files are empty outside 802.3ad (Linux bond_sysfs.c).
            name if name.starts_with("ad_") && value.is_empty() => {}
            name => set(name, value),
        }
    }
    let mut options: Vec<(String, String)> =
        said(&config).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // What the driver keeps without effect would be refused beside the mode.
    while config.check().is_err() && options.len() > 1 {
        let place = (1..options.len()).rev().find(|place| check_without(&options, *place)).unwrap_or(options.len() - 1);
        options.remove(place);
        config = Config::default();
        for (name, value) in &options {
            // It was taken before.
            let _ = config.set(name, value);
        }
    }
    (options, refused)
}

/// The options that differ from what a team of that mode has by itself, `mode` first.
fn said(config: &Config) -> Vec<(&'static str, String)> {
    let defaults = Config { mode: config.mode, ..Config::default() }.options();
    let by_itself = |name: &str, value: &str| match name {
        "mode" => false,
        // One value for both.
        "num_unsol_na" => true,
        // The other monitor switches it off.
        "miimon" if config.arp.is_on() => true,
        _ => defaults.iter().any(|(known, default)| *known == name && default == value),
    };
    config.options().into_iter().filter(|(name, value)| !by_itself(name, value)).collect()
}

fn check_without(options: &[(String, String)], place: usize) -> bool {
    let mut config = Config::default();
    let others = options.iter().enumerate().filter(|(of, _)| *of != place);
    others.into_iter().all(|(_, (name, value))| config.set(name, value).is_ok()) && config.check().is_ok()
}

/// A team of ours: as its process tells, or as it is kept.
fn own(name: &str, state: TeamState, host: &Host, import: &mut Import) -> Result<(), Error> {
    let persisted = StateStore::here()?.load(name)?.map(|persisted| persisted.spec()).transpose()?;
    let mut team = match persisted {
        Some(spec) => {
            let options = options_of(name, &spec.config, import);
            Team {
                name: spec.name.clone(),
                members: spec.members.clone(),
                options,
                mac: spec.mac,
                mtu: spec.mtu,
                dataplane: match spec.dataplane {
                    Choice::Auto => None,
                    Choice::Force(kind) => Some(kind.to_string()),
                },
                ..Team::default()
            }
        }
        // A lab's, or of one who keeps it alone.
        None if state == TeamState::Running => of_status(&Client::watch(name)?.status()?, import),
        None => return Ok(()),
    };
    if let Some(device) = host.named(name) {
        host.add_addresses(device, &mut team, &mut import.left);
    }
    import.network.teams.push(team);
    Ok(())
}

fn of_status(status: &TeamStatus, import: &mut Import) -> Team {
    let mut config = Config::default();
    for option in Config::OPTIONS {
        if let Some(value) = status.options.get(option.name) {
            // A secret is not told.
            let _ = config.set(option.name, value);
        }
    }
    Team {
        name: status.team.clone(),
        members: status.members.iter().map(|member| member.name.clone()).collect(),
        options: options_of(&status.team, &config, import),
        mtu: Some(status.mtu).filter(|mtu| *mtu != USUAL_MTU),
        ..Team::default()
    }
}

/// The options that differ from what a team of that mode has by itself. A secret is not among them.
fn options_of(team: &str, config: &Config, import: &mut Import) -> Vec<(String, String)> {
    let mut options = Vec::new();
    for (name, value) in said(config) {
        if ConfigOption::named(name).is_some_and(ConfigOption::is_secret) {
            import.left.push(Left {
                place: place(team),
                text: name.to_owned(),
                why: "it is a secret, and is not shown: put it into the file yourself, readable for root alone"
                    .to_owned(),
                team: Some(team.to_owned()),
            });
            continue;
        }
        options.push((name.to_owned(), value));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(options: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        options.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    #[test]
    fn what_a_bond_has_by_itself_is_not_said() {
        let bond = told(&[
            ("mode", "4"),
            ("miimon", "100"),
            ("arp_interval", "0"),
            ("arp_validate", "0"),
            ("xmit_hash_policy", "1"),
            ("lacp_rate", "1"),
            ("lacp_active", "1"),
            ("ad_actor_system", "00:00:00:00:00:00"),
            ("packets_per_slave", "1"),
            ("num_grat_arp", "1"),
            ("use_carrier", "1"),
        ]);
        let (options, refused) = changed(&bond);
        let shown: Vec<String> = options.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(shown, ["mode 802.3ad", "xmit_hash_policy layer3+4", "lacp_rate fast"]);
        assert_eq!(refused, []);
    }

    #[test]
    fn one_monitor_watches() {
        let (options, _) =
            changed(&told(&[("mode", "1"), ("miimon", "0"), ("arp_interval", "50"), ("arp_ip_target", "10.0.0.1")]));
        assert!(options.contains(&("arp_interval".to_owned(), "50".to_owned())), "{options:?}");
        let (options, _) = changed(&told(&[("mode", "0"), ("miimon", "0"), ("arp_interval", "0")]));
        assert!(options.contains(&("miimon".to_owned(), "0".to_owned())), "{options:?}");
        let (_, refused) = changed(&told(&[("mode", "1"), ("ad_actor_sys_prio", ""), ("num_grat_arp", "999")]));
        assert_eq!(refused, [("num_grat_arp", "999".to_owned())]);
    }
}
