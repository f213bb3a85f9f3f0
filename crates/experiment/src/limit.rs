//! The physical limit: the payload that the links could carry if every one could be used.
//!
//! The smaller of two bounds, each the greatest flow of TCP payload:
//! between the pairs of hosts, when a host can send, and receive, what all its
//! links together carry; and through the cables from all senders to all
//! receivers, for any pairs of them, which finds narrow links between switches.
//! Where hosts both send and receive payload, the acknowledgements of the other
//! way take their part: one for every two full segments.
//!
//! Where a task fixes which share of the payload goes which way (storage: what is written goes one way, what is read
//! the other), the way with the larger share is full first: its limit, divided by its share, is that of both
//! together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use nicteam_predict::on_wire::SEGMENTS_PER_ACK;

use nicteam_elements::on_wire::{is_ipv6, mean_packet, packet};
use nicteam_elements::resolved::{Cable, Direction, Run, Topology, Workload};

/// A run's limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Payload, bit/s, all workloads together.
    pub bps: f64,
    /// What sets it, in words.
    pub reason: String,
}

/// The limit of a run.
pub fn limit(run: &Run) -> Limit {
    if carrying(run).next().is_none() {
        return Limit { bps: 0.0, reason: "nothing that carries payload".to_owned() };
    }
    let flows = payload_flows(run);
    let by_links = match shares(run).filter(|shares| shares.iter().all(|share| *share > 0.0)) {
        Some(shares) => limit_of_shares(run, shares),
        None => limit_of_flows(&run.topology, &flows),
    };
    match asked(run).filter(|(asked_bps, _)| *asked_bps < by_links.bps) {
        Some((bps, reason)) => Limit { bps, reason },
        None => by_links,
    }
}

/// The workloads that carry payload.
fn carrying(run: &Run) -> impl Iterator<Item = &Workload> {
    run.workloads.iter().filter(|workload| workload.task.carries_payload())
}

/// What the links carry of these flows.
fn limit_of_flows(topology: &Topology, flows: &[(&str, &str)]) -> Limit {
    let senders: BTreeSet<&str> = flows.iter().map(|(from, _)| *from).collect();
    let two_way = flows.iter().any(|(_, to)| senders.contains(to));
    let share = if two_way { share_beside_acks(topology, 1.0) } else { 1.0 };
    let by_hosts = flow_of_pairs(topology, flows) * share;
    let by_cables = flow_of_cables(topology, flows) * share;
    // Equal but for rounding where no link between switches is narrow.
    if by_cables < by_hosts * 0.999 {
        let gateways: Vec<&str> = topology.hosts.iter().filter(|it| it.forwards).map(|it| it.name.as_str()).collect();
        let reason = match gateways.as_slice() {
            [] => "the links between the switches".to_owned(),
            gateways => format!("the links between the hosts, by gateway {}", gateways.join(", ")),
        };
        return Limit { bps: by_cables, reason };
    }
    Limit { bps: by_hosts, reason: reason(topology, flows, two_way) }
}

/// Payload that the links carry if these shares of it go from the connecting hosts, and back.
fn limit_of_shares(run: &Run, [there, back]: [f64; 2]) -> Limit {
    let goes_back = back > there;
    let (larger, smaller) = if goes_back { (back, there) } else { (there, back) };
    let flows = flows_of(run, |_| if goes_back { Direction::Receive } else { Direction::Send });
    let Limit { bps, reason } = limit_of_flows(&run.topology, &flows);
    let percent = (larger * 1e3).round() / 10.0;
    let verb = if goes_back { "read" } else { "written" };
    Limit {
        bps: bps * share_beside_acks(&run.topology, smaller / larger) / larger,
        reason: format!("{reason} in one direction, by which the {percent} % goes that is {verb}"),
    }
}

