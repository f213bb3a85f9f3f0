//! One rule a test: what each fault does, and what a user is told.

use nicteam_team::lacp::{
    AdSelect, Lacp, LacpConfig, LacpEvent, LacpRate, MuxState, PortParams, PortTimer, Reason, ReceiveState,
};
use nicteam_team::{Duplex, MemberLink, Time};
use nicteam_wire::{LacpState, Lacpdu, Mac, PortInfo, SlowPdu};

use crate::lacp::net::{id, link, ms, system_mac};
use crate::lacp::world::{World, fast};

fn distributing(world: &World, system: usize) -> u32 {
    world.net.lacp(system).distributing().bits()
}

fn said(world: &World, system: usize, port: usize) -> String {
    world.net.lacp(system).why_not(id(port)).map_or_else(|| "nothing".to_owned(), |reason| reason.to_string())
}

#[test]
fn a_system_without_ports_waits_for_nothing() {
    let world = World::new(vec![fast(0)], 0);
    assert_eq!((world.net.lacp(0).poll_timeout(), world.net.lacp(0).carrier()), (None, false));
}

#[test]
fn a_port_without_carrier_waits_for_nothing_and_says_so() {
    let world = World::new(vec![fast(0)], 2);
    assert_eq!(world.net.lacp(0).poll_timeout(), None);
    assert_eq!(said(&world, 0, 1), "no carrier");
}

#[test]
fn the_reason_of_a_deadline_is_told() {
    let mut world = World::new(vec![fast(0)], 1);
    world.set_link((0, 0), link(true, 1000));
    let (at, reason) = world.net.lacp(0).poll_timeout().unwrap();
    assert_eq!((at, reason.member, reason.timer), (Time::from_millis(1000), id(0), PortTimer::Periodic));
}

#[test]
fn cables_crossed_between_two_partners_leave_one_of_them_out() {
    let mut world = World::new(vec![fast(0), fast(1), fast(2)], 2);
    world.plug((0, 0), (1, 0));
    world.plug((0, 1), (2, 0));
    world.run(ms(5000));
    assert_eq!(distributing(&world, 0), 1);
    let reason = Reason::AnotherSystem { here: system_mac(2), active: system_mac(1) };
    assert_eq!(world.net.lacp(0).why_not(id(1)), Some(reason));
    // The partner that is left out knows that it is, and does not send into nothing.
    assert_eq!(distributing(&world, 2), 0);
    assert_eq!(said(&world, 2, 0), "suspended: the partner receives our LACPDUs but does not attach its port");
    world.run(ms(60_000));
    assert!(said(&world, 2, 0).starts_with("churned"), "{}", said(&world, 2, 0));
    assert_eq!(world.net.status((2, 0)).partner_churned, 1);
}

#[test]
fn a_cable_moved_to_another_port_of_the_partner_is_selected_anew() {
    let mut world = World::pair(fast(0), fast(1), 3);
    world.run(ms(2000));
    world.cross_unnoticed((0, 0), (0, 1));
    world.run(ms(2500));
    assert_eq!((distributing(&world, 0), distributing(&world, 1)), (7, 7));
    assert_eq!(world.net.status((0, 0)).partner.port, 2);
}

#[test]
fn a_port_without_carrier_forgets_a_partner_that_moved() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.run(ms(2000));
    world.unplug((0, 0));
    assert_eq!(world.net.status((0, 0)).partner.system, system_mac(1), "it may come back");
    world.plug((0, 1), (1, 0));
    world.run(ms(100));
    assert!(world.net.status((0, 0)).defaulted, "it came back elsewhere");
}

#[test]
fn a_looped_cable_carries_nothing_and_is_told_once() {
    let mut world = World::new(vec![fast(0)], 1);
    world.plug((0, 0), (0, 0));
    world.run(ms(20_000));
    assert!(distributing(&world, 0) == 0 && said(&world, 0, 0).starts_with("looped"), "{}", said(&world, 0, 0));
    let loops = world.events(0).into_iter().filter(|event| matches!(event, LacpEvent::Looped { .. })).count();
    assert_eq!(loops, 1);
    assert!(world.net.status((0, 0)).counters.looped > 10);
}

