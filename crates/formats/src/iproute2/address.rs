//! `ip address` and `ip route` (iproute2 6.1, ip/ipaddress.c, ip/iproute.c).

use std::net::IpAddr;

use nicteam_diagnostics::Problem;

use super::{Script, abbreviated, argument};
use crate::reading::At;
use crate::shell::{Command, Word};
use crate::{Address, Route};

/// In the order in which they are compared.
const ADDRESS: &[&str] = &[
    "add", "change", "chg", "replace", "delete", "show", "lst", "list", "flush", "save", "showdump", "restore", "help",
];
const ROUTE: &[&str] = &[
    "list", "show", "lst", "get", "add", "change", "chg", "replace", "prepend", "append", "test", "delete", "flush",
    "save", "restore", "showdump", "help",
];

/// `ip address add 10.0.0.1/24 dev bond0`.
pub(super) fn read(
    script: &mut Script<'_>,
    source: usize,
    words: &[Word],
    command: &Command,
    spot: &At,
) -> Result<(), Problem> {
    let Some((verb, rest)) = words.split_first() else { return Ok(()) };
    match abbreviated(&verb.text, ADDRESS) {
        Some("add" | "change" | "chg" | "replace") => {}
        Some("delete" | "flush") => {
            script.maybe(command, spot, "it takes addresses away: what they are in the end, the team is to be told");
            return Ok(());
        }
        Some(_) => return Ok(()),
        None => {
            let problem = Problem::at(&verb.span, format!("`ip address` has no command `{}`", verb.text));
            return Err(problem.hint("`ip address add 10.0.0.1/24 dev bond0`"));
        }
    }
    let (mut local, mut device, mut others) = (None, None, Vec::new());
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "dev" => device = Some(argument(word, &mut rest)?),
            "local" => local = Some(argument(word, &mut rest)?),
            // The address of the network's end, which the kernel makes of the prefix.
            "broadcast" | "brd" => {
                let value = &argument(word, &mut rest)?.text;
                if value != "+" {
                    others.push(format!("broadcast {value}"));
                }
            }
            "scope" | "proto" => drop(argument(word, &mut rest)?),
            "label" | "peer" | "anycast" | "metric" | "valid_lft" | "preferred_lft" => {
                others.push(format!("{} {}", word.text, argument(word, &mut rest)?.text));
            }
            "nodad" | "home" | "mngtmpaddr" | "noprefixroute" | "autojoin" | "optimistic" => {
                others.push(word.text.clone())
            }
            _ if local.is_none() => local = Some(word),
            text => {
                let problem = Problem::at(&word.span, format!("`{text}` is no word of `ip address`"));
                return Err(problem.hint("`ip address add 10.0.0.1/24 dev bond0`"));
            }
        }
    }
    let Some(team) = device.and_then(|device: &Word| script.teams.find(&device.text)) else {
        script.maybe(command, spot, "a member has no addresses of its own: they are the team's");
        return Ok(());
    };
    let Some(local) = local else { return Err(Problem::at(&spot.span(), "no address is named")) };
    let address = of_ip(&local.text).map_err(|error| Problem::at(&local.span, error.to_string()).hint(error.hint()))?;
    let draft = &mut script.teams.drafts[team];
    draft.add_address(address);
    let name = draft.name.clone();
    if !others.is_empty() {
        let why = format!("an address of a team has no `{}`", others.join("`, `"));
        script.teams.left(&At::new(source, spot.span()), why, Some(&name));
    }
    Ok(())
}

/// As `ip` takes an address: alone it has a prefix of all its bits.
fn of_ip(text: &str) -> Result<Address, crate::AddressError> {
    match text.parse::<IpAddr>() {
        Ok(address) => Ok(Address::host(address)),
        Err(_) => text.parse(),
    }
}

/// `ip route add default via 10.0.0.254 dev bond0`.
pub(super) fn route(
    script: &mut Script<'_>,
    words: &[Word],
    family: Option<u8>,
    command: &Command,
    spot: &At,
) -> Result<(), Problem> {
    let Some((verb, rest)) = words.split_first() else { return Ok(()) };
    match abbreviated(&verb.text, ROUTE) {
        Some("add" | "change" | "chg" | "replace" | "prepend" | "append") => {}
        Some("delete" | "flush") => {
            script.maybe(command, spot, "it takes routes away: which there are in the end, the team is to be told");
            return Ok(());
        }
        Some(_) => return Ok(()),
        None => {
            let problem = Problem::at(&verb.span, format!("`ip route` has no command `{}`", verb.text));
            return Err(problem.hint("`ip route add default via 10.0.0.254 dev bond0`"));
        }
    }
    let mut texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    // Of IPv6 without a next hop, which would tell.
    if family == Some(6)
        && let Some(to) = texts.iter_mut().find(|text| **text == "default")
    {
        *to = "::/0";
    }
    let device = texts.iter().position(|text| matches!(*text, "dev" | "oif")).and_then(|at| texts.get(at + 1));
    let team = device.and_then(|device| script.teams.find(device));
    match Route::parse(&texts.join(" ")) {
        Ok(words) if team.is_some() || words.device.is_none() => {
            let routes = words.routes();
            if let Some(team) = team {
                let name = script.teams.drafts[team].name.clone();
                let ignored: Vec<&String> = words
                    .ignored
                    .iter()
                    .filter(|word| !word.starts_with("proto") && !word.starts_with("scope"))
                    .collect();
                if !ignored.is_empty() {
                    let ignored = ignored.into_iter().cloned().collect::<Vec<_>>().join("`, `");
                    script.teams.left(spot, format!("a team's route has no `{ignored}`"), Some(&name));
                }
                routes.into_iter().for_each(|route| script.teams.drafts[team].add_route(route));
            } else {
                routes.into_iter().for_each(|route| script.teams.loose_route(route));
            }
            Ok(())
        }
        Ok(_) => Ok(()),
        // Of another device it is nobody's business here.
        Err(_) if device.is_some() && team.is_none() => Ok(()),
        Err(
            crate::RouteError::NotTaken { .. } | crate::RouteError::NoTeam { .. } | crate::RouteError::Table { .. },
        ) => {
            let why =
                "a team's route has a destination, a next hop, a metric and a table by its number: add it yourself";
            match team {
                Some(team) => {
                    let name = script.teams.drafts[team].name.clone();
                    script.teams.left(spot, why, Some(&name));
                }
                None => script.maybe(command, spot, why),
            }
            Ok(())
        }
        Err(error) => {
            let start = rest.first().map_or(verb.span.start, |word| word.span.start);
            Err(Problem::at(&(start..spot.end), error.to_string()).hint(error.hint()))
        }
    }
}
