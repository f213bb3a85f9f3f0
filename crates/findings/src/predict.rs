//! Which link the hash gives a connection, compared with what the links counted.

use std::net::SocketAddr;

use nicteam_predict::engines;
use nicteam_record::{Connection, Run};
use nicteam_team::hash;
use nicteam_wire::{Frame, Mac, Vlan, head_of_flow, tagged};

use super::hop::{Hop, Prediction};
use super::way;
use crate::units::share;
use crate::view;

/// Shares of the traffic further apart than this do not agree: above what
/// acknowledgements and unequal connections do, below one connection in eight.
const TOLERANCE: f64 = 0.1;
/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// What the hash predicts for a hop; nothing where no hash chooses, or where the
/// record lacks what it looks at.
pub(super) fn predict(run: &Run, hop: &Hop<'_>) -> Option<Prediction> {
    let team = hop.team?;
    let policy = team.policy?;
    let hash_of = engines::hash_of(team.engine, policy)?;
    // Where the record has the members that aggregate, the hash is over these.
    let aggregates =
        |place: &usize| view::port(run, team.node, &team.members[*place]).is_none_or(|port| port.aggregates);
    let usable: Vec<usize> = (0..team.members.len()).filter(aggregates).collect();
    let place = |connection: &&Connection| {
        let bytes = first_bytes(run, hop, connection)?;
        let number = hash_of(policy, &Frame::parse(&bytes).ok()?);
        Some(usable[hash::place(number, team.hash_buckets, usable.len())?])
    };
    let places: Vec<usize> = hop.connections.iter().map(place).collect::<Option<_>>()?;
    let agrees = agrees(hop, &places);
    Some(Prediction { policy, places, agrees })
}

/// The bucket of each of a hop's connections, and the member that it had at the end, if the record has it; nothing where no
/// buckets choose as in Open vSwitch, or where the record lacks what they follow from.
pub(super) fn buckets<'a>(run: &'a Run, hop: &Hop<'a>) -> Option<Vec<(u8, Option<&'a str>)>> {
    let team = hop.team?;
    let sends = team.mode.sends()?;
    let placed = |connection: &&Connection| {
        let bytes = first_bytes(run, hop, connection)?;
        let bucket = engines::bucket(team.engine, sends, &Frame::parse_untagged(&bytes).ok()?, team.hash_basis)?;
        let own =
            run.buckets.iter().filter(|known| (known.host.as_str(), known.team.as_str()) == (team.node, team.device));
        let member = own.into_iter().find(|known| known.bucket == bucket).map(|known| known.member.as_str());
        Some((bucket, member))
    };
    hop.connections.iter().map(placed).collect()
}

/// Whether each link's share of the counted bytes is its connections' share of the payload.
fn agrees(hop: &Hop<'_>, places: &[usize]) -> bool {
    let payload: f64 = hop.connections.iter().map(|connection| connection.delivered_bps).sum();
    let counted: f64 = hop.links.iter().map(|link| link.tx_bps).sum();
    let known = |place: &usize| hop.links.iter().any(|link| link.place == *place);
    places.iter().all(known)
        && hop.links.iter().all(|link| {
            let here = hop.connections.iter().zip(places).filter(|(_, place)| **place == link.place);
            let predicted: f64 = here.map(|(connection, _)| connection.delivered_bps).sum();
            (share(predicted, payload) - share(link.tx_bps, counted)).abs() <= TOLERANCE
        })
}

/// The headers of a frame that carries a connection's payload over a hop.
fn first_bytes(run: &Run, hop: &Hop<'_>, connection: &Connection) -> Option<Vec<u8>> {
    let mac = |end| way::mac(&run.topology, end)?.parse::<Mac>().ok();
    let [src_mac, dst_mac] = way::addressed(run, [hop.node, hop.peer], connection).map(mac);
    let (src_mac, dst_mac) = (src_mac?, dst_mac?);
    let (src, dst): (SocketAddr, SocketAddr) = (connection.src.parse().ok()?, connection.dst.parse().ok()?);
    let protocol = if connection.datagrams.is_some() { UDP } else { TCP };
    let head = head_of_flow([src_mac, dst_mac], protocol, src, dst)?;
    let tag = connection.vlan.and_then(Vlan::customer);
    Some(tagged(head, tag.as_slice()))
}
