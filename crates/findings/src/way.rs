//! The nodes on the way from one host to another.

use std::collections::{BTreeMap, VecDeque};

use nicteam_record::{Connection, Link, LinkEnd, Run, Topology};

use crate::view;

/// The nodes from one to the other, by the fewest cables that LACP does not
/// leave out, or by any if there is no such way; empty if there is none at all.
pub(super) fn between<'a>(run: &'a Run, from: &'a str, to: &str) -> Vec<&'a str> {
    let aggregates = |end: &LinkEnd| view::port(run, &end.node, &end.device).is_none_or(|port| port.aggregates);
    let links = || run.topology.links.iter();
    let used = path_by(links().filter(|link| aggregates(&link.a) && aggregates(&link.b)), from, to);
    if used.is_empty() { path_by(links(), from, to) } else { used }
}

/// The nodes from one to the other, by the fewest of these cables.
fn path_by<'a>(links: impl Iterator<Item = &'a Link>, from: &'a str, to: &str) -> Vec<&'a str> {
    let links: Vec<&Link> = links.collect();
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front().filter(|node| *node != to) {
        for link in &links {
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

/// Who has an address on Ethernet: a host, and of a gateway the node at the other end of the link.
pub(super) type Addressed<'a> = (&'a str, Option<&'a str>);

/// Whose MAC addresses a connection's frames have over a hop: its hosts', or those of the gateways between which the hop is.
pub(super) fn addressed<'a>(run: &'a Run, hop: [&str; 2], connection: &'a Connection) -> [Addressed<'a>; 2] {
    let topology = &run.topology;
    let way = between(run, topology.links_of(&connection.from), topology.links_of(&connection.to));
    let next = way.windows(2).position(|pair| pair == hop).map_or(0, |here| here + 1);
    let is_gateway = |place: &usize| topology.hosts.iter().any(|host| host.forwards && host.name == way[*place]);
    let before = (0..next).rev().find(is_gateway).map(|place| (way[place], way.get(place + 1).copied()));
    let behind = (next.max(1)..way.len()).find(is_gateway).map(|place| (way[place], Some(way[place - 1])));
    [before.unwrap_or((&connection.from, None)), behind.unwrap_or((&connection.to, None))]
}

/// The MAC address of one of these.
pub(super) fn mac<'a>(topology: &'a Topology, (host, peer): Addressed<'_>) -> Option<&'a str> {
    let host = topology.hosts.iter().find(|known| known.name == host)?;
    let ends = topology.links.iter().flat_map(|link| [(&link.a, &link.b), (&link.b, &link.a)]);
    let is_between = |(near, far): &(&LinkEnd, &LinkEnd)| near.node == host.name && Some(far.node.as_str()) == peer;
    let device = ends.into_iter().find(is_between).map(|(near, _)| &near.device);
    let further = host.further.iter().filter(|_| host.forwards).find(|link| Some(&link.device) == device);
    further.map_or(Some(host.mac.as_str()), |link| link.mac.as_deref())
}
