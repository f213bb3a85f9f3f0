//! In which order a team takes over what stands on its members, and gives it back.
//!
//! Nothing that is in use is taken away before its successor is there, as far as the kernel lets both be:
//!
//! - IPv4: an address may be at two devices, and of two routes to one destination the older one is used. So the team has
//!   addresses and routes before the members lose them, and the other way round.
//! - IPv6 ends on a member when it joins. So its addresses are the first that the team gets, without looking for duplicates, which
//!   would take a second. On the way down IPv6 is switched on at the members, and they get all that they had, before they
//!   leave: what comes in is the team's until that moment, and theirs from then on.
//! - A device that stands on a member cannot be put on another one. It is made again, with all that it had.

use std::collections::BTreeSet;
use std::net::IpAddr;

use nicteam_netlink::object::{Address, Neighbour, Route, Rule};

use crate::found::{Above, Found, Place};
use crate::step::{Step, TEAM};
use crate::survey::Sysctls;

/// What a file gives a team beside its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Own {
    /// Addresses of the team.
    pub(crate) addresses: Vec<Address>,
    /// Routes by it.
    pub(crate) routes: Vec<Route>,
    /// Whether it takes router advertisements; `None`: as the member whose settings it gets.
    pub(crate) accept_ra: Option<u8>,
}

/// How a team comes up.
pub(crate) fn up(team: &str, found: &Found, own: &Own) -> Vec<Step> {
    let mut steps = vec![Step::Start];
    let mut settings = team_settings(team, found, own);
    // While the older routes are the members', it would have the team drop what comes in.
    let source_check = settings.as_mut().and_then(Step::split_source_check);
    steps.extend(settings);
    steps.extend(found.rules.iter().map(|rule| Step::AddRule(renamed(rule, found, team))));
    let (v4, v6): (Vec<Address>, Vec<Address>) = moved_addresses(team, found).into_iter().partition(is_v4);
    let (v4_routes, v6_routes): (Vec<Route>, Vec<Route>) =
        sorted(found.routes.iter().filter(|route| !is_above(route, found))).into_iter().partition(is_v4_route);
    let moved = |routes: &[Route]| {
        let stays = routes.iter().filter(|route| !is_replaced(route, &own.routes));
        once(stays.map(|route| on_team(route, found))).map(Step::AddRoute).collect::<Vec<_>>()
    };
    steps.extend(v6.iter().cloned().map(Step::AddAddress));
    steps.extend(link_local(TEAM, &v6));
    steps.extend(moved(&v6_routes));
    // They have none, unless somebody was interrupted who was taking the team down.
    let silent = found.members.iter().filter(|member| member.addresses.iter().any(|address| !is_v4(address)));
    steps.extend(silent.map(|member| Step::SwitchIpv6 { member: member.index, on: false }));
    steps.extend(v4.iter().cloned().map(Step::AddAddress));
    let neighbours = found.members.iter().flat_map(|member| &member.neighbours);
    steps.extend(neighbours.map(|neighbour| Step::SetNeighbour(neighbour.on(TEAM))));
    steps.extend(moved(&v4_routes));
    steps.extend(unmade(TEAM, &found.members, found));
    let (addresses, routes) = (without(&own.addresses, &v4, &v6), own.routes.iter());
    steps.extend(addresses.cloned().map(Step::AddAddress));
    steps.extend(routes.cloned().map(Step::AddRoute));
    // Now everything is there; what would take traffic back to a member goes. Routes by a gateway first, or there would be
    // no way to it.
    steps.extend(v4_routes.iter().rev().cloned().map(Step::RemoveRoute));
    steps.extend(
        found
            .members
            .iter()
            .flat_map(|member| member.addresses.iter().rev())
            .filter(|a| is_v4(a))
            .cloned()
            .map(Step::RemoveAddress),
    );
    steps.extend(source_check);
    steps.extend(found.rules.iter().cloned().map(Step::RemoveRule));
    steps.extend(remade(found, &|index| if found.member_at(index).is_some() { TEAM } else { index }));
    steps.extend(announced(TEAM, v4.iter().chain(&v6).chain(&own.addresses)));
    steps
}

