//! Guests: a veth pair from each to its host, and the bridge there.
//!
//! A guest's veth is no link of the experiment: it has no rate, and nothing of it is measured.

use std::os::fd::AsFd;

use nicteam_experiment::{Cable, Host, Team, Topology};
use nicteam_netlink::Netlink;
use nicteam_node::Error;
use nicteam_node::protocol::Request;
use nicteam_sys::netns::NetNs;

use super::agents::Agents;
use super::cabling::{CableEnd, Cabling, Wire};
use super::nodes::{BRIDGE, bare_ends, engine_of};
use crate::engine::Engine;

/// First interface index of guests' veths, beyond those of all cables.
const FIRST_INDEX: u32 = 50_000;

/// Lays a veth pair from each guest to its host.
pub(super) fn lay(cabling: &mut Cabling, topology: &Topology) -> Result<(), Error> {
    for (number, (guest, parent)) in (0..).zip(of(topology)) {
        let index = FIRST_INDEX + 2 * number;
        let near = CableEnd { node: parent, device: port(guest), index };
        let own = CableEnd { node: &guest.name, device: &guest.device, index: index + 1 };
        let wire = Wire { mtus: [mtu(topology, parent); 2], rx_queues: [None; 2], without_offloads: false };
        cabling.lay_between(near, own, &wire)?;
    }
    Ok(())
}

/// Whether a host has a bridge that its team's engine makes, with the team as uplink.
pub(super) fn are_taken_by_engine(topology: &Topology, host: &str) -> bool {
    let has_bridge = topology.hosts.iter().any(|one| one.name == host && one.device == BRIDGE);
    has_bridge && teams(topology, host).any(|team| engine_of(team).is_some_and(Engine::makes_bridges))
}

/// The guests that send to a bridge which takes finished frames alone, now or where they move to.
pub(super) fn that_finish(topology: &Topology) -> impl Iterator<Item = &Host> {
    let finishes = |host: &Host| {
        let takes_finished = |team: &Team| engine_of(team).is_some_and(Engine::takes_finished_frames_alone);
        are_taken_by_engine(topology, &host.name) && teams(topology, &host.name).any(takes_finished)
    };
    let any = topology.hosts.iter().any(finishes);
    of(topology).filter(move |_| any).map(|(guest, _)| guest)
}

/// What each host with a bridge is asked for: its uplink and its guests as ports of its bridge.
pub(super) fn bridges(topology: &Topology) -> Vec<(String, Request)> {
    let mut requests = Vec::new();
    for host in &topology.hosts {
        let guests: Vec<String> = topology.guests_of(&host.name).map(|guest| port(guest).to_owned()).collect();
        if host.device != BRIDGE {
            continue;
        }
        // An engine's own bridge has the team as a port from the beginning.
        let by_engine = are_taken_by_engine(topology, &host.name);
        let team = teams(topology, &host.name).filter(|_| !by_engine).map(|team| team.device.as_str());
        let uplink = team.chain(bare_ends(topology, &host.name)).map(str::to_owned);
        requests.push((host.name.clone(), Request::Plug(uplink.chain(guests).collect())));
    }
    requests
}

/// Moves a guest's veth from one host's bridge to another's, where it has the guest's whole name as far as that fits.
pub(super) fn move_to(agents: &mut Agents, guest: &str, from: &str, to: &str) -> Result<(), Error> {
    let [near, far] = [agents.of(from)?.pid(), agents.of(to)?.pid()].map(NetNs::of_process);
    let (near, far) = (near?, far?);
    // The guest may have moved before.
    let moved = moved_port(guest);
    let (port, index) = near.run(|| {
        let mut netlink = Netlink::open()?;
        for name in [moved.as_str(), guest.rsplit('/').next().unwrap_or(guest)] {
            if let Some(link) = netlink.link(name)? {
                return Ok((name.to_owned(), link.index));
            }
        }
        Err(nicteam_sys::Error::new(format!("find the port of {guest}"), std::io::ErrorKind::NotFound))
    })??;
    agents.of(from)?.call(&Request::Unplug(port))?;
    near.run(|| Netlink::open()?.move_to(index, far.as_fd(), &moved))??;
    agents.of(to)?.call(&Request::Plug(vec![moved])).map(drop)
}

/// The name of a guest's port on a host that is not its own: `a.guest1`, of which Linux takes 15 characters.
fn moved_port(guest: &str) -> String {
    let (host, own) = guest.split_once('/').unwrap_or(("", guest));
    let room = 14_usize.saturating_sub(own.len());
    format!("{}.{own}", host.get(..room).unwrap_or(host))
}

/// The teams of a host.
fn teams<'a>(topology: &'a Topology, host: &str) -> impl Iterator<Item = &'a Team> {
    topology.teams.iter().filter(move |team| team.node == host)
}

/// Each guest, with its host.
fn of(topology: &Topology) -> impl Iterator<Item = (&Host, &str)> {
    topology.hosts.iter().filter_map(|host| Some((host, host.parent.as_deref()?)))
}

/// The host's end of a guest's veth: `guest1` of `pc/guest1`.
fn port(guest: &Host) -> &str {
    guest.name.rsplit('/').next().unwrap_or(&guest.name)
}

/// What the uplink takes: a bridge drops what is larger.
fn mtu(topology: &Topology, host: &str) -> u32 {
    let team = topology.teams.iter().find(|team| team.node == host);
    let cables = topology.cables.iter().filter(|cable| cable.a.node == host || cable.b.node == host);
    match team {
        Some(team) => team.mtu.saturating_sub(team.config.tag_bytes()),
        None => cables.map(Cable::mtu).min().unwrap_or(1500),
    }
}
