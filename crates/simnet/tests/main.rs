//! Worlds of a few nodes.

use std::time::Duration;

use nicteam_simnet::{Bytes, Host, Node, OneOf, Random, Schedule, Switch, Way, World};
use nicteam_team::{Config, Duplex, MemberId, MemberLink, Mode, Team, Time};
use nicteam_wire::Mac;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Keeps what it hears, and when; wants to be called each so often.
#[derive(Default)]
struct Listener {
    heard: Vec<(Time, usize, Bytes)>,
    called: Vec<Time>,
    every: Option<Duration>,
}

enum Station {
    Listener(Listener),
    Switch(Switch),
}

impl Station {
    fn listener(&self) -> &Listener {
        let Station::Listener(listener) = self else { panic!("no listener") };
        listener
    }
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Listener(listener) => listener,
            Station::Switch(switch) => switch,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Listener(listener) => listener,
            Station::Switch(switch) => switch,
        }
    }
}

impl Node for Listener {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        self.heard.push((now, port, frame.clone()));
    }

    fn handle_timeout(&mut self, now: Time) {
        self.called.push(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let every = self.every?;
        Some(self.called.last().map_or(Time::ZERO, |last| *last + every))
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        None
    }
}

/// A switch (node 0) with so many listeners, each a millisecond away.
fn switched(switch: Switch, listeners: usize) -> World<Station> {
    let mut world = World::new(7);
    world.add(Station::Switch(switch));
    for port in 0..listeners {
        let listener = world.add(Station::Listener(Listener::default()));
        world.connect((listener, 0), (0, port), Way { delay: ms(1), ..Way::default() });
    }
    world
}

/// How many frames each listener has heard.
fn heard(world: &World<Station>) -> Vec<usize> {
    world.nodes().skip(1).map(|station| station.listener().heard.len()).collect()
}

const ONE: Mac = Mac([2, 0, 0, 0, 0, 1]);
const TWO: Mac = Mac([2, 0, 0, 0, 0, 2]);

fn frame(dst: Mac, src: Mac) -> Vec<u8> {
    [&dst.0[..], &src.0, &[0x08, 0x00], &[0; 46]].concat()
}

#[test]
fn a_switch_learns_where_addresses_are() {
    let mut world = switched(Switch::new(3), 3);
    world.send((1, 0), frame(TWO, ONE));
    world.run(ms(2));
    assert_eq!(heard(&world), [0, 1, 1], "nobody knows where it is");
    world.send((2, 0), frame(ONE, TWO));
    world.run(ms(2));
    assert_eq!(heard(&world), [1, 1, 1]);
    world.disconnect((1, 0));
    world.send((2, 0), frame(ONE, TWO));
    world.run(ms(2));
    assert_eq!(heard(&world), [1, 1, 2], "what was learned at a port goes with its carrier");
}

#[test]
fn a_fixed_switch_believes_nobody() {
    let mut switch = Switch::fixed(3);
    switch.assign(ONE, 0);
    let mut world = switched(switch, 3);
    world.send((3, 0), frame(Mac::BROADCAST, ONE));
    world.send((2, 0), frame(ONE, TWO));
    world.run(ms(2));
    assert_eq!(heard(&world), [2, 1, 0]);
}

#[test]
fn frames_of_one_moment_arrive_in_order_and_before_whoever_looks_at_his_clock() {
    let mut world = switched(Switch::new(2), 2);
    world.change(2, |station, _| {
        let Station::Listener(listener) = station else { unreachable!() };
        listener.every = Some(ms(2));
    });
    for number in 0..3_u8 {
        world.send((1, 0), [&frame(TWO, ONE)[..], &[number]].concat());
    }
    while world.node(2).listener().called.len() < 2 {
        world.step().unwrap();
    }
    let listener = world.node(2).listener();
    let last: Vec<Option<&u8>> = listener.heard.iter().map(|(_, _, frame)| frame.last()).collect();
    assert_eq!((last, world.now()), (vec![Some(&0), Some(&1), Some(&2)], Time::from_millis(2)));
}

