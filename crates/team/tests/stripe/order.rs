//! Frames of one flow over wires of unlike rate and delay, and the order in which they arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use nicteam_impair::{Impairments, OneWay, Room};
use nicteam_team::{Action, Choose, Plan, PlanState, Time};
use nicteam_wire::{Frame, Hello, HelloKind, Lost, Mac, Times};

use crate::stripe::lan::{Lan, frame, id};

const FRAME: usize = 1514;
/// Check sequence, preamble and gap.
const WIRE_BYTES: u64 = FRAME as u64 + 24;

/// A member's wire, and the way behind it.
struct Wire {
    rate_mbps: u64,
    free: Duration,
    way: OneWay<u64>,
}

impl Wire {
    fn new(rate_mbps: u32, delay_us: u64) -> Wire {
        let impairments = Impairments { delay: Duration::from_micros(delay_us), ..Impairments::default() };
        let way = OneWay::new(impairments, 1, Room::default()).unwrap();
        Wire { rate_mbps: rate_mbps.into(), free: Duration::ZERO, way }
    }

    /// Puts a frame on the wire behind those that wait for it.
    fn send(&mut self, number: u64, now: Duration) {
        self.free = self.free.max(now) + Duration::from_nanos(WIRE_BYTES * 8000 / self.rate_mbps);
        self.way.handle_frame(self.free, number, FRAME);
    }
}

/// The plan of a host towards another with the same members, and a frame for it.
fn plan(rates_mbps: &[u32], delays_us: &[u16]) -> (Plan, Vec<u8>) {
    let mut lan = Lan::new();
    let segments: Vec<usize> = (0..rates_mbps.len()).collect();
    let (a, b) = (lan.add(&segments, rates_mbps), lan.add(&segments, rates_mbps));
    lan.run(Duration::from_millis(200));
    let mut plan = lan.host(a).plan.clone();
    let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
    for (path, &delay_us) in stripe.peers[0].paths.iter_mut().zip(delays_us) {
        assert_eq!(path.sender, path.receiver);
        path.delay_us = delay_us;
    }
    (plan, frame(lan.host(b).mac, lan.host(a).mac, FRAME))
}

/// Sends `frames` so far apart; what arrives, in order, and how many by each wire.
fn arrivals(
    (plan, bytes): &(Plan, Vec<u8>),
    wires: &mut [Wire],
    frames: u64,
    apart: Duration,
) -> (Vec<u64>, BTreeMap<usize, u64>) {
    let (mut state, mut by_wire) = (PlanState::new(0), BTreeMap::new());
    let start = Duration::from_secs(1);
    for number in 0..frames {
        let now = start + apart * number as u32;
        state.now = Time::from_nanos(now.as_nanos() as u64);
        let action = plan.choose(&Frame::parse(bytes).unwrap(), &mut state);
        let Action::Stripe { member, .. } = action else { panic!("{action:?}") };
        *by_wire.entry(member.index()).or_default() += 1;
        wires[member.index()].send(number, now);
    }
    let mut arrived: Vec<(Duration, u64)> = Vec::new();
    for wire in wires {
        while let Some(output) = wire.way.poll_timeout().and_then(|due| wire.way.poll_output(due)) {
            arrived.push((output.due, output.frame));
        }
    }
    arrived.sort_unstable();
    (arrived.into_iter().map(|(_, number)| number).collect(), by_wire)
}

/// Frames that arrive after one that was sent later.
fn late(arrived: &[u64]) -> usize {
    let mut highest = 0;
    let mut late = 0;
    for &number in arrived {
        late += usize::from(number < highest);
        highest = highest.max(number);
    }
    late
}

const RATES_MBPS: [u32; 4] = [100, 100, 10, 1000];
const DELAYS_US: [u16; 4] = [0, 200, 1000, 5000];

fn wires(rates_mbps: [u32; 4], delays_us: [u16; 4]) -> Vec<Wire> {
    rates_mbps.iter().zip(delays_us).map(|(&rate, delay)| Wire::new(rate, delay.into())).collect()
}

#[test]
fn a_full_queue_arrives_in_order_whatever_rates_and_delays() {
    for (rates, delays) in [
        ([100; 4], [0; 4]),
        (RATES_MBPS, [0; 4]),
        ([100; 4], DELAYS_US),
        (RATES_MBPS, DELAYS_US),
        ([1000, 500, 250, 40], [3000, 0, 700, 60_000]),
    ] {
        let plan = plan(&rates, &delays);
        let (arrived, by_wire) = arrivals(&plan, &mut wires(rates, delays), 600, Duration::ZERO);
        assert_eq!(arrived, (0..600).collect::<Vec<_>>(), "{rates:?} Mbit/s, {delays:?} us");
        let slow = delays.iter().filter(|delay| **delay > 50_000).count();
        assert!(by_wire.len() >= rates.len() - slow, "{by_wire:?}");
    }
}

