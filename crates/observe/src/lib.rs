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

mod devices;
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
use nicteam_netlink::Netlink;
use nicteam_sys::Result;
use nicteam_sys::ethtool::Ethtool;

use devices::complete;
use host::named;

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
    let mut observer = Observer::open()?;
    let mut host = observer.look()?.host;
    shapers::read(&mut host.bundles, &mut observer.netlink);
    Ok(host)
}

/// Reads the bonds of the `ovs-vswitchd` that has this control socket.
///
/// # Errors
/// Nobody listens there, or does not answer.
pub fn openvswitch_at(socket: &Path) -> Result<Vec<Bundle>> {
    let mut bonds = openvswitch::bonds_at(socket)?;
    let (mut netlink, ethtool) = (Netlink::open()?, Ethtool::open().ok());
    let links = netlink.links()?;
    let links = named(&links);
    bonds.iter_mut().for_each(|bundle| complete(bundle, &links, ethtool.as_ref()));
    shapers::read(&mut bonds, &mut netlink);
    Ok(bonds)
}

/// A device of this network namespace as a bundle of itself alone, so that its traffic can be looked at; none if there is none
/// of this name.
///
/// # Errors
/// The kernel does not list its devices.
pub fn device(name: &str) -> Result<Option<Bundle>> {
    let (links, ethtool) = (Netlink::open()?.links()?, Ethtool::open().ok());
    let links = named(&links);
    let Some(link) = links.get(name) else { return Ok(None) };
    let mut found = Bundle {
        name: name.to_owned(),
        device: Some(name.to_owned()),
        carrier: link.carrier,
        members: vec![Member { name: name.to_owned(), up: link.carrier, active: link.carrier, ..Member::default() }],
        ..Bundle::default()
    };
    complete(&mut found, &links, ethtool.as_ref());
    Ok(Some(found))
}
