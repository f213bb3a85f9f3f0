//! Hosts that do not stripe: the plan itself, eBPF and packet sockets send to them by the same members, count the same, and
//! hand the same on of what such hosts report.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::bench::Bench;
use crate::common::flows::flows;
use crate::common::frames::{Random, frames};
use crate::common::hosts::{bpf, packet};
use crate::common::rigs::{BpfRig, PacketRig, view};
use crate::common::segments::{self, segment};
use crate::common::striping::{MEMBERS, OWN, ipv4, own, striping, with_macs};
use crate::common::{id, may_run_bpf, stay_on_one_cpu};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::Batch;
use nicteam_team::hash::hash;
use nicteam_team::stripe::PlainMember;
use nicteam_team::{Action, Choose, HashPolicy, Plan, PlanState, Rewrite, StripePlain, Time, Verdict};
use nicteam_testnet::may_make_networks;
use nicteam_wire::{Frame, GapReport, Mac, Segment};

/// Members whose wires are always free: a frame takes no nanosecond.
const FAST_MBPS: u32 = 100_000_000;
/// Longer than any test.
const NEVER_TOLD: Duration = Duration::from_secs(3600);
/// Both are new, and so are sent to by all members.
const HOSTS: [Mac; 2] = [host(0), host(1)];

const fn host(number: u8) -> Mac {
    Mac([2, 7, 0, 0, 0, number])
}

fn plan(generation: u64, kind: StripePlain, members: &[usize]) -> Plan {
    let mut plan = Plan { generation, ..striping([FAST_MBPS; MEMBERS]) };
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    stripe.peers = Vec::new().into();
    stripe.sack_delay = NEVER_TOLD;
    (stripe.plain.kind, stripe.plain.members) = (kind, members.iter().map(|&place| id(place)).collect());
    plan
}

/// Frames of all kinds, those with a tag too, to a few hosts and some groups.
fn any_frames(seed: u64) -> Vec<Vec<u8>> {
    const OF_EACH: usize = 200;
    let mut random = Random(seed);
    let mut all = [flows(seed, OF_EACH), frames(seed, 2 * OF_EACH)].concat();
    for frame in &mut all {
        // Of any hosts some would share a bucket.
        if random.below(8) > 0 || frame[0] & 1 == 0 {
            frame[..6].copy_from_slice(&host(random.below(16) as u8).0);
        }
    }
    let passes = |bytes: &Vec<u8>| {
        Frame::parse_untagged(bytes)
            .is_ok_and(|frame| frame.vlan().is_none() || frame.payload().len() >= 6 && !frame.dst().is_link_local())
    };
    all.retain(passes);
    // A flow that comes twice keeps its member, if it comes soon: each bucket of flows has one frame to a host.
    let mut seen = BTreeSet::new();
    all.retain(|bytes| {
        let frame = view(bytes);
        let bucket = match Segment::of(&frame) {
            Some(Segment { flow, .. }) => flow.wrapping_mul(0x9e37_79b1) >> 22,
            None => hash(HashPolicy::Layer34, &frame) % 1024,
        };
        seen.insert((frame.dst(), bucket / 2))
    });
    all
}

#[test]
fn all_three_send_to_hosts_by_the_same_member() {
    if !may_make_networks() {
        return;
    }
    let mut packet = PacketRig::new();
    stay_on_one_cpu();
    let mut bpf = may_run_bpf("all_three_send_to_hosts_by_the_same_member, eBPF's part").then(BpfRig::new);
    let mut state = PlanState::new(0);
    state.now = Time::ZERO + Duration::from_secs(1);
    let all: Vec<usize> = (0..MEMBERS).collect();
    let kinds =
        [(StripePlain::Tcp, &all[..]), (StripePlain::All, &[1, 3]), (StripePlain::Off, &all), (StripePlain::All, &[2])];
    for (number, (kind, members)) in kinds.into_iter().enumerate() {
        let mut plan = plan(1 + number as u64, kind, members);
        // Who sent a frame is told by where it arrives.
        plan.members.iter_mut().for_each(|line| line.rewrite = Rewrite::default());
        let frames = any_frames(number as u64);
        let mut before = state.clone();
        let planned: Vec<Action> = frames.iter().map(|bytes| plan.choose(&view(bytes), &mut state)).collect();
        let hosts = state.stripe.take_plain_report(state.now).hosts;
        assert!(hosts.len() >= 12 || kind == StripePlain::Off || members.len() == 1, "{hosts:?}");
        if let Some(rig) = &mut bpf {
            for ((bytes, planned), done) in frames.iter().zip(&planned).zip(rig.actions(&plan, &frames)) {
                assert_eq!(*planned, done, "eBPF, {kind:?} {members:?}: {bytes:02x?}");
            }
        }
        let done = packet.actions(&plan, &frames, &mut before);
        for ((bytes, planned), done) in frames.iter().zip(&planned).zip(done) {
            assert_eq!(*planned, done, "packet, {kind:?} {members:?}: {bytes:02x?}");
        }
    }
    packet.stop();
}

