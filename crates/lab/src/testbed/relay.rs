//! Impaired links: each is two cables to the namespace of one more agent, which
//! carries frames from the one to the other ([`nicteam_node::emulator`]).

use nicteam_experiment::{self as experiment, Cable, Topology};
use nicteam_node::Error;
use nicteam_node::protocol::{Disturb, RelayEnd, RelaySpec, Request, Way};

use super::agents::Agents;
use super::cabling::{self, CableEnd, Cabling, Wire};

/// What the agent in the middle of impaired links is called; no host or switch
/// can have this name, which has a space.
pub(super) const NODE: &str = "impaired links";

/// First interface index of its ends, beyond those of all other cables.
const FIRST_NEAR_INDEX: u32 = 100_000;

/// Whether any link is impaired.
pub(super) fn is_needed(topology: &Topology) -> bool {
    topology.cables.iter().any(|cable| cable.impaired.is_some())
}

/// Lays the two cables of an impaired link. The ends' own sides are shaped, as
/// any cable's are; the near ends pass on what comes.
pub(super) fn lay(cabling: &mut Cabling, cable: &Cable, wire: &Wire, first_index: u32) -> Result<(), Error> {
    let ([a, b], [queues_a, queues_b]) = (wire.mtus, wire.rx_queues);
    let ends = [(&cable.a, first_index, a, queues_a), (&cable.b, first_index + 1, b, queues_b)];
    for (end, index, mtu, queues) in ends {
        let near_index = near_index(index);
        let near_name = near_name(near_index);
        let own = CableEnd { node: &end.node, device: &end.device, index };
        let near = CableEnd { node: NODE, device: &near_name, index: near_index };
        // What an end does not take is dropped there, not in between.
        let wire = Wire { mtus: [mtu, a.max(b)], rx_queues: [queues, None], ..*wire };
        cabling.lay_between(own, near, &wire)?;
    }
    Ok(())
}

/// Lets frames pass over the impaired links, if there are any.
pub(super) fn start(agents: &mut Agents, topology: &Topology) -> Result<(), Error> {
    if is_needed(topology) {
        let links = (0..).zip(&topology.cables).filter_map(|(number, cable)| spec(number, cable)).collect();
        agents.of(NODE)?.call(&Request::Relay(links))?;
    }
    Ok(())
}

/// Lets carrier pass over them, too; from now on, because teams set their
/// members down and up while they are built.
pub(super) fn follow_carrier(agents: &mut Agents, topology: &Topology) -> Result<(), Error> {
    if is_needed(topology) {
        agents.of(NODE)?.call(&Request::FollowCarrier)?;
    }
    Ok(())
}

/// Begins or ends faults of links.
pub(super) fn disturb(agents: &mut Agents, disturbed: &[Disturb]) -> Result<(), Error> {
    agents.of(NODE)?.call(&Request::Disturb(disturbed.to_vec())).map(drop)
}

/// The relay's end of the cable to the first (0) or the second end (1) of an impaired link.
pub(super) fn near_device(cable: u32, place: usize) -> String {
    near_name(near_index(cabling::first_index(cable) + place as u32))
}

fn near_name(near_index: u32) -> String {
    format!("near{near_index}")
}

/// Index of the near end of the cable to the end with this index.
fn near_index(index: u32) -> u32 {
    FIRST_NEAR_INDEX + index
}

/// What the agent in the middle is told of a link.
fn spec(number: u32, cable: &Cable) -> Option<RelaySpec> {
    let impaired = cable.impaired.as_ref()?;
    let first_index = cabling::first_index(number);
    let end = |end: &experiment::End, index| RelayEnd {
        node: end.node.clone(),
        device: end.device.clone(),
        near_index: near_index(index),
    };
    let way = |way: &experiment::Way, direction| Way {
        impairments: way.impairments,
        seed: seed(way.seed, u64::from(2 * number + direction)),
    };
    Some(RelaySpec {
        ends: [end(&cable.a, first_index), end(&cable.b, first_index + 1)],
        ways: [way(&impaired.a_to_b, 0), way(&impaired.b_to_a, 1)],
    })
}

/// A direction's own seed, from its section's. An odd factor keeps them apart.
fn seed(section: u64, direction: u64) -> u64 {
    section.wrapping_add(direction.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