/// How a team goes down; `carriers`: the members that carry its frames, `own`: the routes that the file gave it, `learned`: the
/// neighbours that it knows by now.
///
/// What is done ahead of [`Step::Stop`] only closes the gap that it makes: all of it that is to stay is done again behind it. Other
/// members than the carriers are left alone until then: they would speak from the team's MAC address, and draw to them what the
/// carriers have to deliver.
pub(crate) fn down(team: &str, found: &Found, carriers: &[u32], own: &[Route], learned: &[Neighbour]) -> Vec<Step> {
    let mut steps = Vec::new();
    let carries = |index: u32| carriers.contains(&index);
    let routes = sorted(found.routes.iter().filter(|route| !is_above(route, found)));
    let by_carriers =
        |route: &&Route| route.devices().into_iter().all(|at| found.member_at(at).is_none() || carries(at));
    let early: Vec<&Route> = routes.iter().filter(by_carriers).collect();
    for member in found.members.iter().filter(|member| member.up && carries(member.index)) {
        // A device with IPv6 sends frames (RFC 3810), by now from the team's MAC address. So IPv6 stays off where no
        // IPv6 address was moved.
        let speaks_v6 = found.moved(member).any(|address| !is_v4(address));
        steps.extend(speaks_v6.then_some(Step::SwitchIpv6 { member: member.index, on: true }));
        let addresses = member.addresses.iter().filter(|address| speaks_v6 || is_v4(address));
        steps.extend(addresses.cloned().map(Step::AddAddress));
        steps.extend(known_to(member, learned).into_iter().map(Step::SetNeighbour));
    }
    steps.extend(early.iter().copied().cloned().map(Step::AddRoute));
    // What leaves goes by the members from here on, so nothing is sent to a team that ends.
    steps.push(Step::no_source_check(team));
    let replacing = own.iter().filter(|own| early.iter().any(|route| own.is_other_way_of(route)));
    steps.extend(replacing.cloned().map(Step::RemoveRoute));
    steps.extend(once(early.iter().rev().map(|route| on_team(route, found))).map(Step::RemoveRoute));
    // Those of IPv6 go with the team: until then it answers for them.
    let carriers = found.members.iter().filter(|member| carries(member.index));
    let moved: Vec<Address> = carriers.flat_map(|member| moved_of(member, team, found)).filter(is_v4).collect();
    steps.extend(moved.into_iter().rev().map(Step::RemoveAddress));
    steps.push(Step::Stop);
    for member in &found.members {
        let (device, like) = (member.name.clone(), member.name.clone());
        steps.push(Step::Settings { device, like, settings: member.sysctls.clone() });
        steps.extend(member.up.then_some(Step::SetUp(member.index)));
        steps.extend(member.addresses.iter().cloned().map(Step::AddAddress));
        steps.extend(link_local(member.index, &member.addresses));
        steps.extend(unmade(member.index, std::slice::from_ref(member), found));
        steps.extend(known_to(member, learned).into_iter().map(Step::SetNeighbour));
    }
    steps.extend(routes.into_iter().map(Step::AddRoute));
    steps.extend(found.rules.iter().cloned().map(Step::AddRule));
    steps.extend(found.rules.iter().map(|rule| Step::RemoveRule(renamed(rule, found, team))));
    steps.extend(remade(found, &|index| index));
    for member in found.members.iter().filter(|member| member.up) {
        steps.extend(announced(member.index, member.addresses.iter()));
    }
    steps
}

/// The routes of members in whose place the file's come: of two ways with one metric the kernel would use the members', which is
/// the older one.
pub(crate) fn replaced<'a>(found: &'a Found, own: &'a [Route]) -> impl Iterator<Item = &'a Route> {
    found.routes.iter().filter(|route| !is_above(route, found) && is_replaced(route, own))
}

fn is_replaced(route: &Route, own: &[Route]) -> bool {
    // What a router advertises comes again with its next advertisement.
    !route.is_advertised() && own.iter().any(|own| own.is_other_way_of(route))
}

/// A route of a member, over the team.
pub(crate) fn on_team(route: &Route, found: &Found) -> Route {
    found.on_other(route, TEAM)
}

/// The addresses of the members, at the team.
fn moved_addresses(team: &str, found: &Found) -> Vec<Address> {
    found.members.iter().flat_map(|member| moved_of(member, team, found)).collect()
}

/// Those of one member.
fn moved_of<'a>(member: &'a Place, team: &str, found: &'a Found) -> impl Iterator<Item = Address> {
    found.moved(member).map(move |address| address.on(TEAM, &member.name, team))
}

/// The neighbours of a member: those that it had, and those that the team has learned in its networks.
fn known_to(member: &Place, learned: &[Neighbour]) -> Vec<Neighbour> {
    let networks: BTreeSet<(IpAddr, u8)> = member.addresses.iter().filter_map(Address::network).collect();
    let prefixes: BTreeSet<u8> = networks.iter().map(|(_, prefix)| *prefix).collect();
    let is_near = |address: IpAddr| {
        let network = |prefix: &u8| Address::new(0, address, *prefix).network();
        prefixes.iter().filter_map(network).any(|network| networks.contains(&network))
    };
    let near: Vec<&Neighbour> = learned.iter().filter(|known| known.address().is_some_and(is_near)).collect();
    let now: BTreeSet<IpAddr> = near.iter().filter_map(|known| known.address()).collect();
    // What the team knows is newer.
    let is_older = |had: &&Neighbour| !had.is_set() && had.address().is_some_and(|address| now.contains(&address));
    let had = member.neighbours.iter().filter(|had| !is_older(had)).cloned();
    had.chain(near.into_iter().map(|known| known.on(member.index))).collect()
}

