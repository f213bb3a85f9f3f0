//! Long random schedules of faults.
//!
//! Every schedule follows from its seed. A failure prints the command that runs
//! it again. `NICTEAM_SOAK=1` runs a million instead of ten thousand,
//! `NICTEAM_LACP_SEED` one.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use nicteam_simnet::Random;
use nicteam_team::lacp::{AdSelect, LacpConfig, LacpRate};

use crate::lacp::net::{End, Net, Weather, ms, system_mac};
use crate::lacp::world::World;

/// A sample; `make soak` runs them all.
const SCHEDULES: u64 = 3_000;
const SOAK: u64 = 1_000_000;

#[test]
fn every_check_holds_in_every_schedule() {
    if let Some(seed) = std::env::var_os("NICTEAM_LACP_SEED") {
        let seed = seed.to_str().and_then(|seed| seed.parse().ok());
        return schedule(seed.expect("a number in NICTEAM_LACP_SEED"));
    }
    let schedules = if nicteam_testnet::is_soak() { SOAK } else { SCHEDULES };
    std::thread::scope(|scope| {
        // Two halves, for the two processors that every machine has.
        for half in 0..2 {
            scope.spawn(move || (half..schedules).step_by(2).for_each(run));
        }
    });
}

fn run(seed: u64) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| schedule(seed))) {
        eprintln!(
            "again: NICTEAM_LACP_SEED={seed} cargo test -p nicteam-team --test lacp every_check_holds_in_every_schedule"
        );
        resume_unwind(panic);
    }
}

/// Faults, then rest: then every link that can aggregate does.
fn schedule(seed: u64) {
    let mut random = Random::new(seed);
    // One in eight is slow: everything takes thirty times as long.
    let slow = random.percent(12);
    let ports = 1 + random.below(3) as usize;
    let configs = vec![config(0, slow, &mut random), config(1, slow, &mut random)];
    let mut world = World::with_seed(configs, ports, random.number());
    world.net.change_weather(|weather| weather.latency_ms = 1 + random.below(20));
    (0..ports).for_each(|port| world.plug((0, port), (1, port)));
    for _ in 0..2 + random.below(8) {
        fault(&mut world, slow, ports, &mut random);
    }
    heal(&mut world, ports);
    // A passive partner is spoken to each 30 s if it has not been heard.
    let passive = !world.net.lacp(1).config().lacp_active;
    world.run(ms(if slow {
        300_000
    } else if passive {
        45_000
    } else {
        14_000
    }));
    everything_aggregates(&world.net);
}

fn config(system: usize, slow: bool, random: &mut Random) -> LacpConfig {
    let selects = [AdSelect::Stable, AdSelect::Bandwidth, AdSelect::Count, AdSelect::ActorPortPrio];
    LacpConfig {
        ad_actor_sys_prio: [0xffff, 1, 100][random.below(3) as usize],
        // One active end is enough.
        lacp_active: system == 0 || random.percent(70),
        lacp_rate: if slow && random.percent(80) { LacpRate::Slow } else { LacpRate::Fast },
        ad_select: selects[random.below(4) as usize],
        min_links: random.below(3) as u32,
        lacp_strict: random.percent(50),
        coupled_control: random.percent(50),
        aggregate_wait_ms: [0, 200, 2000][random.below(3) as usize],
        wait_to_restore_ms: [0, 0, 1500][random.below(3) as usize],
        ..LacpConfig::new(system_mac(system))
    }
}

fn fault(world: &mut World, slow: bool, ports: usize, random: &mut Random) {
    let end = |random: &mut Random| -> End { (random.below(2) as usize, random.below(ports as u64) as usize) };
    let one = end(random);
    match random.below(17) {
        0 => world.unplug(one),
        1 => world.plug(one, (1 - one.0, random.below(ports as u64) as usize)),
        2 => world.plug(one, end(random)),
        3 => world.cross_unnoticed(one, (one.0, random.below(ports as u64) as usize)),
        4 => world.freeze(one.0),
        5 if world.net.system(one.0).frozen => world.thaw(one.0),
        5 | 6 => world.restart(one.0),
        7 => world.net.change_weather(|weather| weather.loss_percent = random.below(90)),
        8 => world.net.change_weather(|weather| weather.duplicate_percent = random.below(50)),
        9 => world.net.set_receiving(one, false),
        10 => world.set_speed(one, [1000, 10_000][random.below(2) as usize]),
        // Nobody configures a process that does not run.
        11 if !world.net.system(one.0).frozen => world.set_priority(one, [1, 255, 1000][random.below(3) as usize]),
        12 => {
            let new = config(one.0, slow, random);
            if !world.net.system(one.0).frozen {
                world.configure(one.0, |config| *config = new);
            }
        }
        13 if !world.net.system(one.0).frozen => world.succeed(one.0),
        14 | 15 if !world.net.system(one.0).frozen => world.stall(one.0),
        _ => world.net.change_weather(|weather| weather.loss_percent = 0),
    }
    let rest = if random.percent(50) { random.below(60) } else { random.below(5000) };
    world.run(ms(if slow { rest * 20 } else { rest }));
}

/// Ends every fault; cables stay where they are, free ports get one.
fn heal(world: &mut World, ports: usize) {
    world.net.change_weather(|weather| *weather = Weather::default());
    world.net.all_receive();
    for system in 0..2 {
        if world.net.system(system).frozen {
            world.thaw(system);
        }
    }
    for port in 0..ports {
        let looped = world.net.far((0, port)).is_some_and(|far| far.0 == 0);
        let free = |net: &Net| (0..ports).find(|far| net.far((1, *far)).is_none_or(|end| end.0 == 1));
        if (looped || world.net.far((0, port)).is_none())
            && let Some(far) = free(&world.net)
        {
            world.plug((0, port), (1, far));
        }
    }
}

/// Both ends agree on the links that carry traffic, and all that are like them do.
pub fn everything_aggregates(net: &Net) {
    let cables = || net.world.cables().filter(|(near, far)| near.0 == 0 && far.0 == 1);
    let carries = |(near, far): (End, End)| net.distributes(near) && net.distributes(far);
    for (near, far) in cables() {
        let (here, there) = (net.distributes(near), net.distributes(far));
        assert_eq!(here, there, "{near:?}: {:#?}\n{far:?}: {:#?}", net.status(near), net.status(far));
    }
    let keys = |(near, far): (End, End)| (net.status(near).actor.key, net.status(far).actor.key);
    let Some(active) = cables().find(|ends| carries(*ends)).map(keys) else {
        let all: Vec<_> = net.systems().map(|system| system.lacp.ports()).collect();
        assert_eq!(cables().count(), 0, "no link carries: {all:#?}");
        return;
    };
    for (near, far) in cables().filter(|ends| keys(*ends) == active) {
        assert!(carries((near, far)), "{near:?}: {:#?}\n{far:?}: {:#?}", net.status(near), net.status(far));
    }
    for system in 0..2 {
        for port in net.lacp(system).ports() {
            assert_eq!(port.why_not.is_none(), net.distributes((system, port.member.index())), "{port:?}");
        }
    }
}
