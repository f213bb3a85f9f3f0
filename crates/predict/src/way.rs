//! The way of each flow's frames: hop by hop, with the member at each, and back for the acknowledgements.

use nicteam_wire::{Frame, Mac, Vlan, head_of_flow, tagged};

use crate::choose::{Choice, Choosers};
use crate::network::{ByLink, Flow, Kind, Network, NodeKind, Receives, Sends};
use crate::on_wire::{Packet, SEGMENTS_PER_ACK, TAG_BYTES, datagram_bytes};
use crate::queues;
use crate::rates::Uses;
use crate::routes::Routes;

/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// More nodes on a way than any network has between two hosts: a loop.
const MOST_HOPS: usize = 64;

/// What a network delivers.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Payload of each flow, bit/s.
    pub bps: Vec<f64>,
    /// What holds each flow.
    pub held: Vec<Held>,
    /// What each cable carries in each direction: part of its rate.
    pub load: Vec<[f64; 2]>,
    uses: Uses,
    /// How many of each flow's uses are its payload's, and what a bit of payload takes on the wire.
    payload_uses: Vec<(u8, f32)>,
    cables: Vec<[usize; 2]>,
    numbers: Numbers,
}

/// What holds a flow's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A full cable.
    Cable {
        /// Which.
        cable: usize,
        /// The node that sends by it.
        from: usize,
    },
    /// All members of a team that stripes.
    Team {
        /// Which.
        team: usize,
        /// Whether in the direction in which the team sends.
        sending: bool,
    },
    /// A host's processor.
    Processor {
        /// The host.
        node: usize,
    },
    /// Nothing: it gets what it asks for.
    Asked,
    /// Its frames do not arrive.
    NoWay,
}

/// A step of a flow's payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hop {
    /// By this cable.
    Cable {
        /// Which.
        cable: usize,
        /// The node that sends by it.
        from: usize,
        /// Frames here for each frame that the sender's stack sends: below 1 where several members take turns, above 1 behind a
        /// broadcast.
        share: f64,
    },
    /// By all members of a team that stripes.
    Team {
        /// Which.
        team: usize,
        /// Whether in the direction in which the team sends.
        sending: bool,
    },
}

impl Prediction {
    /// The hops of a flow's payload, in the order in which it takes them.
    pub fn hops(&self, flow: usize) -> impl Iterator<Item = Hop> + '_ {
        let (payload_uses, cost) = self.payload_uses[flow];
        let uses = self.uses.of(flow).take(usize::from(payload_uses));
        uses.filter_map(move |(resource, factor)| match self.numbers.what(resource, &self.cables) {
            Held::Cable { cable, from } => Some(Hop::Cable { cable, from, share: factor / f64::from(cost) }),
            Held::Team { team, sending } => Some(Hop::Team { team, sending }),
            _ => None,
        })
    }

    /// Payload of all flows, bit/s.
    pub fn total_bps(&self) -> f64 {
        self.bps.iter().sum()
    }
}