#[test]
fn a_link_delays_loses_and_repeats_and_the_seed_says_which() {
    let run = |seed| {
        let mut world = World::new(seed);
        let [one, other] = [(); 2].map(|()| world.add(Station::Listener(Listener::default())));
        let way = Way { delay: ms(1), jitter: ms(9), loss_percent: 20, duplicate_percent: 10, blocked: false };
        world.connect((one, 0), (other, 0), way);
        (0..1000).for_each(|_| world.send((one, 0), frame(TWO, ONE)));
        world.run(ms(10));
        world.node(other).listener().heard.iter().map(|(at, ..)| *at).collect::<Vec<_>>()
    };
    let arrived = run(1);
    assert!((820..940).contains(&arrived.len()), "{} arrived", arrived.len());
    assert!(arrived.iter().all(|at| *at >= Time::from_millis(1)));
    assert_eq!(arrived, run(1));
    assert_ne!(arrived, run(2));
}

#[test]
fn nobody_sees_what_a_media_converter_hides() {
    let mut world = switched(Switch::new(4), 2);
    world.cross((1, 0), (2, 0));
    assert_eq!((world.far((1, 0)), world.far((2, 0)), world.far((0, 0))), (Some((0, 1)), Some((0, 0)), Some((2, 0))));
    world.rewire((1, 0), (0, 3));
    assert_eq!((world.far((1, 0)), world.far((0, 1))), (Some((0, 3)), None));
    assert_eq!(world.cables().count(), 4);
    world.link_mut((1, 0)).unwrap().way_mut((1, 0)).blocked = true;
    world.send((1, 0), frame(TWO, ONE));
    world.send((2, 0), frame(ONE, TWO));
    world.run(ms(2));
    assert_eq!(heard(&world), [1, 0]);
}

#[test]
#[should_panic = "time stands still"]
fn a_node_that_stops_time_is_found() {
    let mut world = World::new(0);
    world.add(Station::Listener(Listener { every: Some(Duration::ZERO), ..Listener::default() }));
    world.run(ms(1));
}

#[test]
fn events_of_one_moment_happen_in_their_order() {
    let mut schedule = Schedule::default();
    let at = Time::from_millis;
    [(2, 'b'), (1, 'a'), (2, 'c')].into_iter().for_each(|(ms, event)| schedule.push(at(ms), event));
    let happened: String = std::iter::from_fn(|| schedule.pop()).map(|(_, event)| event).collect();
    assert_eq!((&happened[..], schedule.scheduled()), ("abc", 3));
    let mut random = Random::new(3);
    assert!((0..1000).all(|_| random.up_to(ms(5)) <= ms(5)) && random.up_to(Duration::ZERO) == Duration::ZERO);
}

/// Two links to a switch; the carrier of one goes, and a plan without it is in force.
#[test]
fn a_host_does_what_its_team_wants() {
    let mac = Mac([2, 0, 0, 0, 0, 0xaa]);
    let team = Team::new(Config { mode: Mode::ActiveBackup, ..Config::default() }, mac, Time::ZERO).unwrap();
    let mut world = World::new(0);
    let host = world.add(Host::new(team, mac));
    let partner = world.add(Host::new(Team::new(Config::default(), ONE, Time::ZERO).unwrap(), ONE));
    let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
    for port in 0..2 {
        world.connect((host, port), (partner, port), Way::default());
        world.change(host, |host, now| host.join(&format!("eth{port}"), link, Some(mac), now)).unwrap();
    }
    world.run(ms(1000));
    let chosen = |world: &World<Host>| world.node(host).plan.choose.clone();
    let first = MemberId::new(0).unwrap();
    assert_eq!(chosen(&world), nicteam_team::Choose::One(first));
    world.set_carrier((host, 0), false);
    assert_eq!(chosen(&world), nicteam_team::Choose::One(MemberId::new(1).unwrap()));
    assert!(world.node(host).carrier && !world.node(host).members[&first].link.carrier);
}
