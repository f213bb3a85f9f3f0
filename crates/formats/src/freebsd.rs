//! FreeBSD's `rc.conf` (FreeBSD 14, rc.conf(5), lagg(4), ifconfig(8)): `ifconfig_lagg0="laggproto lacp laggport igb0 ..."`.
//!
//! Devices have other names there: a user who moves an aggregation to this host replaces them by the names of its own
//! devices.

use std::net::IpAddr;

use nicteam_diagnostics::{Diagnostics, Problem, list, nearest};
use nicteam_drafts::Teams;
use nicteam_drafts::{Address, Format, Import, Route};
use nicteam_syntax::Source;
use nicteam_syntax::shell::quoted;

use crate::ifcfg::{self, Assignment};

/// See the module.
pub struct FreeBsd;

impl Format for FreeBsd {
    fn name(&self) -> &'static str {
        "freebsd"
    }

    fn title(&self) -> &'static str {
        "FreeBSD's rc.conf (lagg)"
    }

    fn recognises(&self, source: &Source) -> bool {
        source.text.lines().any(|line| {
            let line = line.trim_start();
            (line.starts_with("ifconfig_") || line.starts_with("create_args_")) && line.contains("laggport")
        })
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        for (source, of) in sources.iter().enumerate() {
            let entries = ifcfg::assignments(source, of);
            for entry in &entries {
                if let Err(problem) = lagg(&mut teams, entry) {
                    teams.problem(source, problem);
                }
            }
            entries.iter().for_each(|entry| others(&mut teams, entry));
        }
        for team in 0..teams.drafts.len() {
            let draft = &teams.drafts[team];
            let (name, at) = (draft.name.clone(), draft.at.clone());
            let links: Vec<String> = draft.members.iter().map(|of| of.value.clone()).collect();
            let why = format!(
                "the members have FreeBSD's names ({}): put this host's names in their place (`ip -br link` lists them)",
                links.join(", ")
            );
            teams.left(&at, why, Some(&name));
            let what = format!("where this host still runs FreeBSD: take {name} away, and out of `cloned_interfaces`");
            teams.disable(&at, what, Some(format!("ifconfig {} destroy", quoted(&name))));
        }
        teams.finish()
    }
}

/// lagg's protocols, and the modes.
const PROTOCOLS: [(&str, &str); 5] = [
    ("failover", "active-backup"),
    ("lacp", "802.3ad"),
    ("loadbalance", "balance-xor"),
    ("roundrobin", "balance-rr"),
    ("broadcast", "broadcast"),
];

/// The device that `ifconfig_lagg0`, `create_args_lagg0`, `ifconfig_lagg0_ipv6`, `ifconfig_lagg0_alias0` are about.
fn device(key: &str) -> Option<&str> {
    let rest = key.strip_prefix("ifconfig_").or_else(|| key.strip_prefix("create_args_"))?;
    Some(rest.split('_').next().unwrap_or(rest)).filter(|device| !device.is_empty())
}

/// A line that builds an aggregation.
fn lagg(teams: &mut Teams<'_>, entry: &Assignment) -> Result<(), Problem> {
    let Some(device) = device(&entry.key) else { return Ok(()) };
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    if !words.iter().any(|word| matches!(*word, "laggproto" | "laggport")) {
        return Ok(());
    }
    let at = &entry.value_at;
    let team = teams.team(device, at);
    let mut rest = words.iter();
    let (mut protocol, mut hash) = (None, None);
    while let Some(word) = rest.next() {
        match *word {
            "laggproto" => protocol = rest.next(),
            "laggport" => {
                if let Some(port) = rest.next() {
                    teams.add_member(team, port, at);
                }
            }
            "lagghash" => hash = rest.next(),
            "lacp_fast_timeout" => teams.set(team, "lacp_rate", "fast", at),
            _ => {}
        }
    }
    let protocol = protocol.copied().unwrap_or("failover");
    let Some((_, mode)) = PROTOCOLS.iter().find(|(lagg, _)| *lagg == protocol) else {
        let names = || PROTOCOLS.iter().map(|(lagg, _)| *lagg);
        let problem = Problem::at(&at.span(), format!("lagg has no protocol `{protocol}` that a team has"));
        return Err(match nearest(protocol, names()) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint(format!("there is {}", list(names()))),
        });
    };
    teams.set(team, "mode", mode, at);
    if *mode == "active-backup" {
        // The first port is the one that is preferred.
        let first = teams.drafts[team].members.first().map(|member| member.value.clone());
        first.into_iter().for_each(|first| teams.set(team, "primary", &first, at));
    }
    if matches!(*mode, "802.3ad" | "balance-xor") {
        // Where nothing is said: all three.
        let layers = hash.map_or("L2,L3,L4".to_owned(), |layers| layers.to_uppercase());
        teams.set(team, "xmit_hash_policy", &layers, at);
    }
    Ok(())
}

