//! Testbed `netns`: a network namespace a host and a switch, on one machine.
//!
//! A namespace belongs to its agent and has no name: when the agent ends,
//! however it ends, the kernel takes the namespace and everything in it.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::mpsc;

use nicteam_dataplane::Kind;
use nicteam_record::Port;
use nicteam_sys::mptcp::PathManager;
use nicteam_sys::netlink::{Netlink, VethEnd};
use nicteam_sys::netns::{self, NetNs};
use nicteam_sys::shape::{self, Granularity};
use nicteam_wire::Mac;

use crate::Error;
use crate::experiment::{Cable, Further, Host, Team, Topology};
use crate::protocol::{AddTeam, Request};
use crate::testbed::{Agent, Report, Setting, relay};

/// The bridge of a switch.
const BRIDGE: &str = "br0";
/// First interface index of cable ends: beyond what a fresh namespace gives by itself.
const FIRST_INDEX: u32 = 1000;

/// A topology that is built; it goes with this value.
#[derive(Debug)]
pub(crate) struct Deployment {
    nodes: BTreeMap<String, Node>,
    dataplane: Option<Kind>,
}

/// A host or a switch.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) agent: Agent,
    pub(super) netns: NetNs,
    pub(super) netlink: Netlink,
}

impl Deployment {
    /// Builds a topology. What its agents report goes to `reports`.
    pub(crate) fn build(
        topology: &Topology,
        setting: &Setting,
        reports: &mpsc::Sender<Report>,
    ) -> Result<Deployment, Error> {
        let mut deployment = Deployment { nodes: start_nodes(topology, setting, reports)?, dataplane: None };
        deployment.add_bridges(topology)?;
        for (number, cable) in (0..).zip(&topology.cables) {
            let index = first_index(number);
            match cable.impaired {
                Some(_) => deployment.add_impaired_cable(cable, index, setting.granularity)?,
                None => deployment.add_cable(cable, index, setting.granularity)?,
            }
        }
        for node in deployment.nodes.values() {
            node.agent.greet()?;
        }
        deployment.start_relay(topology)?;
        deployment.add_teams(topology, setting)?;
        deployment.plug_in_switches(topology)?;
        deployment.watch_bare_links(topology)?;
        deployment.address_hosts(topology)?;
        deployment.follow_carrier(topology)?;
        if topology.teams.iter().any(|team| team.config.mode.aggregates()) {
            deployment.call_all(&Request::Settle)?;
        }
        Ok(deployment)
    }

    /// What runs the teams; none if there are no teams.
    pub(crate) fn dataplane(&self) -> Option<Kind> {
        self.dataplane
    }

    /// The agent of a host or switch.
    pub(crate) fn agent(&mut self, node: &str) -> Result<&mut Agent, Error> {
        Ok(&mut self.node(node)?.agent)
    }

    /// Every agent.
    pub(crate) fn agents(&mut self) -> impl Iterator<Item = &mut Agent> {
        self.nodes.values_mut().map(|node| &mut node.agent)
    }

    /// Sends every agent a request, then waits for every answer.
    pub(crate) fn call_all(&mut self, request: &Request) -> Result<(), Error> {
        self.agents().try_for_each(|agent| agent.begin(request))?;
        self.agents().try_for_each(|agent| agent.finish().map(drop))
    }

    /// How the members of the teams of mode 802.3ad are, by node.
    pub(crate) fn ports(&mut self) -> Result<Vec<Port>, Error> {
        self.agents().try_for_each(|agent| agent.begin(&Request::Ports))?;
        let mut all = Vec::new();
        for agent in self.agents() {
            let ports = agent.finish()?.ports.into_iter();
            all.extend(ports.map(|port| Port { host: agent.node().to_owned(), ..port }));
        }
        Ok(all)
    }

    pub(super) fn node(&mut self, name: &str) -> Result<&mut Node, Error> {
        let absent = || Error::Agent { node: name.to_owned(), message: "is not in the topology".to_owned() };
        self.nodes.get_mut(name).ok_or_else(absent)
    }

    fn add_bridges(&mut self, topology: &Topology) -> Result<(), Error> {
        for switch in &topology.switches {
            let netlink = &mut self.node(&switch.name)?.netlink;
            netlink.add_bridge(BRIDGE)?;
            let bridge = index(netlink, BRIDGE)?;
            netlink.set_up(bridge, true)?;
        }
        Ok(())
    }

