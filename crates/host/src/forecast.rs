//! What the user should know of what becomes of leases, advertisements and link-local addresses.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use nicteam_formats::Team;
use nicteam_sys::netlink::object::{Address, Route};

use crate::found::{Found, Place};

/// In the order of the members. `routes`: the file's, as the kernel gets them; `sessions`: how many TCP connections there
/// are by each link-local address.
pub(crate) fn notes(team: &Team, routes: &[Route], found: &Found, sessions: &BTreeMap<Ipv6Addr, usize>) -> Vec<String> {
    let of = |member: &Place| {
        let addresses = member.addresses.iter().filter_map(|address| of_address(&team.name, member, address));
        let tied = member.addresses.iter().filter_map(|address| of_sessions(member, address, sessions));
        addresses.chain(of_routes(&team.name, member, found)).chain(tied).collect::<Vec<_>>()
    };
    let members = found.members.iter().flat_map(of).chain(of_link_local(&team.name, found));
    let own = team.routes.iter().zip(routes);
    members.chain(own.filter_map(|(own, route)| of_other_gateway(&team.name, own, route, found))).collect()
}

/// Of two routes to one destination the kernel uses the one of the lower metric, and of the same metric the one that was
/// there first (Linux net/ipv4/fib_trie.c, `fib_table_insert`; in IPv6 they become one of two next hops).
fn of_other_gateway(team: &str, own: &nicteam_formats::Route, route: &Route, found: &Found) -> Option<String> {
    let rivals =
        |other: &&Route| other.to() == route.to() && (other.metric(), other.table()) == (route.metric(), route.table());
    let other = found.routes.iter().filter(rivals).find(|other| other.via() != route.via())?;
    let member = other.devices().first().and_then(|&index| found.member_at(index))?;
    Some(format!(
        "the route {} of {} moves to {team}, too, beside {own} of the file: of the same metric, the kernel goes on with the \
         one that was there first; hint: remove one of them, or give {own} a `metric` of its own",
        other.words(),
        member.name
    ))
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
        "the route {} over {} was advertised by a router: it moves to {team} until it ends, and the next advertisement makes \
         it anew",
        route.words(),
        member.name
    ))
}