#[test]
fn two_ports_of_one_system_on_one_cable_carry_nothing() {
    let mut world = World::new(vec![fast(0)], 3);
    world.plug((0, 0), (0, 1));
    world.run(ms(20_000));
    assert_eq!((distributing(&world, 0), said(&world, 0, 1).starts_with("looped")), (0, true));
    // A loop beside a partner that speaks disturbs nobody.
    let mut world = World::pair(fast(0), fast(1), 1);
    world.run(ms(2000));
    let own = Lacpdu::new(world.net.status((0, 0)).actor, PortInfo::default()).frame(Mac::default());
    world.deliver((0, 0), &own);
    world.run(ms(2000));
    assert_eq!(distributing(&world, 0), 1);
}

#[test]
fn a_frozen_partner_is_left_for_one_that_speaks() {
    let mut world = World::new(vec![fast(0), fast(1), fast(2)], 2);
    world.plug((0, 0), (1, 0));
    world.plug((0, 1), (2, 0));
    world.run(ms(5000));
    world.freeze(1);
    let took = world.until(ms(3100), |net| net.lacp(0).distributing().bits() == 2);
    assert!(took <= ms(3050), "{took:?}");
    world.thaw(1);
    world.run(ms(5000));
    assert_eq!(distributing(&world, 0), 2, "stable: the active aggregator works");
}

#[test]
fn a_partner_that_restarts_is_back_at_once() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.run(ms(5500));
    world.restart(1);
    let both = |net: &crate::lacp::net::Net| (0..2).all(|system| net.lacp(system).distributing().bits() == 3);
    assert!(world.until(ms(1100), both) <= ms(1100), "within the limit of three PDUs a second");
}

#[test]
fn an_expired_partner_is_asked_fast() {
    let slow = |system| LacpConfig { lacp_rate: LacpRate::Slow, ..fast(system) };
    let mut world = World::pair(slow(0), slow(1), 1);
    world.run(ms(1000));
    world.freeze(1);
    world.until(ms(91_000), |net| net.status((0, 0)).receive == ReceiveState::Expired);
    let before = world.net.status((0, 0)).counters.lacpdus_sent;
    world.run(ms(2900));
    assert_eq!(world.net.status((0, 0)).counters.lacpdus_sent - before, 2);
    world.thaw(1);
    world.until(ms(1100), |net| net.lacp(0).distributing().bits() == 1);
}

