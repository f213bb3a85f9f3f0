//! What the user should know of what becomes of leases and advertisements.

use nicteam_formats::Team;
use nicteam_sys::netlink::object::{Address, Route};

use crate::found::{Found, Place};

/// In the order of the members.
pub(crate) fn notes(team: &Team, found: &Found) -> Vec<String> {
    let of = |member: &Place| {
        let addresses = member.addresses.iter().filter_map(|address| of_address(&team.name, member, address));
        addresses.chain(of_routes(&team.name, member, found)).collect::<Vec<_>>()
    };
    found.members.iter().flat_map(of).collect()
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
