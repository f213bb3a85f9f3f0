//! Bonds of the kernel's driver: `/proc/net/bonding`, and netlink for what that tells only to some, or to nobody.

use std::fs;

use nicteam_bundles::{Bundle, Kind, Lacp, Member, Port, read::proc};
use nicteam_netlink::object::Device;
use nicteam_netlink::{Link, Netlink};
use nicteam_options::{HashPolicy, Mode};

use crate::host::{Host, mac};

/// Of the calling thread's network namespace; `/proc/net` is of its process's.
const FOLDER: &str = "/proc/thread-self/net/bonding";

pub(super) fn read(host: &mut Host, links: &[Link], netlink: &mut Netlink) {
    let bonds: Vec<&Link> = links.iter().filter(|link| link.kind == "bond").collect();
    if bonds.is_empty() {
        return;
    }
    let devices = netlink.devices().unwrap_or_default();
    for link in bonds {
        let options = options(link, links, &devices);
        let text = fs::read_to_string(format!("{FOLDER}/{}", link.name)).ok();
        let mut bond = text.map_or_else(|| bare(link, links), |text| proc(&link.name, &text));
        from_options(&mut bond, options);
        by_netlink(&mut bond, link, netlink);
        host.bundles.push(bond);
    }
}

/// Options by the kernel's names; what is a choice has its number.
fn options(bond: &Link, links: &[Link], devices: &[Device]) -> Vec<(&'static str, String)> {
    let name_of = |index: u32| links.iter().find(|link| link.index == index).map(|link| link.name.clone());
    let device = devices.iter().find(|device| device.index() == bond.index);
    device.map(|device| device.bond_options(&name_of)).unwrap_or_default()
}

/// A bond where there is no `/proc`.
fn bare(bond: &Link, links: &[Link]) -> Bundle {
    let member = |link: &&Link| link.master == Some(bond.index);
    let member = links.iter().filter(member).map(|link| Member {
        name: link.name.clone(),
        up: link.carrier,
        carrier: link.carrier,
        ..Member::default()
    });
    Bundle {
        name: bond.name.clone(),
        kind: Kind::Kernel,
        device: Some(bond.name.clone()),
        carrier: bond.carrier,
        members: member.collect(),
        ..Bundle::default()
    }
}

fn from_options(bond: &mut Bundle, options: Vec<(&'static str, String)>) {
    for (name, value) in options {
        match name {
            "mode" if bond.mode.is_empty() => {
                bond.mode = value.parse::<Mode>().map_or(value, |mode| mode.name().to_owned());
            }
            "active_slave" => bond.active = bond.active.take().or(Some(value)),
            "xmit_hash_policy" if bond.mode.parse().is_ok_and(Mode::hashes) => {
                bond.hash_policy = bond.hash_policy.take().or_else(|| policy(&value));
            }
            "mode" | "xmit_hash_policy" => {}
            _ => drop(bond.options.entry(name.to_owned()).or_insert(value)),
        }
    }
}

/// What `/proc` tells only to a reader with `CAP_NET_ADMIN` in the first user namespace: which aggregator carries the traffic.
fn by_netlink(bond: &mut Bundle, link: &Link, netlink: &mut Netlink) {
    bond.mac = Some(mac(link.mac));
    let Ok(Some(aggregate)) = netlink.bond_aggregate(link.index) else {
        bond.find_senders();
        return;
    };
    let lacp = bond.lacp.get_or_insert_with(Lacp::default);
    lacp.aggregator = lacp.aggregator.or(Some(aggregate.number.into()));
    lacp.partner = lacp.partner.take().or(aggregate.partner.map(mac));
    lacp.negotiated = lacp.negotiated.or(Some(aggregate.partner.is_some()));
    let has_ends = |member: &Member| member.lacp.as_ref().is_some_and(|port| port.actor.is_some());
    let distributes: Vec<Option<bool>> = bond
        .members
        .iter_mut()
        .map(|member| {
            let index = netlink.link(&member.name).ok().flatten()?.index;
            let of = netlink.bond_member(index).ok().flatten()?;
            let port = member.lacp.get_or_insert_with(Port::default);
            port.aggregator = port.aggregator.or(of.aggregate.map(Into::into));
            (!has_ends(member)).then_some(of.distributes)
        })
        .collect();
    if bond.members.iter().any(|member| !has_ends(member)) {
        let why = "what each port says by LACP: the kernel tells it to a reader with CAP_NET_ADMIN alone";
        bond.unseen.push(why.to_owned());
    }
    bond.find_senders();
    for (member, distributes) in bond.members.iter_mut().zip(distributes) {
        member.active &= distributes.unwrap_or(true);
    }
}

/// By which of a frame's fields, as the kernel's number says it.
fn policy(number: &str) -> Option<String> {
    let number: u32 = number.parse().ok()?;
    HashPolicy::ALL.into_iter().find(|of| of.number() == Some(number)).map(|of| of.name().to_owned())
}