/// Each of these once: several members may have had the same.
fn once(routes: impl Iterator<Item = Route>) -> impl Iterator<Item = Route> {
    let mut seen = BTreeSet::new();
    routes.filter(move |route| seen.insert(route.settings()))
}

/// The team behaves as its first member did, or the first that had an address: what the machine's defaults are is not asked.
fn team_settings(team: &str, found: &Found, own: &Own) -> Option<Step> {
    let first = found.members.iter().find(|member| !member.addresses.is_empty()).or(found.members.first())?;
    let speaks_v6 = own.addresses.iter().any(|address| !is_v4(address)) || first.addresses.is_empty();
    let mut settings: Sysctls = first.sysctls.clone();
    if speaks_v6 {
        settings.remove("ipv6/conf/*/disable_ipv6");
    }
    // A lease of a member that ends at the team would take those of the file along that are in its network.
    if own.addresses.iter().any(is_v4) {
        settings.insert("ipv4/conf/*/promote_secondaries".to_owned(), "1".to_owned());
    }
    settings.extend(own.accept_ra.map(|accept_ra| ("ipv6/conf/*/accept_ra".to_owned(), accept_ra.to_string())));
    let (device, like) = (team.to_owned(), first.name.clone());
    (!settings.is_empty()).then_some(Step::Settings { device, like, settings })
}

/// A rule with the team in the place of its member.
fn renamed(rule: &Rule, found: &Found, team: &str) -> Rule {
    found.members.iter().fold(rule.clone(), |rule, member| rule.renamed(&member.name, team))
}

/// Addresses of these that are none of those.
fn without<'a>(own: &'a [Address], v4: &'a [Address], v6: &'a [Address]) -> impl Iterator<Item = &'a Address> {
    own.iter().filter(move |address| v4.iter().chain(v6).all(|moved| moved.address() != address.address()))
}

/// A device that had link-local addresses keeps those alone; one that had none, none.
fn link_local(device: u32, addresses: &[Address]) -> Option<Step> {
    let keep: Vec<IpAddr> =
        addresses.iter().filter(|address| address.is_link_local_v6()).filter_map(Address::address).collect();
    (!keep.is_empty()).then_some(Step::KeepLinkLocal { device, keep })
}

/// The routes that the kernel makes for the addresses of these, and that were not there.
fn unmade(device: u32, members: &[Place], found: &Found) -> Vec<Step> {
    let mut steps = Vec::new();
    for member in members {
        for to in member.addresses.iter().filter_map(Address::network) {
            let was =
                |route: &Route| route.is_connected() && route.to() == Some(to) && route.devices() == [member.index];
            let by_other =
                |other: &Place| other.index != member.index && other.addresses.iter().any(|a| a.network() == Some(to));
            if !found.routes.iter().any(was) && !members.iter().any(by_other) {
                steps.push(Step::RemoveConnected { device, to });
            }
        }
    }
    steps
}

/// What stands on members, made again: devices, then routes over them.
fn remade(found: &Found, below: &dyn Fn(u32) -> u32) -> Vec<Step> {
    let device = |above: &Above| Step::Remake { above: Box::new(above.clone()), below: below(above.below) };
    let neighbours =
        found.above.iter().flat_map(|above| above.place.neighbours.iter().cloned().map(Step::SetNeighbour));
    let routes = sorted(found.routes.iter().filter(|route| is_above(route, found)));
    let devices = found.above.iter().map(device);
    let routes = routes.into_iter().map(|route| Step::AddRoute(route.on(below)));
    devices.chain(routes).chain(neighbours).collect()
}

fn announced<'a>(device: u32, addresses: impl Iterator<Item = &'a Address>) -> Option<Step> {
    let mut addresses: Vec<IpAddr> = addresses.filter_map(Address::address).collect();
    addresses.sort();
    addresses.dedup();
    (!addresses.is_empty()).then_some(Step::Announce { device, addresses })
}

/// Those without a gateway first, which lead to the gateways of the others.
fn sorted<'a>(routes: impl Iterator<Item = &'a Route>) -> Vec<Route> {
    let (behind, near): (Vec<Route>, Vec<Route>) = routes.cloned().partition(Route::has_gateway);
    near.into_iter().chain(behind).collect()
}

/// True for a route over a device that stands on a member.
fn is_above(route: &Route, found: &Found) -> bool {
    route.devices().iter().any(|index| found.above.iter().any(|above| above.place.index == *index))
}

fn is_v4(address: &Address) -> bool {
    address.address().is_some_and(|address| address.is_ipv4())
}

fn is_v4_route(route: &Route) -> bool {
    route.to().is_some_and(|(to, _)| to.is_ipv4())
}
