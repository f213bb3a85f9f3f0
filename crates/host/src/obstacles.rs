//! What keeps a team from coming up, each with its cure.

use std::net::IpAddr;

use nicteam_daemon::control::TeamState;
pub(crate) use nicteam_daemon::team_of;
use nicteam_dataplane::TeamDevice;
use nicteam_formats::{Team, quoted};
use nicteam_netlink::Link;
use nicteam_netlink::object::{Address, Device, Nexthop};

use crate::Refusal;
use crate::facts::Facts;
use crate::found::Found;
use crate::spec::spec;

/// All of it.
pub(crate) fn find(team: &Team, facts: &Facts<'_>, found: &Found) -> Vec<Refusal> {
    if !TeamDevice::is_name(&team.name) {
        let hint = "1 to 12 characters of printable ASCII, without `/`, `:` and `%`";
        return vec![Refusal::new(format!("`{}` cannot be a team's name", team.name), hint)];
    }
    let mut refusals: Vec<Refusal> = spec(team).err().into_iter().collect();
    refusals.extend(name(team, facts));
    for (at, device) in team.members.iter().enumerate() {
        if team.members[..at].contains(device) {
            let what = format!("{}: {device} is a member twice", team.name);
            refusals.push(Refusal::new(what, "name each member once"));
        }
        refusals.extend(member(team, device, facts));
    }
    refusals.extend(other_members(team, facts));
    refusals.extend(found.above.iter().filter_map(|above| above_member(&above.device, facts)));
    refusals.extend(tunnels(facts, found));
    refusals.extend(nexthop_objects(facts, found));
    refusals.extend(addresses(team, facts, found));
    refusals.extend(gateways(team, found));
    refusals
}

/// The name of the team is taken.
fn name(team: &Team, facts: &Facts<'_>) -> Option<Refusal> {
    let link = facts.survey.link(&team.name)?;
    let known = facts.teams.iter().find(|listed| listed.team == team.name);
    match known.map(|listed| listed.state) {
        Some(TeamState::Held) => Some(Refusal::new(
            format!("team {} is controlled by the program that runs it alone", team.name),
            format!("`lslocks` shows which process has `{}.lock`; end that first", team.name),
        )),
        Some(_) => None,
        // What a start that was killed has left is taken over.
        None if link.kind == "veth" && facts.survey.link(&TeamDevice::end_behind(&team.name)).is_some() => None,
        None => {
            let kind = if link.kind.is_empty() { "a device" } else { &link.kind };
            Some(Refusal::new(
                format!("there is {kind} `{}` already, which is no team of nicteam", team.name),
                format!("give the team another name, or remove the device: `ip link del {}`", quoted(&team.name)),
            ))
        }
    }
}

/// A member that is not there, or that somebody has.
fn member(team: &Team, device: &str, facts: &Facts<'_>) -> Option<Refusal> {
    let Some(link) = facts.survey.link(device) else {
        // A running team waits for those that are gone.
        let waits = facts.waits || facts.journal.is_some() || facts.coming.iter().any(|coming| coming == device);
        return (!waits).then(|| {
            Refusal::new(format!("no device `{device}` for team {}", team.name), missing(team, device, facts))
        });
    };
    if let Some(master) = link.master {
        return Some(enslaved(team, link, master, facts));
    }
    if link.mac == [0; 6] {
        let what = format!("`{device}` has no Ethernet address and cannot be a member");
        return Some(Refusal::new(what, "name an Ethernet device; `ip link` lists the devices"));
    }
    let other = team_of(&link.alias).filter(|other| *other != team.name)?;
    let state = facts.teams.iter().find(|listed| listed.team == other)?;
    // One that nobody runs lets its members go.
    (state.state != TeamState::Stopped).then(|| {
        let what = format!("`{device}` is a member of team {other}, which is running");
        Refusal::new(what, format!("`nicteam team member del {other} {}`, or `nicteam down {other}`", quoted(device)))
    })
}

/// The device that was meant may be one that can be a member and is none yet.
fn missing(team: &Team, device: &str, facts: &Facts<'_>) -> String {
    let is_free = |link: &&Link| matches!(link.kind.as_str(), "" | "veth") && link.mac != [0; 6];
    let names = facts.survey.links.iter().filter(is_free).map(|link| link.name.as_str());
    match nicteam_team::nearest(device, names.filter(|name| !team.members.iter().any(|member| member == name))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`ip link` lists the devices of this network namespace".to_owned(),
    }
}

fn enslaved(team: &Team, link: &Link, master: u32, facts: &Facts<'_>) -> Refusal {
    let (device, master_name) = (&link.name, facts.survey.name_of(master));
    let frees = format!("`ip link set {} nomaster` frees it", quoted(device));
    let kind = facts.survey.link_at(master).map_or("", |master| master.kind.as_str());
    let what = match kind {
        "" => format!("`{device}` is a part of {master_name}"),
        kind => format!("`{device}` is a part of the {kind} {master_name}"),
    };
    let hint = match kind {
        "bond" => format!(
            "{frees}, and a login over {master_name} loses its session: \
             \"From a running bond\" in docs/up.md has the way that keeps it. Switch the bond off where it is configured, too, or it \
             comes back (`nicteam import` of that file says how)"
        ),
        "bridge" => format!(
            "{frees}, and `ip link set {} master {}` puts the team in its place",
            quoted(&team.name),
            quoted(&master_name)
        ),
        "openvswitch" | "ovs-system" => "`ovs-vsctl del-port` takes it out of its bridge".to_owned(),
        _ => frees,
    };
    Refusal::new(what, hint)
}

