//! Linux tools/testing/selftests/drivers/net/bonding/bond_lacp_prio.sh
//! (a4a508df2aa3) and bond_lacp_ad_select.sh, which took its place (patch of 14
//! January 2026): two links to one switch, two to another; and the other policies.

use nicteam_team::lacp::{AdSelect, ChurnState};

use super::distributing;
use crate::lacp::net::ms;
use crate::lacp::world::{World, fast};

/// Two links to one switch, two to another.
fn two_switches(ad_select: AdSelect) -> World {
    let client = nicteam_team::lacp::LacpConfig { ad_select, ..fast(0) };
    let mut world = World::new(vec![client, fast(1), fast(2)], 4);
    for port in 0..4 {
        world.plug((0, port), (1 + port / 2, port % 2));
    }
    world.run(ms(3000));
    world
}

/// eth1 goes down and up, half a second each; the aggregator of `port` is the active one then.
#[track_caller]
fn assert_reselects(world: &mut World, port: usize) {
    world.unplug((0, 1));
    world.run(ms(500));
    world.plug((0, 1), (1, 1));
    world.run(ms(500));
    let active = world.net.lacp(0).active_aggregator().map(|aggregator| aggregator.id);
    assert!(active.is_some() && active == world.net.status((0, port)).aggregator, "eth{port}: {active:?}");
}

/// Both ports share an aggregator; they carry traffic and churn does not concern
/// them, or they stand by and this end has churned.
#[track_caller]
fn assert_group(world: &World, ports: [usize; 2], active: bool) {
    let [one, other] = ports.map(|port| world.net.status((0, port)));
    assert_eq!(one.aggregator, other.aggregator, "{ports:?}");
    let churn = if active { ChurnState::None } else { ChurnState::Churned };
    for port in [one, other] {
        let carries = world.net.distributes((0, port.member.index()));
        assert_eq!((carries, port.actor_churn), (active, churn), "eth{}", port.member);
    }
}

#[test]
fn the_selftest() {
    let mut world = two_switches(AdSelect::ActorPortPrio);
    // Setting.
    world.set_priority((0, 0), 1000);
    world.set_priority((0, 2), 10);
    assert_eq!([0, 2].map(|port| world.net.status((0, port)).actor.port_priority), [1000, 10]);
    // Selecting.
    assert_reselects(&mut world, 0);
    world.run(ms(10_000));
    assert_group(&world, [0, 1], true);
    world.run(ms(55_000));
    assert_group(&world, [2, 3], false);
    // Switching: here it needs no link to change.
    world.set_priority((0, 0), 10);
    world.set_priority((0, 2), 1000);
    assert_reselects(&mut world, 2);
    world.run(ms(10_000));
    assert_group(&world, [2, 3], true);
    world.run(ms(55_000));
    assert_group(&world, [0, 1], false);
}

#[test]
fn the_higher_sum_of_priorities_is_active() {
    let mut world = two_switches(AdSelect::ActorPortPrio);
    assert_eq!(distributing(&world, 0), 0b0011);
    world.set_priority((0, 2), 1000);
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b1100);
    world.set_priority((0, 0), 2000);
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b0011);
    // Ports without carrier do not count.
    world.unplug((0, 0));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b1100);
    world.plug((0, 0), (1, 0));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b0011);
}

#[test]
fn other_policies_do_not_look_at_it() {
    for ad_select in [AdSelect::Stable, AdSelect::Bandwidth, AdSelect::Count] {
        let mut world = two_switches(ad_select);
        world.set_priority((0, 3), 5000);
        world.run(ms(3000));
        assert_eq!(distributing(&world, 0), 0b0011, "{ad_select:?}");
    }
}

#[test]
fn stable_stays_until_nothing_is_left() {
    let mut world = two_switches(AdSelect::Stable);
    world.unplug((0, 0));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b0010, "one of the old ones against two others");
    world.unplug((0, 1));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b1100);
    world.plug((0, 0), (1, 0));
    world.plug((0, 1), (1, 1));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b1100);
}

#[test]
fn count_follows_the_links() {
    let mut world = two_switches(AdSelect::Count);
    world.unplug((0, 0));
    world.run(ms(3000));
    assert_eq!(distributing(&world, 0), 0b1100);
}
