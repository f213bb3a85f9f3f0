//! Commands that configurations run and whose meaning is a team's: `ip route add`, `route add` (net-tools),
//! `ip address add`, `ifenslave`, `modprobe bonding`.

use std::net::IpAddr;

use crate::iproute2::link;
use crate::names::shown;
use crate::route::RouteWords;
use crate::{Address, Route};

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Adds a route.
    AddRoute(RouteWords),
    /// Adds a route that `ip` knows and no team has (`blackhole`, `nexthop`, a table by its name): why, and what to do.
    OtherRoute((String, String)),
    /// Removes one: the undo of another line.
    DeleteRoute,
    /// The same of an address.
    DeleteAddress,
    /// Adds an address, to this device if one is named.
    AddAddress(Address, Option<String>),
    /// Puts devices into a bond.
    Enslave {
        /// The bond.
        bond: String,
        /// The devices.
        members: Vec<String>,
    },
    /// Makes a bond with these options.
    AddBond {
        /// The bond.
        bond: String,
        /// Options by the kernel's names.
        options: Vec<(String, String)>,
    },
    /// Puts a device under a master, which may be a bond or a bridge.
    Join {
        /// The master.
        master: String,
        /// The device.
        device: String,
    },
    /// Sets a device up or down, which a team does by itself.
    SetUp(String),
    /// Takes members out of a bond, this device away, or the driver: the undo of another line.
    Undo(Option<String>),
    /// Loads the driver with these options.
    Module(Vec<(String, String)>),
}

/// What a line of a shell does; `None` if it is something else. `device` stands for `$IFACE`.
///
/// # Errors
/// It is one of these commands, and something in it makes no sense: what, and what to do.
pub(crate) fn read(line: &str, device: &str) -> Option<Result<Command, (String, String)>> {
    let words = words(line, device)?;
    let mut words = words.iter().map(String::as_str);
    let program = words.next()?;
    let arguments: Vec<&str> = words.collect();
    match program.rsplit('/').next()? {
        "ip" => ip(&arguments),
        "route" => route(&arguments),
        "ifenslave" => enslave(&arguments),
        "modprobe" => module(&arguments),
        "rmmod" if arguments.contains(&"bonding") => Some(Ok(Command::Undo(None))),
        "ifconfig" => match arguments.as_slice() {
            [device, "up" | "down"] => Some(Ok(Command::SetUp((*device).to_owned()))),
            _ => None,
        },
        _ => None,
    }
}

/// The words of one simple command; `None` if the line is more than that.
fn words(line: &str, device: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let ignores_failure = ["|| true", "||true", "|| :", "|| /bin/true"];
    let line = ignores_failure.iter().find_map(|end| line.strip_suffix(end)).unwrap_or(line);
    let unquoted: String = line.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
    let named = unquoted.replace("${IFACE}", device).replace("$IFACE", device);
    let words: Vec<String> = named
        .split_whitespace()
        .filter(|word| !matches!(*word, "2>/dev/null" | ">/dev/null" | "&>/dev/null" | "2>&1"))
        .map(str::to_owned)
        .collect();
    let is_simple = |word: &String| !word.contains([';', '|', '&', '`', '$', '<', '>', '(', ')']);
    words.iter().all(is_simple).then_some(words)
}

fn ip(arguments: &[&str]) -> Option<Result<Command, (String, String)>> {
    let is_option = |word: &&&str| word.starts_with('-');
    let is_v6 = arguments.iter().take_while(is_option).any(|word| *word == "-6");
    let mut rest = arguments.iter().skip_while(|word| word.starts_with('-')).copied();
    let (object, verb) = (rest.next()?, rest.next()?);
    let rest: Vec<&str> = rest.collect();
    match (object, verb) {
        ("route" | "ro" | "r", "add" | "a" | "replace" | "append" | "prepend" | "change") => {
            Some(add_route(&rest, is_v6))
        }
        ("route" | "ro" | "r", "del" | "delete" | "d") => Some(Ok(Command::DeleteRoute)),
        ("address" | "addr" | "a", "add" | "a" | "replace") => add_address(&rest),
        ("address" | "addr" | "a", "del" | "delete" | "d") => Some(Ok(Command::DeleteAddress)),
        ("link" | "l", verb) => ip_link(verb, &rest),
        _ => None,
    }
}

/// `ip link add bond0 type bond mode 4`, `ip link set eth0 master bond0`, `ip link set bond0 up`.
fn ip_link(verb: &str, words: &[&str]) -> Option<Result<Command, (String, String)>> {
    let words: Vec<&str> = words.iter().copied().filter(|word| !matches!(*word, "dev" | "name")).collect();
    match (verb, words.as_slice()) {
        ("add" | "a", [bond, "type", "bond", options @ ..]) => Some(bond_options(options).map(|options| {
            let bond = (*bond).to_owned();
            Command::AddBond { bond, options }
        })),
        ("set" | "s", [device, "up" | "down"] | ["up" | "down", device]) => {
            Some(Ok(Command::SetUp((*device).to_owned())))
        }
        (
            "set" | "s",
            [device, "master", master] | [device, "up" | "down", "master", master] | [device, "master", master, "up"],
        ) => Some(Ok(Command::Join { master: (*master).to_owned(), device: (*device).to_owned() })),
        ("set" | "s", [device, "nomaster"]) => Some(Ok(Command::Undo(Some((*device).to_owned())))),
        ("del" | "delete" | "d", [device, ..]) => Some(Ok(Command::Undo(Some((*device).to_owned())))),
        _ => None,
    }
}

