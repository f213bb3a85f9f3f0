//! Commands that configurations run and whose meaning is a team's: `ip route add`, `route add` (net-tools),
//! `ip address add`, `ifenslave`, `modprobe bonding`.

use std::net::IpAddr;

use crate::route::RouteWords;
use crate::{Address, Route};

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Adds a route.
    AddRoute(RouteWords),
    /// Removes one: the undo of another line.
    DeleteRoute,
    /// Adds an address, to this device if one is named.
    AddAddress(Address, Option<String>),
    /// Puts devices into a bond.
    Enslave {
        /// The bond.
        bond: String,
        /// The devices.
        members: Vec<String>,
    },
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
        _ => None,
    }
}

fn add_route(words: &[&str], is_v6: bool) -> Result<Command, (String, String)> {
    let mut read = Route::parse(&words.join(" ")).map_err(|error| (error.to_string(), error.hint()))?;
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
    let bond = words.next().filter(|word| !word.starts_with('-'))?.to_owned();
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
    let options = words.map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    Some(Ok(Command::Module(options.collect::<Option<_>>()?)))
}