#[test]
fn ebpf_stripes_to_a_host_as_the_plan_does() {
    if may_run_bpf("ebpf_stripes_to_a_host_as_the_plan_does") {
        stripe(bpf);
    }
}

#[test]
fn packet_sockets_stripe_to_a_host_as_the_plan_does() {
    if may_make_networks() {
        stripe(packet);
    }
}

/// Shorter than the pause after which a flow is free to take another member.
const BURST: Duration = Duration::from_millis(3);
/// Shorter than the time for which a host that was striped to reports what comes of that.
const AFTER: Duration = Duration::from_millis(90);
/// Bursts that are compared.
const COMPARED: usize = 12;

/// Both count the frames that choose, and nothing else of what they remember is of earlier connections. So each burst of
/// frames of new ones goes the same ways, if it takes less time than a flow may pause: else it says nothing.
fn stripe<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let mut pair = Pair::new(open);
    let mut random = Random(5);
    let (mut sent, mut told) = (0, [0; 3]);
    for number in 0..1000 {
        let connections = connections(&mut random, number);
        sent += usize::from(pair.compare_sent(&any_sent(&mut random, &connections)));
        pair.compare_received(&any_received(&mut random, &connections), &mut told);
        if sent >= COMPARED && told.iter().all(|&reports| reports >= COMPARED) {
            break;
        }
        // Every flow has paused.
        thread::sleep(Duration::from_millis(6));
    }
    assert!(sent >= COMPARED && told.iter().all(|&reports| reports >= COMPARED), "{sent} bursts, reports {told:?}");
    pair.bench.team.stop(pair.dataplane);
}

/// A connection of ours.
#[derive(Clone, Copy)]
struct Connection {
    ipv6: bool,
    port: u16,
    to: Mac,
    first: u32,
}

/// Payload of its segments, and how many there are in a burst.
const PAYLOAD: usize = 500;
const SEGMENTS: u32 = 6;

impl Connection {
    fn segment(&self, number: u32) -> segments::Segment {
        let sequence = self.first.wrapping_add(number * PAYLOAD as u32);
        let (flags, window, options) = (0x10, 500, Vec::new());
        segments::Segment {
            ipv6: self.ipv6,
            port: self.port,
            sequence,
            ack: 1,
            flags,
            window,
            options,
            payload: PAYLOAD,
        }
    }

    fn sent(&self, of: &segments::Segment) -> Vec<u8> {
        with_macs(&segment(of), self.to, OWN)
    }

    /// As the host sends it to this member of ours.
    fn received(&self, of: &segments::Segment, by: usize) -> Vec<u8> {
        let mut frame = segment(of);
        let ports = if self.ipv6 { 54 } else { 34 };
        frame[ports..ports + 4].rotate_left(2);
        with_macs(&frame, own(by), self.to)
    }
}

fn connections(random: &mut Random, burst: u16) -> Vec<Connection> {
    let connection = |number: u16| Connection {
        ipv6: number % 2 == 1,
        port: 20_000 + 5 * burst + number,
        to: HOSTS[usize::from(number == 4)],
        first: random.pick(&[1000, 0_u32.wrapping_sub(1200), 0x8000_0000]),
    };
    (0..5).map(connection).collect()
}

/// Each segment of each connection, some twice or in part, acknowledgements between them, and datagrams.
fn any_sent(random: &mut Random, connections: &[Connection]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for number in 0..SEGMENTS {
        for connection in connections {
            frames.push(connection.sent(&connection.segment(number)));
            let before = connection.segment(random.below(number as usize + 1) as u32);
            match random.below(6) {
                0 => frames.push(connection.sent(&segments::Segment { ack: 2 + number, ..before })),
                1 => {
                    let sequence = before.sequence.wrapping_add(100);
                    frames.push(connection.sent(&segments::Segment {
                        sequence,
                        ack: 2 + number,
                        payload: PAYLOAD - 100,
                        ..before
                    }));
                }
                2 => frames.push(connection.sent(&segments::Segment { ack: 100 + number, payload: 0, ..before })),
                3 => frames.push(ipv4(connection.to, OWN, connection.port.wrapping_mul(7).wrapping_add(number as u16))),
                _ => {}
            }
        }
    }
    // Each is known by its bytes.
    let mut seen = BTreeSet::new();
    frames.retain(|frame| seen.insert(frame.clone()));
    frames
}