#[test]
fn of_two_partners_the_first_is_kept_until_it_is_gone() {
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

#[test]
fn half_duplex_and_unknown_duplex_do_not_aggregate() {
    let mut world = World::pair(LacpConfig { lacp_strict: true, ..fast(0) }, fast(1), 3);
    world.set_link((0, 0), MemberLink { duplex: Some(Duplex::Half), ..link(true, 100) });
    world.set_link((0, 1), MemberLink { duplex: None, ..link(true, 1000) });
    world.run(ms(10_000));
    assert_eq!(distributing(&world, 0), 4);
    assert_eq!(said(&world, 0, 0), "half duplex: LACP needs full duplex");
    assert_eq!(said(&world, 0, 1), "duplex unknown: LACP needs a driver that reports full duplex");
    assert_eq!(world.net.status((0, 0)).receive, ReceiveState::LacpDisabled);
    world.set_link((0, 0), link(true, 1000));
    world.run(ms(1500));
    assert_eq!(distributing(&world, 0), 5);
}

#[test]
fn a_driver_that_knows_nothing_without_carrier_costs_nothing() {
    let config = |system| LacpConfig { aggregate_wait_ms: 2000, ..fast(system) };
    let mut world = World::pair(config(0), config(1), 1);
    world.run(ms(5000));
    world.set_link((0, 0), MemberLink { carrier: false, speed_mbps: None, duplex: None });
    world.run(ms(500));
    assert_eq!((world.net.status((0, 0)).actor.key, world.net.status((0, 0)).partner.system), (9, system_mac(1)));
    world.set_link((0, 0), link(true, 1000));
    let took = world.until(ms(1100), |net| !net.lacp(0).distributing().is_empty());
    assert!(took <= ms(100), "nothing was forgotten, so nobody waits: {took:?}");
}

#[test]
fn keys_are_the_kernels() {
    let mut world = World::new(vec![LacpConfig { ad_user_port_key: 3, ..fast(0) }], 1);
    for (speed_mbps, key) in [(10, 5), (1000, 9), (10_000, 15), (25_000, 21), (100_000, 29), (123, 1)] {
        world.set_link((0, 0), link(true, speed_mbps));
        assert_eq!(world.net.status((0, 0)).actor.key, 3 << 6 | key, "{speed_mbps} Mbit/s");
    }
}

#[test]
fn ports_of_unlike_speed_do_not_mix() {
    let mut world = World::pair(fast(0), fast(1), 3);
    world.set_speed((0, 2), 100);
    world.run(ms(3000));
    assert_eq!((distributing(&world, 0), distributing(&world, 1)), (3, 3));
    assert_eq!(said(&world, 0, 2), "speeds differ: 100 Mbit/s here, 1000 Mbit/s in the active aggregator");
    assert!(said(&world, 1, 2).starts_with("keys differ"), "{}", said(&world, 1, 2));
}

#[test]
fn each_policy_selects_its_aggregator() {
    // Two gigabit links; one of ten, with the lower priority.
    let cases = [(AdSelect::Bandwidth, 0b100), (AdSelect::Count, 0b011), (AdSelect::ActorPortPrio, 0b011)];
    for (ad_select, expected) in cases {
        let config = |system| LacpConfig { ad_select, ..fast(system) };
        let mut world = World::pair(config(0), config(1), 3);
        for system in 0..2 {
            world.set_speed((system, 2), 10_000);
            world.set_priority((system, 2), 300);
        }
        world.run(ms(5000));
        assert_eq!((distributing(&world, 0), distributing(&world, 1)), (expected, expected), "{ad_select:?}");
    }
}

#[test]
fn systems_that_prefer_different_aggregators_agree() {
    for decides in 0..2 {
        let mut configs = [fast(0), fast(1)];
        configs[decides].ad_actor_sys_prio = 1;
        configs[0].ad_select = AdSelect::Count;
        configs[1].ad_select = AdSelect::Bandwidth;
        let [one, other] = configs;
        let mut world = World::pair(one, other, 3);
        (0..2).for_each(|system| world.set_speed((system, 2), 10_000));
        world.run(ms(5000));
        let expected = if decides == 0 { 0b011 } else { 0b100 };
        assert_eq!((distributing(&world, 0), distributing(&world, 1)), (expected, expected), "{decides} decides");
    }
}

/// As the kernel's bonding, which does not follow: see crates/oracle/tests/lacp/select.rs.
#[test]
fn a_partner_that_keeps_to_its_own_aggregator_is_followed() {
    let config = LacpConfig { ad_actor_sys_prio: 1, ..fast(0) };
    let mut lacp = Lacp::new(config, Time::ZERO);
    for port in 0..2_u16 {
        let mac = Mac([2, 0, 0, 0, 1, port as u8]);
        let params = PortParams { mac, port_number: port + 1, priority: 255, link: link(true, 10_000) };
        lacp.add_port(id(port.into()), params, Time::ZERO);
        while lacp.poll_effect().is_some() {}
    }
    let mut used = Vec::new();
    for now in (0..30).map(|seconds| Time::from_millis(1000 * seconds)) {
        lacp.handle_timeout(now);
        while lacp.poll_effect().is_some() {}
        for (port, (key, in_sync)) in [(9, false), (15, true)].into_iter().enumerate() {
            let base = LacpState::ACTIVITY | LacpState::TIMEOUT | LacpState::AGGREGATION;
            let actor = PortInfo {
                system_priority: 100,
                system: system_mac(1),
                key,
                port_priority: 255,
                port: port as u16 + 1,
                state: base.with(LacpState::SYNCHRONIZATION, in_sync),
            };
            let frame = Lacpdu::new(actor, lacp.ports()[port].actor).frame(Mac([2, 0, 0, 0, 2, port as u8]));
            lacp.handle_frame(id(port), &frame, now);
            while lacp.poll_effect().is_some() {}
        }
        used.push(lacp.distributing().bits());
    }
    // It insists for three seconds, then follows for good.
    assert_eq!((used[..3].to_vec(), used[4..].to_vec()), (vec![0; 3], vec![0b10; 26]));
}

#[test]
fn min_links_takes_the_carrier_not_the_links() {
    let mut world = World::pair(LacpConfig { min_links: 2, lacp_strict: true, ..fast(0) }, fast(1), 2);
    world.run(ms(3000));
    assert!(world.net.lacp(0).carrier());
    world.unplug((0, 1));
    assert_eq!((world.net.lacp(0).carrier(), distributing(&world, 0)), (false, 1));
}

#[test]
fn the_aggregate_waits_for_its_ports() {
    let config = |system| LacpConfig { aggregate_wait_ms: 2000, ..fast(system) };
    let mut world = World::pair(config(0), config(1), 2);
    world.unplug((0, 1));
    world.run(ms(1500));
    world.plug((0, 1), (1, 1));
    let first = world.until(ms(3000), |net| !net.lacp(0).distributing().is_empty());
    assert_eq!(distributing(&world, 0), 0b01);
    assert!(first >= ms(1900), "the first waits for the second: {first:?}");
    world.run(ms(100));
    assert_eq!(distributing(&world, 0), 0b11);
    assert!(matches!(
        Reason::AggregateWait { until: None }.to_string().as_str(),
        "waiting for other members (aggregate_wait_ms)"
    ));
}

#[test]
fn a_lost_port_is_restored_after_its_time_if_others_carry() {
    let mut world = World::pair(LacpConfig { wait_to_restore_ms: 5000, ..fast(0) }, fast(1), 2);
    world.run(ms(3000));
    world.unplug((0, 0));
    world.plug((0, 0), (1, 0));
    world.run(ms(4900));
    assert_eq!((distributing(&world, 0), distributing(&world, 1)), (2, 2), "neither end uses it");
    assert!(matches!(world.net.lacp(0).why_not(id(0)), Some(Reason::WaitToRestore { .. })));
    world.run(ms(1200));
    assert_eq!((distributing(&world, 0), distributing(&world, 1)), (3, 3));
    // The last one is never kept waiting.
    world.unplug((0, 0));
    world.plug((0, 0), (1, 0));
    world.run(ms(100));
    world.unplug((0, 1));
    world.until(ms(1100), |net| net.lacp(0).distributing().bits() == 1);
}

#[test]
fn independent_control_distributes_only_to_who_collects() {
    let mut world = World::new(vec![LacpConfig { coupled_control: false, ..fast(0) }], 1);
    world.set_link((0, 0), link(true, 1000));
    let partner = |state: u8| PortInfo {
        system_priority: 1,
        system: Mac([2, 0, 0, 0, 0, 0x99]),
        key: 7,
        port_priority: 1,
        port: 4,
        state: LacpState(0x07 | state),
    };
    let tell = |world: &mut World, state: u8| {
        let me = world.net.status((0, 0)).actor;
        world.deliver((0, 0), &Lacpdu::new(partner(state), me).frame(Mac::default()));
        world.net.status((0, 0)).mux
    };
    assert_eq!(tell(&mut world, 0), MuxState::Attached);
    assert_eq!(tell(&mut world, 0x08), MuxState::Collecting);
    assert_eq!(said(&world, 0, 0), "the partner does not collect yet");
    assert_eq!(tell(&mut world, 0x18), MuxState::Distributing);
    assert_eq!(tell(&mut world, 0x08), MuxState::Collecting);
    assert_eq!(tell(&mut world, 0x10), MuxState::Attached, "collecting means nothing without sync");
    world.configure(0, |config| config.coupled_control = true);
    assert_eq!(tell(&mut world, 0x08), MuxState::Distributing);
    world.configure(0, |config| config.coupled_control = false);
    assert_eq!(world.net.status((0, 0)).mux, MuxState::Collecting);
}

#[test]
fn everything_can_change_while_it_runs() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.run(ms(3000));
    let changes: [fn(&mut LacpConfig); 8] = [
        |config| config.ad_user_port_key = 5,
        |config| config.ad_actor_sys_prio = 7,
        |config| config.ad_actor_system = Mac([2, 0, 0, 0, 0, 0x77]),
        |config| config.lacp_active = false,
        |config| config.lacp_rate = LacpRate::Slow,
        |config| config.ad_select = AdSelect::Count,
        |config| config.coupled_control = false,
        |config| config.lacp_strict = true,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        world.configure(0, change);
        world.run(ms(4000));
        assert_eq!((distributing(&world, 0), distributing(&world, 1)), (3, 3), "change {number}");
    }
    assert_eq!(world.net.status((1, 0)).partner.system, Mac([2, 0, 0, 0, 0, 0x77]));
    let frame = |end| Lacpdu::new(world.net.status(end).actor, world.net.status(end).partner).frame(Mac::default());
    assert!(matches!(SlowPdu::parse(&frame((0, 0))), Ok(SlowPdu::Lacp(pdu)) if pdu.actor.key == 5 << 6 | 9));
}

