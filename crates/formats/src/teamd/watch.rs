//! `link_watch`: how links are watched.

use std::net::IpAddr;

use nicteam_diagnostics::Problem;
use nicteam_drafts::Teams;
use nicteam_options::Config;
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Entry, Node};

use super::values::{boolean, one_or_more, unknown};

const ETHTOOL: &[&str] = &["name", "delay_up", "delay_down"];
const PING: &[&str] = &[
    "name",
    "interval",
    "init_wait",
    "missed_max",
    "source_host",
    "target_host",
    "validate_active",
    "validate_inactive",
    "vlanid",
    "send_always",
];

/// Reads `link_watch` of a team: one watcher or several.
pub(super) fn read(teams: &mut Teams<'_>, team: usize, source: usize, node: &Node) -> Result<(), Problem> {
    let watchers = one_or_more(node);
    let is_ping = |watcher: &Node| matches!(kind(watcher), Some("arp_ping" | "nsna_ping"));
    let mode = teams.option(team, "mode").unwrap_or_default().to_owned();
    let asks = may_ask(&mode);
    let pings = asks && watchers.iter().any(is_ping);
    let mut interval: Option<&str> = None;
    for watcher in watchers {
        let name = teams.drafts[team].name.clone();
        let at = At::new(source, watcher.span.clone());
        match kind(watcher) {
            Some("ethtool") if pings => {
                teams.left(
                    &at,
                    "links are watched by their carrier or by ARP, as in the kernel: ARP is taken",
                    Some(&name),
                );
            }
            Some("ethtool") => ethtool(teams, team, source, watcher)?,
            Some("arp_ping" | "nsna_ping") if !asks => {
                let why = format!("links of mode {mode} are watched by their carrier alone, as in the kernel");
                teams.left(&at, why, Some(&name));
            }
            Some("arp_ping" | "nsna_ping") => {
                let other = watcher.get("interval").and_then(Node::scalar).unwrap_or("1000");
                if interval.is_some_and(|first| first != other) {
                    teams.left(&at, "one interval asks all targets: the first one's is taken", Some(&name));
                }
                ping(teams, team, source, watcher, interval.is_none())?;
                interval = interval.or(Some(other));
            }
            Some(other) => {
                let problem = Problem::at(&watcher.span, format!("teamd has no link watcher `{other}`"));
                return Err(problem.hint("ethtool, arp_ping or nsna_ping"));
            }
            None => {
                let problem = Problem::at(&watcher.span, "a link watcher without a name");
                return Err(problem.hint("`\"link_watch\": {\"name\": \"ethtool\"}`"));
            }
        }
    }
    Ok(())
}

/// True for a mode whose links ARP may watch.
fn may_ask(mode: &str) -> bool {
    let mut config = Config::default();
    let set = [("mode", mode), ("arp_interval", "1000"), ("arp_ip_target", "192.0.2.1")];
    set.iter().all(|(name, value)| config.set(name, value).is_ok()) && config.check().is_ok()
}

fn kind(watcher: &Node) -> Option<&str> {
    watcher.get("name").and_then(Node::scalar)
}

fn ethtool(teams: &mut Teams<'_>, team: usize, source: usize, watcher: &Node) -> Result<(), Problem> {
    for entry in watcher.entries("link_watch")? {
        let option = match entry.key.as_str() {
            "name" => continue,
            "delay_up" => "updelay",
            "delay_down" => "downdelay",
            key => return Err(unknown(entry, key, ETHTOOL)),
        };
        teams.set(team, option, entry.value.text(&entry.key)?, &At::new(source, entry.value.span.clone()));
    }
    Ok(())
}

fn ping(teams: &mut Teams<'_>, team: usize, source: usize, watcher: &Node, is_first: bool) -> Result<(), Problem> {
    let name = teams.drafts[team].name.clone();
    let entries = watcher.entries("link_watch")?;
    if watcher.get("target_host").is_none() {
        let problem = Problem::at(&watcher.span, "nobody is asked: `target_host` is missing");
        return Err(problem.hint("`\"target_host\": \"10.0.0.254\"`"));
    }
    let flag = |key: &str| -> Result<bool, Problem> {
        entries.iter().find(|entry| entry.key == key).map_or(Ok(false), boolean)
    };
    let validate = match (flag("validate_active")?, flag("validate_inactive")?) {
        (false, false) => None,
        (true, false) => Some("active"),
        (false, true) => Some("backup"),
        (true, true) => Some("all"),
    };
    for entry in entries {
        let at = At::new(source, entry.value.span.clone());
        match entry.key.as_str() {
            "name" | "validate_active" | "validate_inactive" => {}
            "interval" if is_first => teams.set(team, "arp_interval", entry.value.text("interval")?, &at),
            "missed_max" if is_first => teams.set(team, "arp_missed_max", entry.value.text("missed_max")?, &at),
            "interval" | "missed_max" => {}
            "target_host" => target(teams, team, source, entry)?,
            "init_wait" | "source_host" | "vlanid" | "send_always" => {
                teams.left(
                    &At::new(source, entry.span()),
                    "the kernel's ARP monitor, and a team's, have nothing like it",
                    Some(&name),
                );
            }
            key => return Err(unknown(entry, key, PING)),
        }
    }
    let at = At::new(source, watcher.span.clone());
    if is_first && watcher.get("interval").is_none() {
        teams.set(team, "arp_interval", "1000", &at);
    }
    if let Some(validate) = validate.filter(|_| is_first) {
        teams.set(team, "arp_validate", validate, &at);
    }
    Ok(())
}

/// Who is asked: an address, for a name may be somebody else's later.
fn target(teams: &mut Teams<'_>, team: usize, source: usize, entry: &Entry) -> Result<(), Problem> {
    let text = entry.value.text("target_host")?;
    let at = At::new(source, entry.value.span.clone());
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => teams.append(team, "arp_ip_target", text, &at),
        Ok(IpAddr::V6(_)) => teams.append(team, "ns_ip6_target", text, &at),
        Err(_) => {
            let problem = Problem::at(&entry.value.span, format!("`{text}` is no IP address"));
            return Err(
                problem.hint(format!("put the address in place of the name: `getent hosts {}` tells it", quoted(text)))
            );
        }
    }
    Ok(())
}