fn bond_options(words: &[&str]) -> Result<Vec<(String, String)>, (String, String)> {
    let option = |pair: &[&str]| {
        let option = link::bond_option(pair[0]).filter(|(_, kernels)| !kernels.is_empty());
        match (option, pair.get(1)) {
            (Some((_, kernels)), Some(value)) => Ok(((*kernels).to_owned(), (*value).to_owned())),
            (Some(_), None) => {
                Err((format!("nothing follows `{}`", pair[0]), "its value follows an option".to_owned()))
            }
            (None, _) => {
                let hint = "`ip link help bond` lists them: `mode 802.3ad miimon 100`".to_owned();
                Err((format!("`{}` is no option of `type bond`", shown(pair[0])), hint))
            }
        }
    };
    words.chunks(2).map(option).collect()
}

fn add_route(words: &[&str], is_v6: bool) -> Result<Command, (String, String)> {
    let mut read = match Route::parse(&words.join(" ")) {
        Ok(read) => read,
        Err(error) if error.is_unsupported() => return Ok(Command::OtherRoute((error.to_string(), error.hint()))),
        Err(error) => return Err((error.to_string(), error.hint())),
    };
    if is_v6 && read.route.to.prefix == 0 && read.route.via.is_none() {
        read.route.to = Address::any_like(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED));
    }
    Ok(Command::AddRoute(read))
}

/// `ip address add 10.0.0.2/24 dev bond0`, and words that say what follows from it anyway.
fn add_address(words: &[&str]) -> Option<Result<Command, (String, String)>> {
    let (mut address, mut device) = (None, None);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "dev" => device = Some(words.next()?.to_owned()),
            "local" => address = Some(words.next()?),
            "brd" | "broadcast" | "label" => drop(words.next()),
            word if address.is_none() => address = Some(word),
            _ => return None,
        }
    }
    let text = address?;
    // As `ip` has it: without a length the address alone.
    let alone = || text.parse::<IpAddr>().ok().map(Address::host);
    let read = alone().map_or_else(|| text.parse(), Ok);
    Some(
        read.map(|address| Command::AddAddress(address, device))
            .map_err(|error: crate::AddressError| (error.to_string(), error.hint())),
    )
}

/// `route add -net 10.9.0.0 netmask 255.255.0.0 gw 10.0.0.9` (net-tools, `route(8)`).
fn route(arguments: &[&str]) -> Option<Result<Command, (String, String)>> {
    let mut words = arguments.iter().copied().peekable();
    while words.peek().is_some_and(|word| word.starts_with('-')) {
        let option = words.next()?;
        if option == "-A" {
            words.next();
        }
    }
    match words.next()? {
        "del" => return Some(Ok(Command::DeleteRoute)),
        "add" => {}
        _ => return None,
    }
    let (mut target, mut netmask, mut is_host, mut rest) = (None, None, false, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "-net" => {}
            "-host" => is_host = true,
            "netmask" => netmask = Some(words.next()?),
            "gw" => rest.extend(["via", words.next()?]),
            "metric" => rest.extend(["metric", words.next()?]),
            "dev" => rest.extend(["dev", words.next()?]),
            // `reject`, `mod`, `mss`, `window`: another thing, or its details.
            "reject" => return None,
            "mod" | "dyn" | "reinstate" => {}
            "mss" | "window" | "irtt" => drop(words.next()),
            word if target.is_none() => target = Some(word),
            // The device may stand last without `dev`.
            word => rest.extend(["dev", word]),
        }
    }
    let target = target?;
    let to = match netmask {
        Some(netmask) if !is_host => match target.parse().map(|address| Address::with_netmask(address, netmask)) {
            Ok(Ok(to)) => to.to_string(),
            Ok(Err(error)) => return Some(Err((error.to_string(), error.hint()))),
            Err(_) if target == "default" => "default".to_owned(),
            Err(_) => {
                return Some(Err((
                    format!("`{target}` is no IP address"),
                    "name the network by its address".to_owned(),
                )));
            }
        },
        _ => target.to_owned(),
    };
    let words: Vec<&str> = std::iter::once(to.as_str()).chain(rest).collect();
    Some(add_route(&words, false))
}

/// `ifenslave bond0 eth0 eth1`: without options that do something else.
fn enslave(arguments: &[&str]) -> Option<Result<Command, (String, String)>> {
    let harmless = |word: &&&str| matches!(**word, "-f" | "--force" | "-v" | "--verbose");
    let mut words = arguments.iter().filter(|word| !harmless(word)).copied();
    let first = words.next()?;
    if matches!(first, "-d" | "--detach") {
        return Some(Ok(Command::Undo(None)));
    }
    let bond = Some(first).filter(|word| !word.starts_with('-'))?.to_owned();
    let members: Vec<String> = words.map(str::to_owned).collect();
    let is_sound = !members.is_empty() && members.iter().all(|member| !member.starts_with('-'));
    is_sound.then_some(Ok(Command::Enslave { bond, members }))
}

/// `modprobe bonding mode=4 miimon=100`.
fn module(arguments: &[&str]) -> Option<Result<Command, (String, String)>> {
    let mut words = arguments.iter().filter(|word| !word.starts_with('-')).copied();
    if words.next()? != "bonding" {
        return None;
    }
    if arguments.iter().any(|word| matches!(*word, "-r" | "--remove")) {
        return Some(Ok(Command::Undo(None)));
    }
    let options = words.map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    Some(Ok(Command::Module(options.collect::<Option<_>>()?)))
}