/// What the network delivers of these flows, all of them at once.
///
/// Choosers that give members in turn (Open vSwitch's buckets, balance-alb's peers) give them in the order of the flows.
pub fn predict(network: &Network, flows: &[Flow]) -> Prediction {
    let mut ways = Ways::new(network);
    let mut uses = Uses::default();
    let mut payload_uses = Vec::with_capacity(flows.len());
    let mut arrives = Vec::with_capacity(flows.len());
    for flow in flows {
        ways.follow(flow);
        arrives.push(ways.arrived);
        let asked = if ways.arrived { flow.asked_bps } else { Some(0.0) };
        let processors = flow.nodes.map(|node| (ways.numbers.processor(node), 1.0));
        let bounded = |(_, node): &(_, usize)| network.nodes[*node].processor_bps.is_some();
        let processors = processors.into_iter().zip(flow.nodes).filter(bounded).map(|(with, _)| with);
        let [payload_cost, ack_cost] = ways.cost(flow);
        // Payload that goes the other way takes that way's links, and its acknowledgements these.
        let (forth, back) = (1.0 - flow.back_share, flow.back_share);
        let [there_cost, back_cost] =
            [[forth, back], [back, forth]].map(|[data, acks]| data * payload_cost + acks * ack_cost);
        let there = ways.there.iter().map(|(resource, share)| (*resource, share * there_cost));
        let back = ways.back.iter().map(|(resource, share)| (*resource, share * back_cost));
        payload_uses.push((ways.there.len().min(usize::from(u8::MAX)) as u8, there_cost as f32));
        uses.push(flow.weight, asked, there.chain(back).chain(processors));
    }
    let numbers = ways.numbers;
    let capacities = numbers.capacities(network);
    let rates =
        queues::rates(&capacities, 2 * numbers.cables, &mut uses, &payload_uses, |flow| flows[flow].kind == Kind::Tcp);
    let cables: Vec<[usize; 2]> = network.cables.iter().map(|cable| cable.ends).collect();
    let held = rates.held_by.iter().zip(&arrives).map(|(by, arrives)| match by {
        _ if !arrives => Held::NoWay,
        Some(resource) => numbers.what(*resource as usize, &cables),
        None => Held::Asked,
    });
    let load =
        |cable: usize| [0, 1].map(|way| rates.used_bps[2 * cable + way] / network.cables[cable].rate_bps.max(1.0));
    let load = (0..network.cables.len()).map(load).collect();
    Prediction { held: held.collect(), bps: rates.bps, load, uses, payload_uses, cables, numbers }
}

/// Numbers of what flows use: cables by direction, then striping teams by direction, then processors.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    cables: usize,
    teams: usize,
}

impl Numbers {
    fn cable(self, network: &Network, cable: usize, from: usize) -> u32 {
        (2 * cable + network.cables[cable].way_from(from)) as u32
    }

    fn team(self, team: usize, sending: bool) -> u32 {
        (2 * (self.cables + team) + usize::from(!sending)) as u32
    }

    fn processor(self, node: usize) -> u32 {
        (2 * (self.cables + self.teams) + node) as u32
    }

    fn what(self, resource: usize, cables: &[[usize; 2]]) -> Held {
        let (place, way) = (resource / 2, resource % 2);
        match () {
            () if place < self.cables => Held::Cable { cable: place, from: cables[place][way] },
            () if place < self.cables + self.teams => Held::Team { team: place - self.cables, sending: way == 0 },
            () => Held::Processor { node: resource - 2 * (self.cables + self.teams) },
        }
    }

    fn capacities(self, network: &Network) -> Vec<f64> {
        let bps = |cable: usize| if network.cables[cable].up { network.cables[cable].rate_bps } else { 0.0 };
        let cables = (0..self.cables).flat_map(|cable| [bps(cable); 2]);
        let teams =
            network.teams.iter().flat_map(|team| [team.members.iter().map(|cable| bps(*cable)).sum::<f64>(); 2]);
        let processors = network.nodes.iter().map(|node| node.processor_bps.unwrap_or(f64::INFINITY));
        cables.chain(teams).chain(processors).collect()
    }
}

/// Frames that are on their way.
#[derive(Clone, Copy)]
struct Going {
    at: usize,
    /// For each frame that the sender's stack sends.
    share: f64,
    /// MAC address of the gateway that sent them last; none: the sender's own.
    gateway: Option<Mac>,
    hops: usize,
}

/// The ways of flows through a network.
struct Ways<'n> {
    network: &'n Network,
    routes: Routes,
    choosers: Choosers<'n>,
    numbers: Numbers,
    /// The team of each host.
    team_of: Vec<Option<usize>>,
    /// The teams that own each cable's ends.
    owners: Vec<[Option<usize>; 2]>,
    /// The cables of each node.
    links: Vec<Vec<usize>>,
    has_gateways: bool,
    /// What the payload of the last flow uses, with its share of the frames.
    there: Vec<(u32, f64)>,
    /// What its acknowledgements use.
    back: Vec<(u32, f64)>,
    /// Whether its payload, and its acknowledgements, arrive.
    arrived: bool,
    going: Vec<Going>,
}