/// What hosts acknowledge: more and more, with something behind a gap, and now and then something else besides.
fn any_received(random: &mut Random, connections: &[Connection]) -> Vec<Vec<u8>> {
    // By one member: what several receive has no order.
    let (by, mut frames) = (random.below(MEMBERS), Vec::new());
    for _ in 0..30 {
        let connection = connections[random.below(connections.len())];
        let ack = connection.segment(random.pick(&[0, 0, 0, 1, 2, SEGMENTS])).sequence;
        let mut options = if random.one_in(2) { vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8] } else { vec![] };
        let blocks = random.pick(&[0, 1, 1, 1, 2]);
        if blocks > 0 {
            options.extend([1, 1, 5, 2 + 8 * blocks]);
        }
        for block in 0..u32::from(blocks) {
            let left = ack.wrapping_add(PAYLOAD as u32 * (1 + 2 * block));
            options.extend([left.to_be_bytes(), left.wrapping_add(PAYLOAD as u32).to_be_bytes()].concat());
        }
        let of = segments::Segment {
            sequence: 1,
            ack,
            flags: random.pick(&[0x10, 0x10, 0x10, 0x10, 0x18, 0x11]),
            window: 500 + u16::from(random.one_in(6)),
            options,
            payload: random.pick(&[0, 0, 0, 10]),
            ..connection.segment(0)
        };
        // A host nobody knows by this connection, at times.
        let stranger = Connection { port: connection.port ^ 0x4000, ..connection };
        let from = if random.one_in(8) { stranger } else { connection };
        frames.push(from.received(&segments::Segment { port: from.port, ..of }, by));
    }
    frames
}

/// A dataplane, and the plan beside it.
struct Pair<D: Dataplane + ?Sized> {
    bench: Bench,
    dataplane: Box<D>,
    plan: Plan,
    state: PlanState,
    batch: Batch,
    /// To tell last frames from one another.
    last: u16,
    started: Instant,
}

impl<D: Dataplane + ?Sized> Pair<D> {
    fn new(open: fn(&TeamDevice) -> Box<D>) -> Pair<D> {
        let bench = Bench::new(MEMBERS);
        let plan = plan(1, StripePlain::Tcp, &[0, 1, 2, 3]);
        let dataplane = bench.team.start(open, &plan);
        let (state, started) = (PlanState::new(0), Instant::now());
        Pair { bench, dataplane, plan, state, batch: Batch::new(), last: 0, started }
    }

    fn pass(&mut self, time: Duration) {
        self.state.now = self.state.now + time;
    }

    /// The plan's time is at least what has passed: both forget at the same time what they remember of a burst that took
    /// longer than it may.
    fn keep_up(&mut self) {
        let passed = Time::ZERO + Duration::from_secs(1) + self.started.elapsed();
        self.state.now = self.state.now.max(passed);
    }

    /// By which member the plan sends it.
    fn choose(&mut self, bytes: &[u8]) -> usize {
        let action = self.plan.choose(&Frame::parse(bytes).unwrap(), &mut self.state);
        let Action::Send(members) = action else { panic!("{action:?}") };
        members.iter().next().unwrap().index()
    }

