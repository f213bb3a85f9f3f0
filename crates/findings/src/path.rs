//! The hops that a run's payload takes, with the load of every link.

use std::collections::BTreeMap;

use nicteam_record::{Connection, Relayed, Run, Side, Topology};

use super::hop::{Hop, HopLink, Spreading, as_counted};
use super::predict::{buckets, predict};
use super::storage;
use super::way::between;
use crate::team::{MULTIPATH_TCP, Team};
use crate::units::share;
use crate::view;

/// Everything payload meets in a run: the hops, each once, and every connection's way over them.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its teams, in the order of the topology.
    pub teams: Vec<Team<'a>>,
    /// Those that sending hosts choose first, then in the order in which payload meets them.
    pub hops: Vec<Hop<'a>>,
    /// The way of each connection of the run: places in `hops`.
    pub ways: Vec<Vec<usize>>,
    /// Whether some host both sends and receives payload; then `of_limit` is no single direction's.
    pub two_way: bool,
}

/// The nodes on the way from one host to another.
type Paths<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a str>>;

impl<'a> Picture<'a> {
    /// The hops of a run's connections with what their links carried.
    pub fn of(run: &'a Run) -> Picture<'a> {
        let teams: Vec<Team<'a>> = run.topology.teams.iter().map(Team::read).collect();
        let mut paths = Paths::new();
        for connection in &run.connections {
            let ends = ends(run, connection);
            paths.entry(ends).or_insert_with(|| between(run, ends.0, ends.1));
        }
        let path = |connection: &'a Connection| paths[&ends(run, connection)].as_slice();
        let mut hops = hops(run, &teams, path);
        let at = |pair: &[&str]| hops.iter().position(|hop| [hop.node, hop.peer] == *pair);
        let way = |connection: &'a Connection| path(connection).windows(2).filter_map(at).collect();
        let ways: Vec<Vec<usize>> = run.connections.iter().map(way).collect();
        for place in 0..hops.len() {
            let copies = |index: &usize| {
                let before = ways[*index].iter().take_while(|before| **before != place);
                before.map(|before| hops[*before].copies_made).product()
            };
            hops[place].copies = hops[place].passing.iter().map(copies).collect();
            hops[place].links = links(run, &hops[place]);
            hops[place].prediction = predict(run, &hops[place]);
            hops[place].buckets = buckets(run, &hops[place]);
        }
        let all = || run.connections.iter().map(|connection| ends(run, connection));
        let two_way = all().any(|(_, to)| all().any(|(from, _)| from == to));
        Picture { run, teams, hops, ways, two_way }
    }
}

/// The hosts by whose links a connection's payload goes: those of its ends, or those that its ends are guests of.
fn ends<'a>(run: &'a Run, connection: &'a Connection) -> (&'a str, &'a str) {
    (run.topology.links_of(&connection.from), run.topology.links_of(&connection.to))
}

