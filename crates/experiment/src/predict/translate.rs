//! A resolved run -> the plain types of the crate `predict`.

use std::net::{IpAddr, SocketAddr};

use nicteam_impair::{Impairments, Loss, Probability};
use nicteam_predict::{ByLink, Cable, Flow, Kind, Network, Node, NodeKind, Team, aggregated, uses};
use nicteam_team::hash::drawn;
use nicteam_wire::Mac;

use nicteam_elements::on_wire::{is_ipv6, packet};
use nicteam_elements::resolved::{self, CLIENT_PORT, Direction, End, Host, Run, SERVER_PORT, Topology, Workload};
use nicteam_elements::traffic::DiskUse;

/// A run in the types of the crate `predict`.
#[derive(Clone, Debug)]
pub(super) struct Translated {
    pub network: Network,
    pub flows: Vec<Flow>,
    /// The ends of each flow.
    pub ends: Vec<Ends>,
    /// Whose addresses can be drawn at random: all hosts, then gateways' further links, each with the end of the cable that
    /// has the MAC address, where frames show it.
    pub addressed: Vec<(drawn::Host, Option<(usize, usize)>)>,
}

/// The ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// Places of the sending and the receiving host.
    pub hosts: [usize; 2],
    /// Which of the two connects: its port is drawn.
    pub client: usize,
    /// Whether what it carries counts as delivered.
    pub counts: bool,
}

impl Translated {
    /// Of what there is of each flow, that of those which count as delivered.
    pub(super) fn counted<'a, T>(&'a self, of_flows: &'a [T]) -> impl Iterator<Item = &'a T> {
        of_flows.iter().zip(&self.ends).filter(|(_, ends)| ends.counts).map(|(of_flow, _)| of_flow)
    }

    /// The cable with this end.
    pub(super) fn cable_of(&self, run: &Run, node: &str, device: &str) -> Option<usize> {
        let is_it = |end: &End| end.node == node && end.device == device;
        run.topology.cables.iter().position(|cable| is_it(&cable.a) || is_it(&cable.b))
    }
}

/// Translates a run, or says why nothing is predicted.
pub(super) fn translate(run: &Run) -> Result<Translated, String> {
    if let Some(reason) = unpredictable(run) {
        return Err(reason);
    }
    let topology = &run.topology;
    let mut addressed: Vec<(drawn::Host, Option<(usize, usize)>)> = topology
        .hosts
        .iter()
        .map(|host| {
            (drawn::Host { address: host.address, prefix: host.prefix }, gateway_end(topology, host, &host.device))
        })
        .collect();
    for host in topology.hosts.iter().filter(|host| host.forwards) {
        let links = host.further.iter().filter(|link| link.mac.is_some());
        addressed.extend(links.map(|link| {
            let drawn = drawn::Host { address: link.address, prefix: link.prefix };
            (drawn, gateway_end(topology, host, &link.device))
        }));
    }
    let mut translated = Translated { network: network(topology), flows: Vec::new(), ends: Vec::new(), addressed };
    let mut own = CLIENT_PORT;
    for (port, workload) in (SERVER_PORT..).zip(&run.workloads) {
        if workload.task.carries_payload() || workload.task.answered_bps().is_some() {
            translated.add(topology, workload, port, own);
        }
        own = own.wrapping_add(workload.assigned().count() as u16);
    }
    Ok(translated)
}

/// Why nothing can be said of a run.
fn unpredictable(run: &Run) -> Option<String> {
    let carrying = || run.workloads.iter().filter(|workload| workload.task.carries_payload());
    if carrying().next().is_none() {
        return Some("nothing that carries payload".to_owned());
    }
    if let Some(workload) = carrying().find(|workload| !workload.task.programs().is_empty()) {
        return Some(format!("the programs of {} open connections of their own", workload.name));
    }
    let cached = |workload: &&Workload| workload.task.disk_use().is_some_and(|disk| disk.is_cached);
    if let Some(workload) = carrying().find(cached) {
        return Some(format!("the write-back cache of {} takes data at the speed of memory", workload.name));
    }
    if let Some(switch) = run.topology.switches.iter().find(|switch| switch.unknown) {
        return Some(format!("how the switch {} chooses links is unknown", switch.name));
    }
    if let Some(timed) = run.events.iter().find(|timed| timed.event.carrier().is_none()) {
        return Some(format!("an event of kind {}", timed.event.kind()));
    }
    let ways = run.topology.cables.iter().filter_map(|cable| cable.impaired.as_ref());
    let changes = ways.flat_map(|impaired| [&impaired.a_to_b, &impaired.b_to_a]).any(|way| changes(&way.impairments));
    changes.then(|| "links lose, copy or reorder frames, and TCP's rate depends on how it reacts".to_owned())
}

