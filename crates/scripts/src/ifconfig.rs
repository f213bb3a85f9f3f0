//! `ifconfig` of net-tools, illumos and Solaris, as far as it gives addresses to teams.

use std::ops::Range;

use nicteam_diagnostics::Problem;
use nicteam_drafts::Teams;
use nicteam_drafts::{Address, AddressError};
use nicteam_syntax::At;
use nicteam_syntax::shell::{Command, Word, argument};

/// Why a word is not taken over.
const NOTHING_LIKE_IT: &str = "a team has nothing like it";
const OTHER_END: &str = "an address of a team has no other end";
const TAKES_AWAY: &str = "it takes addresses away: what they are in the end, the team is to be told";
const DHCP: &str = "a team does not ask for addresses: let this host's DHCP client do so";

/// What the words behind `ifconfig DEVICE` say.
#[derive(Default)]
pub struct Said<'a> {
    /// The address, and whether its prefix is that of its class because no netmask is named.
    pub address: Option<(Address, bool)>,
    address_at: Range<usize>,
    pub mac: Option<&'a Word>,
    pub mtu: Option<&'a Word>,
    /// It removes an address, and the rest is not read.
    pub removes: bool,
    /// What is not taken over: the word, if it is one alone, and why.
    pub others: Vec<(Option<Range<usize>>, &'static str)>,
}

/// Reads the words behind `ifconfig DEVICE`.
///
/// # Errors
/// The first word that makes no sense.
pub fn said(words: &[Word]) -> Result<Said<'_>, Problem> {
    let (mut said, mut address, mut netmask, mut rest) = (Said::default(), None, None, words.iter());
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "plumb" | "inet" | "inet6" | "up" | "down" | "addif" | "set" | "add" => {}
            // It takes the address away, as a member's is.
            "0.0.0.0" => {}
            "netmask" => netmask = rest.next(),
            "broadcast" => drop(rest.next()),
            // The kind of the address stands between.
            "hw" => {
                let missing = || Problem::at(&word.span, "nothing follows `hw`");
                said.mac = Some(rest.nth(1).ok_or_else(missing)?);
            }
            "unplumb" | "del" | "removeif" => {
                said.removes = true;
                return Ok(said);
            }
            "mtu" => said.mtu = Some(argument(word, &mut rest)?),
            "pointopoint" | "dstaddr" | "destination" => {
                rest.next();
                said.others.push((None, OTHER_END));
            }
            "dhcp" | "auto-dhcp" => said.others.push((None, DHCP)),
            text if text.starts_with(|c: char| c.is_ascii_hexdigit()) && text.contains(['.', ':']) => {
                // The second one is the other end's.
                match address {
                    None => address = Some(word),
                    Some(_) => said.others.push((None, OTHER_END)),
                }
            }
            _ => said.others.push((Some(word.span.clone()), NOTHING_LIKE_IT)),
        }
    }
    if let Some(word) = address {
        said.address = Some(with_netmask(word, netmask)?);
        said.address_at = word.span.clone();
    }
    Ok(said)
}

fn with_netmask(word: &Word, netmask: Option<&Word>) -> Result<(Address, bool), Problem> {
    // `+`: as `/etc/netmasks` says, or the class.
    let Some(mask) = netmask.filter(|mask| mask.text != "+" && !word.text.contains('/')) else {
        return alone(&word.text).map_err(|error| Problem::at(&word.span, error.to_string()).hint(error.hint()));
    };
    let ip = word.text.parse().map_err(|_| Problem::at(&word.span, format!("`{}` is no IP address", word.text)))?;
    let hex = mask.text.strip_prefix("0x").unwrap_or(&mask.text);
    let dotted = match u32::from_str_radix(hex, 16) {
        Ok(bits) if hex.len() == 8 => std::net::Ipv4Addr::from(bits).to_string(),
        _ => mask.text.clone(),
    };
    let address = Address::with_netmask(ip, &dotted);
    address
        .map(|address| (address, false))
        .map_err(|error| Problem::at(&mask.span, error.to_string()).hint(error.hint()))
}

/// An address with its prefix; alone it has that of its class.
fn alone(text: &str) -> Result<(Address, bool), AddressError> {
    match text.parse::<std::net::Ipv4Addr>() {
        Ok(v4) => Ok((Address::of_class(v4), true)),
        Err(_) => text.parse().map(|address| (address, false)),
    }
}

/// Why the prefix of a class is told.
pub fn of_class(address: &Address) -> String {
    format!("there is no netmask: /{}, that of its class, is taken", address.prefix)
}

/// Gives a team an address with its prefix; alone it has that of its class.
pub fn add(teams: &mut Teams<'_>, team: usize, text: &str, at: &At) -> Result<(), Problem> {
    let address = alone(text).map_err(|error| Problem::at(&at.span(), error.to_string()).hint(error.hint()))?;
    give(teams, team, &address, at);
    Ok(())
}

fn give(teams: &mut Teams<'_>, team: usize, (address, is_of_class): &(Address, bool), at: &At) {
    if *is_of_class {
        let name = teams.drafts[team].name.clone();
        teams.left(at, of_class(address), Some(&name));
    }
    teams.drafts[team].add_address(*address);
}

/// True for words that give the device nothing: members are up before they join.
pub fn only_sets_up(words: &[Word]) -> bool {
    words.iter().all(|word| matches!(word.text.as_str(), "up" | "down" | "0.0.0.0"))
}

/// `ifconfig aggr01 plumb 10.0.0.1 netmask 255.255.255.0 broadcast + mtu 9000 up`.
pub fn read(teams: &mut Teams<'_>, source: usize, command: &Command, at: &At) -> Result<(), Problem> {
    let Some((device, words)) = command.arguments().split_first() else { return Ok(()) };
    // An alias of Linux is an address more.
    let alias = || device.text.split_once(':').and_then(|(base, _)| teams.find(base));
    let Some(team) = teams.find(&device.text).or_else(alias) else {
        if !only_sets_up(words) {
            let why = teams.why_not(&device.text);
            let of_member = || "a member has no addresses and settings of its own: they are the team's".to_owned();
            teams.aside(at, command.pieces(), why.unwrap_or_else(of_member));
        }
        return Ok(());
    };
    let name = teams.drafts[team].name.clone();
    let said = said(words)?;
    if let Some(word) = said.mac {
        teams.drafts[team].set_mac(&mut teams.reading, &word.text, &At::new(source, word.span.clone()));
    }
    if let Some(word) = said.mtu {
        teams.drafts[team].set_mtu(&mut teams.reading, &word.text, &At::new(source, word.span.clone()));
    }
    for (word, why) in said.others {
        let at = word.map_or_else(|| at.clone(), |span| At::new(source, span));
        teams.left(&at, why, Some(&name));
    }
    if said.removes {
        teams.left(at, TAKES_AWAY, Some(&name));
    }
    if let Some(address) = &said.address {
        give(teams, team, address, &At::new(source, said.address_at));
    }
    Ok(())
}
