//! `ifconfig` of net-tools, illumos and Solaris, as far as it gives addresses to teams.

use nicteam_diagnostics::Problem;

use crate::Address;
use crate::reading::At;
use crate::shell::Command;
use crate::teams::Teams;

/// An address with its prefix; alone it has that of its class.
pub(crate) fn add(teams: &mut Teams<'_>, team: usize, text: &str, at: &At) -> Result<(), Problem> {
    let address = match text.parse::<std::net::Ipv4Addr>() {
        Ok(v4) => {
            let address = Address::of_class(v4);
            let name = teams.drafts[team].name.clone();
            let why = format!("there is no netmask: /{}, that of its class, is taken", address.prefix);
            teams.left(at, why, Some(&name));
            address
        }
        Err(_) => text
            .parse()
            .map_err(|error: crate::AddressError| Problem::at(&at.span(), error.to_string()).hint(error.hint()))?,
    };
    teams.drafts[team].add_address(address);
    Ok(())
}

/// `ifconfig aggr01 plumb 10.0.0.1 netmask 255.255.255.0 broadcast + mtu 9000 up`.
pub(crate) fn read(teams: &mut Teams<'_>, source: usize, command: &Command, at: &At) -> Result<(), Problem> {
    let Some((device, words)) = command.arguments().split_first() else { return Ok(()) };
    // An alias of Linux is an address more.
    let alias = || device.text.split_once(':').and_then(|(base, _)| teams.find(base));
    let Some(team) = teams.find(&device.text).or_else(alias) else {
        // Members are up before they join.
        if !words.iter().all(|word| matches!(word.text.as_str(), "up" | "down" | "0.0.0.0")) {
            let why = teams.why_not(&device.text);
            let of_member = || "a member has no addresses and settings of its own: they are the team's".to_owned();
            teams.aside(at, command.pieces(), why.unwrap_or_else(of_member));
        }
        return Ok(());
    };
    let name = teams.drafts[team].name.clone();
    let (mut address, mut netmask, mut rest) = (None, None, words.iter());
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "plumb" | "inet" | "inet6" | "up" | "down" | "addif" | "set" | "add" => {}
            "netmask" => netmask = rest.next(),
            "broadcast" => drop(rest.next()),
            "hw" => {
                let Some(word) = rest.nth(1) else { return Err(Problem::at(&word.span, "nothing follows `hw`")) };
                let at = At::new(source, word.span.clone());
                teams.drafts[team].set_mac(&mut teams.reading, &word.text, &at);
            }
            "unplumb" | "del" | "removeif" => {
                let why = "it takes addresses away: what they are in the end, the team is to be told";
                teams.left(at, why, Some(&name));
                return Ok(());
            }
            "mtu" => {
                let Some(word) = rest.next() else { return Err(Problem::at(&word.span, "nothing follows `mtu`")) };
                let at = At::new(source, word.span.clone());
                teams.drafts[team].set_mtu(&mut teams.reading, &word.text, &at);
            }
            "pointopoint" | "dstaddr" | "destination" => {
                rest.next();
                teams.left(at, "an address of a team has no other end", Some(&name));
            }
            "dhcp" | "auto-dhcp" => {
                teams.left(at, "a team does not ask for addresses: let this host's DHCP client do so", Some(&name))
            }
            text if text.starts_with(|c: char| c.is_ascii_hexdigit()) && text.contains(['.', ':']) => {
                // The second one is the other end's.
                match address {
                    None => address = Some(word),
                    Some(_) => teams.left(at, "an address of a team has no other end", Some(&name)),
                }
            }
            _ => teams.left(&At::new(source, word.span.clone()), "a team has nothing like it", Some(&name)),
        }
    }
    let Some(word) = address else { return Ok(()) };
    let at = At::new(source, word.span.clone());
    match netmask {
        // `+`: as `/etc/netmasks` says, or the class.
        Some(mask) if mask.text != "+" && !word.text.contains('/') => {
            let ip =
                word.text.parse().map_err(|_| Problem::at(&word.span, format!("`{}` is no IP address", word.text)))?;
            let hex = mask.text.strip_prefix("0x").unwrap_or(&mask.text);
            let dotted = match u32::from_str_radix(hex, 16) {
                Ok(bits) if hex.len() == 8 => std::net::Ipv4Addr::from(bits).to_string(),
                _ => mask.text.clone(),
            };
            match Address::with_netmask(ip, &dotted) {
                Ok(address) => teams.drafts[team].add_address(address),
                Err(error) => return Err(Problem::at(&mask.span, error.to_string()).hint(error.hint())),
            }
            Ok(())
        }
        _ => add(teams, team, &word.text, &at),
    }
}
