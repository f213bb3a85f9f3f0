//! VyOS' configuration commands (VyOS 1.4, "Bond / Link Aggregation"): `set interfaces bonding bond0 ...`.

use nicteam_diagnostics::{Diagnostics, Problem, list, nearest};
use nicteam_drafts::Teams;
use nicteam_drafts::{Format, Import, Route};
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::{Command, Word};

/// See the module.
pub struct Vyos;

impl Format for Vyos {
    fn name(&self) -> &'static str {
        "vyos"
    }

    fn title(&self) -> &'static str {
        "VyOS' commands (`set interfaces bonding ...`)"
    }

    fn recognises(&self, source: &Source) -> bool {
        source.text.lines().any(|line| line.trim_start().starts_with("set interfaces bonding "))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        teams.each_command(sources, take);
        for team in 0..teams.drafts.len() {
            let (name, at) = (teams.drafts[team].name.clone(), teams.drafts[team].at.clone());
            // What VyOS has where nothing is said.
            if teams.option(team, "mode").is_none() {
                teams.set(team, "mode", "802.3ad", &at);
            }
            let what = format!("where this host still runs VyOS: `delete interfaces bonding {name}`, then `commit`");
            teams.disable(&at, what, None);
        }
        teams.finish()
    }
}

/// VyOS' modes, and the kernel's (vyos-1x, `interface-definitions/interfaces_bonding.xml.in`).
const MODES: [(&str, &str); 7] = [
    ("802.3ad", "802.3ad"),
    ("active-backup", "active-backup"),
    ("broadcast", "broadcast"),
    ("round-robin", "balance-rr"),
    ("transmit-load-balance", "balance-tlb"),
    ("adaptive-load-balance", "balance-alb"),
    ("xor-hash", "balance-xor"),
];

/// Settings with a value, and the kernel's names.
const SETTINGS: [(&str, &str); 8] = [
    ("hash-policy", "xmit_hash_policy"),
    ("lacp-rate", "lacp_rate"),
    ("min-links", "min_links"),
    ("primary", "primary"),
    ("mii-mon-interval", "miimon"),
    ("system-mac", "ad_actor_system"),
    ("arp-monitor interval", "arp_interval"),
    ("arp-monitor target", "arp_ip_target"),
];

fn take(teams: &mut Teams<'_>, source: usize, command: &Command) {
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    let done = match words.as_slice() {
        ["set", "interfaces", "bonding", bond, rest @ ..] => {
            let at = At::new(source, command.words[3].span.clone());
            let team = teams.team(bond, &at);
            bonding(teams, source, team, rest, command)
        }
        // As it was before 1.3.
        ["set", "interfaces", "ethernet", device, "bond-group", bond] => {
            let team = teams.team(bond, &At::new(source, command.words[5].span.clone()));
            teams.add_member(team, device, &At::new(source, command.words[3].span.clone()));
            Ok(())
        }
        ["set", "protocols", "static", "route" | "route6", to, "next-hop", via, ..] => {
            let at = At::new(source, command.span());
            let route = Route::parse(&format!("{to} via {via}"));
            let refused =
                |error: nicteam_drafts::RouteError| Problem::at(&command.span(), error.to_string()).hint(error.hint());
            route.map_err(refused).map(|words| teams.loose_routes(words.routes(), &at, None))
        }
        ["set", ..] => {
            teams.aside(
                &At::new(source, command.span()),
                command.pieces(),
                "it is of more than the bond: do the same on this host",
            );
            Ok(())
        }
        _ => Ok(()),
    };
    done.unwrap_or_else(|problem| teams.problem(source, problem));
}

fn bonding(teams: &mut Teams<'_>, source: usize, team: usize, rest: &[&str], command: &Command) -> Result<(), Problem> {
    let spot = At::new(source, command.span());
    let last: &Word = command.words.last().unwrap_or(&command.words[0]);
    let at = At::new(source, last.span.clone());
    let name = teams.drafts[team].name.clone();
    match rest {
        [] | ["description", _] => {}
        ["mode", mode] => {
            let Some((_, kernels)) = MODES.iter().find(|(vyos, _)| vyos == mode) else {
                let names = || MODES.iter().map(|(vyos, _)| *vyos);
                let problem = Problem::at(&last.span, format!("VyOS has no mode `{mode}`"));
                return Err(match nearest(mode, names()) {
                    Some(near) => problem.hint(format!("did you mean `{near}`?")),
                    None => problem.hint(format!("there is {}", list(names()))),
                });
            };
            teams.set(team, "mode", kernels, &at);
        }
        ["member", "interface", device] => teams.add_member(team, device, &at),
        ["address", "dhcp" | "dhcpv6"] => {
            teams.left(
                &spot,
                "a team does not ask for addresses: let networkd do so on the team's device",
                Some(&name),
            );
        }
        ["address", address] => {
            let Teams { reading, drafts, .. } = teams;
            drafts[team].address(reading, address, &at);
        }
        ["mtu", mtu] => {
            let Teams { reading, drafts, .. } = teams;
            drafts[team].set_mtu(reading, mtu, &at);
        }
        ["mac", mac] => {
            let Teams { reading, drafts, .. } = teams;
            drafts[team].set_mac(reading, mac, &at);
        }
        ["vif", id, ..] => {
            let device = format!("{name}.{id}");
            let why = format!(
                "a VLAN on the team: `ip link add link {name} name {device} type vlan id {id}`, with what this line gives it"
            );
            teams.left(&spot, why, Some(&name));
        }
        [setting, value] | [setting, _, value] => {
            let setting = match rest {
                [first, second, _] => format!("{first} {second}"),
                _ => (*setting).to_owned(),
            };
            match SETTINGS.iter().find(|(vyos, _)| *vyos == setting) {
                Some((_, "arp_ip_target")) => teams.append(team, "arp_ip_target", value, &at),
                Some((_, option)) => teams.set(team, option, value, &at),
                None => teams.left(&spot, "a team has nothing for it", Some(&name)),
            }
        }
        _ => teams.left(&spot, "a team has nothing for it", Some(&name)),
    }
    Ok(())
}
