//! How many links of each group a run's traffic would use if the hosts had other addresses.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

use nicteam_team::hash::drawn::{self, Drawn, Flow, Host, Links};
use nicteam_wire::Mac;
use serde_json::{Value, json};

use crate::engine;
use crate::resolved::{CLIENT_PORT, Experiment, Run, SERVER_PORT, Team, Topology};

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
    /// Connections whose payload passes.
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
    let hosts: Vec<Host> =
        topology.hosts.iter().map(|host| Host { address: host.address, prefix: host.prefix }).collect();
    let in_file: Vec<(Mac, IpAddr)> = topology.hosts.iter().map(|host| (host.mac, host.address)).collect();
    let flows = flows(run);
    // Of other engines it is not known how they hash.
    let hashes = |team: &&Team| team.config.mode.traits().has_hash_buckets() && team.engine == engine::default().name();
    let rows = topology.teams.iter().filter(hashes).map(|team| {
        let passing: Vec<Flow> = flows.iter().copied().filter(|flow| passes(topology, team, flow)).collect();
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
            true => Flow { from: client, to: server, ports: [own, port], protocol: TCP, vlan },
            false => Flow { from: server, to: client, ports: [port, own], protocol: TCP, vlan },
        })
    };
    assigned.zip(CLIENT_PORT..).filter_map(flow).collect()
}

/// Whether a flow leaves by this team.
fn passes(topology: &Topology, team: &Team, flow: &Flow) -> bool {
    let (from, to) = (&topology.hosts[flow.from].name, &topology.hosts[flow.to].name);
    if topology.hosts.iter().any(|host| host.name == team.node) {
        return *from == team.node;
    }
    let beyond = beyond(topology, &team.node, &team.peer);
    beyond.contains(to.as_str()) && !beyond.contains(from.as_str())
}

/// The nodes that are reached by `peer` without passing `node`: switches form a tree.
fn beyond<'a>(topology: &'a Topology, node: &str, peer: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([peer]);
    let mut next = vec![peer];
    while let Some(here) = next.pop() {
        for cable in &topology.cables {
            for (near, far) in [(&cable.a, &cable.b), (&cable.b, &cable.a)] {
                // A host does not forward.
                let forwards = here == peer || topology.switches.iter().any(|switch| switch.name == here);
                if near.node == here && far.node != node && forwards && reached.insert(&far.node) {
                    next.push(&far.node);
                }
            }
        }
    }
    reached
}