/// Which shares of the payload go which way, if all tasks that have some fix the same.
fn shares(run: &Run) -> Option<[f64; 2]> {
    let mut all = carrying(run).map(|workload| workload.task.shares());
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

/// Payload that all tasks ask for, if each asks for so much and no more, bit/s, and what bounds it.
fn asked(run: &Run) -> Option<(f64, String)> {
    let ipv6 = is_ipv6(&run.topology);
    let of = |workload: &Workload| {
        let ways = if workload.direction == Direction::Both { 2.0 } else { 1.0 };
        Some(workload.task.asked_bps(ipv6)? * ways)
    };
    let bps = carrying(run).map(of).sum::<Option<f64>>()?;
    let reasons: BTreeSet<String> = carrying(run).map(|workload| workload.task.asked_reason()).collect();
    Some((bps, Vec::from_iter(reasons).join(" and ")))
}

/// The pairs (sender, receiver) of payload, each once.
fn payload_flows(run: &Run) -> Vec<(&str, &str)> {
    flows_of(run, |workload| match workload.task.shares() {
        Some([there, _]) if there <= 0.0 => Direction::Receive,
        Some([_, back]) if back <= 0.0 => Direction::Send,
        Some(_) => Direction::Both,
        None => workload.direction,
    })
}

/// The same where each workload's payload goes as `direction` says.
fn flows_of(run: &Run, direction: impl Fn(&Workload) -> Direction) -> Vec<(&str, &str)> {
    let mut flows = Vec::new();
    for workload in carrying(run) {
        for (from, to) in workload.pairs.iter().take(workload.connections as usize) {
            let (from, to) = (run.topology.links_of(from), run.topology.links_of(to));
            let (there, back) = ((from, to), (to, from));
            match direction(workload) {
                Direction::Send => flows.push(there),
                Direction::Receive => flows.push(back),
                Direction::Both => flows.extend([there, back]),
            }
        }
    }
    flows.sort_unstable();
    flows.dedup();
    flows
}

/// What is left of a link that carries full segments one way when it also carries the acknowledgements of the other
/// way's, of which there are `other_way` for each of its own.
fn share_beside_acks(topology: &Topology, other_way: f64) -> f64 {
    let packet = mean_packet(topology);
    packet.on_wire() / (packet.on_wire() + packet.ack_on_wire() / SEGMENTS_PER_ACK * other_way)
}

/// The greatest flow from senders to receivers where a host's links bound what
/// it sends and what it receives.
fn flow_of_pairs(topology: &Topology, flows: &[(&str, &str)]) -> f64 {
    let mut graph = Graph::default();
    let capacity = capacities(topology);
    let of = |host: &str| capacity.get(host).copied().unwrap_or(0.0);
    for (from, to) in flows {
        graph.set(Node::Source, Node::Sender(from), of(from));
        graph.set(Node::Sender(from), Node::Receiver(to), f64::INFINITY);
        graph.set(Node::Receiver(to), Node::Sink, of(to));
    }
    graph.greatest_flow()
}

/// The greatest flow from all senders to all receivers through the cables.
fn flow_of_cables(topology: &Topology, flows: &[(&str, &str)]) -> f64 {
    let mut graph = Graph::default();
    for (from, to) in flows {
        graph.set(Node::Source, Node::Sender(from), f64::INFINITY);
        graph.set(Node::Receiver(to), Node::Sink, f64::INFINITY);
    }
    let is_switch = |name: &str| topology.is_switch(name) || topology.is_gateway(name);
    for gateway in topology.hosts.iter().filter(|host| host.forwards) {
        graph.set(Node::Sender(&gateway.name), Node::Switch(&gateway.name), f64::INFINITY);
        graph.set(Node::Switch(&gateway.name), Node::Receiver(&gateway.name), f64::INFINITY);
    }
    for cable in &topology.cables {
        for (from, to) in [(&cable.a.node, &cable.b.node), (&cable.b.node, &cable.a.node)] {
            let from = if is_switch(from) { Node::Switch(from) } else { Node::Sender(from) };
            let to = if is_switch(to) { Node::Switch(to) } else { Node::Receiver(to) };
            graph.add(from, to, payload_bps(topology, cable));
        }
    }
    graph.greatest_flow()
}

/// A node of a flow graph. A host is two, one that sends and one that receives; a gateway is beside that as a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node<'a> {
    Source,
    Sender(&'a str),
    Switch(&'a str),
    Receiver(&'a str),
    Sink,
}

/// What each edge can still take, bit/s.
#[derive(Default)]
struct Graph<'a> {
    residual: BTreeMap<Node<'a>, BTreeMap<Node<'a>, f64>>,
}

impl<'a> Graph<'a> {
    fn set(&mut self, from: Node<'a>, to: Node<'a>, bps: f64) {
        self.residual.entry(from).or_default().insert(to, bps);
    }

    fn add(&mut self, from: Node<'a>, to: Node<'a>, bps: f64) {
        *self.residual.entry(from).or_default().entry(to).or_default() += bps;
    }

    /// Edmonds and Karp: fills shortest paths until there is none.
    fn greatest_flow(mut self) -> f64 {
        let mut total = 0.0;
        while let Some(path) = self.shortest_path() {
            let steps = || path.iter().copied().zip(path.iter().copied().skip(1));
            let amount = steps().map(|(from, to)| self.residual[&from][&to]).fold(f64::INFINITY, f64::min);
            if amount.is_infinite() {
                return amount;
            }
            for (from, to) in steps() {
                self.add(from, to, -amount);
                self.add(to, from, amount);
            }
            total += amount;
        }
        total
    }

    /// The nodes from source to sink over edges that can take more than a bit a second.
    fn shortest_path(&self) -> Option<Vec<Node<'a>>> {
        let mut came_from: BTreeMap<Node<'a>, Node<'a>> = BTreeMap::new();
        let mut reached = VecDeque::from([Node::Source]);
        while let Some(node) = reached.pop_front() {
            if node == Node::Sink {
                let back = std::iter::successors(Some(node), |node| came_from.get(node).copied());
                let mut path: Vec<Node<'a>> = back.collect();
                path.reverse();
                return Some(path);
            }
            for (&next, _) in self.residual.get(&node).into_iter().flatten().filter(|(_, left)| **left > 1.0) {
                if next != Node::Source && !came_from.contains_key(&next) {
                    came_from.insert(next, node);
                    reached.push_back(next);
                }
            }
        }
        None
    }
}

/// What the links of each host carry in one direction, bit/s of TCP payload.
fn capacities(topology: &Topology) -> BTreeMap<&str, f64> {
    let mut capacity = BTreeMap::new();
    for cable in &topology.cables {
        let bps = payload_bps(topology, cable);
        for end in [&cable.a, &cable.b] {
            *capacity.entry(end.node.as_str()).or_insert(0.0) += bps;
        }
    }
    capacity
}

/// What a cable carries in one direction, bit/s of TCP payload.
fn payload_bps(topology: &Topology, cable: &Cable) -> f64 {
    cable.rate_bps as f64 * packet(topology, f64::from(cable.mtu())).payload_share()
}

/// Which side is the narrowest, in words.
fn reason(topology: &Topology, flows: &[(&str, &str)], two_way: bool) -> String {
    let sending = Side::of(topology, flows.iter().map(|(from, _)| *from));
    let receiving = Side::of(topology, flows.iter().map(|(_, to)| *to));
    if two_way {
        return format!("{sending} in both directions, net of one acknowledgement for every two segments");
    }
    if sending.rate_bps <= receiving.rate_bps { sending.to_string() } else { receiving.to_string() }
}

/// The links of the hosts on one side.
struct Side {
    /// Their names.
    hosts: String,
    links: usize,
    rate_bps: u64,
}

impl Side {
    fn of<'a>(topology: &Topology, hosts: impl Iterator<Item = &'a str>) -> Side {
        let hosts: BTreeSet<&str> = hosts.collect();
        let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, cable), (&cable.b, cable)]);
        let rates: Vec<u64> =
            ends.filter(|(end, _)| hosts.contains(end.node.as_str())).map(|(_, cable)| cable.rate_bps).collect();
        Side { hosts: named(topology, &hosts), links: rates.len(), rate_bps: rates.iter().sum() }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.links {
            1 => write!(f, "the link of {}", self.hosts),
            links => write!(f, "all {links} links of {}", self.hosts),
        }
    }
}

/// Hosts between commas; many in the order of the file, so that those with consecutive names are a range.
fn named(topology: &Topology, hosts: &BTreeSet<&str>) -> String {
    let mut named: Vec<&str> = hosts.iter().copied().collect();
    if named.len() > MOST_NAMED {
        named.sort_by_key(|name| topology.hosts.iter().position(|host| host.name == *name));
        return nicteam_record::names(&named);
    }
    named.join(", ")
}

/// More hosts are not named one by one.
pub(crate) const MOST_NAMED: usize = 4;
