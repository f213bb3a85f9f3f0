//! What the user should know of what becomes of leases, advertisements, link-local addresses and routes.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use nicteam_formats::Team;
use nicteam_netlink::object::{Address, Route};

use crate::found::{Found, Place};
use crate::order;

/// In the order of the members. `own`: the routes of the file; `sessions`: how many TCP connections there are by each link-local
/// address.
pub(crate) fn notes(team: &Team, found: &Found, own: &[Route], sessions: &BTreeMap<Ipv6Addr, usize>) -> Vec<String> {
    let of = |member: &Place| {
        let addresses = member.addresses.iter().filter_map(|address| of_address(&team.name, member, address));
        let tied = member.addresses.iter().filter_map(|address| of_sessions(member, address, sessions));
        addresses.chain(of_routes(&team.name, member, found)).chain(tied).collect::<Vec<_>>()
    };
    let replaced = order::replaced(found, own).map(|route| of_replaced(&team.name, route, found));
    found.members.iter().flat_map(of).chain(of_link_local(&team.name, found)).chain(replaced).collect()
}

/// A route of a member in whose place one of the file comes.
fn of_replaced(team: &str, route: &Route, found: &Found) -> String {
    let members = route.devices().into_iter().filter_map(|index| found.member_at(index));
    let members: Vec<&str> = members.map(|member| member.name.as_str()).collect();
    format!(
        "the route {} over {} does not move to {team}: the file's to the same destination, with the same metric, takes its place; \
         it comes back with `nicteam down`",
        route.words(),
        members.join(", ")
    )
}

/// A socket whose address is link-local is tied to its device (Linux net/ipv6/tcp_ipv6.c, `sk_bound_dev_if`).
fn of_sessions(member: &Place, address: &Address, sessions: &BTreeMap<Ipv6Addr, usize>) -> Option<String> {
    let Some(IpAddr::V6(own)) = address.address() else { return None };
    let (count, device) = (sessions.get(&own)?, &member.name);
    let what = if *count == 1 { "1 TCP connection uses".to_owned() } else { format!("{count} TCP connections use") };
    Some(format!(
        "{what} {own} of {device}, and will end: the kernel ties connections by link-local addresses to their device; hint: \
         connect by another address"
    ))
}

/// The members whose link-local addresses do not move.
fn of_link_local(team: &str, found: &Found) -> Option<String> {
    let speaker = found.member_at(found.link_local_of?)?;
    let stays = |member: &&Place| member.index != speaker.index && member.made_link_local().next().is_some();
    let others: Vec<&str> = found.members.iter().filter(stays).map(|member| member.name.as_str()).collect();
    (!others.is_empty()).then(|| {
        let (speaker, others) = (&speaker.name, others.join(", "));
        format!("{team} takes over the link-local address of {speaker} alone; those of {others} come back with `nicteam down`")
    })
}

fn of_address(team: &str, member: &Place, address: &Address) -> Option<String> {
    let (valid_s, device) = (address.lifetimes()?.valid_s, &member.name);
    let words = address.words();
    Some(if address.is_temporary() {
        format!(
            "{words} of {device} is a temporary address: it moves to {team}, and ends there in {valid_s} s; connections that \
             use it live so long"
        )
    } else if address.address().is_some_and(|address| address.is_ipv4()) {
        format!(
            "{words} of {device} is a lease: it moves to {team}, and ends in {valid_s} s, for the DHCP client of {device} does \
             not renew it there; hint: run a client on {team} (`dhclient {team}`, or `DHCP=yes` in networkd's file for \
             {team}), or give {team} a fixed address"
        )
    } else {
        format!(
            "{words} of {device} comes from router advertisements or DHCPv6: it moves to {team} and is good for {valid_s} s; \
             {team} hears advertisements as {device} did, and renews it if it has the same MAC address; hint: a DHCPv6 lease \
             needs a client on {team}"
        )
    })
}

fn of_routes(team: &str, member: &Place, found: &Found) -> Option<String> {
    let advertised = |route: &&Route| route.is_advertised() && route.devices().contains(&member.index);
    let route = found.routes.iter().find(advertised)?;
    Some(format!(
        "the route {} over {} was advertised by a router: it moves to {team} until it ends, with a metric of {}, and the next \
         advertisement makes it anew",
        route.words(),
        member.name,
        route.behind().metric()
    ))
}