#[test]
fn a_port_that_leaves_takes_nothing_with_it() {
    let mut world = World::pair(fast(0), fast(1), 3);
    world.run(ms(3000));
    // The first port's number named the aggregate; the others stay in it.
    world.change(0, |lacp, now| lacp.remove_port(id(0), now));
    assert_eq!(distributing(&world, 0), 0b110);
    assert_eq!(world.net.lacp(0).active_aggregator().map(|active| (active.id, active.ports.bits())), Some((1, 0b110)));
}

#[test]
fn until_a_partner_is_heard_one_port_carries_all_from_the_start() {
    let alone = |lacp_strict| {
        let config = LacpConfig { aggregate_wait_ms: 2000, lacp_strict, ..fast(0) };
        let mut world = World::new(vec![config, fast(1)], 2);
        (0..2).for_each(|port| world.set_link((0, port), link(true, 1000)));
        world
    };
    let carry = |world: &World| [world.net.lacp(0).senders().bits(), world.net.lacp(0).receivers().bits()];
    let mut world = alone(false);
    for after in [0, 1000, 3500, 6000] {
        world.run(ms(after));
        assert_eq!((carry(&world), world.net.lacp(0).carrier()), ([1, 1], true));
    }
    // A partner that speaks LACP takes nothing from a port that is not in sync.
    let mut world = alone(false);
    (0..2).for_each(|port| world.plug((0, port), (1, port)));
    world.run(ms(20));
    assert_eq!(carry(&world), [0, 0]);
    world.until(ms(2100), |net| net.lacp(0).senders().bits() == 3);
    let world = alone(true);
    assert_eq!((carry(&world), world.net.lacp(0).carrier()), ([0, 0], false));
}

