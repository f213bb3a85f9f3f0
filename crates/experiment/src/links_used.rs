//! How many links of each group a run's traffic would use if the hosts had other addresses.

use std::fmt::Write as _;
use std::net::IpAddr;

use nicteam_team::hash::drawn::{self, Drawn, Flow, Host, Links};
use nicteam_wire::Mac;
use serde_json::{Value, json};

use nicteam_elements::engine;
use nicteam_elements::resolved::{self, CLIENT_PORT, Experiment, Run, SERVER_PORT, Team, Topology};

/// IP protocol number; of UDP the ports stand in the same place.
const TCP: u8 = 6;

/// What a group's hash makes of a run's traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct LinksUsed {
    /// The run.
    pub run: String,
    /// Host or switch that chooses.
    pub node: String,
    /// Node at the other ends of its links.
    pub peer: String,
    /// What it hashes.
    pub policy: String,
    /// Its links.
    pub links: usize,
    /// Number of connections with payload over these links.
    pub connections: usize,
    /// Links that they use with addresses drawn at random.
    pub drawn: Drawn,
    /// Links that they use with those of the file.
    pub in_file: usize,
}

/// Of each run each host's team and each switch's group that picks a link by a hash alone, and that payload leaves by.
/// Addresses are drawn from the seeds 1 to `seeds`: any MAC addresses, and IP addresses of the hosts' subnets.
pub fn links_used(experiment: &Experiment, seeds: u32) -> Vec<LinksUsed> {
    experiment.runs.iter().flat_map(|run| of_run(run, seeds)).collect()
}

/// For people: a line a group.
pub fn show_links_used(found: &[LinksUsed], seeds: u32) -> String {
    let mut out = format!("\nlinks used with random addresses ({seeds} seeds)\n");
    if found.is_empty() {
        out += "  no hash picks a link in these runs\n";
        return out;
    }
    let most = found.iter().map(|row| row.links).max().unwrap_or(0);
    let width = |of: fn(&LinksUsed) -> &str, head: &str| {
        found.iter().map(|row| of(row).len()).chain([head.len()]).max().unwrap_or(0)
    };
    let run = width(|row| &row.run, "run");
    let (node, peer) = (width(|row| &row.node, "from"), width(|row| &row.peer, "to"));
    let policy = width(|row| &row.policy, "policy");
    let _ = write!(out, "  {:<run$}  {:<node$}  {:<peer$}  {:<policy$}  connections ", "run", "from", "to", "policy");
    (1..=most).for_each(|links| out += &format!(" {links:>4}"));
    out += "   mean  in the file\n";
    for row in found {
        let LinksUsed { connections, in_file, links, .. } = row;
        let head = format!("  {:<run$}  {:<node$}  {:<peer$}  {:<policy$}", row.run, row.node, row.peer, row.policy);
        let _ = write!(out, "{head}  {connections:>11} ");
        for used in 1..=most {
            let share = if used > *links { String::new() } else { format!("{:.0}%", row.drawn.share(used) * 100.0) };
            let _ = write!(out, " {share:>4}");
        }
        let _ = writeln!(out, "  {:>5.2}  {in_file} of {links}", row.drawn.mean());
    }
    out
}

/// For programs.
pub fn links_used_json(name: &str, found: &[LinksUsed], seeds: u32) -> Value {
    let row = |row: &LinksUsed| {
        json!({
            "run": row.run, "node": row.node, "peer": row.peer, "policy": row.policy, "links": row.links,
            "connections": row.connections, "cases": row.drawn.cases, "mean": row.drawn.mean(), "in_file": row.in_file,
        })
    };
    json!({ "experiment": name, "seeds": seeds, "links_used": found.iter().map(row).collect::<Vec<_>>() })
}

