//! The bundles of this host: which there are, how they are, and what their links carry.
//!
//! [`host`] reads teams of nicteam by their control sockets, bonds of the kernel by netlink and `/proc/net/bonding`, bonds of
//! Open vSwitch by the control socket of `ovs-vswitchd`, and teams of teamd by `teamdctl`. It changes nothing. What it may
//! not read it names ([`Host::unseen`]). [`Sampler`] reads counters, with one netlink request for all devices.
//!
//! The types are those of crate `bundles`. All of it works in the network namespace of the calling thread, except for Open
//! vSwitch, whose daemon is found by its files.
#![forbid(unsafe_code)]

mod kernel;
mod openvswitch;
mod sampler;
mod team;
mod teamd;
pub mod traffic;

use nicteam_bundles::{Bundle, Member};
use nicteam_sys::Result;
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netlink::{Link, Netlink};
use serde::{Deserialize, Serialize};

pub use nicteam_bundles as bundles;
pub use openvswitch::bonds_at;
pub use sampler::Sampler;

/// The bundles of a host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Them, by name.
    pub bundles: Vec<Bundle>,
    /// What could not be read, each as a sentence.
    pub unseen: Vec<String>,
}

/// Reads the bundles of this network namespace.
///
/// # Errors
/// The kernel does not list its devices.
pub fn host() -> Result<Host> {
    let mut netlink = Netlink::open()?;
    let links = netlink.links()?;
    let mut host = Host::default();
    team::read(&mut host, &links);
    kernel::read(&mut host, &links, &mut netlink);
    teamd::read(&mut host, &links);
    openvswitch::read(&mut host);
    let ethtool = Ethtool::open().ok();
    for bundle in &mut host.bundles {
        complete(bundle, &links, ethtool.as_ref());
    }
    host.bundles.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(host)
}

impl Host {
    /// The bundle of this name, or with this device.
    pub fn bundle(&self, name: &str) -> Option<&Bundle> {
        let called = |bundle: &&Bundle| bundle.name == name;
        let of_device = |bundle: &&Bundle| bundle.device.as_deref() == Some(name);
        self.bundles.iter().find(called).or_else(|| self.bundles.iter().find(of_device))
    }
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

fn named<'a>(links: &'a [Link], name: &str) -> Option<&'a Link> {
    links.iter().find(|link| link.name == name)
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