    /// Makes a cable: both ends have an index of their own on this machine,
    /// without which carrier loss would be noticed up to a second late.
    fn add_cable(&mut self, cable: &Cable, first_index: u32, granularity: Granularity) -> Result<(), Error> {
        let gso_max_segs = Some(granularity.max_packets());
        let far = self.node(&cable.b.node)?.netns.as_fd().try_clone_to_owned();
        let far = far.map_err(|error| nicteam_sys::Error::new("keep a handle on a namespace", error))?;
        let end = VethEnd { name: "", index: None, mac: None, netns: None, gso_max_segs };
        let a = VethEnd { name: &cable.a.device, index: Some(first_index), ..end.clone() };
        let b = VethEnd { name: &cable.b.device, index: Some(first_index + 1), netns: Some(far.as_fd()), ..end };
        self.node(&cable.a.node)?.netlink.add_veth(&a, &b, cable.mtu)?;
        for (end, index) in [(&cable.a, first_index), (&cable.b, first_index + 1)] {
            let netlink = &mut self.node(&end.node)?.netlink;
            shape::shape(netlink, index, cable.rate_bps, granularity)?;
            netlink.set_up(index, true)?;
        }
        Ok(())
    }

    /// Lets the agents run their teams, all of them at once.
    fn add_teams(&mut self, topology: &Topology, setting: &Setting) -> Result<(), Error> {
        for team in &topology.teams {
            let mac = topology.hosts.iter().find(|host| host.name == team.node).map(|host| host.mac);
            let request = Request::AddTeam(add_team(team, topology, mac, setting));
            self.agent(&team.node)?.begin(&request)?;
        }
        for team in &topology.teams {
            let done = self.agent(&team.node)?.finish()?;
            self.dataplane = match done.dataplane.as_deref() {
                Some("packet") => Some(Kind::Packet),
                _ => self.dataplane.or(Some(Kind::Bpf)),
            };
        }
        Ok(())
    }

    /// Makes every group, and every port without one, a port of its switch's bridge.
    fn plug_in_switches(&mut self, topology: &Topology) -> Result<(), Error> {
        for switch in &topology.switches {
            let groups = topology.teams.iter().filter(|team| team.node == switch.name);
            let ports: Vec<&str> =
                groups.map(|team| team.device.as_str()).chain(bare_ends(topology, &switch.name)).collect();
            let netlink = &mut self.node(&switch.name)?.netlink;
            let bridge = index(netlink, BRIDGE)?;
            for port in ports {
                let port = index(netlink, port)?;
                netlink.set_master(port, Some(bridge))?;
                netlink.set_up(port, true)?;
            }
        }
        Ok(())
    }

    /// Lets the agents measure the links that belong to no team.
    fn watch_bare_links(&mut self, topology: &Topology) -> Result<(), Error> {
        let nodes: Vec<String> = self.nodes.keys().cloned().collect();
        for name in nodes {
            let devices: Vec<String> = bare_ends(topology, &name).map(str::to_owned).collect();
            if !devices.is_empty() {
                self.agent(&name)?.call(&Request::Watch(devices))?;
            }
        }
        Ok(())
    }

    fn address_hosts(&mut self, topology: &Topology) -> Result<(), Error> {
        for host in &topology.hosts {
            let has_team = topology.teams.iter().any(|team| team.node == host.name);
            let netlink = &mut self.node(&host.name)?.netlink;
            let device = index(netlink, &host.device)?;
            if !has_team {
                netlink.set_mac(device, host.mac.0)?;
            }
            netlink.add_address(device, host.address, host.prefix, true)?;
            netlink.set_up(device, true)?;
            self.add_paths(host)?;
        }
        Ok(())
    }

    /// For multipath TCP: gives every link of a host its address. A host that is
    /// connected to announces those beside the first, so that a subflow comes by each;
    /// if the other end did so, too, it would be sent subflows that nobody takes.
    fn add_paths(&mut self, host: &Host) -> Result<(), Error> {
        if host.further.is_empty() {
            return Ok(());
        }
        let Node { netns, netlink, .. } = self.node(&host.name)?;
        let mut paths = netns.run(|| {
            // All links may lead into one switch: each answers for its own address alone.
            netns::sysctl("ipv4/conf/all/arp_ignore", "1")?;
            netns::sysctl("ipv4/conf/all/arp_announce", "2")?;
            PathManager::open()
        })??;
        paths.set_limits(host.further.len().min(8) as u32)?;
        for Further { device, address } in &host.further {
            let device = index(netlink, device)?;
            netlink.add_address(device, *address, host.prefix, true)?;
            netlink.set_up(device, true)?;
            if host.announces {
                paths.announce(*address, device)?;
            }
        }
        Ok(())
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        // All at once: each then waits for its own end, which takes the kernel a while.
        self.agents().for_each(Agent::kill);
    }
}

