//! From nodes with agents and cables between them to a network that is ready for traffic.
//!
//! Nothing here touches a network: the agents are asked.

use std::collections::BTreeMap;

use nicteam_experiment::{Cable, End, Further, Host, Team, Topology};
use nicteam_node::Error;
use nicteam_node::protocol::{
    AddTeam, Addresses, FurtherAddress, LinkSetup, NodeSetup, Request, RouteSetup, SpeakPagp,
};
use nicteam_wire::Mac;

use super::agents::Agents;
use super::nodes::{BRIDGE, bare_ends, ends, engine_of};
use super::terms::{Setting, TeamRuns};
use super::{guests, relay};
use crate::engine::Engine;

/// What each node is to be before it has links.
pub(super) fn set_ups(topology: &Topology) -> Vec<(String, Request)> {
    let tcp_buffer_bytes = tcp_buffer_bytes(topology);
    // That of a host bears its address.
    let setup = |host: &Host| NodeSetup {
        ipv6: host.address.is_ipv6(),
        bridge: host.device == BRIDGE && !guests::are_taken_by_engine(topology, &host.name),
        guest: host.parent.is_some(),
        forwards: host.forwards,
        tcp_buffer_bytes,
        processor_bps: host.bounds.processor_bps,
        receive_window_bytes: host.bounds.receive_window_bytes,
    };
    let host = |host: &Host| (host.name.clone(), setup(host));
    let switches = topology
        .switches
        .iter()
        .map(|switch| (switch.name.clone(), NodeSetup { bridge: true, ..NodeSetup::default() }));
    let all = topology.hosts.iter().map(host).chain(switches);
    all.map(|(node, setup)| (node, Request::SetUp(setup))).collect()
}

/// What TCP's sockets need beyond the kernel's limits, where the links of the longest way hold more than those allow: a
/// connection is to be bounded by the links, as with hosts that are tuned for such a way.
fn tcp_buffer_bytes(topology: &Topology) -> Option<u32> {
    /// Linux's limit of what a socket may send is 4 MiB (`tcp_wmem`).
    const USUAL_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
    /// Of what a socket counts at most half is payload; as much again for what loss recovery has on its way.
    const ROOM: f64 = 4.0;
    let both_ways = |cable: &Cable| {
        let ways = cable.impaired.iter().flat_map(|it| [&it.a_to_b, &it.b_to_a]);
        ways.map(|way| way.impairments.delay.as_secs_f64()).sum::<f64>()
    };
    let delay_s = topology.cables.iter().map(both_ways).fold(0.0, f64::max);
    let rate_bps = |host: &Host| -> u64 {
        ends(topology).filter(|(end, _)| end.node == host.name).map(|(_, cable)| cable.rate_bps).sum()
    };
    let rate_bps = topology.hosts.iter().map(rate_bps).max().unwrap_or(0) as f64;
    let bytes = rate_bps / 8.0 * delay_s * ROOM;
    (bytes > USUAL_BYTES).then(|| bytes.min(f64::from(i32::MAX)) as u32)
}

/// The rates of each node's ends of cables.
pub(super) fn shapes(topology: &Topology, setting: &Setting) -> Vec<(String, Request)> {
    let mut links: BTreeMap<&str, Vec<LinkSetup>> = BTreeMap::new();
    for (end, cable) in ends(topology) {
        let device = end.device.clone();
        let max_packets = if cable.without_offloads { 1 } else { setting.granularity.max_packets() };
        let smooth = || SMOOTH_FRAMES * (cable.mtus[0].max(cable.mtus[1]) + HEADERS_BYTES);
        let burst_bytes = cable.burst_bytes.or_else(|| setting.smooth.then(smooth));
        links.entry(&end.node).or_default().push(LinkSetup {
            device,
            rate_bps: cable.rate_bps,
            max_packets,
            burst_bytes,
            queue_bytes: cable.queue_bytes,
            joins_received: receive_queues(topology, &end.node).is_some(),
        });
    }
    links.into_iter().map(|(node, links)| (node.to_owned(), Request::Shape(links))).collect()
}

/// The receive queues of a node's devices, if their number is bounded.
pub(super) fn receive_queues(topology: &Topology, node: &str) -> Option<u32> {
    topology.hosts.iter().find(|host| host.name == node)?.bounds.receive_queues
}