/// Addresses, the MTU and routes of an aggregation, and what stands on it.
fn others(teams: &mut Teams<'_>, entry: &Assignment) {
    let at = &entry.value_at;
    match entry.key.as_str() {
        "defaultrouter" | "ipv6_defaultrouter" if !matches!(entry.value.as_str(), "NO" | "no" | "") => {
            match Route::parse(&format!("default via {}", entry.value)) {
                Ok(words) => teams.loose_routes(words.routes(), at, None),
                Err(error) => teams.reading.wrong(at, error.to_string(), error.hint()),
            }
        }
        key => {
            if let Some(lower) = key.strip_prefix("vlans_")
                && teams.find(lower).is_some()
            {
                let why = "VLANs on the team: `ip link add link TEAM name TEAM.ID type vlan id ID` makes each";
                teams.left(&entry.at, why, Some(lower));
            }
            let Some(team) = device(key).and_then(|device| teams.find(device)) else { return };
            if let Err(problem) = configure(teams, team, entry) {
                teams.problem(at.source, problem);
            }
        }
    }
}

/// What `ifconfig` gives an aggregation beside its ports.
fn configure(teams: &mut Teams<'_>, team: usize, entry: &Assignment) -> Result<(), Problem> {
    let (at, name) = (&entry.value_at, teams.drafts[team].name.clone());
    let words: Vec<&str> = entry.value.split_whitespace().collect();
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        match word {
            "laggproto" | "laggport" | "lagghash" | "description" | "descr" => drop(rest.next()),
            "up" | "inet" | "inet6" | "alias" | "lacp_fast_timeout" | "-lacp_fast_timeout" | "lacp_strict"
            | "-lacp_strict" | "use_flowid" | "-use_flowid" => {}
            "mtu" => {
                let (mtu, Teams { reading, drafts, .. }) = (rest.next().unwrap_or_default(), &mut *teams);
                drafts[team].set_mtu(reading, mtu, at);
            }
            "ether" | "link" | "lladdr" => {
                let (mac, Teams { reading, drafts, .. }) = (rest.next().unwrap_or_default(), &mut *teams);
                drafts[team].set_mac(reading, mac, at);
            }
            "DHCP" | "SYNCDHCP" | "NOSYNCDHCP" | "accept_rtadv" => {
                let why = "a team does not ask for addresses: let networkd do so on the team's device";
                teams.left(&entry.at, why, Some(&name));
            }
            text if text.split('/').next().is_some_and(|text| text.parse::<IpAddr>().is_ok()) => {
                let length = match rest.peek() {
                    Some(&"netmask" | &"prefixlen") => {
                        rest.next();
                        rest.next()
                    }
                    _ => None,
                };
                let address = match (length, text.parse::<IpAddr>()) {
                    (Some(length), Ok(address)) => Address::with_netmask(address, &decimal(length)),
                    (None, Ok(IpAddr::V4(v4))) => Ok(Address::of_class(v4)),
                    (None, Ok(v6)) => Ok(Address { address: v6, prefix: 64 }),
                    _ => text.parse(),
                };
                let refused =
                    |error: nicteam_drafts::AddressError| Problem::at(&at.span(), error.to_string()).hint(error.hint());
                teams.drafts[team].add_address(address.map_err(refused)?);
            }
            other => teams.left(at, format!("a team has nothing like `{other}`"), Some(&name)),
        }
    }
    Ok(())
}

/// A netmask, which may be `0xffffff00`.
fn decimal(netmask: &str) -> String {
    let bits = netmask.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok());
    bits.map_or_else(|| netmask.to_owned(), |bits| std::net::Ipv4Addr::from(bits).to_string())
}
