//! Open vSwitch's balance-slb and balance-tcp: what follows from frames before. The plan itself, the eBPF programs
//! and the packet dataplane do the same, in the same order.

use std::time::{Duration, Instant};

use crate::common::bench::Bench;
use crate::common::flows::flows;
use crate::common::frames::Random;
use crate::common::rigs::{BpfRig, MEMBERS, PacketRig, Way};
use crate::common::{hosts, id, ids, may_run_bpf, plan, stay_on_one_cpu};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::buckets::{BUCKETS, Key};
use nicteam_team::{Action, Buckets, Choose, Loads, MAX_SOURCES, Plan, PlanState, Receive, Time};
use nicteam_testnet::{eventually, is_soak, may_make_networks};
use nicteam_wire::{Frame, Mac};

/// Frames, and changes between them; a soak takes ten times as many.
const STEPS: usize = 2_000;
const FLOWS: usize = 3_000;
/// How much time passes at once: no sum of a few of these is near one, 5 or 300 seconds.
const PAUSES: [u64; 3] = [2, 7, 161];

/// Choosing by buckets; which the plan gives is drawn, and who may send.
fn drawn(generation: u64, random: &mut Random) -> Plan {
    let key = match random.below(3) {
        0 => Key::Source { basis: 0 },
        1 => Key::Source { basis: random.next() as u32 },
        _ => Key::Flow { basis: random.next() as u32 },
    };
    let table = match random.below(3) {
        0 => Box::new([None; BUCKETS]),
        _ => Box::new(std::array::from_fn(|_| (!random.one_in(3)).then(|| id(random.below(MEMBERS))))),
    };
    let mut enabled: Vec<_> = ids(MEMBERS).into_iter().filter(|_| !random.one_in(4)).collect();
    let turned = random.below(enabled.len().max(1));
    enabled.rotate_left(turned);
    let mut plan = plan(generation, Choose::Buckets(Buckets { key, table, enabled }), MEMBERS);
    let active = random.below(MEMBERS);
    if !random.one_in(8) {
        for (place, line) in plan.members.iter_mut().enumerate() {
            line.receive = Receive::DropIfMoved { active: place == active };
        }
    }
    // What it noted counts on.
    Plan { notes_sources: !random.one_in(8), ..plan }
}

/// A frame of a few sources in a few VLANs, gratuitous ARP now and then, or something that is nearly so.
fn of_few(random: &mut Random) -> Vec<u8> {
    let src = [2, 0, 0, 0, 5, random.below(6) as u8];
    let dst = match random.below(4) {
        0 => [2, 0, 0, 0, 6, random.below(3) as u8],
        1 => [1, 0, 0x5e, 0, 0, 1],
        _ => [0xff; 6],
    };
    let tag = random.pick(&[&[][..], &[0x81, 0, 0, 5], &[0x81, 0, 0xe0, 0], &[0x88, 0xa8, 0x30, 5]]);
    let mut arp = vec![8, 6, 0, 1, 8, 0, 6, 4, 0, random.pick(&[1, 1, 2, 3])];
    arp.extend([&src[..], &[10, 0, 0, 1], &[0; 6], &[10, 0, 0, random.pick(&[1, 1, 2])]].concat());
    if random.one_in(6) {
        let place = random.below(10);
        arp[place] ^= 1 << random.below(8);
    }
    let behind = if random.one_in(2) { arp } else { [vec![0x88, 0xb6], vec![0; 40]].concat() };
    let snap = [&[0, 36, 0xaa, 0xaa, 3, 0, 0, 0][..], &behind].concat();
    let behind = if random.one_in(8) { snap } else { behind };
    [&dst[..], &src, tag, &behind, &[0; 20]].concat()
}

