//! What the tests of others ask of LACP, asked of this one: the kernel's
//! selftests bond_lacp_strict, bond_lacp_prio and bond_passive_lacp, Open
//! vSwitch's lacp.at, DPDK's test_link_bonding_mode4. The cases are theirs.

use nicteam_team::lacp::{AdSelect, LacpConfig, LacpRate, MuxState, ReceiveState};
use nicteam_wire::{LacpState, Mac};

use crate::net::{Net, link, ms, system_mac};
use crate::world::{World, fast};

fn distributing(world: &World, system: usize) -> u32 {
    world.net.lacp(system).distributing().bits()
}

fn all(ports: u32) -> impl Fn(&Net) -> bool {
    move |net| (0..2).all(|system| net.lacp(system).distributing().bits() == (1 << ports) - 1)
}

/// Two links to somebody who does not speak LACP.
fn without_partner(lacp_strict: bool, min_links: u32) -> World {
    let mut world = World::new(vec![LacpConfig { lacp_strict, min_links, ..fast(0) }], 2);
    (0..2).for_each(|port| world.set_link((0, port), link(true, 1000)));
    world.run(ms(6000));
    world
}

mod strict {
    use super::*;

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
    fn off_goes_back_to_one_member_when_the_partner_stops() {
        let mut world = World::pair(fast(0), fast(1), 2);
        world.until(ms(50), all(2));
        world.freeze(1);
        world.run(ms(10_000));
        assert!(distributing(&world, 0).count_ones() == 1 && world.net.lacp(0).carrier());
        world.thaw(1);
        world.until(ms(3000), all(2));
    }

    #[test]
    fn min_links_counts_only_who_distributes() {
        let mut world = World::pair(LacpConfig { lacp_strict: true, min_links: 2, ..fast(0) }, fast(1), 2);
        world.until(ms(50), all(2));
        assert!(world.net.lacp(0).carrier());
        world.net.deaf.insert((0, 1));
        world.until(ms(3100), |net| !net.lacp(0).carrier());
        assert!(!without_partner(false, 2).net.lacp(0).carrier(), "one member is not two");
    }

    #[test]
    fn it_can_be_switched_while_nobody_speaks() {
        let mut world = without_partner(false, 0);
        world.configure(0, |config| config.lacp_strict = true);
        assert_eq!((distributing(&world, 0), world.net.lacp(0).carrier()), (0, false));
        world.configure(0, |config| config.lacp_strict = false);
        world.run(ms(100));
        assert_eq!((distributing(&world, 0).count_ones(), world.net.lacp(0).carrier()), (1, true));
    }
}

mod priority {
    use super::*;

    /// Two links to one switch, two to another.
    fn two_switches(ad_select: AdSelect) -> World {
        let mut world = World::new(vec![LacpConfig { ad_select, ..fast(0) }, fast(1), fast(2)], 4);
        for port in 0..4 {
            world.plug((0, port), (1 + port / 2, port % 2));
        }
        world.run(ms(3000));
        world
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
}

mod passive {
    use super::*;

    #[test]
    fn speaks_only_when_spoken_to_and_then_goes_on() {
        let mut world = World::new(vec![LacpConfig { lacp_active: false, lacp_strict: true, ..fast(0) }, fast(1)], 1);
        world.set_link((0, 0), link(true, 1000));
        world.run(ms(60_000));
        assert_eq!(world.net.status((0, 0)).counters.lacpdus_sent, 0);
        world.plug((0, 0), (1, 0));
        world.until(ms(50), all(1));
        let before = world.net.status((0, 0)).counters.lacpdus_sent;
        world.run(ms(10_000));
        assert!(world.net.status((0, 0)).counters.lacpdus_sent - before >= 9, "periodically");
        assert!(!world.net.status((0, 0)).actor.state.has(LacpState::ACTIVITY));
    }

    #[test]
    fn falls_silent_after_its_partner() {
        let mut world = World::pair(LacpConfig { lacp_active: false, ..fast(0) }, fast(1), 1);
        world.until(ms(50), all(1));
        world.freeze(1);
        world.run(ms(6100));
        let before = world.net.status((0, 0)).counters.lacpdus_sent;
        world.run(ms(60_000));
        assert_eq!(world.net.status((0, 0)).counters.lacpdus_sent, before);
    }

