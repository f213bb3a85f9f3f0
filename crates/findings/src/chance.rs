//! How many links a hash would use if the hosts had other addresses.

use std::net::{IpAddr, SocketAddr};

use nicteam_predict::engines;
use nicteam_record::{Connection, Run};
use nicteam_team::hash::drawn::{Drawn, Flow, Host, Links, links_used};

use super::hop::Hop;
use super::way;

/// How often addresses are drawn.
const SEEDS: u32 = 200;
/// Records with more connections are not computed: each connection costs a hash per draw.
const MOST_CONNECTIONS: usize = 4096;
/// IP protocol number; of UDP the ports stand in the same place.
const TCP: u8 = 6;

/// Links that the connections of a hop would use; none where no known hash chooses, or where the record lacks what it
/// takes.
pub(super) fn of(run: &Run, hop: &Hop<'_>) -> Option<Drawn> {
    let team = hop.team?;
    let policy = team.policy.filter(|policy| engines::hash_of(team.engine, *policy).is_some())?;
    let hosts: Vec<Host> = run.topology.hosts.iter().map(|host| subnet(&host.address)).collect::<Option<_>>()?;
    let place = |name: &str| run.topology.hosts.iter().position(|host| host.name == name);
    let flow = |connection: &&Connection| {
        let port = |end: &str| Some(end.parse::<SocketAddr>().ok()?.port());
        let ports = [port(&connection.src)?, port(&connection.dst)?];
        let [src, dst] = way::addressed(run, [hop.node, hop.peer], connection);
        Some(Flow {
            from: place(&connection.from)?,
            to: place(&connection.to)?,
            macs: [place(src.0)?, place(dst.0)?],
            ports,
            protocol: TCP,
            vlan: connection.vlan,
        })
    };
    let flows: Vec<Flow> = hop.connections.iter().map(flow).collect::<Option<_>>()?;
    let links = Links { policy, buckets: team.hash_buckets, count: team.members.len() };
    (flows.len() <= MOST_CONNECTIONS).then(|| links_used(links, &hosts, &flows, SEEDS))
}

/// `10.3.0.1/24`
fn subnet(text: &str) -> Option<Host> {
    let (address, prefix) = text.split_once('/')?;
    let (address, prefix): (IpAddr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
    (prefix <= if address.is_ipv4() { 32 } else { 128 }).then_some(Host { address, prefix })
}
