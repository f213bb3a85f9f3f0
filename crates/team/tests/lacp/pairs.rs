//! Two systems come up and go down within the standard's bounds.

use std::time::Duration;

use nicteam_team::lacp::{LacpConfig, LacpRate, MuxState};
use nicteam_wire::LacpState;

use crate::lacp::net::{Net, id, ms, system_mac};
use crate::lacp::world::{World, fast};

/// All of the first `ports` distribute at both ends.
fn all(ports: usize) -> impl Fn(&Net) -> bool {
    move |net| (0..net.systems().len()).all(|system| net.lacp(system).distributing().bits() == (1 << ports) - 1)
}

/// Every combination of rates and activity with at least one active end.
fn every_pair() -> impl Iterator<Item = (LacpConfig, LacpConfig)> {
    (0..64_u8).filter(|bits| bits & 3 != 0).map(|bits| {
        let config = |system: usize, shift: u8| LacpConfig {
            lacp_active: bits >> (system as u8) & 1 != 0,
            lacp_rate: if bits >> (2 + shift) & 1 != 0 { LacpRate::Fast } else { LacpRate::Slow },
            coupled_control: bits >> (4 + shift) & 1 != 0,
            ..LacpConfig::new(system_mac(system))
        };
        (config(0, 0), config(1, 1))
    })
}

#[test]
fn every_pair_comes_up_after_the_aggregate_wait() {
    for (one, other) in every_pair() {
        let mut world = World::pair(one.clone(), other.clone(), 3);
        let took = world.until(ms(5000), all(3));
        let (wait, limit) = (ms(one.aggregate_wait_ms.into()), ms(2100));
        assert!(took >= wait && took <= limit, "{took:?} for {one:?} and {other:?}");
        world.run(ms(200_000));
        assert!(all(3)(&world.net), "it stays so");
    }
}

#[test]
fn without_a_wait_every_pair_comes_up_at_once() {
    for (one, other) in every_pair() {
        let at_once = |config| LacpConfig { aggregate_wait_ms: 0, ..config };
        let mut world = World::pair(at_once(one), at_once(other), 3);
        let took = world.until(ms(5000), all(3));
        assert!(took <= ms(50), "{took:?}");
    }
}

#[test]
fn a_port_that_comes_later_joins() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.unplug((0, 1));
    world.until(ms(50), all(1));
    world.run(ms(20_000));
    world.plug((0, 1), (1, 1));
    assert!(world.until(ms(50), all(2)) <= ms(50));
}

#[test]
fn a_healthy_port_says_63() {
    let mut world = World::pair(fast(0), fast(1), 1);
    world.run(ms(3000));
    let port = world.net.status((0, 0));
    assert_eq!((port.actor.state, port.partner.state), (LacpState(63), LacpState(63)));
    assert_eq!((port.actor.key, port.partner.key), (9, 9), "a gigabit, full duplex");
    assert_eq!((port.aggregator, port.mux, port.why_not), (Some(1), MuxState::Distributing, None));
    assert_eq!(port.partner.system, system_mac(1));
}

#[test]
fn carrier_loss_acts_at_once_and_its_end_too() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.until(ms(50), all(2));
    world.run(ms(5000));
    world.unplug((0, 0));
    assert_eq!(world.net.lacp(0).distributing().bits(), 2);
    world.run(ms(10_000));
    world.plug((0, 0), (1, 0));
    // Nothing was unselected, so nobody waits for an aggregate.
    assert!(world.until(ms(50), all(2)) <= ms(50));
}

#[test]
fn a_silent_partner_is_let_go_after_three_periods() {
    for (rate, bound_ms) in [(LacpRate::Fast, 3000), (LacpRate::Slow, 90_000)] {
        let config = |system| LacpConfig { lacp_rate: rate, ..fast(system) };
        let mut world = World::pair(config(0), config(1), 2);
        world.until(ms(50), all(2));
        world.run(ms(100_500));
        world.freeze(1);
        let gone = world.until(ms(bound_ms), |net| net.lacp(0).distributing().is_empty());
        assert!(gone > ms(bound_ms * 2 / 3 - 1000) && gone <= ms(bound_ms), "{gone:?}");
    }
}

#[test]
fn one_way_loss_is_noticed_at_both_ends() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.until(ms(50), all(2));
    world.run(ms(5500));
    world.net.set_receiving((1, 0), false);
    let far = world.until(ms(3000), |net| !net.collects((1, 0)));
    let near = world.until(ms(3100), |net| !net.distributes((0, 0)));
    assert!(far + near <= ms(6100), "{far:?} and {near:?}");
    world.run(ms(10_000));
    assert_eq!(world.net.lacp(0).distributing().bits(), 2);
    let said = world.net.lacp(0).why_not(id(0)).unwrap().to_string();
    assert_eq!(said, "partner does not hear us: its LACPDUs do not name this port");
    world.net.all_receive();
    world.until(ms(1100), all(2));
}

#[test]
fn two_passive_ends_stay_silent() {
    let config = |system| LacpConfig { lacp_active: false, lacp_strict: true, ..fast(system) };
    let mut world = World::pair(config(0), config(1), 2);
    world.run(ms(100_000));
    assert_eq!(world.net.world.flown(), 0);
    assert!(world.net.lacp(0).collecting().is_empty() && !world.net.lacp(0).carrier());
}

#[test]
fn a_change_of_rate_is_heard_at_once() {
    let config = |system| LacpConfig { lacp_rate: LacpRate::Slow, ..fast(system) };
    let mut world = World::pair(config(0), config(1), 1);
    world.until(ms(50), all(1));
    world.run(ms(60_000));
    let before = world.net.status((1, 0)).counters.lacpdus_sent;
    world.configure(0, |config| config.lacp_rate = LacpRate::Fast);
    world.run(Duration::from_secs(10));
    let sent = world.net.status((1, 0)).counters.lacpdus_sent - before;
    assert!((10..=12).contains(&sent), "{sent} PDUs in 10 s");
    world.configure(0, |config| config.lacp_rate = LacpRate::Slow);
    world.run(Duration::from_secs(10));
    let more = world.net.status((1, 0)).counters.lacpdus_sent - before - sent;
    assert!(more <= 2, "{more} PDUs in 10 s");
    assert!(all(1)(&world.net));
}