#[test]
fn the_partner_of_a_port_that_leaves_sends_by_the_others_at_once() {
    let slow = |system| LacpConfig { lacp_rate: LacpRate::Slow, ..fast(system) };
    let mut world = World::pair(slow(0), slow(1), 2);
    world.run(ms(3000));
    world.change(0, |lacp, now| lacp.remove_port(id(1), now));
    world.run(ms(10));
    assert_eq!(distributing(&world, 1), 0b01, "the link is up, and its partner silent from now on");
}

#[test]
fn what_is_no_pdu_is_counted_and_ignored() {
    let mut world = World::pair(fast(0), fast(1), 1);
    world.run(ms(3000));
    for frame in [&[][..], &[0; 60], &[0xff; 124]] {
        world.deliver((0, 0), frame);
    }
    assert_eq!((world.net.status((0, 0)).counters.malformed, distributing(&world, 0)), (3, 1));
}

#[test]
fn users_are_told_in_words() {
    let mut world = World::pair(fast(0), fast(1), 1);
    world.run(ms(3000));
    world.unplug((0, 0));
    let words: Vec<String> = world.events(0).iter().map(ToString::to_string).collect();
    let expected = [
        "member 0: partner is 02:00:00:00:00:11",
        "active aggregator: none -> 1",
        "member 0: waiting -> attached (partner does not hear us: its LACPDUs do not name this port)",
        "member 0: attached -> distributing",
        "member 0: distributing -> attached (no carrier)",
    ];
    assert_eq!(
        words.iter().map(String::as_str).filter(|line| expected.contains(line)).count(),
        expected.len(),
        "{words:#?}"
    );
}
