//! The agent's node: what the lab changes of its network beside teams.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nicteam_netlink::Netlink;
use nicteam_netlink::mptcp::PathManager;
use nicteam_netlink::object::Route;
use nicteam_netlink::shape::{self, Granularity, Sizes};
use nicteam_node::Failure;
use nicteam_node::processor;
use nicteam_node::protocol::{Addresses, FurtherAddress, LinkSetup, NodeSetup};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netns;
use nicteam_wire::Mac;
use nix::errno::Errno;

use super::announce::announce;

/// The bridge of a switch, or of a host with guests.
const BRIDGE: &str = "br0";
/// The most paths that the kernel's path manager keeps (`MPTCP_PM_ADDR_MAX`).
const MOST_PATHS: usize = 8;

/// A host or a switch.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Open once something was asked for.
    netlink: Option<Netlink>,
    /// The most packets that a frame of each limited device joins.
    max_packets: BTreeMap<String, u32>,
}

impl Node {
    /// Makes it a fit place for measuring, before it has devices.
    pub(super) fn set_up(&mut self, setup: NodeSetup) -> Result<(), Failure> {
        // What one connection learned must not help or hinder the next.
        netns::sysctl("ipv4/tcp_no_metrics_save", "1")?;
        // What was closed with data for a host that is gone would hold the namespace for minutes.
        netns::sysctl("ipv4/tcp_orphan_retries", "1")?;
        for packets in ["iptables", "ip6tables", "arptables"] {
            let calls = format!("bridge/bridge-nf-call-{packets}");
            // A switch has no such tables. Where the file is missing, neither has its bridge.
            if netns::read_sysctl(&calls).is_ok() {
                netns::sysctl(&calls, "0")?;
            }
        }
        if !setup.ipv6 {
            // No router solicitations and address checks in between the measured traffic.
            netns::sysctl("ipv6/conf/default/disable_ipv6", "1")?;
            netns::sysctl("ipv6/conf/all/disable_ipv6", "1")?;
        }
        if setup.ipv6 {
            // As IPv4's do: the address of a device outlives a cable that is pulled at its end.
            netns::sysctl("ipv6/conf/all/keep_addr_on_down", "1")?;
        }
        if setup.forwards {
            netns::sysctl("ipv4/ip_forward", "1")?;
            if setup.ipv6 {
                netns::sysctl("ipv6/conf/all/forwarding", "1")?;
            }
        }
        if let Some(most) = setup.tcp_buffer_bytes {
            for (setting, least, usual) in [("ipv4/tcp_rmem", 4096, 131_072), ("ipv4/tcp_wmem", 4096, 16_384)] {
                netns::sysctl(setting, &format!("{least} {usual} {most}"))?;
            }
        }
        if let Some(window) = setup.receive_window_bytes {
            // Of what a socket counts at most half is payload (`tcp_adv_win_scale`).
            let bytes = window.saturating_mul(2);
            netns::sysctl("ipv4/tcp_rmem", &format!("{} {bytes} {bytes}", bytes.min(4096)))?;
        }
        if let Some(bps) = setup.processor_bps {
            processor::bound(bps);
        }
        if setup.guest {
            // A guest that moves keeps what it knows of its neighbours; its veth is without carrier meanwhile. Older kernels
            // have no such setting, and ask again.
            for setting in ["ipv4/conf/all/arp_evict_nocarrier", "ipv6/conf/all/ndisc_evict_nocarrier"] {
                if netns::read_sysctl(setting).is_ok() {
                    netns::sysctl(setting, "0")?;
                }
            }
        }
        if setup.bridge {
            self.netlink()?.add_bridge(BRIDGE)?;
            self.set_device(BRIDGE, true)?;
        }
        Ok(())
    }

    /// Limits what links send, and sets them up. What has its limit keeps it: a queue is taken from a running device only
    /// after a grace period of the kernel.
    pub(super) fn shape(&mut self, links: &[LinkSetup]) -> Result<(), Failure> {
        for link in links {
            let index = self.index(&link.device)?;
            self.max_packets.insert(link.device.clone(), link.max_packets);
            if !shape::is_shaped(self.netlink()?, index)? {
                let usual = Sizes::of_rate(link.rate_bps);
                let sizes = Sizes {
                    burst_bytes: link.burst_bytes.unwrap_or(usual.burst_bytes),
                    queue_bytes: link.queue_bytes.unwrap_or(usual.queue_bytes),
                };
                let granularity = Granularity::of(link.max_packets);
                shape::shape_with(self.netlink()?, index, link.rate_bps, granularity, sizes)?;
            }
            if link.joins_received {
                Ethtool::open()?.join_received(&link.device)?;
            }
            self.netlink()?.set_up(index, true)?;
        }
        Ok(())
    }

    /// Changes the MTU of a device.
    pub(super) fn set_mtu(&mut self, device: &str, mtu: u32) -> Result<(), Failure> {
        let index = self.index(device)?;
        Ok(self.netlink()?.set_mtu(index, mtu)?)
    }

    /// Removes every filter of a device.
    pub(super) fn remove_filters(&mut self, device: &str) -> Result<(), Failure> {
        let index = self.index(device)?;
        Ok(self.netlink()?.remove_filters(index)?)
    }

