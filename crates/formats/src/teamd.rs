//! teamd's JSON (libteam 1.31, teamd.conf(5)).

mod ports;
mod values;
mod watch;

use nicteam_diagnostics::{Diagnostics, Problem, list, nearest};
use nicteam_drafts::Teams;
use nicteam_drafts::{Format, Import};
use nicteam_options::Mode;
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Entry, Node};
use nicteam_syntax::{Source, json};
pub(crate) use ports::{Port, prefer, read_port};
use values::{boolean, unknown};

/// See the module.
pub struct Teamd;

impl Format for Teamd {
    fn name(&self) -> &'static str {
        "teamd"
    }

    fn title(&self) -> &'static str {
        "teamd's JSON (/etc/teamd/*.conf)"
    }

    fn recognises(&self, source: &Source) -> bool {
        source.text.trim_start().starts_with('{')
            && (source.text.contains("\"runner\"") || source.text.contains("\"ports\""))
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        teams.each(sources, |teams, source, of| team(teams, source, &json::parse(&of.text)?));
        teams.finish()
    }
}

/// Keys at the top.
const KEYS: &[&str] = &[
    "device",
    "debug_level",
    "hwaddr",
    "runner",
    "notify_peers",
    "mcast_rejoin",
    "link_watch",
    "ports",
    "link_watch_policy",
];

fn team(teams: &mut Teams<'_>, source: usize, root: &Node) -> Result<(), Problem> {
    root.entries("the file")?;
    let (name, at) = match root.get("device") {
        Some(device) => (device.text("device")?.to_owned(), At::new(source, device.span.clone())),
        None => {
            let path = teams.reading.sources().get(source).map_or("", |of| of.path.as_str());
            let Some(name) = named(path) else {
                let problem = Problem::at(&root.span, "no `device`: the team has no name");
                return Err(problem.hint("`\"device\": \"team0\"`; `teamd -t team0` has it on the command line"));
            };
            (name.to_owned(), At::new(source, root.span.start..root.span.start + 1))
        }
    };
    if let Some(other) = teams.find(&name) {
        let place = teams.reading.place(&teams.drafts[other].at.clone());
        let problem = Problem::at(&at.span(), format!("a second team `{name}`"));
        return Err(problem.hint(format!("the other one stands at {place}")));
    }
    let team = teams.team(&name, &at);
    if root.get("ports").is_none() {
        let why = format!(
            "no `ports`: they join while it runs (`teamdctl {0} port add`): `teamdctl {0} config dump actual` has them",
            quoted(&name)
        );
        teams.left(&at, why, Some(&name));
    }
    let ports = configuration(teams, team, source, root)?;
    prefer(teams, team, &ports);
    let what = format!("end teamd and keep it from starting: it would build {name} again");
    let unit = quoted(&format!("teamd@{name}.service"));
    teams.disable(&at, what, Some(format!("systemctl disable --now {unit}")));
    Ok(())
}

/// The team that a file is for by its name: `teamd@team0.service` reads `team0.conf`.
fn named(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".conf").filter(|name| !name.is_empty() && *name != "teamd")
}