/// Whether a link does more than delay all frames alike.
fn changes(impairments: &Impairments) -> bool {
    let Impairments { delay: _, jitter, loss, duplicate, reorder, corrupt } = impairments;
    let loses = *loss != Loss::Independent(Probability::NEVER);
    let loses = loses || *corrupt != Probability::NEVER;
    loses || !jitter.amount.is_zero() || *duplicate != Probability::NEVER || reorder.is_some()
}

/// The end of a cable at a gateway's device.
fn gateway_end(topology: &Topology, host: &Host, device: &str) -> Option<(usize, usize)> {
    if !host.forwards {
        return None;
    }
    let is_it = |end: &End| end.node == host.name && end.device == device;
    let ends =
        topology.cables.iter().enumerate().flat_map(|(number, cable)| [(number, 0, &cable.a), (number, 1, &cable.b)]);
    ends.into_iter().find(|(_, _, end)| is_it(end)).map(|(number, end, _)| (number, end))
}

fn network(topology: &Topology) -> Network {
    let host = |host: &Host| Node {
        kind: if host.forwards { NodeKind::Gateway } else { NodeKind::Host },
        processor_bps: host.bounds.processor_bps.map(|bps| bps as f64),
    };
    let nodes = topology.hosts.iter().map(host).chain(topology.switches.iter().map(|_| Node::switch()));
    let cable = |cable: &resolved::Cable| Cable {
        ends: [&cable.a, &cable.b].map(|end| node(topology, &end.node)),
        rate_bps: cable.rate_bps as f64,
        mtu: cable.mtu(),
        up: true,
        macs: [&cable.a, &cable.b].map(|end| gateway_mac(topology, end)),
    };
    Network {
        nodes: nodes.collect(),
        cables: topology.cables.iter().map(cable).collect(),
        teams: topology.teams.iter().map(|it| team(topology, it)).collect(),
    }
}

/// The place of a node: hosts first.
fn node(topology: &Topology, name: &str) -> usize {
    let host = topology.hosts.iter().position(|host| host.name == name);
    let switch = || topology.switches.iter().position(|switch| switch.name == name).unwrap_or(0);
    host.unwrap_or_else(|| topology.hosts.len() + switch())
}

/// The MAC address of a gateway's end of a cable.
fn gateway_mac(topology: &Topology, end: &End) -> Option<Mac> {
    let host = topology.hosts.iter().find(|host| host.forwards && host.name == end.node)?;
    let further = host.further.iter().find(|link| link.device == end.device);
    further.map_or(Some(host.mac), |link| link.mac)
}

fn team(topology: &Topology, team: &resolved::Team) -> Team {
    let traits = team.config.mode.traits();
    let number = |name: &str| team.members.iter().position(|device| device == name);
    let mut members: Vec<usize> = team.members.iter().filter_map(|device| member(topology, team, device)).collect();
    let lacp = traits.aggregates(&team.config);
    let has_partner = lacp
        && topology.teams.iter().any(|other| {
            let faces = other.node == team.peer && (other.peer == team.node || topology.is_switch(&other.node));
            let shares = other.members.iter().filter_map(|device| member(topology, other, device));
            faces
                && other.config.mode.traits().aggregates(&other.config)
                && shares.into_iter().any(|it| members.contains(&it))
        });
    let preferred = team.config.primary.as_deref().and_then(number).unwrap_or(0);
    if lacp && has_partner && !traits.openvswitch {
        members = aggregated(&members, |cable| topology.cables[cable].rate_bps);
    }
    let (sends, receives) = uses(&team.config, has_partner);
    Team { node: node(topology, &team.node), members, preferred, sends, receives }
}

/// The cable of a team's member.
fn member(topology: &Topology, team: &resolved::Team, device: &str) -> Option<usize> {
    let is_it = |end: &End| end.node == team.node && end.device == device;
    topology.cables.iter().position(|cable| is_it(&cable.a) || is_it(&cable.b))
}

