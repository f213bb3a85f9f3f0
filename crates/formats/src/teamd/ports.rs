//! `ports`: the members, and which of them is preferred.

use nicteam_diagnostics::Problem;
use nicteam_drafts::Teams;
use nicteam_syntax::At;
use nicteam_syntax::tree::{Entry, Node};

use super::values::{boolean, unknown};

const PORT: &[&str] = &["prio", "sticky", "queue_id", "lacp_prio", "lacp_key", "link_watch"];

/// What is said of a port.
pub(crate) struct Port {
    name: String,
    at: At,
    prio: i32,
    is_sticky: bool,
}

/// Reads `ports`.
pub(super) fn read(teams: &mut Teams<'_>, team: usize, source: usize, node: &Node) -> Result<Vec<Port>, Problem> {
    let port = |entry: &Entry| {
        read_port(teams, team, &entry.key, &At::new(source, entry.key_span.clone()), (source, &entry.value))
    };
    node.entries("ports")?.iter().map(port).collect()
}

/// Takes a port into a team, with its configuration and the source that this is in.
pub(crate) fn read_port(
    teams: &mut Teams<'_>,
    team: usize,
    device: &str,
    at: &At,
    (source, config): (usize, &Node),
) -> Result<Port, Problem> {
    teams.add_member(team, device, at);
    let mut port = Port { name: device.to_owned(), at: at.clone(), prio: 0, is_sticky: false };
    for inner in config.entries(device)? {
        let (name, value_at) = (teams.drafts[team].name.clone(), At::new(source, inner.value.span.clone()));
        match inner.key.as_str() {
            "prio" => {
                let text = inner.value.text("prio")?;
                let refused = |_| {
                    Problem::at(&inner.value.span, format!("`{text}` is no priority"))
                        .hint("a whole number: `\"prio\": 100`")
                };
                port.prio = text.parse().map_err(refused)?;
            }
            "sticky" => port.is_sticky = boolean(inner)?,
            "queue_id" => {
                let of = format!("{device}:{}", inner.value.text("queue_id")?);
                teams.append(team, "queue_id", &of, &value_at);
            }
            "lacp_prio" => {
                let of = format!("{device}:{}", inner.value.text("lacp_prio")?);
                teams.append(team, "actor_port_prio", &of, &value_at);
            }
            "lacp_key" => teams.left(
                &At::new(source, inner.span()),
                "members have keys by their speed, and `ad_user_port_key` in common",
                Some(&name),
            ),
            "link_watch" => {
                teams.left(&At::new(source, inner.span()), "a team watches all its members alike", Some(&name))
            }
            key => return Err(unknown(inner, key, PORT)),
        }
    }
    Ok(port)
}

/// In teamd a port of higher priority takes over from one that is not sticky; in the kernel the primary alone does.
pub(crate) fn prefer(teams: &mut Teams<'_>, team: usize, ports: &[Port]) {
    let name = teams.drafts[team].name.clone();
    for port in ports.iter().filter(|port| port.prio != 0) {
        teams.append(team, "prio", &format!("{}:{}", port.name, port.prio), &port.at);
    }
    let Some(best) = ports.iter().map(|port| port.prio).max() else { return };
    let mut preferred = ports.iter().filter(|port| port.prio == best);
    let uses_primary = teams.option(team, "mode").and_then(|mode| mode.parse::<nicteam_options::Mode>().ok());
    if !uses_primary.is_some_and(nicteam_options::Mode::uses_primary) || ports.len() < 2 {
        return;
    }
    let (Some(primary), None) = (preferred.next(), preferred.next()) else {
        if let Some(port) = ports.iter().find(|port| port.prio != best) {
            let why = "several ports have the highest `prio`, and a team has one `primary`: none is taken, and no member \
                       takes over from one that works";
            teams.left(&port.at, why, Some(&name));
        }
        return;
    };
    teams.set(team, "primary", &primary.name, &primary.at);
    let others = || ports.iter().filter(|port| port.name != primary.name);
    if others().all(|port| port.is_sticky) {
        teams.set(team, "primary_reselect", "failure", &primary.at);
    } else if let Some(port) = others().find(|port| port.is_sticky) {
        let why = "all members are sticky (`primary_reselect failure`) or none is: none is taken";
        teams.left(&port.at, why, Some(&name));
    }
}