/// Index of the first end of a cable; the second's is the next.
pub(super) fn first_index(cable: u32) -> u32 {
    FIRST_INDEX + 2 * cable
}

/// Starts an agent a node and opens a netlink socket in each one's namespace.
fn start_nodes(
    topology: &Topology,
    setting: &Setting,
    reports: &mpsc::Sender<Report>,
) -> Result<BTreeMap<String, Node>, Error> {
    let hosts = topology.hosts.iter().map(|host| (&host.name, host.address.is_ipv6()));
    let switches = topology.switches.iter().map(|switch| (&switch.name, false));
    let relay_node = relay::NODE.to_owned();
    let relay = relay::is_needed(topology).then_some((&relay_node, false));
    hosts
        .chain(switches)
        .chain(relay)
        .map(|(name, ipv6)| {
            let agent = Agent::start(&setting.binary, name, reports.clone())?;
            let netns = NetNs::of_process(agent.pid())?;
            let netlink = netns.run(|| prepare(ipv6))??;
            Ok((name.clone(), Node { agent, netns, netlink }))
        })
        .collect()
}

/// Makes the caller's namespace a fit place for measuring and opens a socket in it.
fn prepare(ipv6: bool) -> Result<Netlink, nicteam_sys::Error> {
    // What one connection learned must not help or hinder the next.
    netns::sysctl("ipv4/tcp_no_metrics_save", "1")?;
    for packets in ["iptables", "ip6tables", "arptables"] {
        let calls = format!("bridge/bridge-nf-call-{packets}");
        // A switch has no such tables. Where the file is missing, neither has its bridge.
        if netns::read_sysctl(&calls).is_ok() {
            netns::sysctl(&calls, "0")?;
        }
    }
    if !ipv6 {
        // No router solicitations and address checks in between the measured traffic.
        netns::sysctl("ipv6/conf/default/disable_ipv6", "1")?;
        netns::sysctl("ipv6/conf/all/disable_ipv6", "1")?;
    }
    Netlink::open()
}

/// The request for a team of the topology.
fn add_team(team: &Team, topology: &Topology, mac: Option<Mac>, setting: &Setting) -> AddTeam {
    let mut config = team.config.clone();
    if config.mode.stripes() && config.stripe_rate_mbps.is_empty() {
        // Drivers of cables that are shaped say nothing of the rate.
        config.stripe_rate_mbps = rates_mbps(team, topology);
    }
    let options = config.options_and_wish().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    AddTeam {
        device: team.device.clone(),
        options,
        members: team.members.clone(),
        mac: mac.map(|mac| mac.to_string()),
        mtu: team.mtu,
        dataplane: setting.dataplane.map(|kind| kind.to_string()),
    }
}

/// What a team's members carry, Mbit/s, by their devices.
fn rates_mbps(team: &Team, topology: &Topology) -> BTreeMap<String, u32> {
    let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, cable), (&cable.b, cable)]);
    let own = ends.filter(|(end, _)| end.node == team.node && team.members.contains(&end.device));
    let mbps = |rate_bps: u64| u32::try_from(rate_bps / 1_000_000).unwrap_or(u32::MAX).max(1);
    own.map(|(end, cable)| (end.device.clone(), mbps(cable.rate_bps))).collect()
}

/// The ends of cables at a node that belong to no team.
fn bare_ends<'a>(topology: &'a Topology, node: &'a str) -> impl Iterator<Item = &'a str> {
    let ends = topology.cables.iter().flat_map(|cable| [&cable.a, &cable.b]);
    let of_team = move |device: &str| {
        topology.teams.iter().any(|team| team.node == node && team.members.iter().any(|member| member == device))
    };
    ends.filter(move |end| end.node == node && !of_team(&end.device)).map(|end| end.device.as_str())
}

/// The index of a device that must be there.
fn index(netlink: &mut Netlink, device: &str) -> Result<u32, Error> {
    let absent = || nicteam_sys::Error::new(format!("find {device}"), nix::errno::Errno::ENODEV);
    Ok(netlink.link(device)?.ok_or_else(absent)?.index)
}