#[test]
fn a_steady_flow_arrives_in_order() {
    // Under what the quick wires carry, and over it.
    for apart_us in [200, 60, 30] {
        let plan = plan(&[100; 4], &DELAYS_US);
        let mut wires = wires([100; 4], DELAYS_US);
        let (arrived, _) = arrivals(&plan, &mut wires, 600, Duration::from_micros(apart_us));
        assert_eq!(late(&arrived), 0, "a frame each {apart_us} us");
    }
}

#[test]
fn a_team_finds_its_delays() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0, 1, 2, 3], &[100; 4]), lan.add(&[0, 1, 2, 3], &[100; 4]));
    let delay = |lan: &mut Lan, member: usize, delay_us: u16| {
        [a, b].into_iter().for_each(|host| lan.delay(host, member, Duration::from_micros(delay_us.into())));
    };
    (0..4).zip(DELAYS_US).for_each(|(member, delay_us)| delay(&mut lan, member, delay_us));
    let delays = |lan: &Lan| lan.stripe(a).peers[0].paths.iter().map(|path| path.delay_us).collect::<Vec<_>>();
    lan.run(Duration::from_millis(500));
    assert_eq!(delays(&lan), DELAYS_US);
    // A way that becomes longer is believed when it stays so; what differs by less than a fourth stays.
    delay(&mut lan, 0, 2000);
    lan.run(Duration::from_millis(500));
    assert_eq!(delays(&lan), DELAYS_US);
    for _ in 0..44 {
        lan.traffic(a, b, 1);
        lan.run(Duration::from_millis(500));
    }
    assert_eq!(delays(&lan), [1800, 0, 1000, 5000]);
}

#[test]
fn a_longer_way_serves_when_the_shorter_ones_have_queues() {
    let plan = plan(&[100; 4], &DELAYS_US);
    let (_, few) = arrivals(&plan, &mut wires([100; 4], DELAYS_US), 20, Duration::ZERO);
    assert!(!few.contains_key(&3) && few[&0] > few[&2], "{few:?}");
    let (_, many) = arrivals(&plan, &mut wires([100; 4], DELAYS_US), 600, Duration::ZERO);
    assert!(many[&3] > 100, "{many:?}");
}

#[test]
fn without_delays_in_the_plan_they_do_not() {
    let blind = plan(&[100; 4], &[0; 4]);
    let (arrived, _) = arrivals(&blind, &mut wires([100; 4], DELAYS_US), 600, Duration::ZERO);
    assert!(late(&arrived) > 300);
}

/// Hosts whose wires are a little slower than they say, and have queues that nobody knows of.
struct Hidden {
    plan: Plan,
    state: PlanState,
    wires: Vec<Wire>,
    /// A frame to each peer.
    frames: Vec<Vec<u8>>,
    arrived: Vec<(Duration, u64)>,
}

impl Hidden {
    /// One host with four members, `peers` with one or four each, on one segment.
    fn new(peers: usize) -> Hidden {
        let mut lan = Lan::new();
        let rates = [100; 4];
        let own = lan.add(&[0; 4], &rates);
        let members = if peers == 1 { 4 } else { 1 };
        let others: Vec<usize> = (0..peers).map(|_| lan.add(&[0; 4][..members], &rates[..members])).collect();
        lan.run(Duration::from_millis(200));
        others.iter().for_each(|&other| drop(lan.traffic(own, other, 1)));
        lan.run(Duration::from_millis(200));
        let queues_us = [0, 300, 900, 150];
        let wire = |queue_us| {
            let free = Duration::from_secs(1) + Duration::from_micros(queue_us);
            Wire { free, ..Wire::new(99, 0) }
        };
        Hidden {
            plan: lan.host(own).plan.clone(),
            state: PlanState::new(0),
            wires: queues_us.into_iter().map(wire).collect(),
            frames: others.iter().map(|&other| frame(lan.host(other).mac, lan.host(own).mac, FRAME)).collect(),
            arrived: Vec::new(),
        }
    }

    /// Sends frames to all in turn as fast as the wires carry them, with or
    /// without probes; the part of the last half that arrived late, and by how much queues differ in the end.
    fn run(mut self, probes: bool) -> (f64, Duration) {
        const FRAMES: u64 = 20_000;
        let mut probe_at = Duration::ZERO;
        for number in 0..FRAMES {
            let now = Duration::from_secs(1) + Duration::from_nanos(31_072) * number as u32;
            self.state.now = Time::from_nanos(now.as_nanos() as u64);
            if probes && probe_at <= now {
                self.probe(now);
                probe_at = now + Duration::from_millis(5);
            }
            let bytes = &self.frames[number as usize % self.frames.len()];
            let action = self.plan.choose(&Frame::parse(bytes).unwrap(), &mut self.state);
            let Action::Stripe { member, .. } = action else { panic!("{action:?}") };
            let wire = &mut self.wires[member.index()];
            wire.send(number, now);
            self.arrived.push((wire.free, number));
        }
        self.arrived.sort_unstable();
        let last: Vec<u64> = self.arrived.iter().map(|(_, number)| *number).filter(|n| *n > FRAMES / 2).collect();
        let free = self.wires.iter().map(|wire| wire.free);
        let apart = free.clone().max().unwrap() - free.min().unwrap();
        (late(&last) as f64 / last.len() as f64, apart)
    }

