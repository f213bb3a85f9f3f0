//! A process that stalls is spoken for, one that ended is succeeded, and the
//! partner sees neither.

use nicteam_team::lacp::{Lacp, LacpConfig, LacpEvent, LacpRate, MuxState, lease};
use nicteam_wire::{LacpState, SlowPdu};

use crate::lacp::net::{id, link, ms, system_mac};
use crate::lacp::world::{World, fast};

fn slow(system: usize) -> LacpConfig {
    LacpConfig { aggregate_wait_ms: 0, ..LacpConfig::new(system_mac(system)) }
}

/// Two ports at each end, settled.
fn settled(config: fn(usize) -> LacpConfig) -> World {
    let mut world = World::pair(config(0), config(1), 2);
    world.run(ms(65_000));
    for system in 0..2 {
        assert_eq!(world.net.lacp(system).distributing().bits(), 3);
        world.events(system);
    }
    world
}

#[test]
fn a_stall_costs_the_partner_nothing() {
    for (config, stall) in [(fast as fn(usize) -> LacpConfig, ms(10_000)), (slow, ms(120_000))] {
        for late in [0, 300, 950] {
            let mut world = settled(config);
            world.run(ms(late));
            world.stall(0);
            world.run(stall);
            assert_eq!(world.events(1), [], "the partner, {late} ms after it was settled");
            world.thaw(0);
            world.run(ms(200_000));
            assert_eq!((world.events(0), world.events(1)), (vec![], vec![]));
        }
    }
}

#[test]
fn without_answers_a_stall_costs_the_ports() {
    let mut world = settled(fast);
    world.freeze(0);
    world.run(ms(10_000));
    assert_eq!(world.net.lacp(1).ports().iter().filter(|port| port.defaulted).count(), 2);
}

#[test]
fn after_the_lease_the_partner_leaves_with_the_next_pdu() {
    for (config, rate) in [(fast as fn(usize) -> LacpConfig, LacpRate::Fast), (slow, LacpRate::Slow)] {
        let mut world = settled(config);
        world.stall(0);
        world.run(lease(rate));
        assert_eq!(world.events(1), []);
        world.end_lease(0);
        let period = if rate == LacpRate::Fast { ms(1100) } else { ms(31_000) };
        world.until(period, |net| net.lacp(1).distributing().is_empty());
        // Which says something else from then on, so nothing is answered, and it gives up.
        world.run(ms(200_000));
        assert!(world.net.lacp(1).ports().iter().all(|port| port.defaulted));
    }
}

#[test]
fn a_partner_that_says_something_else_is_not_answered() {
    let mut world = settled(fast);
    world.stall(0);
    let before = world.net.lacp(0).answers();
    world.configure(1, |config| config.ad_user_port_key = 3);
    world.run(ms(10_000));
    assert_eq!(world.net.lacp(0).answers(), before);
    assert!(world.net.lacp(1).ports().iter().all(|port| port.defaulted));
    world.thaw(0);
    world.run(ms(5000));
    assert_eq!((world.net.lacp(0).distributing().bits(), world.net.lacp(1).distributing().bits()), (3, 3));
}

#[test]
fn an_answer_is_what_the_port_would_say() {
    let mut world = settled(fast);
    let answers = world.net.lacp(0).answers();
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(&answer.frame) else { panic!("{answer:?}") };
        let port = world.net.status((0, answer.member.index()));
        assert_eq!((pdu.actor, pdu.partner), (port.actor, port.partner));
        assert_eq!(answer.partner, world.net.status((1, answer.member.index())).actor);
    }
    world.unplug((0, 1));
    assert_eq!(world.net.lacp(0).answers(), answers[..1], "no carrier, no partner");
    let alone = World::new(vec![fast(0)], 1);
    assert_eq!(alone.net.lacp(0).answers(), []);
}

#[test]
fn a_successor_goes_on_unnoticed() {
    for config in [fast as fn(usize) -> LacpConfig, slow] {
        let mut world = settled(config);
        let before = (world.net.rest(0).distributing, world.net.rest(0).active);
        for _ in 0..3 {
            world.run(ms(700));
            world.succeed(0);
            assert_eq!((world.net.rest(0).distributing, world.net.rest(0).active), before);
            assert!(world.net.lacp(0).carrier());
        }
        world.run(ms(200_000));
        assert_eq!((world.events(0), world.events(1)), (vec![], vec![]));
    }
}

