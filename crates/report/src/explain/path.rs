//! The hops that a run's payload takes, with the load of every link.

use std::collections::{BTreeMap, VecDeque};

use nicteam_record::{Connection, Run, Team, Topology};

use super::Side;
use crate::bars::{FULL, IDLE};
use crate::units::{list, share};
use crate::view;

/// From this mean load on links are full together.
const NEARLY_ALL: f64 = 0.95;

/// One direction of a run: connections whose payload goes the same way, and the hops they take.
#[derive(Clone, Debug)]
pub(super) struct Flow<'a> {
    pub(super) run: &'a Run,
    pub(super) connections: Vec<&'a Connection>,
    /// In the order in which payload meets them.
    pub(super) hops: Vec<Hop<'a>>,
    /// Whether payload goes the other way, too; then a run's `of_limit` is not this direction's.
    pub(super) two_way: bool,
}

/// The links from one node to the next, in the direction of the payload.
#[derive(Clone, Debug)]
pub(super) struct Hop<'a> {
    /// Node that chooses the link.
    pub(super) node: &'a str,
    /// Node at the other end.
    pub(super) peer: &'a str,
    /// Whose end of the path this is.
    pub(super) side: Side,
    /// The team that chooses; none where there is one plain link.
    pub(super) team: Option<&'a Team>,
    /// Its links to the peer, by place.
    pub(super) links: Vec<HopLink<'a>>,
    /// The connections that pass.
    pub(super) connections: Vec<&'a Connection>,
}

/// One link of a hop.
#[derive(Clone, Debug)]
pub(super) struct HopLink<'a> {
    /// Device at the choosing end.
    pub(super) device: &'a str,
    /// Place among the team's members, from 0.
    pub(super) place: usize,
    /// What went over it in the direction of the payload, bit/s.
    pub(super) tx_bps: f64,
    /// What its counters can show at most, bit/s.
    pub(super) capacity_bps: f64,
    /// Whether not a frame passed.
    pub(super) silent: bool,
}

impl HopLink<'_> {
    /// How full it was, 0 to 1.
    pub(super) fn load(&self) -> f64 {
        share(self.tx_bps, self.capacity_bps)
    }

    pub(super) fn is_full(&self) -> bool {
        self.load() >= FULL
    }

    pub(super) fn is_idle(&self) -> bool {
        self.load() < IDLE
    }
}

impl<'a> Hop<'a> {
    /// Every link full, or so much carried in all that a lame one makes no difference.
    pub(super) fn all_full(&self) -> bool {
        !self.links.is_empty() && (self.links.iter().all(HopLink::is_full) || self.load() >= NEARLY_ALL)
    }

    pub(super) fn some_full(&self) -> bool {
        self.links.iter().any(HopLink::is_full)
    }

    /// How full its links were together, 0 to 1.
    pub(super) fn load(&self) -> f64 {
        let sum = |of: fn(&HopLink<'_>) -> f64| self.links.iter().map(of).sum::<f64>();
        share(sum(|link| link.tx_bps), sum(|link| link.capacity_bps))
    }

    /// The team's mode in the kernel's words; empty without a team.
    pub(super) fn mode(&self) -> &'a str {
        self.team.map_or("", |team| &team.mode)
    }

    /// Whether a hash chooses.
    pub(super) fn hashes(&self) -> bool {
        self.team.is_some_and(|team| !team.xmit_hash_policy.is_empty())
    }

    /// The host whose links these are: the end that is no switch; the sending one of two.
    pub(super) fn host(&self) -> &'a str {
        if self.side == Side::Receiving { self.peer } else { self.node }
    }

    /// `Receiving side`, or what fits.
    pub(super) fn side_words(&self) -> String {
        match self.side {
            Side::Receiving => "Receiving side".to_owned(),
            Side::Between => format!("Between {} and {}", self.node, self.peer),
            _ => "Sending side".to_owned(),
        }
    }

    /// Links' numbers as people count: `link 3`, `links 2 and 4`.
    pub(super) fn numbers<'l>(links: impl Iterator<Item = &'l HopLink<'a>>) -> String
    where
        'a: 'l,
    {
        let numbers: Vec<String> = links.map(|link| (link.place + 1).to_string()).collect();
        let noun = if numbers.len() == 1 { "link" } else { "links" };
        format!("{noun} {}", list(&numbers))
    }
}

impl Flow<'_> {
    /// The receiving hosts, as a list.
    pub(super) fn receivers(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for connection in &self.connections {
            if !names.contains(&connection.to.as_str()) {
                names.push(&connection.to);
            }
        }
        list(&names)
    }
}

