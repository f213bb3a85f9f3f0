//! The cases of others' LACP tests, asked of this one as a black box; a file a
//! source. `docs/lacp-cases.md` is the table of them: which case of theirs is
//! which test, what differs on purpose, and which have no meaning here.

mod ad_select;
mod dpdk;
mod openvswitch;
mod passive;
mod strict;

use nicteam_wire::LacpState;

use crate::lacp::net::{End, Net};
use crate::lacp::world::World;

/// Collecting and Distributing, as `/proc/net/bonding` shows them: 48.
const CARRIES: LacpState = LacpState(LacpState::COLLECTING.0 | LacpState::DISTRIBUTING.0);

fn distributing(world: &World, system: usize) -> u32 {
    world.net.lacp(system).distributing().bits()
}

/// The first `ports` of the first two systems distribute at both ends.
fn all(ports: u32) -> impl Fn(&Net) -> bool {
    move |net| (0..2).all(|system| net.lacp(system).distributing().bits() == (1 << ports) - 1)
}

/// The port says that it collects and distributes.
fn carries(world: &World, end: End) -> bool {
    world.net.status(end).actor.state.has(CARRIES)
}

/// The state bits of both ends of a port, in Open vSwitch's words.
fn states(world: &World, end: End) -> (String, String) {
    let port = world.net.status(end);
    (format!("{:?}", port.actor.state), format!("{:?}", port.partner.state))
}

/// Both ends of a cable hear nothing any more though they have carrier.
fn block(world: &mut World, port: usize) {
    [(0, port), (1, port)].into_iter().for_each(|end| world.net.set_receiving(end, false));
}

fn unblock(world: &mut World, port: usize) {
    for end in [(0, port), (1, port)] {
        world.net.set_receiving(end, true);
    }
}