fn of_run(run: &Run, seeds: u32) -> Vec<LinksUsed> {
    let topology = &run.topology;
    // A gateway's links beside its first have MAC addresses of their own, and stand behind the hosts.
    let links = topology.hosts.iter().flat_map(gateway_links);
    let own = topology.hosts.iter().map(|host| (host.mac, host.address, host.prefix));
    let addressed: Vec<(Mac, IpAddr, u8)> = own.chain(links).collect();
    let hosts: Vec<Host> =
        addressed.iter().map(|(_, address, prefix)| Host { address: *address, prefix: *prefix }).collect();
    let in_file: Vec<(Mac, IpAddr)> = addressed.iter().map(|(mac, address, _)| (*mac, *address)).collect();
    let flows = flows(run);
    // Of other engines it is not known how they hash.
    let hashes = |team: &&Team| team.config.mode.traits().has_hash_buckets() && team.engine == engine::default().name();
    let rows = topology.teams.iter().filter(hashes).map(|team| {
        let passing: Vec<Flow> = flows.iter().filter_map(|flow| passing(topology, team, flow)).collect();
        let (policy, buckets) = (team.config.xmit_hash_policy, team.config.hash_buckets);
        let links = Links { policy, buckets, count: team.members.len() };
        LinksUsed {
            run: run.name.clone(),
            node: team.node.clone(),
            peer: team.peer.clone(),
            policy: policy.to_string(),
            links: links.count,
            connections: passing.len(),
            drawn: drawn::links_used(links, &hosts, &passing, seeds),
            in_file: drawn::used(links, &in_file, &passing),
        }
    });
    rows.filter(|row| row.connections > 0).collect()
}

/// The payload of the run's connections, with the ports that they will have.
fn flows(run: &Run) -> Vec<Flow> {
    let place = |name: &str| run.topology.hosts.iter().position(|host| host.name == name);
    // Client and server, whether the client sends, and the server's port and the VLAN.
    type Ends<'a> = (&'a str, &'a str, bool);
    type Dealt<'a> = (Ends<'a>, u16, Option<u16>);
    let assigned = (SERVER_PORT..).zip(&run.workloads).flat_map(|(port, workload)| {
        let vlan = move |place: u32| workload.task.vlan(place % workload.connections.max(1));
        (0..).zip(workload.assigned()).map(move |(place, ends)| (ends, port, vlan(place)))
    });
    let flow = |(((client, server, client_sends), port, vlan), own): (Dealt<'_>, u16)| {
        let (client, server) = (place(client)?, place(server)?);
        Some(match client_sends {
            true => Flow { from: client, to: server, macs: [client, server], ports: [own, port], protocol: TCP, vlan },
            false => Flow { from: server, to: client, macs: [server, client], ports: [port, own], protocol: TCP, vlan },
        })
    };
    assigned.zip(CLIENT_PORT..).filter_map(flow).collect()
}

/// A gateway's links beside its first.
fn gateway_links(host: &resolved::Host) -> impl Iterator<Item = (Mac, IpAddr, u8)> {
    let links = host.further.iter().filter(|_| host.forwards);
    links.filter_map(|link| Some((link.mac?, link.address, link.prefix)))
}

/// A flow as it leaves by this team, with the MAC addresses that its frames have there; none if it does not.
fn passing(topology: &Topology, team: &Team, flow: &Flow) -> Option<Flow> {
    let (from, to) = (&topology.hosts[flow.from].name, &topology.hosts[flow.to].name);
    // The team of a host with guests sends for the host alone, as ever.
    if topology.hosts.iter().any(|host| host.name == team.node && host.name != *from) {
        return None;
    }
    let way = topology.way(from, to);
    let here = way.windows(2).position(|pair| pair[0] == team.node && pair[1] == team.peer);
    let at = here.or_else(|| way.iter().position(|node| *node == team.node).filter(|_| team.node == *from))?;
    let is_gateway = |place: &usize| topology.is_gateway(way[*place]);
    let before = (0..=at).rev().find(is_gateway);
    let behind = (at + 1..way.len()).find(is_gateway);
    let mac = |gateway: Option<usize>, otherwise, next: fn(usize) -> usize| match gateway {
        Some(gateway) => link_of(topology, way[gateway], way.get(next(gateway))?),
        None => Some(otherwise),
    };
    let macs = [mac(before, flow.from, |place| place + 1)?, mac(behind, flow.to, |place| place.wrapping_sub(1))?];
    Some(Flow { macs, ..*flow })
}

/// The place among all addresses of the link by which a gateway reaches a node.
fn link_of(topology: &Topology, gateway: &str, peer: &str) -> Option<usize> {
    let ends = topology.cables.iter().flat_map(|cable| [(&cable.a, &cable.b), (&cable.b, &cable.a)]);
    let (end, _) = ends.into_iter().find(|(near, far)| near.node == gateway && far.node == peer)?;
    let place = topology.hosts.iter().position(|host| host.name == gateway)?;
    let Some(further) = topology.hosts[place].further.iter().position(|link| link.device == end.device) else {
        return Some(place);
    };
    let before = topology.hosts[..place].iter().map(|host| gateway_links(host).count()).sum::<usize>();
    Some(topology.hosts.len() + before + further)
}