/// The team is up, or on its way, with other members.
fn other_members(team: &Team, facts: &Facts<'_>) -> Option<Refusal> {
    let journal = facts.journal.filter(|journal| journal.members != team.members)?;
    Some(Refusal::new(
        format!("team {} is up with other members: {}", team.name, journal.members.join(", ")),
        format!("`nicteam down {}` first, then `nicteam up` again; or `nicteam team member add|del`", team.name),
    ))
}

/// A device on a member that cannot be made again on the team.
fn above_member(device: &Device, facts: &Facts<'_>) -> Option<Refusal> {
    /// `IFLA_MACVLAN_MODE`, and the mode that has a list of addresses.
    const MODE: u16 = 1;
    const SOURCE: u32 = 8;
    let (name, kind) = (device.name(), device.kind());
    let below = device.below().map_or_else(String::new, |below| facts.survey.name_of(below));
    let fits = match kind.as_str() {
        "vlan" | "ipvlan" => true,
        "macvlan" => device.data(MODE) != Some(SOURCE),
        _ => false,
    };
    let hint = format!("`ip link del {}`, then `nicteam up`, then make it again on the team", quoted(name));
    (!fits).then(|| Refusal::new(format!("{kind} {name} stands on {below} and cannot be moved to the team"), hint))
}

/// Tunnels that are bound to a member by its index.
fn tunnels(facts: &Facts<'_>, found: &Found) -> Vec<Refusal> {
    /// `IFLA_VXLAN_LINK`.
    const VXLAN_LINK: u16 = 3;
    let bound = |device: &&Device| {
        let link = if device.kind() == "vxlan" { device.data(VXLAN_LINK) } else { None };
        link.is_some_and(|index| found.member_at(index).is_some())
    };
    let refusal = |device: &Device| {
        let what = format!("vxlan {} is bound to a member and would lose its way", device.name());
        Refusal::new(
            what,
            format!("make it without `dev`, or again on the team: `ip link del {}`", quoted(device.name())),
        )
    };
    facts.survey.devices.iter().filter(bound).map(refusal).collect()
}

/// Routes name nexthop objects by number, and a changed object is another one to every program.
fn nexthop_objects(facts: &Facts<'_>, found: &Found) -> Vec<Refusal> {
    let on_member = |index: Option<u32>| index.and_then(|index| found.member_at(index));
    let of = |nexthop: &Nexthop| {
        let member = on_member(nexthop.device())?;
        let what =
            format!("nexthop object {} leads over {} and cannot be moved to the team", nexthop.id(), member.name);
        let hint =
            format!("`ip nexthop del id {}` (its routes go with it), and give the team those routes", nexthop.id());
        Some(Refusal::new(what, hint))
    };
    facts.survey.nexthops.iter().filter_map(of).collect()
}

/// Addresses of the file that another device has.
fn addresses(team: &Team, facts: &Facts<'_>, found: &Found) -> Vec<Refusal> {
    let own = facts.survey.device_of(&team.name).map(|link| link.index);
    let elsewhere = |address: &&Address| Some(address.index()) != own && found.member_at(address.index()).is_none();
    let has = |wanted: IpAddr| {
        facts.survey.addresses.iter().filter(elsewhere).find(|address| address.address() == Some(wanted))
    };
    let refusal = |wanted: &nicteam_formats::Address| {
        let other = has(wanted.address)?;
        let device = facts.survey.name_of(other.index());
        let what = format!("{} is an address of {device} already", wanted.address);
        let hint = format!("`ip address del {} dev {}`, or take it out of the file", other.words(), quoted(&device));
        Some(Refusal::new(what, hint))
    };
    team.addresses.iter().filter_map(refusal).collect()
}

/// Routes of the file by a gateway that no address of the team reaches.
fn gateways(team: &Team, found: &Found) -> Vec<Refusal> {
    let moved = found.members.iter().flat_map(|member| member.addresses.iter().filter_map(Address::network));
    let own = team.addresses.iter().filter_map(|own| Address::new(0, own.address, own.prefix).network());
    let on_link = team.routes.iter().filter(|route| route.via.is_none());
    let on_link = on_link.map(|route| (route.to.address, route.to.prefix));
    let networks: Vec<(IpAddr, u8)> = moved.chain(own).chain(on_link).collect();
    let reached = |via: IpAddr| {
        let local = matches!(via, IpAddr::V6(via) if via.is_unicast_link_local());
        local
            || networks.iter().any(|&(network, prefix)| {
                Address::new(0, via, prefix).network() == Some((network, prefix)) || network == via
            })
    };
    let refusal = |route: &nicteam_formats::Route| {
        let via = route.via.filter(|via| !reached(*via))?;
        let what = format!("{}: no address of the team is in one network with the gateway {via}", team.name);
        Some(Refusal::new(what, "give the team an address of that network, or correct the route"))
    };
    team.routes.iter().filter_map(refusal).collect()
}
