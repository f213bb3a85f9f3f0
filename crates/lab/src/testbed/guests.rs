//! Guests: a veth pair from each to its host, and the bridge there.
//!
//! A guest's veth is no link of the experiment: it has no rate, and nothing of it is measured.

use nicteam_experiment::{Cable, Host, Topology};

use super::cabling::{CableEnd, Cabling};
use super::deploy::bare_ends;
use crate::error::Error;
use crate::protocol::Request;

/// First interface index of guests' veths, beyond those of all cables.
const FIRST_INDEX: u32 = 50_000;

/// Lays a veth pair from each guest to its host.
pub(super) fn lay(cabling: &mut Cabling, topology: &Topology) -> Result<(), Error> {
    for (number, (guest, parent)) in (0..).zip(of(topology)) {
        let index = FIRST_INDEX + 2 * number;
        let near = CableEnd { node: parent, device: port(guest), index };
        let own = CableEnd { node: &guest.name, device: &guest.device, index: index + 1 };
        cabling.lay_between(near, own, [mtu(topology, parent); 2])?;
    }
    Ok(())
}

/// What each host with guests is asked for: its uplink and its guests as ports of its bridge.
pub(super) fn bridges(topology: &Topology) -> Vec<(String, Request)> {
    let mut requests = Vec::new();
    for host in &topology.hosts {
        let guests: Vec<String> = topology.guests_of(&host.name).map(|guest| port(guest).to_owned()).collect();
        if guests.is_empty() {
            continue;
        }
        let team = topology.teams.iter().filter(|team| team.node == host.name).map(|team| team.device.as_str());
        let uplink = team.chain(bare_ends(topology, &host.name)).map(str::to_owned);
        requests.push((host.name.clone(), Request::Plug(uplink.chain(guests).collect())));
    }
    requests
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