/// Reads teamd's configuration of a team, from a file of its own or a value in another program's file. [`prefer`] chooses the
/// primary when all ports are known.
pub(crate) fn configuration(
    teams: &mut Teams<'_>,
    team: usize,
    source: usize,
    root: &Node,
) -> Result<Vec<Port>, Problem> {
    let name = teams.drafts[team].name.clone();
    let mode = runner_mode(teams, team, source, root)?;
    let mut ports = Vec::new();
    for entry in root.entries("the configuration")? {
        let (node, here) = (&entry.value, At::new(source, entry.span()));
        match entry.key.as_str() {
            "device" => {}
            "hwaddr" => {
                let text = node.text("hwaddr")?.to_owned();
                teams.drafts[team].set_mac(&mut teams.reading, &text, &At::new(source, node.span.clone()));
            }
            "runner" => of_runner(teams, team, source, node, mode)?,
            "notify_peers" => counted(teams, team, source, entry, ["num_grat_arp", "peer_notif_delay"])?,
            "mcast_rejoin" => counted(teams, team, source, entry, ["resend_igmp", ""])?,
            "link_watch" => watch::read(teams, team, source, node)?,
            "ports" => ports = ports::read(teams, team, source, node)?,
            "debug_level" => teams.left(&here, "what happens to a team, `nicteam team events` tells", Some(&name)),
            "link_watch_policy" => teams.left(&here, "a team has one way to watch its links", Some(&name)),
            key => {
                let near = nearest(key, KEYS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
                teams.left(&here, format!("teamd ignores it{}", near.unwrap_or_default()), Some(&name));
            }
        }
    }
    Ok(ports)
}

fn runner_mode(teams: &mut Teams<'_>, team: usize, source: usize, root: &Node) -> Result<Mode, Problem> {
    let runner_of = |mode: &Mode| mode.traits().runner.map(|(runner, _)| runner);
    let node = root.get("runner").and_then(|runner| runner.get("name"));
    let span = node.map_or(root.span.clone(), |node| node.span.clone());
    let name = node.map(|node| node.text("name")).transpose()?.unwrap_or("roundrobin");
    // Random is the turn in no order.
    let same = if name == "random" { "roundrobin" } else { name };
    let Some(mode) = Mode::ALL.into_iter().find(|mode| runner_of(mode) == Some(same)) else {
        let names: Vec<&str> = Mode::ALL.iter().filter_map(runner_of).chain(["random"]).collect();
        let problem = Problem::at(&span, format!("teamd has no runner `{name}`"));
        return Err(match nearest(name, names.iter().copied()) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint(format!("there is {}", list(names.iter().copied()))),
        });
    };
    let at = At::new(source, span);
    teams.set(team, "mode", mode.name(), &at);
    if name == "random" {
        teams.set(team, "packets_per_slave", "0", &at);
    }
    Ok(mode)
}

/// Keys of `runner`.
const RUNNER: &[&str] = &[
    "name",
    "hwaddr_policy",
    "tx_hash",
    "tx_balancer",
    "active",
    "fast_rate",
    "sys_prio",
    "min_ports",
    "agg_select_policy",
];

fn of_runner(teams: &mut Teams<'_>, team: usize, source: usize, node: &Node, mode: Mode) -> Result<(), Problem> {
    let name = teams.drafts[team].name.clone();
    let mut has_hash = false;
    for entry in node.entries("runner")? {
        let (value, at, here) =
            (&entry.value, At::new(source, entry.value.span.clone()), At::new(source, entry.span()));
        let on_off = |on: bool| if on { "on" } else { "off" };
        match entry.key.as_str() {
            "name" => {}
            "hwaddr_policy" => {
                let policy = match value.text("hwaddr_policy")? {
                    "same_all" => "none",
                    "by_active" => "active",
                    "only_active" => "follow",
                    other => {
                        let problem = Problem::at(&value.span, format!("teamd has no hwaddr_policy `{other}`"));
                        return Err(problem.hint("same_all, by_active or only_active"));
                    }
                };
                teams.set(team, "fail_over_mac", policy, &at);
            }
            "tx_hash" => {
                has_hash = true;
                tx_hash(teams, team, source, entry)?;
            }
            "tx_balancer" => {
                teams.left(&here, "the hash alone chooses: `mode = \"balance-tlb\"` moves flows by load", Some(&name));
            }
            "active" => teams.set(team, "lacp_active", on_off(boolean(entry)?), &at),
            "fast_rate" => teams.set(team, "lacp_rate", if boolean(entry)? { "fast" } else { "slow" }, &at),
            "sys_prio" if value.scalar() == Some("0") => {
                teams.left(&here, "the kernel's driver, and a team, have 1 as the smallest", Some(&name));
            }
            "sys_prio" => teams.set(team, "ad_actor_sys_prio", value.text("sys_prio")?, &at),
            "min_ports" => teams.set(team, "min_links", value.text("min_ports")?, &at),
            "agg_select_policy" => match value.text("agg_select_policy")? {
                policy @ ("bandwidth" | "count") => teams.set(team, "ad_select", policy, &at),
                "lacp_prio" | "lacp_prio_stable" | "port_config" => {
                    let why = "a team's aggregate is chosen once and kept (`ad_select stable`), or by bandwidth, count or actor_port_prio";
                    teams.left(&here, why, Some(&name));
                }
                other => {
                    let problem = Problem::at(&value.span, format!("teamd has no agg_select_policy `{other}`"));
                    return Err(problem.hint("lacp_prio, lacp_prio_stable, bandwidth, count or port_config"));
                }
            },
            key => return Err(unknown(entry, key, RUNNER)),
        }
    }
    // Where nothing is said: eth, ipv4 and ipv6.
    if mode.hashes() && !has_hash {
        teams.set(team, "xmit_hash_policy", "layer2+3", &At::new(source, node.span.clone()));
    }
    Ok(())
}