impl<'n> Ways<'n> {
    fn new(network: &'n Network) -> Ways<'n> {
        let mut team_of = vec![None; network.nodes.len()];
        let mut owners = vec![[None; 2]; network.cables.len()];
        for (number, team) in network.teams.iter().enumerate() {
            if network.nodes[team.node].kind != NodeKind::Switch {
                team_of[team.node] = Some(number);
            }
            for cable in &team.members {
                owners[*cable][network.cables[*cable].way_from(team.node)] = Some(number);
            }
        }
        let mut links = vec![Vec::new(); network.nodes.len()];
        for (number, cable) in network.cables.iter().enumerate() {
            cable.ends.iter().for_each(|node| links[*node].push(number));
        }
        Ways {
            network,
            routes: Routes::new(network),
            choosers: Choosers::new(network),
            numbers: Numbers { cables: network.cables.len(), teams: network.teams.len() },
            team_of,
            owners,
            links,
            has_gateways: network.nodes.iter().any(|node| node.kind == NodeKind::Gateway),
            there: Vec::new(),
            back: Vec::new(),
            arrived: false,
            going: Vec::new(),
        }
    }

    /// Fills `there` and `back` for a flow.
    fn follow(&mut self, flow: &Flow) {
        let mut uses = std::mem::take(&mut self.there);
        uses.clear();
        let mut arrived = self.walk(flow, &mut uses);
        self.there = uses;
        let mut uses = std::mem::take(&mut self.back);
        uses.clear();
        if flow.kind == Kind::Tcp && arrived {
            arrived = self.walk(&flow.back(), &mut uses);
        }
        self.back = uses;
        self.arrived = arrived;
    }

    /// Bits on the wire for each bit of payload, of the payload and of its acknowledgements.
    fn cost(&self, flow: &Flow) -> [f64; 2] {
        let ipv6 = flow.addresses[0].is_ipv6();
        let tag = if flow.vlan.is_some() { f64::from(TAG_BYTES) } else { 0.0 };
        match flow.kind {
            Kind::Datagrams(size) => [(f64::from(datagram_bytes(size, ipv6)) + tag) / f64::from(size.max(1)), 0.0],
            Kind::Tcp => {
                let cables = self.there.iter().map(|(resource, _)| *resource as usize / 2);
                // Where both ends stripe, no single cable is named.
                let ends = flow.nodes.iter().filter_map(|node| self.links[*node].first().copied());
                let mtus = cables.chain(ends).filter_map(|cable| Some(self.network.cables.get(cable)?.mtu));
                let packet = Packet::of(f64::from(mtus.min().unwrap_or(1500)), ipv6);
                let payload = packet.payload().max(1.0);
                [(packet.on_wire() + tag) / payload, (packet.ack_on_wire() + tag) / payload / SEGMENTS_PER_ACK]
            }
        }
    }

    /// Follows a flow's frames; false if none arrives.
    fn walk(&mut self, flow: &Flow, uses: &mut Vec<(u32, f64)>) -> bool {
        let [from, to] = flow.nodes;
        let Some(mut bytes) = head(flow) else { return false };
        let mut going = std::mem::take(&mut self.going);
        going.clear();
        going.push(Going { at: from, share: 1.0, gateway: None, hops: 0 });
        let mut arrived = false;
        while let Some(now) = going.pop() {
            if now.at == to {
                arrived = true;
                continue;
            }
            if now.hops > MOST_HOPS {
                continue;
            }
            if self.has_gateways {
                let [src, dst] = [now.gateway.unwrap_or(flow.macs[0]), self.destination(now.at, flow)];
                bytes[..6].copy_from_slice(&dst.0);
                bytes[6..12].copy_from_slice(&src.0);
            }
            let choice = match Frame::parse_untagged(&bytes) {
                Ok(frame) => self.leave(now.at, flow, &frame, uses),
                Err(_) => Choice::Nobody,
            };
            self.go(now, choice, uses, &mut going, flow);
        }
        self.going = going;
        arrived
    }

    /// The links by which frames leave a node.
    fn leave(&mut self, at: usize, flow: &Flow, frame: &Frame<'_>, uses: &mut Vec<(u32, f64)>) -> Choice {
        let [from, to] = flow.nodes;
        if at == from {
            if let Some(by) = flow.by_link {
                return self.by_link(at, by);
            }
            if let Some(team) = self.team_of[at] {
                return self.choosers.sends(team, frame);
            }
        }
        let Some(next) = self.routes.next(at, to) else { return Choice::Nobody };
        let Some(first) = self.routes.cables(at, next).next() else { return Choice::Nobody };
        if next == to
            && let Some(by) = flow.by_link
        {
            return self.by_link(to, by);
        }
        let way = self.network.cables[first].way_from(at);
        let [near, far] = [self.owners[first][way], self.owners[first][1 - way]];
        match (near, far) {
            (Some(group), _) => self.choosers.sends(group, frame),
            (None, Some(team)) => self.receives(team, at, flow, uses),
            (None, None) => Choice::One(first),
        }
    }

    /// The links of a host that has an address on each.
    fn by_link(&self, host: usize, by: ByLink) -> Choice {
        let is_up = |cable: &usize| self.network.cables[*cable].up;
        match by {
            ByLink::One(number) => {
                self.links[host].get(number).copied().filter(is_up).map_or(Choice::Nobody, Choice::One)
            }
            ByLink::InTurn => {
                let cables: Vec<usize> = self.links[host].iter().copied().filter(is_up).collect();
                if cables.is_empty() { Choice::Nobody } else { Choice::Shared(cables) }
            }
        }
    }

    /// The members by which a switch, or a host without a team, sends to a team.
    fn receives(&mut self, team: usize, at: usize, flow: &Flow, uses: &mut Vec<(u32, f64)>) -> Choice {
        if self.is_joint(flow) {
            uses.push((self.numbers.team(team, false), 1.0));
            return Choice::Striped;
        }
        let choice = match self.network.teams[team].receives {
            Receives::ByPeer if !flow.guests[1] => self.choosers.of_peer(team, flow.macs[0]),
            Receives::Active | Receives::ByPeer => self.choosers.active(team),
            Receives::WhereSent => self.learned(team, flow),
        };
        match choice {
            // Of a team on two switches the other one's member.
            Choice::One(cable) if self.network.cables[cable].far(self.network.teams[team].node) != at => {
                self.routes.cables(at, self.network.teams[team].node).next().map_or(Choice::Nobody, Choice::One)
            }
            choice => choice,
        }
    }

    /// The members by which a team sends the answers, so that the switch learned its address there. Where these differ from
    /// frame to frame the address moves from port to port, and all of them get their part.
    fn learned(&mut self, team: usize, flow: &Flow) -> Choice {
        let back = flow.back();
        let Some(bytes) = head(&back) else { return Choice::Nobody };
        let Ok(frame) = Frame::parse_untagged(&bytes) else { return Choice::Nobody };
        match (self.network.teams[team].sends, self.choosers.sends(team, &frame)) {
            (Sends::Hash { .. } | Sends::ByFlow { .. }, Choice::One(_)) | (_, Choice::Copied(_)) => {
                Choice::Shared(self.choosers.up(team).to_vec())
            }
            (_, choice) => choice,
        }
    }

    /// Whether both ends of a flow stripe.
    fn is_joint(&self, flow: &Flow) -> bool {
        let stripes =
            |node: usize| self.team_of[node].is_some_and(|team| self.network.teams[team].sends == Sends::Striped);
        flow.nodes.into_iter().all(stripes) && flow.guests == [false; 2]
    }

    /// Notes the use of the chosen links, and sends the frames on.
    fn go(&self, now: Going, choice: Choice, uses: &mut Vec<(u32, f64)>, going: &mut Vec<Going>, flow: &Flow) {
        let mut to_node = |at: usize, share: f64, gateway: Option<Mac>| {
            let next = Going { at, share, gateway, hops: now.hops + 1 };
            match going.iter_mut().find(|other| other.at == at && other.hops == next.hops) {
                Some(other) => other.share += share,
                None => going.push(next),
            }
        };
        if choice == Choice::Striped && now.at != flow.nodes[0] {
            to_node(flow.nodes[1], now.share, now.gateway);
            return;
        }
        let mut on = |cable: usize, share: f64| {
            let cable = &self.network.cables[cable];
            let gateway = match self.network.nodes[now.at].kind {
                NodeKind::Gateway => cable.macs[cable.way_from(now.at)],
                _ => now.gateway,
            };
            to_node(cable.far(now.at), share, gateway);
        };
        match choice {
            Choice::Nobody => {}
            Choice::One(cable) => {
                self.push(cable, now, now.share, uses);
                on(cable, now.share);
            }
            Choice::Shared(cables) => {
                let share = now.share / cables.len() as f64;
                for cable in cables {
                    self.push(cable, now, share, uses);
                    on(cable, share);
                }
            }
            Choice::Copied(cables) => {
                for cable in cables {
                    self.push(cable, now, now.share, uses);
                    on(cable, now.share);
                }
            }
            Choice::Striped => self.stripe(now, uses, on, flow),
        }
    }

    /// Frames leave by all members of a team that stripes, as each can take them.
    fn stripe(&self, now: Going, uses: &mut Vec<(u32, f64)>, mut on: impl FnMut(usize, f64), flow: &Flow) {
        let Some(team) = self.team_of[now.at] else { return };
        uses.push((self.numbers.team(team, true), now.share));
        let up = self.choosers.up(team);
        let sum: f64 = up.iter().map(|cable| self.network.cables[*cable].rate_bps).sum();
        for cable in up {
            if self.network.cables[*cable].far(now.at) == flow.nodes[1]
                && let Some(peer) = self.team_of[flow.nodes[1]].filter(|_| self.is_joint(flow))
            {
                // Back to back: the cables are the receiver's, too.
                uses.push((self.numbers.team(peer, false), now.share * self.network.cables[*cable].rate_bps / sum));
            }
            on(*cable, now.share * self.network.cables[*cable].rate_bps / sum);
        }
    }

    /// Notes the use of a cable, and of the striping teams that it belongs to.
    fn push(&self, cable: usize, now: Going, share: f64, uses: &mut Vec<(u32, f64)>) {
        uses.push((self.numbers.cable(self.network, cable, now.at), share));
        let way = self.network.cables[cable].way_from(now.at);
        for (end, sending) in [(way, true), (1 - way, false)] {
            let stripes = |team: &usize| self.network.teams[*team].sends == Sends::Striped;
            if let Some(team) = self.owners[cable][end].filter(stripes) {
                uses.push((self.numbers.team(team, sending), share));
            }
        }
    }

    /// The MAC address that a frame has as its destination when it leaves a node: that of the next gateway, or the receiver's.
    fn destination(&mut self, at: usize, flow: &Flow) -> Mac {
        let (mut node, to) = (at, flow.nodes[1]);
        for _ in 0..MOST_HOPS {
            let Some(next) = self.routes.next(node, to).filter(|_| node != to) else { break };
            if next != to && self.network.nodes[next].kind == NodeKind::Gateway {
                let cable = self.routes.cables(node, next).next().map(|cable| &self.network.cables[cable]);
                return cable.and_then(|cable| cable.macs[cable.way_from(next)]).unwrap_or(flow.macs[1]);
            }
            node = next;
        }
        flow.macs[1]
    }
}

/// The headers of a flow's frames.
fn head(flow: &Flow) -> Option<Vec<u8>> {
    let protocol = if flow.kind == Kind::Tcp { TCP } else { UDP };
    let head = head_of_flow(flow.macs, protocol, flow.addresses[0], flow.addresses[1])?;
    Some(match flow.vlan.and_then(Vlan::customer) {
        Some(tag) => tagged(head, &[tag]),
        None => head,
    })
}