    /// A probe by each path, and its echo at once: it says what became of it.
    fn probe(&mut self, now: Duration) {
        let Choose::Stripe(stripe) = &self.plan.choose else { panic!() };
        let paths: Vec<(usize, Mac)> = stripe
            .peers
            .iter()
            .flat_map(|peer| peer.paths.iter().map(|path| (path.sender, peer.receivers[path.receiver].mac)))
            .collect();
        for (place, dst) in paths {
            let due = self.state.stripe.due(stripe, id(place), dst, self.state.now).unwrap();
            // By a clock of its own.
            let arrived = self.wires[place].free.max(now) + Duration::from_secs(3600);
            let mut echo = probe().frame(dst, stripe.senders[place].mac);
            Times::set_due(&mut echo, due);
            assert!(Hello::reflect(&mut echo));
            Times::set_arrived(&mut echo, arrived.as_nanos() as u64);
            self.plan.receive_once(id(place), &Frame::parse(&echo).unwrap(), &mut self.state);
        }
    }
}

fn probe() -> Hello {
    Hello {
        kind: HelloKind::Probe,
        system: 7,
        sequence: 0,
        team: Mac([2, 0, 0, 0, 9, 9]),
        place: 0,
        stamp: 0,
        next_ms: 0,
        takes_rtags: true,
        rivals: 0,
        members: Vec::new(),
    }
}

#[test]
fn probes_show_the_queues_that_the_sender_does_not_see() {
    let (blind, _) = Hidden::new(1).run(false);
    let (late, _) = Hidden::new(1).run(true);
    assert!(blind > 0.2 && late < 0.02, "{blind} without probes, {late} with");
    // A frame takes 124 us. Several peers' probes see the same queues, and do not act as if each were alone.
    for peers in [1, 4] {
        let [(_, blind), (_, apart)] = [false, true].map(|probes| Hidden::new(peers).run(probes));
        assert!(blind > Duration::from_micros(700), "{peers} peers: {blind:?}");
        assert!(apart < Duration::from_micros(250), "{peers} peers: {apart:?}");
    }
}

#[test]
fn a_member_that_is_said_to_be_lost_is_left_for_a_tenth_of_a_second() {
    let (plan, bytes) = plan(&[1000; 4], &[]);
    let Choose::Stripe(stripe) = &plan.choose else { panic!() };
    let (receivers, own) = (&stripe.peers[0].receivers, stripe.senders[0].mac);
    let word = Lost { mac: receivers[2].mac, token: 0 }.frame(own, receivers[0].mac);
    let mut state = PlanState::new(0);
    // Frames that find the wires free.
    let used = |from_ms: u64, ms: u64, state: &mut PlanState| {
        let mut used = BTreeMap::<Mac, u32>::new();
        for at in from_ms..from_ms + ms {
            state.now = Time::from_nanos(at * 1_000_000);
            let action = plan.choose(&Frame::parse(&bytes).unwrap(), state);
            let Action::Stripe { dst, .. } = action else { panic!("{action:?}") };
            *used.entry(dst).or_default() += 1;
        }
        used
    };
    assert_eq!(used(1000, 40, &mut state).len(), 4);
    plan.receive_once(stripe.senders[0].id, &Frame::parse(&word).unwrap(), &mut state);
    let meanwhile = used(1040, 99, &mut state);
    assert!(meanwhile.len() == 3 && !meanwhile.contains_key(&receivers[2].mac), "{meanwhile:?}");
    assert_eq!(used(1140, 40, &mut state).len(), 4, "if nobody says more");

    // And in no other plan.
    state.now = Time::from_nanos(1_180_000_000);
    plan.receive_once(stripe.senders[0].id, &Frame::parse(&word).unwrap(), &mut state);
    let next = Plan { generation: plan.generation + 1, ..plan.clone() };
    let mut by_member = BTreeSet::new();
    for _ in 0..4 {
        let Action::Stripe { dst, .. } = next.choose(&Frame::parse(&bytes).unwrap(), &mut state) else { panic!() };
        by_member.insert(dst);
    }
    assert_eq!(by_member.len(), 4);
}
