//! Two hosts, each with a bond of two links into the same plain switch: ours, or Open vSwitch's with its userspace datapath. Or with a link and no bond.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_dataplane::Kind;
use nicteam_netlink::shape::{self, Granularity};
use nicteam_sys::netns::NetNs;
use nicteam_testnet::{Host, OpenVSwitch, Switch, eventually};

use crate::bench::network::FAR;
use crate::failure::Failure;
use crate::product::{Product, TeamProcess};

const NEAR: &str = "10.9.0.1";
const LINKS: usize = 2;
const TEAM: &str = "team0";
/// The port of the bridge that is the host's own.
const BRIDGE: &str = "br0";

/// What the links are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// Whether GSO frames pass.
    pub(super) granularity: Granularity,
    /// None: as fast as the machine is.
    pub(super) rate_bps: Option<u64>,
}

/// Everything goes with this value.
pub(super) struct Network {
    // Ahead of the switch, so that they end in a network that still is.
    near: End,
    far: End,
    _switch: Switch,
}

/// A host with its bond.
enum End {
    Ours { _process: TeamProcess, host: Host },
    Theirs(OpenVSwitch),
    Bare(Host),
}

impl Network {
    /// Ours: teams of these options.
    pub(super) fn ours(
        product: &Product,
        state: &Path,
        options: &[(&str, &str)],
        links: Links,
    ) -> Result<Network, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let state = state.join(format!("openvswitch-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        Network::new(links, |switch, address, port| {
            let mut host = Host::quiet();
            switch.join_all(&mut host, "eth", port, LINKS);
            bound(&mut host, &names("eth"), links)?;
            let process = product.start_team(&host.netns, &state, TEAM, &names("eth"), options, Kind::Bpf)?;
            eventually("a team", || {
                let team = host.netlink.link(TEAM).ok().flatten();
                team.is_some_and(|team| team.carrier)
            });
            host.address(TEAM, &[(address, 24)]);
            shape(&mut host, &names("eth"), links)?;
            Ok(End::Ours { _process: process, host })
        })
    }

    /// Theirs: ports with these settings. Where GSO frames pass, with segmentation offload in its datapath.
    pub(super) fn theirs(settings: &str, links: Links) -> Result<Network, Failure> {
        Network::new(links, |switch, address, port| {
            let mut ovs = OpenVSwitch::start();
            if links.granularity != Granularity::Packets {
                offload_segmentation(&mut ovs)?;
            }
            switch.join_all(&mut ovs.host, "eth", port, LINKS);
            bound(&mut ovs.host, &names("eth"), links)?;
            ovs.vsctl(&format!("add-br {BRIDGE} -- set bridge {BRIDGE} datapath_type=netdev"));
            ovs.vsctl(&format!("add-bond {BRIDGE} bond0 {} {settings}", names("eth").join(" ")));
            eventually("a bond", || ovs.enabled() == LINKS);
            ovs.host.address(BRIDGE, &[(address, 24)]);
            // It takes away what shapes a port that it adopts.
            shape(&mut ovs.host, &names("eth"), links)?;
            Ok(End::Theirs(ovs))
        })
    }

    /// Neither: a link each.
    pub(super) fn bare(links: Links) -> Result<Network, Failure> {
        const DEVICE: &str = "eth0";
        Network::new(links, |switch, address, port| {
            let mut host = Host::quiet();
            // The second link is there, and nobody uses it.
            switch.join_all(&mut host, "eth", port, LINKS);
            bound(&mut host, &names("eth"), links)?;
            host.address(DEVICE, &[(address, 24)]);
            shape(&mut host, &names("eth"), links)?;
            Ok(End::Bare(host))
        })
    }

    fn new(
        links: Links,
        mut end: impl FnMut(&mut Switch, &str, &str) -> Result<End, Failure>,
    ) -> Result<Network, Failure> {
        let mut switch = Switch::new();
        let near = end(&mut switch, NEAR, "a")?;
        let far = end(&mut switch, &FAR.to_string(), "b")?;
        let ports = [names("a"), names("b")].concat();
        bound(&mut switch.host, &ports, links)?;
        shape(&mut switch.host, &ports, links)?;
        Ok(Network { near, far, _switch: switch })
    }

    /// Where streams come from.
    pub(super) fn near(&self) -> &NetNs {
        self.near.netns()
    }

    /// Where they go.
    pub(super) fn far(&self) -> &NetNs {
        self.far.netns()
    }
}

impl End {
    fn netns(&self) -> &NetNs {
        match self {
            End::Ours { host, .. } | End::Bare(host) => &host.netns,
            End::Theirs(ovs) => &ovs.host.netns,
        }
    }
}

/// `userspace-tso-enable` is read once, when the daemon starts.
fn offload_segmentation(ovs: &mut OpenVSwitch) -> Result<(), Failure> {
    ovs.crash();
    ovs.vsctl("--no-wait set Open_vSwitch . other_config:userspace-tso-enable=true");
    ovs.restart();
    let says = || ovs.log().contains("Segmentation Offloading support enabled");
    eventually("segmentation offload of Open vSwitch", says);
    Ok(())
}

/// `PREFIX0`, `PREFIX1`.
fn names(prefix: &str) -> Vec<String> {
    (0..LINKS).map(|link| format!("{prefix}{link}")).collect()
}

/// Lets devices have frames of as many packets as is wanted.
fn bound(host: &mut Host, devices: &[String], links: Links) -> Result<(), Failure> {
    if links.granularity == Granularity::Packets {
        for device in devices {
            let link = host.link(device);
            host.netlink.set_gso_max(link.index, link.gso_max_size, 1)?;
        }
    }
    Ok(())
}

/// Limits what devices send.
fn shape(host: &mut Host, devices: &[String], links: Links) -> Result<(), Failure> {
    if let Some(rate_bps) = links.rate_bps {
        for device in devices {
            let index = host.index(device);
            shape::shape(&mut host.netlink, index, rate_bps, links.granularity)?;
        }
    }
    Ok(())
}