/// The hops of a run's connections, sending ends first, still without their links.
fn hops<'a, 'p>(run: &'a Run, teams: &[Team<'a>], path: impl Fn(&'a Connection) -> &'p [&'a str]) -> Vec<Hop<'a>>
where
    'a: 'p,
{
    let mut hops: Vec<(usize, Hop<'a>)> = Vec::new();
    for (index, connection) in run.connections.iter().enumerate() {
        let path = path(connection);
        let last = path.len().saturating_sub(2);
        let spreading = spreading(run, teams, path, connection);
        for (depth, pair) in path.windows(2).enumerate() {
            let known = hops.iter().position(|(_, hop)| [hop.node, hop.peer] == *pair);
            let known = known.unwrap_or_else(|| {
                let side = match depth {
                    0 => Side::Sending,
                    _ if depth == last => Side::Receiving,
                    _ => Side::Between,
                };
                hops.push((depth, hop(run, teams, [pair[0], pair[1]], side)));
                hops.len() - 1
            });
            let hop = &mut hops[known].1;
            hop.connections.push(connection);
            hop.passing.push(index);
            hop.spreading.push(spreading);
        }
    }
    hops.sort_by_key(|(depth, _)| *depth);
    hops.into_iter().map(|(_, hop)| hop).collect()
}

/// A hop that nothing passes yet.
fn hop<'a>(run: &'a Run, teams: &[Team<'a>], [node, peer]: [&'a str; 2], side: Side) -> Hop<'a> {
    let team = team_towards(&run.topology, teams, node, peer);
    let receiver = if team.is_none() { team_towards(&run.topology, teams, peer, node) } else { None };
    let speaks = |device: &&String| view::counters(run, node, device).is_none_or(|member| member.tx_frames > 0);
    let copies_made = match team.filter(|team| team.mode.sends_copies()) {
        Some(team) => team.members.iter().filter(speaks).count().max(1) as f64,
        None => 1.0,
    };
    let (links, connections, passing) = (Vec::new(), Vec::new(), Vec::new());
    let (spreading, copies, prediction, buckets) = (Vec::new(), Vec::new(), None, None);
    let is_unknown = run.topology.switches.iter().any(|switch| switch.name == node && switch.unknown);
    Hop {
        node,
        is_unknown,
        peer,
        side,
        team,
        receiver,
        links,
        connections,
        passing,
        spreading,
        copies,
        copies_made,
        prediction,
        buckets,
    }
}

/// How a connection uses the links of its two ends.
fn spreading(run: &Run, teams: &[Team<'_>], path: &[&str], connection: &Connection) -> Spreading {
    let stripes =
        |node: &str, peer: &str| team_towards(&run.topology, teams, node, peer).is_some_and(|team| team.mode.stripes());
    match path {
        _ if connection.transport == MULTIPATH_TCP => Spreading::Subflows,
        _ if storage::path_of(run, connection).is_some_and(|(disk, _)| disk.paths.len() > 1) => Spreading::Paths,
        [from, second, ..] if stripes(from, second) && stripes(path[path.len() - 1], path[path.len() - 2]) => {
            Spreading::Striped
        }
        _ => Spreading::ByHop,
    }
}

/// The team whose links lead from a node to another.
fn team_towards<'a>(topology: &Topology, teams: &[Team<'a>], node: &str, peer: &str) -> Option<Team<'a>> {
    let leads = |team: &Team<'a>| {
        let far = |device| view::link_at(topology, node, device).map(|(_, far)| far.node.as_str());
        team.members.iter().any(|device| far(device) == Some(peer))
    };
    teams.iter().find(|team| team.node == node && leads(team)).copied()
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
        let arrived = view::counters(run, hop.peer, &far.device).map(|far| (far.rx_bps, far.rx_frames == 0));
        // A queue that drains lets more arrive than was sent in the window, one that drops less: the more counts.
        let (tx_bps, silent) = match (sent, arrived) {
            (Some((sent, silent)), Some((arrived, _))) => (sent.max(arrived), silent),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => (copies_as_counted(hop, link.mtu), false),
        };
        let capacity_bps = view::capacity_bps(link);
        let of_way = |relayed: &&Relayed| relayed.node == near.node && relayed.device == near.device;
        let lost = run.relayed.iter().find(of_way).map_or(0.0, |relayed| {
            share(relayed.lost as f64 + relayed.cut as f64 + relayed.dropped as f64, relayed.frames as f64)
        });
        links.push(HopLink {
            device: &near.device,
            far_device: &far.device,
            place,
            tx_bps,
            capacity_bps,
            rate_bps: link.rate_bps,
            silent,
            lost,
            dropped: view::counters(run, hop.node, &near.device)
                .map_or(0.0, |near| share(near.tx_drops as f64, near.tx_frames as f64).min(1.0)),
            delay_ms: view::declared(link, near).map_or(0.0, |impairments| impairments.delay_ms),
            mtu: link.mtu,
            ports: [view::port(run, hop.node, &near.device), view::port(run, hop.peer, &far.device)],
        });
    }
    links.sort_by_key(|link| link.place);
    links
}

/// What counters would show for the payload of the hop's connections, copies
/// and all: for a link without counters at its ends.
fn copies_as_counted(hop: &Hop<'_>, mtu: u32) -> f64 {
    let each = hop.connections.iter().zip(&hop.copies);
    each.map(|(connection, copies)| as_counted(connection.delivered_bps, mtu) * copies).sum()
}