/// The run's directions: one, or two where some host both sends and receives payload.
pub(super) fn flows(run: &Run) -> Vec<Flow<'_>> {
    let sends = |name: &str| run.connections.iter().any(|connection| connection.from == name);
    let two_way = run.connections.iter().any(|connection| sends(&connection.to));
    let place = |name: &str| run.topology.hosts.iter().position(|host| host.name == name);
    let (forward, backward): (Vec<_>, Vec<_>) =
        run.connections.iter().partition(|connection| !two_way || place(&connection.from) <= place(&connection.to));
    let flows = [forward, backward].into_iter().filter(|connections| !connections.is_empty());
    flows.map(|connections| Flow { run, hops: hops(run, &connections), connections, two_way }).collect()
}

/// The hops of these connections, sending ends first.
fn hops<'a>(run: &'a Run, connections: &[&'a Connection]) -> Vec<Hop<'a>> {
    let mut hops: Vec<(usize, Hop<'a>)> = Vec::new();
    for &connection in connections {
        let path = path(&run.topology, &connection.from, &connection.to);
        let last = path.len().saturating_sub(2);
        for (depth, pair) in path.windows(2).enumerate() {
            let (node, peer) = (pair[0], pair[1]);
            match hops.iter_mut().find(|(_, hop)| hop.node == node && hop.peer == peer) {
                Some((_, hop)) => hop.connections.push(connection),
                None => {
                    let side = match depth {
                        0 => Side::Sending,
                        _ if depth == last => Side::Receiving,
                        _ => Side::Between,
                    };
                    let team = team_towards(&run.topology, node, peer);
                    hops.push((
                        depth,
                        Hop { node, peer, side, team, links: Vec::new(), connections: vec![connection] },
                    ));
                }
            }
        }
    }
    hops.sort_by_key(|(depth, _)| *depth);
    let hops = hops.into_iter().map(|(_, hop)| hop);
    hops.map(|hop| Hop { links: links(run, &hop), ..hop }).collect()
}

/// The nodes from one to the other, by the fewest cables; empty if there is no way.
fn path<'a>(topology: &'a Topology, from: &'a str, to: &str) -> Vec<&'a str> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for link in &topology.links {
            for (near, far) in [(&link.a, &link.b), (&link.b, &link.a)] {
                if near.node == node && !came_from.contains_key(far.node.as_str()) {
                    came_from.insert(&far.node, node);
                    queue.push_back(&far.node);
                }
            }
        }
    }
    let Some((&end, _)) = came_from.get_key_value(to) else { return Vec::new() };
    let mut path = vec![end];
    while let Some(&before) =
        path.last().and_then(|node| came_from.get(node)).filter(|&&before| before != path[path.len() - 1])
    {
        path.push(before);
    }
    path.reverse();
    path
}

/// The team whose links lead from a node to another.
fn team_towards<'a>(topology: &'a Topology, node: &str, peer: &str) -> Option<&'a Team> {
    let leads = |team: &Team| {
        let far = |device| view::link_at(topology, node, device).map(|(_, far)| far.node.as_str());
        team.members.iter().any(|device| far(device) == Some(peer))
    };
    topology.teams.iter().find(|team| team.node == node && leads(team))
}

/// The links of a hop with what they carried.
fn links<'a>(run: &'a Run, hop: &Hop<'a>) -> Vec<HopLink<'a>> {
    let mut links: Vec<HopLink<'a>> = Vec::new();
    for link in &run.topology.links {
        let (near, far) = match () {
            () if link.a.node == hop.node && link.b.node == hop.peer => (&link.a, &link.b),
            () if link.b.node == hop.node && link.a.node == hop.peer => (&link.b, &link.a),
            () => continue,
        };
        let place = match hop.team {
            None => links.len(),
            Some(team) => match team.members.iter().position(|device| *device == near.device) {
                Some(place) => place,
                None => continue,
            },
        };
        let sent = view::counters(run, hop.node, &near.device).map(|near| (near.tx_bps, near.tx_frames == 0));
        let arrived = || view::counters(run, hop.peer, &far.device).map(|far| (far.rx_bps, far.rx_frames == 0));
        let (tx_bps, silent) = sent.or_else(arrived).unwrap_or_else(|| (payload_as_counted(hop, link.mtu), false));
        let capacity_bps = view::capacity_bps(link);
        links.push(HopLink { device: &near.device, place, tx_bps, capacity_bps, silent });
    }
    links.sort_by_key(|link| link.place);
    links
}

/// What counters would show for the payload of the hop's connections: for a
/// link at whose ends nobody counted (IPv4 and TCP with timestamps: 52 bytes).
fn payload_as_counted(hop: &Hop<'_>, mtu: u32) -> f64 {
    let mtu = f64::from(mtu);
    let payload_bps: f64 = hop.connections.iter().map(|connection| connection.delivered_bps).sum();
    payload_bps * share(mtu + 14.0, mtu - 52.0)
}