/// `tx_hash`: the policy that hashes the same layers.
fn tx_hash(teams: &mut Teams<'_>, team: usize, source: usize, entry: &Entry) -> Result<(), Problem> {
    let name = teams.drafts[team].name.clone();
    let (mut l2, mut l3, mut l4) = (false, false, false);
    for element in entry.value.elements("tx_hash")? {
        let at = At::new(source, element.span.clone());
        match element.text("tx_hash")? {
            "eth" => l2 = true,
            "ip" | "l3" => l3 = true,
            "ipv4" | "ipv6" => l3 = true,
            "l4" => l4 = true,
            "tcp" | "udp" | "sctp" => l4 = true,
            "vlan" => teams.left(&at, "no policy hashes the VLAN beside addresses", Some(&name)),
            other => {
                let problem = Problem::at(&element.span, format!("teamd hashes no `{other}`"));
                return Err(problem.hint("eth, vlan, ipv4, ipv6, ip, l3, tcp, udp, sctp, l4"));
            }
        }
    }
    let has = |fragment: &str| {
        entry.value.elements("tx_hash").is_ok_and(|all| all.iter().any(|element| element.scalar() == Some(fragment)))
    };
    let at = At::new(source, entry.value.span.clone());
    if has("ipv4") != has("ipv6") && !has("ip") && !has("l3") {
        teams.left(&at, "a policy hashes the addresses of IPv4 and IPv6 alike", Some(&name));
    }
    if l4 && !has("l4") && !(has("tcp") && has("udp")) {
        teams.left(&at, "a policy hashes the ports of TCP and UDP alike", Some(&name));
    }
    let policy = match (l2, l3, l4) {
        (_, false, false) => "layer2",
        (true, true, false) => "layer2+3",
        (false, true, true) => "layer3+4",
        (false, true, false) => "L3",
        (false, false, true) => "L4",
        (true, false, true) => "L2,L4",
        (true, true, true) => "L2,L3,L4",
    };
    teams.set(team, "xmit_hash_policy", policy, &at);
    Ok(())
}

/// `notify_peers` and its kin: how often something is said, and at which interval; `options` are their options, empty for none.
fn counted(
    teams: &mut Teams<'_>,
    team: usize,
    source: usize,
    entry: &Entry,
    options: [&str; 2],
) -> Result<(), Problem> {
    for inner in entry.value.entries(&entry.key)? {
        let option = match inner.key.as_str() {
            "count" => options[0],
            "interval" => options[1],
            key => return Err(unknown(inner, key, &["count", "interval"])),
        };
        let text = inner.value.text(&inner.key)?;
        match option {
            "" => {
                let name = teams.drafts[team].name.clone();
                teams.left(&At::new(source, inner.span()), "their interval is the kernel's, 200 ms", Some(&name));
            }
            option => teams.set(team, option, text, &At::new(source, inner.value.span.clone())),
        }
    }
    Ok(())
}