/// Frames that go at once where latency is measured: with one the link would lose what a timer is late.
const SMOOTH_FRAMES: u32 = 2;
/// What a frame has beside its packet, with what the wire adds, generously: a burst that is shorter than a frame stops it.
const HEADERS_BYTES: u32 = 100;

/// The devices whose other end is a member of a team that takes finished frames alone, by node.
pub(super) fn finishing(topology: &Topology) -> Vec<(String, Request)> {
    let takes_finished = |end: &End| {
        let team = topology.teams.iter().find(|team| team.node == end.node && team.members.contains(&end.device));
        team.is_some_and(|team| engine_of(team).is_some_and(Engine::takes_finished_frames_alone))
    };
    let mut nodes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, cable) in (0..).zip(&topology.cables) {
        for (place, (end, far)) in [(&cable.a, &cable.b), (&cable.b, &cable.a)].into_iter().enumerate() {
            if takes_finished(end) {
                // The far end of an impaired link's cable is the relay's.
                let (node, device) = match cable.impaired {
                    Some(_) => (relay::NODE.to_owned(), relay::near_device(number, place)),
                    None => (far.node.clone(), far.device.clone()),
                };
                nodes.entry(node).or_default().push(device);
            }
        }
    }
    for guest in guests::that_finish(topology) {
        nodes.entry(guest.name.clone()).or_default().push(guest.device.clone());
    }
    nodes.into_iter().map(|(node, devices)| (node, Request::FinishFrames(devices))).collect()
}

/// Lets the agents run their teams, all of them at once; what runs them.
pub(super) fn add_teams(agents: &mut Agents, topology: &Topology, setting: &Setting) -> Result<Vec<TeamRuns>, Error> {
    let request = |team: &Team| (team.node.clone(), Request::AddTeam(add_team(team, topology, setting)));
    let answers = agents.call_each(topology.teams.iter().map(request).collect())?;
    let runs = topology.teams.iter().zip(answers).map(|(team, (node, done))| TeamRuns {
        node,
        device: team.device.clone(),
        engine: team.engine.clone(),
        runs: done.runs.unwrap_or_default(),
    });
    Ok(runs.collect())
}

/// Plugs the switches in, has the links that belong to no team measured, and gives hosts their addresses.
pub(super) fn join(agents: &mut Agents, topology: &Topology) -> Result<(), Error> {
    let mut requests = Vec::new();
    for switch in &topology.switches {
        // Every group, and every port without one, is a port of its bridge.
        let groups = topology.teams.iter().filter(|team| team.node == switch.name);
        let groups = groups.map(|team| team.device.as_str());
        let ports = groups.chain(bare_ends(topology, &switch.name)).map(str::to_owned);
        requests.push((switch.name.clone(), Request::Plug(ports.collect())));
        if let Some(pagp) = switch.pagp.filter(|_| !switch.pagp_ports.is_empty()) {
            let (name, ports) = (switch.name.clone(), switch.pagp_ports.clone());
            let speak = SpeakPagp { mode: pagp.name().to_owned(), name, ports };
            requests.push((switch.name.clone(), Request::SpeakPagp(speak)));
        }
    }
    let nodes = topology.hosts.iter().map(|host| &host.name).chain(topology.switches.iter().map(|switch| &switch.name));
    for node in nodes {
        let bare: Vec<String> = bare_ends(topology, node).map(str::to_owned).collect();
        if !bare.is_empty() {
            requests.push((node.clone(), Request::Watch(bare)));
        }
    }
    requests.extend(topology.hosts.iter().map(|host| (host.name.clone(), Request::Address(addresses(host, topology)))));
    agents.call_each(requests).map(drop)
}

/// Waits until what agrees by LACP has agreed, and members that an engine takes a while to enable carry.
pub(super) fn settle(agents: &mut Agents, topology: &Topology) -> Result<(), Error> {
    if !topology.teams.is_empty() {
        agents.call_all(&Request::Settle)?;
    }
    Ok(())
}