#[test]
fn the_programs_choose_and_receive_as_the_plan_does() {
    if !may_run_bpf("the_programs_choose_and_receive_as_the_plan_does") {
        return;
    }
    stay_on_one_cpu();
    let steps = if is_soak() { 10 * STEPS } else { STEPS };
    let (mut rig, mut random) = (BpfRig::new(), Random(20));
    let mut plan = drawn(1, &mut random);
    rig.apply(&plan);
    let (start, mut passed) = (Instant::now(), Duration::ZERO);
    let (mut reflections, mut passes) = (0, 0);
    for step in 0..steps {
        if random.one_in(20) {
            plan = drawn(plan.generation + 1, &mut random);
            rig.apply(&plan);
        }
        if random.one_in(15) {
            let pause = Duration::from_secs(random.pick(&PAUSES));
            rig.dataplane.age_sources(pause).unwrap();
            passed += pause;
        }
        let (bytes, place) = (of_few(&mut random), random.below(MEMBERS));
        let what = || format!("step {step}, member {place}, {bytes:02x?}, {plan:?}");
        rig.state.now = Time::ZERO + passed + start.elapsed();
        let frame = Frame::parse(&bytes).unwrap();
        if random.one_in(2) {
            let expected = plan.choose(&frame, &mut rig.state);
            assert_eq!(rig.send(&bytes, Way::Stack).0, expected, "{}", what());
        } else {
            let expected = plan.receive_once(id(place), &frame, &mut rig.state);
            assert_eq!(rig.receive(place, &bytes), expected, "{}", what());
            let whatever = plan.receive(id(place), &frame);
            reflections += usize::from(whatever != expected);
            passes += usize::from(whatever == expected);
        }
        if step % 50 == 0 {
            let sources = rig.dataplane.sources().unwrap();
            assert_eq!(sorted(sources), rig.state.sources.known(rig.state.now), "{}", what());
            assert_eq!(rig.dataplane.loads().unwrap(), rig.state.loads, "{}", what());
        }
    }
    assert!(reflections > steps / 20 && passes > steps / 20, "{reflections} reflections, {passes} other frames");
    rig.bench.team.stop(rig.dataplane);
}

#[test]
fn flows_have_one_bucket_in_plan_and_program() {
    if !may_run_bpf("flows_have_one_bucket_in_plan_and_program") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    let mut loads = Loads::default();
    for (generation, basis) in [(1, 0), (2, 0x8000_0001)] {
        let choose = |table| Choose::Buckets(Buckets { key: Key::Flow { basis }, table, enabled: ids(MEMBERS) });
        let table = Box::new(std::array::from_fn(|bucket| Some(id(bucket % MEMBERS))));
        let plan = plan(generation, choose(table), MEMBERS);
        rig.apply(&plan);
        for bytes in flows(generation, FLOWS) {
            let expected = plan.choose(&Frame::parse(&bytes).unwrap(), &mut rig.state);
            assert_eq!(rig.send(&bytes, Way::Stack).0, expected, "{bytes:02x?}");
            // All of a frame's bytes stand in its bucket, and nowhere else.
            let now = rig.dataplane.loads().unwrap();
            assert_eq!(now, rig.state.loads, "{bytes:02x?}");
            loads = now;
        }
    }
    assert!(loads.buckets.iter().filter(|bytes| **bytes > 0).count() > BUCKETS * 9 / 10);
    rig.bench.team.stop(rig.dataplane);
}

#[test]
fn packets_choose_as_the_plan_does_from_plan_to_plan() {
    if !may_make_networks() {
        return;
    }
    let mut rig = PacketRig::new();
    let (mut random, mut state) = (Random(21), PlanState::new(0));
    for generation in 1..20 {
        let plan = drawn(generation, &mut random);
        let mut frames: Vec<Vec<u8>> = (0..50).map(|_| of_few(&mut random)).chain(flows(generation, 100)).collect();
        // Each is to be known again at the far end, and passes a cable.
        frames.sort();
        frames.dedup();
        frames.retain(|bytes| bytes.len() > 22);
        let mut planned = state.clone();
        let planned: Vec<Action> =
            frames.iter().map(|bytes| plan.choose(&Frame::parse_untagged(bytes).unwrap(), &mut planned)).collect();
        assert_eq!(rig.actions(&plan, &frames, &mut state), planned, "{plan:?}");
        assert_eq!(rig.dataplane.loads().unwrap(), state.loads);
        assert_eq!(sorted(rig.dataplane.sources().unwrap()), state.sources.known(state.now));
    }
    rig.stop();
}

