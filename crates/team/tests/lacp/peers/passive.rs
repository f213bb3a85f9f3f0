//! Linux tools/testing/selftests/drivers/net/bonding/bond_passive_lacp.sh (patch
//! 3/3 of 15 August 2025): `lacp_active` off at one end; and what else it means.

use nicteam_team::lacp::{LacpConfig, ReceiveState};
use nicteam_wire::LacpState;

use super::all;
use crate::lacp::net::{End, id, link, ms};
use crate::lacp::world::{World, fast};

fn passive(system: usize) -> LacpConfig {
    LacpConfig { lacp_active: false, ..fast(system) }
}

fn sent(world: &World, end: End) -> u64 {
    world.net.status(end).counters.lacpdus_sent
}

#[test]
fn the_selftest() {
    // The passive end alone is up.
    let mut world = World::new(vec![passive(0), fast(1)], 2);
    (0..2).for_each(|port| world.set_link((0, port), link(true, 1000)));
    world.run(ms(67_000));
    assert_eq!((sent(&world, (0, 0)), sent(&world, (0, 1))), (0, 0), "it does not speak first; the kernel's says two");
    // Then the active one.
    (0..2).for_each(|port| world.plug((0, port), (1, port)));
    world.until(ms(5000), all(2));
    let says = |world: &World, end, bit| world.net.status(end).actor.state.has(bit);
    assert!(!says(&world, (0, 0), LacpState::ACTIVITY));
    assert!(says(&world, (1, 0), LacpState::ACTIVITY));
    for _ in 0..100 {
        world.run(ms(100));
        assert!(!says(&world, (1, 0), LacpState::EXPIRED) && all(2)(&world.net), "the connection lasts");
    }
    // Each end lets one port go; the links stay up.
    world.change(1, |lacp, now| lacp.remove_port(id(0), now));
    world.change(0, |lacp, now| lacp.remove_port(id(1), now));
    world.run(ms(5000));
    let before = (sent(&world, (0, 0)), sent(&world, (1, 1)));
    world.run(ms(65_000));
    assert!(sent(&world, (1, 1)) - before.1 >= 2, "the active end goes on");
    assert!(sent(&world, (0, 0)) - before.0 < 2, "the passive one does not");
    assert_eq!(world.net.status((0, 0)).receive, ReceiveState::Defaulted);
}

#[test]
fn speaks_only_when_spoken_to_and_then_goes_on() {
    let mut world = World::new(vec![LacpConfig { lacp_strict: true, ..passive(0) }, fast(1)], 1);
    world.plug((0, 0), (1, 0));
    world.until(ms(50), all(1));
    let before = sent(&world, (0, 0));
    world.run(ms(10_000));
    assert!(sent(&world, (0, 0)) - before >= 9, "periodically");
}

#[test]
fn falls_silent_after_its_partner() {
    let mut world = World::pair(passive(0), fast(1), 1);
    world.until(ms(50), all(1));
    world.freeze(1);
    world.run(ms(6100));
    let before = sent(&world, (0, 0));
    world.run(ms(60_000));
    assert_eq!(sent(&world, (0, 0)), before);
}

#[test]
fn active_set_later_speaks_at_once() {
    let mut world = World::pair(passive(0), passive(1), 2);
    world.run(ms(10_000));
    world.configure(1, |config| config.lacp_active = true);
    world.until(ms(100), all(2));
}