impl Translated {
    /// Adds the flows of a workload.
    fn add(&mut self, topology: &Topology, workload: &Workload, port: u16, own: u16) {
        let task = &workload.task;
        let ways = if workload.direction == Direction::Both { 2 } else { 1 };
        let count = (workload.assigned().count() / ways).max(1);
        let ipv6 = is_ipv6(topology);
        let answered_bps = task.answered_bps();
        let asked_bps = answered_bps.or(task.asked_bps(ipv6).map(|bps| bps / count as f64));
        for (number, (client, server, client_sends)) in workload.assigned().enumerate() {
            let place = |name: &str| topology.hosts.iter().position(|host| host.name == name);
            let (Some(client), Some(server)) = (place(client), place(server)) else { continue };
            let ports = [own.wrapping_add(number as u16), port];
            // A task that fixes the shares sends from `from`, whichever way it is called; who asks is answered.
            let shares = task.shares();
            let client_sends = (client_sends || shares.is_some()) && answered_bps.is_none();
            let (hosts, ports) =
                if client_sends { ([client, server], ports) } else { ([server, client], [ports[1], ports[0]]) };
            let ends = Ends { hosts, client: usize::from(!client_sends), counts: task.carries_payload() };
            let links = (0..self.network.cables.len())
                .filter(|cable| self.network.cables[*cable].ends.contains(&client))
                .collect::<Vec<usize>>();
            let flow = Flow {
                nodes: hosts.map(|host| node(topology, topology.links_of(&topology.hosts[host].name))),
                macs: hosts.map(|host| topology.hosts[host].mac),
                addresses: [0, 1].map(|end| SocketAddr::new(topology.hosts[hosts[end]].address, ports[end])),
                kind: task.datagram_payload().map_or(Kind::Tcp, Kind::Datagrams),
                vlan: task.vlan((number % count) as u32),
                weight: 1.0,
                asked_bps,
                back_share: shares.map_or(0.0, |[_, back]| back),
                by_link: None,
                guests: hosts.map(|host| topology.hosts[host].parent.is_some()),
            };
            match paths(task.disk_use(), task.takes_every_path(), links.len()) {
                Paths::One => self.push(flow, ends),
                Paths::InTurn => self.push(Flow { by_link: Some(ByLink::InTurn), ..flow }, ends),
                Paths::OneAfterTheOther => {
                    let asked =
                        asked_bps.unwrap_or(f64::INFINITY).min(self.one_after_the_other(topology, &flow, &links));
                    self.push(Flow { by_link: Some(ByLink::InTurn), asked_bps: Some(asked), ..flow }, ends);
                }
                Paths::Each(count) => {
                    for link in 0..count {
                        let asked_bps = asked_bps.map(|bps| bps / count as f64);
                        let of = |end: usize| address_of(&topology.hosts[hosts[end]], link);
                        let addresses = [0, 1].map(|end| SocketAddr::new(of(end), flow.addresses[end].port()));
                        let by_link = Some(ByLink::One(link));
                        self.push(
                            Flow { by_link, asked_bps, addresses, weight: 1.0 / count as f64, ..flow.clone() },
                            ends,
                        );
                    }
                }
            }
        }
    }

    fn push(&mut self, flow: Flow, ends: Ends) {
        self.flows.push(flow);
        self.ends.push(ends);
    }

    /// Payload where one path after the other is used for a time, bit/s: the mean of the times that a bit takes.
    fn one_after_the_other(&self, topology: &Topology, flow: &Flow, links: &[usize]) -> f64 {
        let share = |cable: &Cable| packet(topology, f64::from(cable.mtu)).payload_share();
        let seconds = links.iter().map(|link| &self.network.cables[*link]);
        let sum: f64 = seconds.map(|cable| 1.0 / (cable.rate_bps * share(cable))).sum();
        // Both directions of a path are used at once.
        links.len() as f64 / sum / flow.back_share.max(1.0 - flow.back_share)
    }
}

/// How a connection, or a session of storage, uses the paths between its hosts.
enum Paths {
    One,
    /// So many at once, each as it can.
    Each(usize),
    /// All of them in turn, request by request.
    InTurn,
    /// One for a long time, then the next.
    OneAfterTheOther,
}

fn paths(disk: Option<DiskUse<'_>>, every_path: bool, links: usize) -> Paths {
    match disk {
        _ if !every_path => Paths::One,
        None => Paths::Each(links),
        Some(disk) => match disk.policy {
            "round-robin" if disk.iops <= disk.outstanding => Paths::InTurn,
            "round-robin" => Paths::OneAfterTheOther,
            "fixed" => Paths::Each(1),
            _ => Paths::Each(links),
        },
    }
}

/// The address of a host's link.
fn address_of(host: &Host, link: usize) -> IpAddr {
    let further = link.checked_sub(1).and_then(|place| host.further.get(place));
    further.map_or(host.address, |further| further.address)
}
