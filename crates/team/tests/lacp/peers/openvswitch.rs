//! Open vSwitch tests/lacp.at: config, multi port config, negotiation, liveness
//! propagation. Cases that came after the texts at hand (about 2020) are not known.

use nicteam_team::lacp::{LacpConfig, LacpEvent, LacpRate, MuxState, ReceiveState};
use nicteam_wire::Mac;

use super::{all, block, carries, distributing, states, unblock};
use crate::lacp::net::{id, link, ms, system_mac};
use crate::lacp::world::{World, fast};

/// 0.3 s after a port came up; nobody has answered.
fn fresh(config: LacpConfig, ports: usize) -> World {
    let mut world = World::new(vec![config], ports);
    (0..ports).for_each(|port| world.set_link((0, port), link(true, 1000)));
    world.run(ms(300));
    world
}

#[test]
fn config() {
    let config = LacpConfig { lacp_rate: LacpRate::Slow, ..LacpConfig::new(system_mac(0)) };
    let world = fresh(config, 1);
    let port = world.net.status((0, 0));
    assert_eq!((port.receive, port.partner.system), (ReceiveState::Expired, Mac::default()));
    assert_eq!((port.actor.system, port.actor.port), (system_mac(0), 1));
    // Theirs is attached and says so; ours waits until it knows whom it is attached to.
    assert!(port.mux < MuxState::Attached, "{:?}", port.mux);
    let (actor, partner) = states(&world, (0, 0));
    assert_eq!(actor, "activity aggregation defaulted expired");
    assert_eq!(partner, "timeout collecting distributing");
    assert!(!world.net.distributes((0, 0)), "may_enable: false");
    // Their default priorities are 65535; ours are the kernel's.
    assert_eq!((port.actor.system_priority, port.actor.port_priority), (65535, 255));
}

#[test]
fn multi_port_config() {
    let system = Mac([0x11, 0x22, 0x33, 0x44, 0x55, 0x66]);
    // Their key is any number; here it is the user's ten bits above speed and duplex.
    let config = LacpConfig { ad_actor_sys_prio: 54321, ad_user_port_key: 333, ..fast(0) };
    let mut world = fresh(LacpConfig { ad_actor_system: system, ..config }, 2);
    world.set_priority((0, 0), 111);
    world.set_priority((0, 1), 222);
    for (port, priority) in [(0, 111), (1, 222)] {
        let status = world.net.status((0, port));
        assert_eq!(status.receive, ReceiveState::Expired);
        assert_eq!((status.actor.system, status.actor.system_priority), (system, 54321));
        assert_eq!((usize::from(status.actor.port), status.actor.port_priority), (port + 1, priority));
        assert_eq!(status.actor.key >> 6, 333);
        assert_eq!(states(&world, (0, port)).0, "activity timeout aggregation defaulted expired");
    }
}

/// Two bonds of two members; the steps of the case and their times.
#[test]
fn negotiation() {
    const HEALTHY: &str = "activity timeout aggregation synchronized collecting distributing";
    let mut world = World::pair(fast(0), fast(1), 2);
    world.until(ms(3900), all(2));
    // The last word of each has to arrive.
    world.run(ms(1100));
    for system in 0..2 {
        for port in 0..2 {
            let (here, there) = (world.net.status((system, port)), world.net.status((1 - system, port)));
            assert_eq!((here.receive, here.partner.system), (ReceiveState::Current, system_mac(1 - system)));
            assert_eq!((here.partner.port, here.partner.key), (there.actor.port, there.actor.key));
            assert_eq!(states(&world, (system, port)), (HEALTHY.to_owned(), HEALTHY.to_owned()));
        }
    }
    // The first cable leads nowhere: after 4.1 s expired at both ends.
    block(&mut world, 0);
    world.run(ms(4100));
    for system in 0..2 {
        let port = world.net.status((system, 0));
        assert_eq!((port.receive, port.mux), (ReceiveState::Expired, MuxState::Attached));
        assert_eq!(port.partner.system, system_mac(1 - system), "it is remembered");
        // Theirs goes on to say that it collects and distributes, and does neither.
        let (actor, partner) = states(&world, (system, 0));
        assert_eq!(actor, "activity timeout aggregation synchronized expired");
        assert!(!partner.contains("synchronized"), "{partner}");
        assert_eq!(distributing(&world, system), 0b10);
    }
    // After as long again defaulted and detached.
    world.run(ms(4100));
    for system in 0..2 {
        let port = world.net.status((system, 0));
        assert_eq!((port.receive, port.partner.system), (ReceiveState::Defaulted, Mac::default()));
        assert!(port.mux < MuxState::Attached, "{:?}", port.mux);
        assert_eq!(states(&world, (system, 0)).0, "activity timeout aggregation defaulted");
        assert_eq!((distributing(&world, system), carries(&world, (system, 1))), (0b10, true));
    }
    // Within a slow period of the cable's return everything is as before.
    unblock(&mut world, 0);
    world.run(ms(30_100));
    assert!(all(2)(&world.net));
    assert_eq!(states(&world, (0, 0)), (HEALTHY.to_owned(), HEALTHY.to_owned()));
}

/// What a controller hears of the port that is cut and repaired: live, dead, live,
/// each once. Theirs goes by OpenFlow 1.3, 1.4 and 1.5; ours is an event.
#[test]
fn liveness_propagation() {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.until(ms(5000), all(2));
    let mut live = Vec::new();
    let mut hear = |world: &mut World| {
        live.extend(world.events(0).into_iter().filter_map(|event| match event {
            LacpEvent::Mux { member, from, to, .. } if member == id(0) => {
                let lives = |state| state == MuxState::Distributing;
                (lives(from) != lives(to)).then_some(lives(to))
            }
            _ => None,
        }));
        live.clone()
    };
    assert_eq!(hear(&mut world), [true]);
    block(&mut world, 0);
    world.run(ms(8200));
    assert_eq!(hear(&mut world), [true, false]);
    unblock(&mut world, 0);
    world.run(ms(30_100));
    assert_eq!(hear(&mut world), [true, false, true]);
}

#[test]
fn a_member_cut_at_one_end_alone() {
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
