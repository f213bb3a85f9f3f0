//! What teams in mode stripe did towards hosts that do not stripe.

use nicteam_record::{Connection, Host, OneSided, PlainHost, PlainMember, Run, Topology};

use super::way;
use crate::units::{list, number, share, thousands};

/// What the record has of a host's team.
pub(super) fn of<'a>(run: &'a Run, host: &str) -> Option<&'a OneSided> {
    run.one_sided.iter().find(|known| known.host == host)
}

/// The host, or gateway, to which a team sends a connection's frames.
pub(super) fn towards<'a>(run: &Run, known: &'a OneSided, connection: &Connection) -> Option<&'a PlainHost> {
    let topology = &run.topology;
    let way = way::between(run, topology.links_of(&connection.from), topology.links_of(&connection.to));
    let [node, peer, ..] = way.as_slice() else { return None };
    let [_, next] = way::addressed(run, [node, peer], connection);
    let mac = way::mac(topology, next)?;
    known.hosts.iter().find(|host| host.mac.eq_ignore_ascii_case(mac))
}

/// The members that are not used towards such hosts.
pub(super) fn left(known: &OneSided) -> impl Iterator<Item = &PlainMember> {
    known.members.iter().filter(|member| member.state != "used")
}

/// To which hosts by how many members, what was sent again, and whether addresses moved at a switch for it.
pub(super) fn facts(run: &Run) -> Vec<String> {
    let mut facts = Vec::new();
    for known in &run.one_sided {
        let sent_to: Vec<&PlainHost> = run
            .connections
            .iter()
            .filter(|connection| run.topology.links_of(&connection.from) == known.host)
            .filter_map(|connection| towards(run, known, connection))
            .collect();
        let is_told = |host: &&PlainHost| sent_to.iter().any(|other| other.mac == host.mac);
        facts.extend(known.hosts.iter().filter(is_told).map(|host| width(run, known, host)));
        facts.extend(left(known).map(|member| {
            let why = member.why.as_deref().unwrap_or(&member.state);
            format!("{} of {} is left towards hosts that do not stripe: {why}.", member.member, known.host)
        }));
        facts.extend(sent_again(known));
    }
    let is_striped = run.one_sided.iter().flat_map(|known| &known.hosts).any(|host| host.width > 1);
    let still = run.mac_moves.iter().filter(|of| is_striped && of.moves == 0 && !of.at_least);
    facts.extend(still.map(|of| format!("{} learned no known address at another port.", of.switch)));
    facts
}

/// `a sent to b by 2 of 4 members, one-sided; more were tried and gained nothing.`
fn width(run: &Run, known: &OneSided, host: &PlainHost) -> String {
    let members = known.members.len();
    let used = if host.width as usize >= members && members > 1 {
        format!("all {} members", number(members))
    } else {
        format!("{} of {members} members", host.width)
    };
    let name = named(&run.topology, &host.mac);
    let why = match (is_bounded_by_port(run, known, host), host.held_ms > 0) {
        (true, true) => "; its own link carries no more, and trials with more gained nothing",
        (true, false) => "; its own link carries no more",
        (false, true) => "; more were tried and gained nothing",
        (false, false) => "",
    };
    format!("{} sent to {name} by {used}, one-sided{why}.", known.host)
}

/// Whether the members that are used towards a host, fewer than all, can fill its own link.
pub(super) fn is_bounded_by_port(run: &Run, known: &OneSided, host: &PlainHost) -> bool {
    let rates = |node: &str| {
        let ends = run.topology.links.iter().flat_map(|link| [(&link.a, link), (&link.b, link)]);
        ends.filter(|(end, _)| end.node == node).map(|(_, link)| link.rate_bps).collect::<Vec<u64>>()
    };
    let owner = owner(&run.topology, &host.mac).filter(|it| !it.forwards).map(|it| run.topology.links_of(&it.name));
    let [port_bps] = owner.map(rates).unwrap_or_default()[..] else { return false };
    let member_bps = rates(&known.host).into_iter().max().unwrap_or(0);
    (host.width as usize) < known.members.len() && port_bps <= member_bps.saturating_mul(host.width.into())
}

/// What has a MAC address, in words.
fn named(topology: &Topology, mac: &str) -> String {
    match owner(topology, mac) {
        Some(host) if host.forwards => format!("gateway {}", host.name),
        Some(host) => host.name.clone(),
        None => mac.to_owned(),
    }
}

/// The host that has a MAC address.
fn owner<'a>(topology: &'a Topology, mac: &str) -> Option<&'a Host> {
    let has = |other: &str| other.eq_ignore_ascii_case(mac);
    topology.hosts.iter().find(|host| {
        has(&host.mac) || host.forwards && host.further.iter().any(|link| link.mac.as_deref().is_some_and(has))
    })
}

/// What members sent again of what they sent to hosts by which several are used.
fn sent_again(known: &OneSided) -> Option<String> {
    let sum = |of: fn(&PlainMember) -> u64| known.members.iter().map(of).fold(0_u64, u64::saturating_add);
    let (sent, again) = (sum(|member| member.sent), sum(|member| member.resent));
    if sent == 0 {
        return None;
    }
    // Fine enough to see what may be: 2 in 1000.
    let part = share(again as f64, sent as f64) * 100.0;
    let each = known.members.iter().filter(|member| member.resent > 0);
    let each: Vec<String> = each.map(|member| format!("{} {}", member.member, thousands(member.resent))).collect();
    let each = if each.is_empty() { String::new() } else { format!(": by {}", list(&each)) };
    let host = &known.host;
    Some(format!(
        "Of {} segments that {host} sent one-sided {} ({part:.2} %) were sent again{each}.",
        thousands(sent),
        thousands(again)
    ))
}