#[test]
fn ebpf_drops_what_comes_back() {
    if may_run_bpf("ebpf_drops_what_comes_back") {
        drop_what_comes_back(hosts::bpf);
    }
}

#[test]
fn packet_sockets_drop_what_comes_back() {
    if may_make_networks() {
        drop_what_comes_back(hosts::packet);
    }
}

/// Two members on one segment: what one sends to a group, the other one gets, with the kernel's idea of where a tag is.
fn drop_what_comes_back<D: Dataplane + ?Sized>(open: impl FnOnce(&TeamDevice) -> Box<D> + Send) {
    let bench = Bench::new(2);
    let buckets = Buckets { key: Key::Source { basis: 0 }, table: Box::new([None; BUCKETS]), enabled: ids(2) };
    let mut slb = Plan { notes_sources: true, ..plan(1, Choose::Buckets(buckets), 2) };
    for (place, line) in slb.members.iter_mut().enumerate() {
        line.receive = Receive::DropIfMoved { active: place == 0 };
    }
    let dataplane = bench.team.start(open, &slb);
    let frame = |src: u8, tag: &[u8], number: u8| {
        [&[0xff; 6][..], &[2, 0, 0, 0, 5, src], tag, &[0x88, 0xb6], &[number; 46]].concat()
    };
    let (in_five, in_six) = ([0x81, 0, 0, 5], [0x81, 0, 0, 6]);
    for (number, tag) in [(1, &[][..]), (2, &in_five)] {
        assert!(bench.stack.send_frame(&frame(1, tag, number)));
    }
    let known = [(Mac([2, 0, 0, 0, 5, 1]), 0), (Mac([2, 0, 0, 0, 5, 1]), 5)];
    eventually("both are noted", || sorted(dataplane.sources().unwrap()) == known);
    // The first two are reflections, and the second member takes no groups.
    for (number, place, src, tag) in [
        (1, 0, 1, &[][..]),
        (2, 0, 1, &in_five),
        (3, 1, 7, &[]),
        (4, 0, 1, &in_six),
        (5, 0, 7, &[]),
        (6, 0, 7, &in_five),
    ] {
        assert!(bench.far_sockets[place].send_frame(&frame(src, tag, number)));
    }
    let mut came = Vec::new();
    eventually("all that is the team's", || {
        came.extend(numbers(&bench.stack));
        came.contains(&6)
    });
    assert_eq!(came, [4, 5, 6]);
    let drops = || dataplane.counters().unwrap().iter().map(|(_, counters)| counters.rx_drops).collect::<Vec<_>>();
    eventually("the others are counted", || drops() == [2, 1]);
    bench.team.stop(dataplane);
}

#[test]
fn so_many_sources_and_no_more_are_remembered() {
    if !may_run_bpf("so_many_sources_and_no_more_are_remembered") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    rig.apply(&Plan { notes_sources: true, ..plan(1, Choose::One(id(0)), MEMBERS) });
    for number in 0..2 * MAX_SOURCES as u32 {
        let [_, b, c, d] = number.to_be_bytes();
        let bytes = [&[0xff; 6][..], &[2, 0, 0, b, c, d], &[0x88, 0xb6], &[0; 46]].concat();
        assert_eq!(rig.send(&bytes, Way::Stack).0, Action::Send(ids(1).into_iter().collect()));
    }
    let known = rig.dataplane.sources().unwrap();
    assert!((MAX_SOURCES / 2..=MAX_SOURCES).contains(&known.len()), "{}", known.len());
    let [_, b, c, d] = (2 * MAX_SOURCES as u32 - 1).to_be_bytes();
    assert!(known.contains(&(Mac([2, 0, 0, b, c, d]), 0)), "the last one");
    rig.bench.team.stop(rig.dataplane);
}

/// The numbers that stand at the ends of our frames.
fn numbers(socket: &PacketSocket) -> Vec<u8> {
    let mut batch = Batch::new();
    socket.receive(&mut batch).unwrap();
    let ours = batch.frames().filter(|frame| frame.bytes[12..14] == [0x88, 0xb6]);
    ours.map(|frame| frame.bytes[20]).collect()
}

fn sorted(mut sources: Vec<(Mac, u16)>) -> Vec<(Mac, u16)> {
    sources.sort();
    sources
}
