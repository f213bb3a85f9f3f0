//! The bundles of this host: which there are, how they are, and what their links carry.
//!
//! [`host`] reads teams of nicteam by their control sockets, bonds of the kernel by netlink and `/proc/net/bonding`, bonds of
//! Open vSwitch by the control socket of `ovs-vswitchd`, and teams of teamd by `teamdctl`. It changes nothing. What it may
//! not read it names ([`Host::unseen`]). [`Observer`] does it again and again: it keeps its connections to the teams, and has the
//! counters of all devices beside. [`Sampler`] reads counters alone, with one netlink request for all devices.
//!
//! The types are those of crate `bundles`. All of it works in the network namespace of the calling thread, except for Open
//! vSwitch, whose daemon is found by its files.
#![forbid(unsafe_code)]

mod host;
mod kernel;
mod observer;
mod openvswitch;
mod sampler;
mod shapers;
mod team;
mod teamd;
pub mod traffic;

use std::path::Path;

use nicteam_bundles::{Bundle, Member};
use nicteam_netlink::{Link, Netlink};
use nicteam_sys::Result;
use nicteam_sys::ethtool::Ethtool;

use host::{mac, named};

pub use host::Host;
pub use nicteam_bundles as bundles;
pub use observer::{Look, Observer};
pub use sampler::Sampler;
pub use team::Teams;

/// Reads the bundles of this network namespace.
///
/// # Errors
/// The kernel does not list its devices.
pub fn host() -> Result<Host> {
    let mut host = Observer::open()?.look()?.host;
    shapers::read(&mut host.bundles);
    Ok(host)
}

/// Reads the bonds of the `ovs-vswitchd` that has this control socket.
///
/// # Errors
/// Nobody listens there, or does not answer.
pub fn openvswitch_at(socket: &Path) -> Result<Vec<Bundle>> {
    let mut bonds = openvswitch::bonds_at(socket)?;
    let (links, ethtool) = (Netlink::open()?.links()?, Ethtool::open().ok());
    bonds.iter_mut().for_each(|bundle| complete(bundle, &links, ethtool.as_ref()));
    shapers::read(&mut bonds);
    Ok(bonds)
}

/// What the devices say, where the bundle's own program did not.
fn complete(bundle: &mut Bundle, links: &[Link], ethtool: Option<&Ethtool>) {
    if let Some(link) = bundle.device.as_ref().and_then(|device| named(links, device)) {
        bundle.index = Some(link.index);
        bundle.mtu = Some(link.mtu);
        bundle.admin_up = link.up;
        bundle.mac.get_or_insert_with(|| mac(link.mac));
    }
    for member in &mut bundle.members {
        match named(links, &member.name) {
            Some(link) => complete_member(member, link, ethtool),
            None => bundle.unseen.push(format!("{} is not in this network namespace", member.name)),
        }
    }
}

fn complete_member(member: &mut Member, link: &Link, ethtool: Option<&Ethtool>) {
    member.index = Some(link.index);
    member.mtu = Some(link.mtu);
    member.admin_up = link.up;
    member.carrier = link.carrier;
    member.mac = Some(mac(link.mac));
    if member.permanent_mac.is_none() {
        member.permanent_mac = link.permanent_mac.map(mac);
    }
    if member.speed_mbps.is_none() || member.full_duplex.is_none() {
        // A driver that does not say, or a device that is gone meanwhile: unknown.
        let settings = ethtool.and_then(|ethtool| ethtool.settings(&member.name).ok()).unwrap_or_default();
        member.speed_mbps = member.speed_mbps.or(settings.speed_mbps);
        member.full_duplex = member.full_duplex.or(settings.full_duplex);
    }
}
