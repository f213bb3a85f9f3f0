//! Linux tools/testing/selftests/drivers/net/bonding/bond_lacp_strict.sh
//! (net-next, 0eaed89c18ae): two links, fast rate, `min_links` 1, in its order;
//! and what else `lacp_strict` has to hold.

use nicteam_team::lacp::{LacpConfig, ReceiveState};

use super::{all, block, carries, distributing, unblock};
use crate::lacp::net::{link, ms};
use crate::lacp::world::{World, fast};

/// What the selftest waits for a port to fail, and what this one may take to
/// recover: a partner that speaks again is heard within a second.
const FAILS: u64 = 5000;
const RECOVERS: u64 = 1100;

fn bench(lacp_strict: bool) -> World {
    let config = LacpConfig { min_links: 1, ..fast(0) };
    let mut world = World::pair(LacpConfig { lacp_strict, ..config }, LacpConfig { min_links: 1, ..fast(1) }, 2);
    world.run(ms(3000));
    world
}

/// Which of the two ports say that they collect and distribute, and the carrier.
#[track_caller]
fn assert_state(world: &World, ports: [bool; 2], carrier: bool, when: &str) {
    let found = [carries(world, (0, 0)), carries(world, (0, 1))];
    assert_eq!((found, world.net.lacp(0).carrier()), (ports, carrier), "{when}");
}

/// The links of a fresh pair go down and come back, one after the other.
#[track_caller]
fn links_go_and_come(world: &mut World) {
    assert_state(world, [true, true], true, "eth0 and eth1 up");
    world.unplug((0, 0));
    assert_state(world, [false, true], true, "eth0 down");
    world.unplug((0, 1));
    assert_state(world, [false, false], false, "both down: min_links");
    world.plug((0, 0), (1, 0));
    world.run(ms(RECOVERS));
    assert_state(world, [true, false], true, "eth0 up, eth1 down");
    world.plug((0, 1), (1, 1));
    world.run(ms(RECOVERS));
    assert_state(world, [true, true], true, "eth0 and eth1 up again");
}

/// LACP comes through again, on one link after the other.
fn both_recover(world: &mut World) {
    unblock(world, 0);
    world.run(ms(RECOVERS));
    assert_state(world, [true, false], true, "eth0 recovers");
    unblock(world, 1);
    world.run(ms(RECOVERS));
    assert_state(world, [true, true], true, "eth1 recovers");
}

#[test]
fn off_through_the_selftest() {
    let mut world = bench(false);
    links_go_and_come(&mut world);
    block(&mut world, 0);
    world.run(ms(FAILS));
    assert_state(&world, [false, true], true, "eth0 without LACP");
    world.run(ms(10_000));
    assert_state(&world, [false, true], true, "eth0 without LACP, defaulted");
    block(&mut world, 1);
    world.run(ms(FAILS));
    // One member serves nobody in particular, and says so; of the kernel's one serves and says neither bit.
    let serves = |world: &World| (distributing(world, 0).count_ones(), world.net.lacp(0).carrier());
    assert_eq!(serves(&world), (1, true), "nobody speaks LACP");
    assert!((0..2).all(|port| world.net.status((0, port)).receive != ReceiveState::Current));
    world.configure(0, |config| config.lacp_strict = true);
    assert_state(&world, [false, false], false, "switched on: no carrier");
    world.configure(0, |config| config.lacp_strict = false);
    assert_eq!(serves(&world), (1, true), "switched off again");
    both_recover(&mut world);
    world.configure(0, |config| config.lacp_strict = true);
    assert_state(&world, [true, true], true, "switched on while both are up: nothing happens");
}

#[test]
fn on_through_the_selftest() {
    let mut world = bench(true);
    links_go_and_come(&mut world);
    block(&mut world, 0);
    world.run(ms(FAILS));
    assert_state(&world, [false, true], true, "eth0 without LACP");
    block(&mut world, 1);
    world.run(ms(FAILS));
    assert_state(&world, [false, false], false, "nobody speaks LACP");
    world.run(ms(60_000));
    assert_state(&world, [false, false], false, "nor later");
    both_recover(&mut world);
}

/// Two links to somebody who never spoke LACP.
fn without_partner(lacp_strict: bool, min_links: u32) -> World {
    let mut world = World::new(vec![LacpConfig { lacp_strict, min_links, ..fast(0) }], 2);
    (0..2).for_each(|port| world.set_link((0, port), link(true, 1000)));
    world.run(ms(6000));
    world
}

#[test]
fn off_serves_a_partner_without_lacp_by_one_member() {
    let mut world = without_partner(false, 0);
    assert_eq!(distributing(&world, 0), 0b01);
    assert!(world.net.lacp(0).carrier());
    world.set_link((0, 0), link(false, 1000));
    assert_eq!((distributing(&world, 0), world.net.lacp(0).carrier()), (0b10, true), "as active-backup");
    world.set_link((0, 1), link(false, 1000));
    assert_eq!((distributing(&world, 0), world.net.lacp(0).carrier()), (0, false));
}

#[test]
fn on_has_no_carrier_until_a_partner_speaks() {
    let mut world = without_partner(true, 0);
    assert_eq!((distributing(&world, 0), world.net.lacp(0).carrier()), (0, false));
    world = World::pair(LacpConfig { lacp_strict: true, ..fast(0) }, fast(1), 2);
    world.until(ms(50), all(2));
    assert!(world.net.lacp(0).carrier());
    // The partner stops to speak while its links stay up.
    world.freeze(1);
    world.until(ms(3100), |net| !net.lacp(0).carrier());
    world.run(ms(20_000));
    assert_eq!((distributing(&world, 0), world.net.lacp(0).carrier()), (0, false));
    world.thaw(1);
    world.until(ms(2100), |net| net.lacp(0).carrier());
}

#[test]
fn min_links_counts_only_who_distributes() {
    let mut world = World::pair(LacpConfig { lacp_strict: true, min_links: 2, ..fast(0) }, fast(1), 2);
    world.until(ms(50), all(2));
    assert!(world.net.lacp(0).carrier());
    world.net.set_receiving((0, 1), false);
    world.until(ms(3100), |net| !net.lacp(0).carrier());
    assert!(!without_partner(false, 2).net.lacp(0).carrier(), "one member is not two");
}
