//! Faults at random, in virtual time: minutes of them, and hours where all is run (`NICTEAM_SOAK=1`).

use std::time::Duration;

use nicteam_simnet::Random;
use nicteam_team::lacp::LacpRate;
use nicteam_team::replay::{Entry, Recording, Told};
use nicteam_team::{BondOptions, Config, Duplex, LacpMode, MemberLink, Mode};
use nicteam_testnet::is_soak;

use crate::control::pair::Pair;
use crate::control::world::{World, id, link, ms};
use crate::replays::{self, file, first, holds};
use crate::stripe::lan::Lan;

/// A ring that is full soon, bytes.
const SMALL: usize = 48 << 10;

const KEYS: [&str; 3] = ["", "one-key-of-the-test", "another-key-of-the-test"];

/// An hour, or a sample of it.
fn long(sample: Duration) -> Duration {
    if is_soak() { Duration::from_secs(3600) } else { sample }
}

#[test]
fn stripes_course_is_replayed() {
    for (seed, key) in [(1, KEYS[0]), (2, KEYS[1])] {
        let lan = stripe(seed, key, long(Duration::from_secs(15)));
        let plans: u64 = lan.hosts().map(|host| host.team.plan().generation).sum();
        assert!(plans > 100, "{plans} plans in all");
        lan.hosts().for_each(|host| holds(&host.team));
    }
}

/// Four hosts with traffic and faults.
pub fn stripe(seed: u64, key: &str, duration: Duration) -> Lan {
    stripe_within(replays::LIMIT, seed, key, duration)
}

/// The same, each of whose recordings has no more than so many bytes.
fn stripe_within(limit: usize, seed: u64, key: &str, duration: Duration) -> Lan {
    let (mut lan, mut random) = (Lan::new(), Random::new(seed));
    lan.recorded = Some(limit);
    lan.jitter = Duration::from_micros(20);
    for host in 0..4 {
        let members = [4, 2, 3, 1][host];
        lan.add_with_key(&[0, 0, 1, 1][..members], &[1000, 100, 1000, 1000][..members], key);
    }
    let end = lan.now() + duration;
    while lan.now() < end {
        fault(&mut lan, &mut random, key);
        for _ in 0..random.below(40) {
            let (from, to) = (random.below(4) as usize, random.below(4) as usize);
            let reached = from != to && lan.host(from).stripe().is_some() && {
                let mac = lan.host(to).mac;
                !lan.paths_to(from, mac).is_empty()
            };
            if reached {
                lan.traffic(from, to, 1);
            }
            lan.run(Duration::from_millis(1 + random.below(5)));
        }
    }
    lan
}

fn fault(lan: &mut Lan, random: &mut Random, key: &str) {
    let host = random.below(4) as usize;
    let member = random.below(lan.host(host).members.len() as u64) as usize;
    match random.below(12) {
        0 | 1 => lan.plug(host, member, false),
        2..=4 => lan.plug(host, member, true),
        5 => lan.silence(host, member, true),
        6 => lan.silence(host, member, false),
        7 => lan.mute(host, member, random.percent(50)),
        8 => lan.delay(host, member, Duration::from_micros(random.below(3000))),
        9 => {
            lan.stall(host, true);
            lan.run(Duration::from_millis(random.below(500)));
            lan.stall(host, false);
        }
        10 if !key.is_empty() => {
            let (new, old) = (KEYS[1 + random.below(2) as usize], KEYS[random.below(3) as usize]);
            set(lan, host, &[("stripe_key", new), ("stripe_key_old", old)]);
        }
        10 => set(lan, host, &[("stripe_interval", ["5", "20"][random.below(2) as usize])]),
        _ => lan.run(Duration::from_millis(random.below(1500))),
    }
}

fn set(lan: &mut Lan, host: usize, options: &[(&str, &str)]) {
    let now = lan.now();
    let mut config = lan.host(host).team.config().clone();
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    // An old key without a new one is refused, and so is that.
    lan.change(host, |team| drop(team.set_config(config, now)));
}