    /// Where these frames arrive, by what follows their addresses, and how long that took.
    fn send(&mut self, frames: &[Vec<u8>]) -> (BTreeMap<Vec<u8>, usize>, Duration) {
        self.drain();
        let (begun, mut arrived) = (Instant::now(), BTreeMap::new());
        frames.iter().for_each(|frame| assert!(self.bench.stack.send_frame(frame)));
        let sent: BTreeMap<&[u8], &[u8]> = frames.iter().map(|frame| (&frame[12..], &frame[..6])).collect();
        while arrived.len() < frames.len() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{} of {} arrived", arrived.len(), frames.len());
            for (place, socket) in self.bench.far_sockets.iter().enumerate() {
                socket.receive(&mut self.batch).unwrap();
                for frame in self.batch.frames() {
                    let Some(dst) = sent.get(&frame.bytes[12..]) else { continue };
                    assert_eq!(frame.bytes[..12], [dst, &own(place).0[..]].concat(), "by member {place}");
                    arrived.insert(frame.bytes[12..].to_vec(), place);
                }
            }
        }
        (arrived, begun.elapsed())
    }

    fn drain(&mut self) {
        for socket in self.bench.far_sockets.iter().chain([&self.bench.stack]) {
            loop {
                socket.receive(&mut self.batch).unwrap();
                if self.batch.frames().next().is_none() {
                    break;
                }
            }
        }
    }

    /// What members carried, and what of it was sent again: here, and by the plan.
    fn counts(&mut self) -> [Vec<PlainMember>; 2] {
        let now = self.state.now;
        [self.dataplane.plain().unwrap().members, self.state.stripe.take_plain_report(now).members]
    }

    /// True if the burst was quick enough to say something.
    fn compare_sent(&mut self, frames: &[Vec<u8>]) -> bool {
        self.keep_up();
        let before = self.counts();
        let (arrived, took) = self.send(frames);
        let mut planned = BTreeMap::new();
        for frame in frames {
            self.pass(Duration::from_micros(20));
            planned.insert(frame[12..].to_vec(), self.choose(frame));
        }
        if took >= BURST {
            return false;
        }
        for frame in frames {
            assert_eq!(arrived[&frame[12..]], planned[&frame[12..]], "{frame:02x?}");
        }
        let after = self.counts();
        let [done, planned] = [0, 1].map(|who| since(&before[who], &after[who]));
        assert_eq!(done, planned);
        assert!(done.values().any(|(_, resent)| *resent > 0), "{done:?}");
        true
    }

    /// What the team gets of these. Counts the reports that came as they were, without their gap, or not at all.
    fn compare_received(&mut self, frames: &[Vec<u8>], told: &mut [usize; 3]) {
        let recent = |host: usize| {
            let recent =
                Connection { ipv6: false, port: host as u16, to: HOSTS[host], first: u32::from(self.last) * 1000 };
            recent.sent(&recent.segment(0))
        };
        let recent = [0, 1].map(recent);
        self.last += 1;
        self.keep_up();
        let (withheld, begun) = (self.dataplane.withheld().unwrap(), Instant::now());
        self.send(&recent);
        recent.iter().for_each(|frame| _ = self.choose(frame));
        let (mut expected, mut reports) = (Vec::new(), [0; 3]);
        for frame in frames {
            let seen = Frame::parse(frame).unwrap();
            let place = (0..MEMBERS).find(|&place| own(place) == seen.dst()).unwrap();
            assert!(self.bench.far_sockets[place].send_frame(frame));
            let is_report = GapReport::of(&seen).is_some();
            let as_it_is = with_macs(frame, OWN, seen.src());
            match self.plan.receive_once(id(place), &seen, &mut self.state) {
                Verdict::ToTeam | Verdict::ToTeamAs { .. } => {
                    reports[0] += usize::from(is_report);
                    expected.push(as_it_is);
                }
                Verdict::WithoutGap { src, dst, gap } => {
                    assert_eq!((src, dst), (seen.src(), OWN));
                    reports[1] += 1;
                    let mut without = as_it_is;
                    without[14 + gap.at..][..4].copy_from_slice(&gap.without());
                    expected.push(without);
                }
                Verdict::Withhold => reports[2] += 1,
                other => panic!("{other:?}"),
            }
        }
        let arrived = self.receive();
        if begun.elapsed() >= AFTER {
            return;
        }
        expected.sort();
        assert_eq!(arrived, expected);
        assert_eq!(self.dataplane.withheld().unwrap() - withheld, reports[2] as u64);
        told.iter_mut().zip(reports).for_each(|(told, reports)| *told += reports);
    }

    /// What the stack has got when a last frame of each member came.
    fn receive(&mut self) -> Vec<Vec<u8>> {
        let last = ipv4(OWN, HOSTS[1], self.last);
        let (begun, mut arrived, mut missing) = (Instant::now(), Vec::new(), MEMBERS);
        for (place, socket) in self.bench.far_sockets.iter().enumerate() {
            assert!(socket.send_frame(&with_macs(&last, own(place), HOSTS[1])));
        }
        while missing > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "{} arrived", arrived.len());
            self.bench.stack.receive(&mut self.batch).unwrap();
            for frame in self.batch.frames() {
                match frame.bytes == last {
                    true => missing -= 1,
                    false => arrived.push(frame.bytes.to_vec()),
                }
            }
        }
        arrived.sort();
        arrived
    }
}

/// By place: segments sent, and sent again.
fn since(before: &[PlainMember], after: &[PlainMember]) -> BTreeMap<usize, (u64, u64)> {
    let of = |counts: &[PlainMember], place: usize| {
        let member = counts.iter().find(|member| member.id == id(place));
        member.map_or((0, 0), |member| (member.sent, member.resent))
    };
    let difference = |place| {
        let (before, after) = (of(before, place), of(after, place));
        (place, (after.0 - before.0, after.1 - before.1))
    };
    (0..MEMBERS).map(difference).collect()
}