    /// Limits what a device sends to another rate.
    pub(super) fn change_rate(&mut self, device: &str, rate_bps: u64) -> Result<(), Failure> {
        let Some(max_packets) = self.max_packets.get(device).copied() else {
            return Err(format!("{device} has no limit").into());
        };
        let index = self.index(device)?;
        Ok(shape::change_rate(self.netlink()?, index, rate_bps, Granularity::of(max_packets))?)
    }

    /// Limits what a device sends, to nothing at 0, or gives it back what it had.
    pub(super) fn hold_back(&mut self, device: &str, rate_bps: Option<u64>) -> Result<(), Failure> {
        /// Any rate: the queue takes no frame.
        const SILENT: (u64, Sizes) = (1_000_000, Sizes { burst_bytes: 1, queue_bytes: 1 });
        let index = self.index(device)?;
        let netlink = self.netlink()?;
        let Some(rate_bps) = rate_bps else { return Ok(shape::unshape(netlink, index)?) };
        let (rate_bps, sizes) = if rate_bps == 0 { SILENT } else { (rate_bps, Sizes::of_rate(rate_bps)) };
        Ok(shape::shape_with(netlink, index, rate_bps, Granularity::WHOLE, sizes)?)
    }

    /// Lets devices send frames as a wire has them.
    pub(super) fn finish_frames(&mut self, devices: &[String]) -> Result<(), Failure> {
        let ethtool = Ethtool::open()?;
        Ok(devices.iter().try_for_each(|device| ethtool.finish_frames(device))?)
    }

    /// Makes a device a port of the bridge.
    pub(super) fn plug(&mut self, device: &str) -> Result<(), Failure> {
        let (bridge, port) = (self.index(BRIDGE)?, self.index(device)?);
        Ok(self.netlink()?.set_master(port, Some(bridge))?)
    }

    /// Sets a device down or up.
    pub(super) fn set_device(&mut self, device: &str, up: bool) -> Result<(), Failure> {
        let index = self.index(device)?;
        Ok(self.netlink()?.set_up(index, up)?)
    }

    /// Tells the switches where a device's addresses are.
    pub(super) fn announce(&mut self, device: &str, arp: bool, rarp: bool) -> Result<(), Failure> {
        announce(self.netlink()?, device, arp, rarp)
    }

    /// Gives a host its addresses. For multipath TCP one that is connected to announces those beside the first,
    /// so that a subflow comes by each; if the other end did so, too, it would be sent subflows that nobody takes.
    pub(super) fn address(&mut self, addresses: &Addresses) -> Result<(), Failure> {
        let device = self.index(&addresses.device)?;
        let netlink = self.netlink()?;
        if let Some(mac) = &addresses.mac {
            netlink.set_mac(device, mac.parse::<Mac>()?.0)?;
        }
        netlink.add_address(device, addresses.address, addresses.prefix, true)?;
        netlink.set_up(device, true)?;
        self.further(addresses)?;
        for route in &addresses.routes {
            let (device, _) = self.netlink()?.route_of(route.via)?;
            self.netlink()?.add_route(&Route::new((route.to, route.prefix), Some(route.via), device, None, None))?;
        }
        Ok(())
    }

    /// Gives a host's other links their addresses.
    fn further(&mut self, addresses: &Addresses) -> Result<(), Failure> {
        if addresses.further.is_empty() {
            return Ok(());
        }
        // All links may lead into one switch: each answers for its own address alone.
        netns::sysctl("ipv4/conf/all/arp_ignore", "1")?;
        netns::sysctl("ipv4/conf/all/arp_announce", "2")?;
        let mut paths = if addresses.mptcp { Some(PathManager::open()?) } else { None };
        if let Some(paths) = &mut paths {
            paths.set_limits(addresses.further.len().min(MOST_PATHS) as u32)?;
        }
        for FurtherAddress { device, mac, address, prefix } in &addresses.further {
            let device = self.index(device)?;
            if let Some(mac) = mac {
                self.netlink()?.set_mac(device, mac.parse::<Mac>()?.0)?;
            }
            self.netlink()?.add_address(device, *address, *prefix, true)?;
            self.netlink()?.set_up(device, true)?;
            if let Some(paths) = paths.as_mut().filter(|_| addresses.announces) {
                paths.announce(*address, device)?;
            }
        }
        Ok(())
    }

    /// Reserves the entries of hosts that traffic will go to or come from, unless a gateway is before them: they are too many
    /// for the kernel's table of neighbours, which is one for all namespaces.
    pub(super) fn expect(&mut self, peers: &BTreeSet<IpAddr>) -> Result<(), Failure> {
        for peer in peers {
            let netlink = self.netlink()?;
            // Where no route leads there, the traffic says so.
            if let Ok((device, None)) = netlink.route_of(*peer) {
                netlink.reserve_neighbour(device, *peer)?;
            }
        }
        Ok(())
    }

    /// The index of a device that must be there.
    fn index(&mut self, device: &str) -> Result<u32, Failure> {
        let absent = || nicteam_sys::Error::new(format!("find {device}"), Errno::ENODEV);
        Ok(self.netlink()?.link(device)?.ok_or_else(absent)?.index)
    }

    /// The node's link to the kernel.
    pub(super) fn netlink(&mut self) -> Result<&mut Netlink, Failure> {
        Ok(match &mut self.netlink {
            Some(netlink) => netlink,
            none => none.insert(Netlink::open()?),
        })
    }
}