#[test]
fn stripes_course_is_replayed_from_a_state() {
    let lan = stripe_within(SMALL, 4, KEYS[1], long(Duration::from_secs(30)));
    lan.hosts().for_each(|host| holds(&host.team));
    // One with a single member has less to say.
    let middles = lan.hosts().filter(|host| first(&file(&host.team)) > 0).count();
    for host in lan.hosts() {
        let file = file(&host.team);
        let recording = Recording::read(&file).unwrap();
        let entries: Vec<Entry> = recording.entries().map(Result::unwrap).collect();
        let states = entries.iter().filter(|entry| matches!(entry.told, Told::State(_))).count();
        assert!(entries.len() > 50 * states, "{states} states of {} entries", entries.len());
    }
    assert!(middles >= 1, "{:?}", lan.hosts().map(|host| host.team.recorded()).collect::<Vec<_>>());
}

#[test]
fn every_modes_course_is_replayed() {
    let modes = Mode::ALL.into_iter().filter(|mode| !mode.stripes() && !mode.traits().aggregates(&of(*mode)));
    for (seed, mode) in modes.enumerate() {
        for limit in [replays::LIMIT, SMALL] {
            every_mode(seed as u64, mode, limit);
        }
    }
}

fn every_mode(seed: u64, mode: Mode, limit: usize) {
    let (mut world, mut random) = (World::recorded(of(mode), limit), Random::new(seed));
    let end = world.now() + long(if limit == SMALL { Duration::from_secs(900) } else { Duration::from_secs(60) });
    while world.now() < end {
        step(&mut world, &mut random);
        world.run(ms(random.below(400)));
    }
    holds(&world.team);
    assert!(world.team.plan().generation > 10, "{mode}: {:?}", world.team.plan());
    assert_eq!(first(&file(&world.team)) > 0, limit == SMALL, "{mode}: {:?}", world.team.recorded());
}

fn of(mode: Mode) -> Config {
    Config { mode, miimon_ms: 50, updelay_ms: 100, downdelay_ms: 50, num_grat_arp: 2, ..Config::default() }
}

fn step(world: &mut World, random: &mut Random) {
    let place = random.below(4) as usize;
    let is_there = world.members.contains_key(&id(place));
    let speed_mbps = [None, Some(100), Some(1000)][random.below(3) as usize];
    let any = MemberLink { carrier: random.percent(60), speed_mbps, duplex: Some(Duplex::Full) };
    match random.below(10) {
        joins if world.members.len() < 2 || joins == 0 && world.members.len() < 4 => {
            let name = format!("m{}", world.now().as_nanos());
            world.join(&name, any);
        }
        1 if is_there => world.leave(id(place)),
        2 | 3 if is_there => world.wire(id(place), any.carrier),
        4 | 5 if is_there => world.link(id(place), any),
        6 if is_there => drop(world.activate(id(place))),
        7 => {
            let min_links = random.below(3) as u32;
            let config = Config { min_links, ..world.team.config().clone() };
            drop(world.set(config));
        }
        8 => world.stall(ms(random.below(800))),
        _ => {}
    }
}

#[test]
fn lacps_course_is_replayed() {
    let ad = Config { mode: Mode::Ad, ..of(Mode::Ad) };
    let bond = BondOptions { lacp: LacpMode::Active, ..BondOptions::default() };
    for mode in Mode::ALL.into_iter().filter(|mode| mode.traits().openvswitch || *mode == Mode::Ad) {
        let mut config = Config { mode, bond: bond.clone(), ..Config::default() };
        if mode == Mode::Ad {
            config = ad.clone();
        }
        config.lacp.rate = LacpRate::Fast;
        lacp(config.clone(), replays::LIMIT, long(Duration::from_secs(60)));
        lacp(config, SMALL, long(Duration::from_secs(900)));
    }
}

fn lacp(config: Config, limit: usize, duration: Duration) {
    let (mut pair, mut random) = (Pair::within(limit, [config.clone(), config], 3), Random::new(3));
    let end = pair.world.now() + duration;
    while pair.world.now() < end {
        let (host, member) = (random.below(2) as usize, random.below(3) as usize);
        match random.below(4) {
            0 => pair.tell(host, member, link(false)),
            1 | 2 => pair.tell(host, member, link(true)),
            _ => {}
        }
        pair.run(ms(random.below(3000)));
    }
    assert_eq!(first(&file(&pair.world.node(0).team)) > 0, limit == SMALL, "{:?}", pair.world.node(0).team.recorded());
    // Its end replays it.
}