#[test]
fn a_successor_in_the_midst_of_it_comes_to_the_same_end() {
    for succeeded_at in 0..60 {
        let config = |system| LacpConfig { aggregate_wait_ms: 20, coupled_control: false, ..fast(system) };
        let mut world = World::pair(config(0), config(1), 3);
        world.run(ms(succeeded_at));
        world.succeed(0);
        world.run(ms(5000));
        let ends = [0, 1].map(|system| world.net.lacp(system).distributing().bits());
        assert_eq!(ends, [7, 7], "succeeded after {succeeded_at} ms");
    }
}

#[test]
fn a_successor_has_what_is_left_of_the_partners_time() {
    let mut world = settled(fast);
    [(0, 0), (0, 1)].into_iter().for_each(|end| world.net.set_receiving(end, false));
    world.run(ms(1500));
    let silence = world.net.now() - world.net.heard((0, 0)).unwrap().0;
    world.succeed(0);
    world.run(ms(2900) - silence);
    assert_eq!(world.events(0), []);
    world.run(ms(200));
    assert!(world.net.lacp(0).distributing().is_empty());
}

#[test]
fn whom_the_partner_would_not_know_starts_anew() {
    type Change = fn(&mut LacpConfig);
    let changes: [(&str, Change, u64); 5] = [
        ("nothing", |_| {}, 0),
        ("a partner silent for too long", |_| {}, 3000),
        ("another key", |config| config.ad_user_port_key = 1, 0),
        ("another system", |config| config.ad_actor_system = system_mac(7), 0),
        ("the partner's system", |config| config.ad_actor_system = system_mac(1), 0),
    ];
    for (what, change, silence) in changes {
        let world = settled(fast);
        let (answer, now) = (&world.net.lacp(0).answers()[0], world.net.now());
        let mut config = fast(0);
        change(&mut config);
        let mut lacp = Lacp::new(config, now);
        lacp.resume_port(id(0), world.net.system(0).ports[0], (answer, ms(silence)), now);
        assert_eq!(lacp.ports()[0].mux == MuxState::Distributing, what == "nothing", "{what}");
    }
    let world = settled(fast);
    let mut answer = world.net.lacp(0).answers()[0].clone();
    let mut params = world.net.system(0).ports[0];
    params.link = link(false, 1000);
    let mut lacp = Lacp::new(fast(0), world.net.now());
    lacp.resume_port(id(0), params, (&answer, ms(0)), world.net.now());
    assert!(lacp.distributing().is_empty(), "no carrier");
    answer.frame.truncate(60);
    let mut lacp = Lacp::new(fast(0), world.net.now());
    lacp.resume_port(id(0), world.net.system(0).ports[0], (&answer, ms(0)), world.net.now());
    assert!(lacp.distributing().is_empty(), "no LACPDU");
}

#[test]
fn beginning_ports_say_nothing_until_all_are_there() {
    let world = settled(fast);
    let mut lacp = Lacp::new(fast(0), world.net.now());
    lacp.begin_ports();
    for port in 0..2 {
        lacp.add_port(id(port), world.net.system(0).ports[port], world.net.now());
        assert_eq!(lacp.poll_effect(), None);
    }
    lacp.ports_complete(world.net.now());
    let effects: Vec<_> = std::iter::from_fn(|| lacp.poll_effect()).collect();
    let spoken = effects.iter().filter(|effect| matches!(effect, nicteam_team::lacp::LacpEffect::Transmit { .. }));
    assert_eq!(spoken.count(), 2, "{effects:?}");
    assert!(!effects.iter().any(|effect| matches!(
        effect,
        nicteam_team::lacp::LacpEffect::Event(LacpEvent::Mux { to: MuxState::Distributing, .. })
    )));
    assert!(!lacp.ports()[0].actor.state.has(LacpState::SYNCHRONIZATION));
}
