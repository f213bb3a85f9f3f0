//! Addresses, MTU and routes: `ipadm`, `route`, `dladm set-linkprop`.

use nicteam_diagnostics::Problem;
use nicteam_drafts::Route;
use nicteam_drafts::Teams;
use nicteam_syntax::At;
use nicteam_syntax::shell::{Command, Word};

use super::words::{aggr_name, parts};
use crate::ifconfig;

/// `ipadm create-addr -T static -a local=10.0.0.1/24 aggr01/v4`.
pub(super) fn ipadm(teams: &mut Teams<'_>, source: usize, command: &Command, at: &At) -> Result<(), Problem> {
    let Some((verb, words)) = command.arguments().split_first() else { return Ok(()) };
    match verb.text.as_str() {
        // The interface on the aggregation, which a team's device is itself.
        "create-if" | "create-ip" | "enable-if" | "up-addr" => return Ok(()),
        verb if verb.starts_with("show-") => return Ok(()),
        "create-addr" => {}
        _ => {
            teams.aside(at, command.pieces(), "a team has nothing like it");
            return Ok(());
        }
    }
    let (mut kind, mut address, mut object, mut rest) = ("static", None, None, words.iter());
    while let Some(word) = rest.next() {
        let argument = |next: Option<&'_ Word>| {
            next.cloned().ok_or_else(|| Problem::at(&word.span, format!("nothing follows `{}`", word.text)))
        };
        match word.text.as_str() {
            "-T" => kind = rest.next().map_or("", |word| word.text.as_str()),
            "-a" => address = Some(argument(rest.next())?),
            "-t" | "-d" | "-1" | "-p" | "-h" | "-w" | "-i" => {}
            _ => object = Some(word),
        }
    }
    let Some(team) = object.and_then(|object| teams.find(object.text.split('/').next().unwrap_or(""))) else {
        teams.aside(at, command.pieces(), "a member has no addresses of its own: they are the team's");
        return Ok(());
    };
    let name = teams.drafts[team].name.clone();
    match (kind, address) {
        ("static", Some(word)) => {
            let parts = word.text.split(',');
            for part in parts {
                let local = part.strip_prefix("local=").unwrap_or(part);
                if part.starts_with("remote=") {
                    teams.left(at, "an address of a team has no other end", Some(&name));
                } else {
                    ifconfig::add(teams, team, local, &At::new(source, word.span.clone()))?;
                }
            }
        }
        ("static", None) => return Err(Problem::at(&at.span(), "no address is named").hint("`-a local=10.0.0.1/24`")),
        ("dhcp" | "addrconf", _) => {
            let why =
                "a team does not ask for addresses: let this host's DHCP client, or its router's advertisements, do so";
            teams.left(at, why, Some(&name));
        }
        (other, _) => {
            let problem = Problem::at(&at.span(), format!("`{other}` is no type of address"));
            return Err(problem.hint("static, dhcp or addrconf: `-T static -a local=10.0.0.1/24`"));
        }
    }
    Ok(())
}

/// `route -p add default 10.0.0.254`, `route add -net 10.9.0.0/16 10.0.0.9`.
pub(super) fn route(teams: &mut Teams<'_>, _: usize, command: &Command, at: &At) -> Result<(), Problem> {
    let mut words = command.arguments().iter().filter(|word| !word.text.starts_with('-'));
    if words.next().is_none_or(|verb| verb.text != "add") {
        return Ok(());
    }
    let words: Vec<&str> =
        words.map(|word| word.text.as_str()).filter(|text| !matches!(*text, "net" | "host")).collect();
    let [to, via, rest @ ..] = words.as_slice() else {
        teams.aside(at, command.pieces(), "a team's route has a destination and a next hop");
        return Ok(());
    };
    match Route::parse(&format!("{to} via {via}")) {
        Ok(words) if rest.is_empty() => {
            teams.loose_routes(words.routes(), at, None);
            Ok(())
        }
        Ok(_) => {
            teams.aside(at, command.pieces(), "a team's route has a destination and a next hop alone");
            Ok(())
        }
        Err(error) => Err(Problem::at(&at.span(), error.to_string()).hint(error.hint())),
    }
}

/// `dladm set-linkprop -p mtu=9000 aggr01`.
pub(super) fn linkprop(teams: &mut Teams<'_>, source: usize, words: &[Word], at: &At) -> Result<(), Problem> {
    let (options, others) = parts(words)?;
    let Some(team) = others.last().and_then(|name| teams.find(&aggr_name(&name.text))) else {
        let pieces = others.iter().map(|word| word.text.clone()).collect();
        teams.aside(at, pieces, "it sets something of a member; a team does not");
        return Ok(());
    };
    let name = teams.drafts[team].name.clone();
    for (letter, word, value) in &options {
        let at = At::new(source, word.span.clone());
        match value.strip_prefix("mtu=") {
            Some(mtu) if *letter == 'p' => teams.drafts[team].set_mtu(&mut teams.reading, mtu, &at),
            _ if *letter == 'p' => teams.left(&at, format!("a team has no `{value}`"), Some(&name)),
            _ => {}
        }
    }
    Ok(())
}