fn addresses(host: &Host, topology: &Topology) -> Addresses {
    // A team gets the host's MAC address when it is made; a bridge before it has an address.
    let is_team = topology.teams.iter().any(|team| team.node == host.name && team.device == host.device);
    Addresses {
        device: host.device.clone(),
        mac: (!is_team).then(|| host.mac.to_string()),
        address: host.address,
        prefix: host.prefix,
        further: host.further.iter().map(further).collect(),
        routes: host.routes.iter().map(|it| RouteSetup { to: it.to, prefix: it.prefix, via: it.via }).collect(),
        mptcp: host.mptcp,
        announces: host.announces,
    }
}

fn further(further: &Further) -> FurtherAddress {
    FurtherAddress {
        device: further.device.clone(),
        mac: further.mac.map(|mac| mac.to_string()),
        address: further.address,
        prefix: further.prefix,
    }
}

fn add_team(team: &Team, topology: &Topology, setting: &Setting) -> AddTeam {
    let mut config = team.config.clone();
    if config.mode.stripes() && config.stripe_rate_mbps.is_empty() {
        // Drivers of cables that are shaped say nothing of the rate.
        config.stripe_rate_mbps = rates_mbps(team, topology);
    }
    let options = config.options_and_wish().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mac: Option<Mac> = topology.hosts.iter().find(|host| host.name == team.node).map(|host| host.mac);
    AddTeam {
        engine: team.engine.clone(),
        device: team.device.clone(),
        options,
        members: team.members.clone(),
        bridge: guests::are_taken_by_engine(topology, &team.node).then(|| BRIDGE.to_owned()),
        mac: mac.map(|mac| mac.to_string()),
        mtu: team.mtu,
        dataplane: setting.dataplane.map(|kind| kind.to_string()),
        own_process: team.own_process,
    }
}

/// What a team's members carry, Mbit/s, by their devices.
fn rates_mbps(team: &Team, topology: &Topology) -> BTreeMap<String, u32> {
    let own = ends(topology).filter(|(end, _)| end.node == team.node && team.members.contains(&end.device));
    let mbps = |rate_bps: u64| u32::try_from(rate_bps / 1_000_000).unwrap_or(u32::MAX).max(1);
    own.map(|(end, cable)| (end.device.clone(), mbps(cable.rate_bps))).collect()
}

#[cfg(test)]
mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;

    /// A host with a guest behind its team, by an engine.
    fn topology(engine: &str) -> Topology {
        let text = format!(
            "title = \"Guests\"\nlinks = [{{ between = [\"a\", \"b\"], count = 2 }}]\n[teams]\nt = {{ mode = \"active-backup\", \
             engine = \"{engine}\" }}\n[hosts]\na = {{ team = \"t\", guests = 1 }}\nb = {{ team = \"t\" }}\n\
             [workloads.w]\nkind = \"udp\"\nrate = \"1mbit\"\nfrom = \"a/guest1\"\nto = \"b\"\n\
             [[runs]]\nname = \"r\"\nworkloads = \"w\"\n"
        );
        let mut experiment = parse("guests", "guests.toml", &text, &Overrides::default()).unwrap();
        experiment.runs.swap_remove(0).topology
    }

    #[test]
    fn an_engine_with_bridges_of_its_own_takes_the_guests() {
        for (engine, kernel, ports) in [("nicteam", true, vec!["team0", "guest1"]), ("ovs", false, vec!["guest1"])] {
            let topology = topology(engine);
            let ports: Vec<String> = ports.into_iter().map(str::to_owned).collect();
            assert_eq!(guests::bridges(&topology), [("a".to_owned(), Request::Plug(ports))], "{engine}");
            let set_ups = set_ups(&topology);
            let is_kernels = |(node, request): &(String, Request)| {
                node == "a" && matches!(request, Request::SetUp(setup) if setup.bridge)
            };
            assert_eq!(set_ups.iter().any(is_kernels), kernel, "{engine}");
            let finishing = finishing(&topology);
            assert_eq!(finishing.iter().any(|(node, _)| node == "a/guest1"), !kernel, "{engine}: {finishing:?}");
            assert_eq!(guests::are_taken_by_engine(&topology, "a"), !kernel, "{engine}");
            assert!(!guests::are_taken_by_engine(&topology, "b"), "{engine}: it has no guests");
        }
    }
}