    #[test]
    fn active_set_later_speaks_at_once() {
        let config = |system| LacpConfig { lacp_active: false, ..fast(system) };
        let mut world = World::pair(config(0), config(1), 2);
        world.run(ms(10_000));
        world.configure(1, |config| config.lacp_active = true);
        world.until(ms(100), all(2));
    }
}

/// Open vSwitch tests/lacp.at.
mod openvswitch {
    use super::*;

    #[test]
    fn what_a_new_port_shows() {
        let config = LacpConfig { lacp_rate: LacpRate::Slow, ..LacpConfig::new(system_mac(0)) };
        let mut world = World::new(vec![config], 1);
        world.set_link((0, 0), link(true, 1000));
        let port = world.net.status((0, 0));
        let states = (format!("{:?}", port.actor.state), format!("{:?}", port.partner.state));
        assert_eq!(
            states,
            ("activity aggregation defaulted expired".to_owned(), "timeout collecting distributing".to_owned())
        );
        assert_eq!((port.partner.system, port.receive), (Mac::default(), ReceiveState::Expired));
        assert_eq!((port.actor.system_priority, port.actor.port_priority), (65535, 255));
    }

    #[test]
    fn a_member_that_is_cut_and_mended() {
        let mut world = World::pair(fast(0), fast(1), 2);
        world.until(ms(50), all(2));
        world.run(ms(3000));
        // The far end does not notice that the near one is gone.
        world.set_link((0, 1), link(false, 1000));
        assert_eq!(distributing(&world, 0), 0b01);
        world.run(ms(4000));
        assert_eq!(distributing(&world, 1), 0b01);
        assert_eq!(world.net.status((1, 1)).receive, ReceiveState::Expired);
        world.run(ms(4000));
        assert_eq!(world.net.status((1, 1)).receive, ReceiveState::Defaulted);
        world.set_link((0, 1), link(true, 1000));
        world.until(ms(3000), all(2));
    }

    #[test]
    fn members_with_different_partners_follow_the_one_that_was_first() {
        let mut world = World::new(vec![fast(0), fast(1), fast(2)], 3);
        world.plug((0, 0), (1, 0));
        world.plug((0, 1), (1, 1));
        world.run(ms(3000));
        world.plug((0, 2), (2, 0));
        world.run(ms(3000));
        assert_eq!(distributing(&world, 0), 0b011);
        world.unplug((0, 0));
        world.unplug((0, 1));
        world.run(ms(3000));
        assert_eq!((distributing(&world, 0), distributing(&world, 2)), (0b100, 0b001));
    }
}

/// DPDK app/test/test_link_bonding_mode4.c.
mod dpdk {
    use super::*;

    #[test]
    fn all_ports_handshake_and_one_that_stops_is_disabled() {
        let mut world = World::pair(fast(0), fast(1), 4);
        world.until(ms(50), all(4));
        // The handshake of one partner port is no longer answered.
        world.net.deaf.insert((0, 2));
        world.run(ms(3500));
        assert_eq!(distributing(&world, 0), 0b1011);
        assert!(world.net.status((0, 2)).actor.state.has(LacpState::EXPIRED));
        assert_eq!(world.net.status((0, 2)).mux, MuxState::Attached);
    }

    #[test]
    fn ports_added_and_removed_while_it_runs() {
        let mut world = World::pair(fast(0), fast(1), 4);
        for port in [3, 0] {
            world.change(0, |lacp, now| lacp.remove_port(crate::net::id(port), now));
        }
        world.run(ms(7000));
        assert_eq!((distributing(&world, 0), distributing(&world, 1)), (0b0110, 0b0110));
        for port in [3, 0] {
            let params = world.net.systems[0].ports[port];
            world.change(0, |lacp, now| lacp.add_port(crate::net::id(port), params, now));
        }
        world.until(ms(3000), all(4));
    }

    #[test]
    fn an_expired_partner_is_asked_fast() {
        let slow = |system| LacpConfig { lacp_rate: LacpRate::Slow, ..fast(system) };
        let mut world = World::pair(slow(0), slow(1), 1);
        world.until(ms(50), all(1));
        world.freeze(1);
        world.until(ms(91_000), |net| net.status((0, 0)).receive == ReceiveState::Expired);
        let before = world.net.status((0, 0)).counters.lacpdus_sent;
        world.run(ms(2900));
        assert_eq!(world.net.status((0, 0)).counters.lacpdus_sent - before, 2);
        world.thaw(1);
        world.until(ms(1100), all(1));
    }
}
