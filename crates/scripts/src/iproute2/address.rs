//! `ip address` and `ip route` (iproute2 6.1, ip/ipaddress.c, ip/iproute.c).

use std::net::IpAddr;

use nicteam_diagnostics::Problem;
use nicteam_drafts::{Address, Route, RouteWords};
use nicteam_syntax::At;
use nicteam_syntax::shell::{Command, Word, argument};

use super::script::Script;
use super::words::abbreviated;
use crate::net_tools;

/// In the order in which they are compared.
pub const ADDRESS: &[&str] = &[
    "add", "change", "chg", "replace", "delete", "show", "lst", "list", "flush", "save", "showdump", "restore", "help",
];
pub const ROUTE: &[&str] = &[
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
    let Said { local, device, others } = said(rest)?;
    let Some(team) = device.and_then(|device: &Word| script.teams.find(&device.text)) else {
        let why = device.and_then(|device| script.teams.why_not(&device.text));
        let of_member = || "a member has no addresses of its own: they are the team's".to_owned();
        script.maybe(command, spot, why.unwrap_or_else(of_member));
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

/// What the words behind `ip address add` say.
#[derive(Default)]
pub struct Said<'a> {
    pub local: Option<&'a Word>,
    pub device: Option<&'a Word>,
    /// Words that are not taken over, with their arguments.
    pub others: Vec<String>,
}

/// Reads the words behind `ip address add`.
///
/// # Errors
/// The first word that makes no sense.
pub fn said(words: &[Word]) -> Result<Said<'_>, Problem> {
    let Said { mut local, mut device, mut others } = Said::default();
    let mut rest = words.iter();
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
                let value = &argument(word, &mut rest)?.text;
                if value != "forever" {
                    others.push(format!("{} {value}", word.text));
                }
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
    Ok(Said { local, device, others })
}

/// As `ip` takes an address: alone it has a prefix of all its bits.
pub fn of_ip(text: &str) -> Result<Address, nicteam_drafts::AddressError> {
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
    let start = rest.first().map_or(verb.span.start, |word| word.span.start);
    add_route(script, &texts, command, spot)
        .map_err(|error| Problem::at(&(start..spot.end), error.to_string()).hint(error.hint()))
}

/// `route add default gw 10.0.0.254` (net-tools).
pub(super) fn net_route(script: &mut Script<'_>, command: &Command, spot: &At) -> Result<(), Problem> {
    let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
    match net_tools::route(&words) {
        Some(Ok(net_tools::Said::Adds(words))) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let wrong =
                |error: nicteam_drafts::RouteError| Problem::at(&spot.span(), error.to_string()).hint(error.hint());
            return add_route(script, &words, command, spot).map_err(wrong);
        }
        Some(Ok(net_tools::Said::Removes)) => {
            script.maybe(command, spot, "it takes routes away: which there are in the end, the team is to be told")
        }
        Some(Err((message, hint))) => return Err(Problem::at(&spot.span(), message).hint(hint)),
        None if words.contains(&"add") => script.teams.left(spot, OTHER_ROUTE, None),
        None => {}
    }
    Ok(())
}

const OTHER_ROUTE: &str =
    "a team's route has a destination, a next hop, a metric and a table by its number: add it yourself";

fn add_route(
    script: &mut Script<'_>,
    texts: &[&str],
    command: &Command,
    spot: &At,
) -> Result<(), nicteam_drafts::RouteError> {
    let device = texts.iter().position(|text| matches!(*text, "dev" | "oif")).and_then(|at| texts.get(at + 1));
    let team = device.and_then(|device| script.teams.find(device));
    match Route::parse(&texts.join(" ")) {
        Ok(words) => take(script, &words, spot),
        // Of another device it is nobody's business here, unless that sits on a team.
        Err(_) if device.is_some() && team.is_none() => script.maybe(command, spot, OTHER_ROUTE),
        Err(error) if error.is_unsupported() => {
            let name = team.map(|team| script.teams.drafts[team].name.clone());
            script.teams.left(spot, OTHER_ROUTE, name.as_deref());
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// A route of its device's team, or of the one beside which its next hop is.
fn take(script: &mut Script<'_>, words: &RouteWords, spot: &At) {
    let own = |word: &&String| !word.starts_with("proto") && !word.starts_with("scope");
    let ignored: Vec<&str> = words.ignored.iter().filter(own).map(String::as_str).collect();
    let why = (!ignored.is_empty()).then(|| format!("a team's route has no `{}`", ignored.join("`, `")));
    let Some(device) = &words.device else { return script.teams.loose_routes(words.routes(), spot, why) };
    match script.teams.find(device) {
        Some(team) => {
            let draft = &mut script.teams.drafts[team];
            words.routes().into_iter().for_each(|route| draft.add_route(route));
            let name = draft.name.clone();
            if let Some(why) = why {
                script.teams.left(spot, why, Some(&name));
            }
        }
        None => {
            let why = script
                .teams
                .why_not(device)
                .unwrap_or_else(|| "it leads by a member: a team's routes are by the team".to_owned());
            script.teams.aside(spot, vec![device.clone()], why);
        }
    }
}
