//! Packets that an end on their way does not take.

use std::net::SocketAddr;

use nicteam_record::{Connection, Host, Link, LinkEnd, Run};

use super::hop::Hop;
use super::path::Picture;

/// An end that takes no packet as large as a connection's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSmall<'a> {
    /// Bytes of the packets.
    pub(super) packet: u32,
    /// Node that sends them, and the one whose end, or whose peer's, is too small.
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// Device of the smaller end, and its node.
    pub(super) node: &'a str,
    pub(super) device: &'a str,
    /// Its MTU.
    pub(super) mtu: u32,
}

/// The first such end on the way of one of the run's connections.
pub(super) fn too_small<'a>(picture: &Picture<'a>, index: usize) -> Option<TooSmall<'a>> {
    let run = picture.run;
    let connection = run.connections.get(index)?;
    let packet = packet_bytes(run, connection)?;
    let passed = picture.hops.iter().filter(|hop| hop.passing.contains(&index));
    passed.flat_map(|hop| ends(run, hop, connection)).find_map(|(hop, end, mtu)| {
        (mtu < packet).then_some(TooSmall { packet, from: hop.0, to: hop.1, node: &end.node, device: &end.device, mtu })
    })
}

/// Bytes of a full packet: what both hosts' own ends take, for TCP's segments are as large as both allow.
fn packet_bytes(run: &Run, connection: &Connection) -> Option<u32> {
    let of_host = |host: &str| {
        let own = run.topology.links.iter().filter(|link| takes(run, link, connection)).flat_map(both_ends);
        own.filter(|(end, _)| end.node == host).map(|(_, mtu)| mtu).min()
    };
    Some(of_host(&connection.from)?.min(of_host(&connection.to)?))
}

/// Whether a connection may go by a link. Where a host has an address for each of its links, it goes by that of its own.
fn takes(run: &Run, link: &Link, connection: &Connection) -> bool {
    let ends = [(&connection.from, &connection.src), (&connection.to, &connection.dst)];
    ends.into_iter().all(|(name, address)| {
        let host = run.topology.hosts.iter().find(|host| host.name == *name && !host.further.is_empty());
        let own = [&link.a, &link.b].into_iter().find(|end| end.node == *name);
        match (host.and_then(|host| device_of(host, address)), own) {
            (Some(device), Some(end)) => end.device == device,
            _ => true,
        }
    })
}

/// The device of a host that carries this address.
fn device_of<'a>(host: &'a Host, address: &str) -> Option<&'a str> {
    let ip = address.parse::<SocketAddr>().ok()?.ip().to_string();
    let further = host.further.iter().map(|further| (&further.device, &further.address));
    let mut all = further.chain([(&host.device, &host.address)]);
    all.find(|(_, own)| own.split('/').next() == Some(&ip)).map(|(device, _)| device.as_str())
}

/// The ends of those of a hop's links that a connection may go by, with their MTUs.
fn ends<'a>(
    run: &'a Run,
    hop: &Hop<'a>,
    connection: &'a Connection,
) -> impl Iterator<Item = ((&'a str, &'a str), &'a LinkEnd, u32)> {
    let (node, peer) = (hop.node, hop.peer);
    let of_hop = move |link: &&Link| {
        let ends = [link.a.node.as_str(), link.b.node.as_str()];
        (ends == [node, peer] || ends == [peer, node]) && takes(run, link, connection)
    };
    run.topology.links.iter().filter(of_hop).flat_map(both_ends).map(move |(end, mtu)| ((node, peer), end, mtu))
}

fn both_ends(link: &Link) -> [(&LinkEnd, u32); 2] {
    let [a, b] = link.mtus.unwrap_or([link.mtu; 2]);
    [(&link.a, a), (&link.b, b)]
}

/// Where packets are too large for an end and pass all the same: as GSO frames.
pub(super) fn facts(picture: &Picture<'_>) -> Option<String> {
    let passing = |index: &usize| picture.run.connections[*index].delivered_bps > 0.0;
    let found = (0..picture.run.connections.len()).filter(passing).find_map(|index| too_small(picture, index))?;
    let TooSmall { packet, node, device, mtu, .. } = found;
    Some(format!(
        "{device} of {node} has an MTU of {mtu}, and packets of {packet} bytes arrive there. They pass as GSO frames, which this machine \
         accepts at any size: `granularity = \"packets\"` shows what a real link does."
    ))
}
