//! Frames that go twice, executed by both dataplanes: which do, by which paths,
//! with which tags, and which of two reaches the stack.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::common::bench::Bench;
use crate::common::frames::Random;
use crate::common::hosts::{self, bpf, packet};
use crate::common::striping::{MEMBERS, OWN, PEER, ipv4, own, striping, theirs};
use crate::common::{id, may_run_bpf, stay_on_one_cpu};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::Batch;
use nicteam_team::{Action, Choose, Leg, Plan, PlanState, Time, Verdict};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::{Frame, Mac, Rtag};

const TC_ACT_SHOT: u32 = 2;
const TC_ACT_REDIRECT: u32 = 7;
/// Type of service of code point 46.
const EXPEDITED: u8 = 0xb8;

/// Paths between members of like place, and these classes.
fn redundant(classes: &str) -> Plan {
    let mut plan = striping([1000; MEMBERS]);
    let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
    stripe.redundant = classes.parse().unwrap();
    plan
}

/// A frame to the peer of this type of service, with a number in it.
fn marked(tos: u8, number: u16) -> Vec<u8> {
    let mut frame = ipv4(PEER, OWN, number);
    frame[15] = tos;
    frame
}

#[test]
fn ebpf_sends_twice() {
    if may_run_bpf("ebpf_sends_twice") {
        send_twice(bpf);
    }
}

#[test]
fn packet_sockets_send_twice() {
    if may_make_networks() {
        send_twice(packet);
    }
}

fn send_twice<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    const FRAMES: u16 = 100;
    let bench = Bench::new(MEMBERS);
    let dataplane = bench.team.start(open, &redundant("dscp:46"));
    let mut batch = Batch::new();
    let frames: Vec<_> =
        (0..FRAMES).map(|number| marked(if number % 2 == 0 { EXPEDITED } else { 0 }, number)).collect();
    frames.iter().for_each(|frame| assert!(bench.stack.send_frame(frame)));
    let (expected, mut arrived) = (usize::from(FRAMES) * 3 / 2, Vec::<(usize, Vec<u8>)>::new());
    eventually("every copy arrives", || {
        for (place, socket) in bench.far_sockets.iter().enumerate() {
            socket.receive(&mut batch).unwrap();
            arrived.extend(batch.frames().map(|frame| (place, frame.bytes.to_vec())));
        }
        arrived.len() >= expected
    });
    assert_eq!(arrived.len(), expected);
    let mut copies = BTreeMap::<u16, Vec<usize>>::new();
    for (place, bytes) in arrived {
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.dst(), frame.src()), (theirs(place), own(place)));
        let tag = Rtag::take(&frame).map(|taken| taken.unwrap());
        let inner = tag.map_or(frame, |(_, inner)| inner);
        let number = u16::from_be_bytes([inner.payload()[20], inner.payload()[21]]);
        assert_eq!(inner.payload(), &frames[usize::from(number)][14..]);
        assert_eq!(tag.map(|(tag, _)| tag.sequence), number.is_multiple_of(2).then_some(number / 2), "frame {number}");
        copies.entry(number).or_default().push(place);
    }
    for (number, places) in copies {
        let twice = matches!(places[..], [one, other] if one != other);
        assert!(twice || number % 2 == 1 && places.len() == 1, "frame {number} by {places:?}");
    }
    assert_eq!(dataplane.stream(PEER).unwrap().sent, u64::from(FRAMES / 2));
    bench.team.stop(dataplane);
}

#[test]
fn the_program_sends_twice_as_the_plan_does() {
    if !may_run_bpf("the_program_sends_twice_as_the_plan_does") {
        return;
    }
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    // So slow that no wire is free again before the test ends.
    let mut plan = striping([1; MEMBERS]);
    let mut dataplane = bench.team.start(hosts::bpf, &plan);
    let (mut state, mut random) = (PlanState::new(0), Random(7));
    for (number, classes) in
        (0..200).map(|number| (number, if number < 60 { "all" } else { "dscp:46,udp:1234,tcp:22" }))
    {
        let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
        if stripe.redundant.to_string() != classes {
            stripe.redundant = classes.parse().unwrap();
            bench.team.run(|| dataplane.apply(&plan).unwrap());
        }
        let frame = marked_frame(&mut random, number);
        let planned = plan.choose(&Frame::parse(&frame).unwrap(), &mut state);
        let run = bench.team.run(|| dataplane.dry_run_behind(&frame, 1).unwrap());
        assert_eq!(run.action, TC_ACT_REDIRECT);
        let done = Frame::parse(&run.frame).unwrap();
        let tag = Rtag::take(&done).map(|taken| taken.unwrap());
        let Action::Redundant { sequence, second, .. } = planned else {
            assert!(tag.is_none(), "frame {number}: {frame:02x?}");
            continue;
        };
        let (tag, inner) = tag.unwrap_or_else(|| panic!("frame {number} went once: {frame:02x?}"));
        assert_eq!((tag.sequence, inner.payload()), (sequence, &frame[14..]));
        let place = (0..MEMBERS).find(|&place| done.src() == own(place)).unwrap();
        // Frames of unlike length take paths by microseconds that the plan knows nothing of.
        if classes == "all" {
            assert_eq!(Some(Leg { member: id(place), src: done.src(), dst: done.dst() }), second, "frame {number}");
        }
    }
    bench.team.stop(dataplane);
}

/// A short IPv4 packet: of one or another class or of none, the first fragment or a later one.
fn marked_frame(random: &mut Random, number: u16) -> Vec<u8> {
    let mut frame = marked([EXPEDITED, 0, 4][random.below(3)], number)[..64].to_vec();
    frame[23] = [6, 17, 1][random.below(3)];
    frame[14] = 0x45 + random.below(2) as u8;
    frame[21] = random.below(2) as u8;
    for at in [34, 36, 38, 40] {
        let port: u16 = [22, 1234, 80][random.below(3)];
        frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
    }
    frame
}

/// Tagged frames in all kinds of order, from the peer and from others, for the
/// team and for others, by every member.
fn tagged_frames(count: usize) -> Vec<(usize, Vec<u8>)> {
    let (mut random, mut newest) = (Random(11), 60_000_u16);
    let mut next = |_| {
        let place = random.below(MEMBERS);
        newest = newest.wrapping_add([0, 1, 1, 2, 700][random.below(5)]);
        let sequence = newest.wrapping_sub([0, 0, 1, 3, 64, 4031, 5000][random.below(7)] as u16);
        let src = if random.below(12) == 0 { Mac([2, 7, 7, 7, 7, 7]) } else { theirs(random.below(MEMBERS)) };
        let dst = if random.below(12) == 0 { own((place + 1) % MEMBERS) } else { own(place) };
        let mut frame = ipv4(dst, src, sequence);
        frame.truncate([1000, 100, 34, 33][random.below(4)]);
        (place, Rtag { sequence }.put(&frame))
    };
    (0..count).map(&mut next).collect()
}

/// Frames of which each comes by two members, and every tenth time a forged one, far ahead: as many as a peer's
/// history once had, and more.
fn attacked_frames(count: u16) -> Vec<(usize, Vec<u8>)> {
    let mut forged = 4000_u16;
    let mut frames = Vec::new();
    for sequence in 0..count {
        if sequence % 10 == 0 {
            frames.push((0, Rtag { sequence: forged }.put(&ipv4(own(0), theirs(3), FORGED))));
            forged = forged.wrapping_add(4001);
        }
        for place in [usize::from(sequence) % MEMBERS, (usize::from(sequence) + 1) % MEMBERS] {
            frames.push((place, Rtag { sequence }.put(&ipv4(own(place), theirs(place), sequence))));
        }
    }
    frames
}

/// The number in forged frames.
const FORGED: u16 = 0xffff;

#[test]
fn forged_numbers_cost_one_frame_each_in_the_plan_and_the_program() {
    if !may_run_bpf("forged_numbers_cost_one_frame_each_in_the_plan_and_the_program") {
        return;
    }
    const FRAMES: u16 = 2000;
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let plan = redundant("off");
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let (mut state, began, mut passed) = (PlanState::new(0), Instant::now(), [0_u16; 2]);
    for (place, bytes) in attacked_frames(FRAMES) {
        state.now = Time::from_millis(1) + began.elapsed();
        let verdict = plan.receive_once(id(place), &Frame::parse(&bytes).unwrap(), &mut state);
        let run = bench.team.run(|| dataplane.dry_run_ingress(&bench.team.ports[place], &bytes, 1).unwrap());
        let is_forged = bytes[12 + Rtag::LEN..] == ipv4(own(0), theirs(3), FORGED)[12..];
        passed[0] += u16::from(!is_forged && delivered(verdict, &bytes).is_some());
        passed[1] += u16::from(!is_forged && run.action == TC_ACT_REDIRECT);
    }
    for passed in passed {
        assert!((FRAMES - FRAMES / 10..=FRAMES).contains(&passed), "{passed} of {FRAMES} frames arrived");
    }
    bench.team.stop(dataplane);
}

/// The frame as the stack gets it; nothing if it does not.
fn delivered(verdict: Verdict, bytes: &[u8]) -> Option<Vec<u8>> {
    let (src, dst, rest) = match verdict {
        Verdict::Untagged { src, dst } => (src, dst, &bytes[12 + Rtag::LEN..]),
        Verdict::ToTeamAs { src, dst } => (src, dst, &bytes[12..]),
        Verdict::ToTeam => return Some(bytes.to_vec()),
        Verdict::Duplicate | Verdict::Drop | Verdict::ToMember | Verdict::Echo => return None,
        Verdict::WithoutGap { .. } | Verdict::Withhold => panic!("{verdict:?} of what says nothing of a gap"),
    };
    Some([&dst.0, &src.0, rest].concat())
}

#[test]
fn the_program_takes_one_of_two_as_the_plan_does() {
    if !may_run_bpf("the_program_takes_one_of_two_as_the_plan_does") {
        return;
    }
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let plan = redundant("off");
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let (mut state, began) = (PlanState::new(0), Instant::now());
    for (number, (place, bytes)) in tagged_frames(3000).into_iter().enumerate() {
        state.now = Time::from_millis(1) + began.elapsed();
        let verdict = plan.receive_once(id(place), &Frame::parse(&bytes).unwrap(), &mut state);
        let run = bench.team.run(|| dataplane.dry_run_ingress(&bench.team.ports[place], &bytes, 1).unwrap());
        let done = match run.action {
            TC_ACT_REDIRECT => Some(run.frame),
            TC_ACT_SHOT => None,
            other => panic!("frame {number}: {other}"),
        };
        assert_eq!(done, delivered(verdict, &bytes), "frame {number}: {verdict:?} {bytes:02x?}");
    }
    assert_eq!(dataplane.stream(PEER).unwrap(), state.streams.counters(PEER));
    bench.team.stop(dataplane);
}

#[test]
fn ebpf_takes_one_of_two() {
    if may_run_bpf("ebpf_takes_one_of_two") {
        take_one_of_two(bpf);
    }
}

#[test]
fn packet_sockets_take_one_of_two() {
    if may_make_networks() {
        take_one_of_two(packet);
    }
}

/// Frame by frame, so that their order is the model's; the last one ends the wait for those that are dropped.
fn take_one_of_two<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    const FRAMES: u16 = 200;
    let bench = Bench::new(MEMBERS);
    let plan = redundant("off");
    let dataplane = bench.team.start(open, &plan);
    let (mut batch, mut arrived) = (Batch::new(), Vec::<Vec<u8>>::new());
    let mut expected = Vec::new();
    for sequence in 0..FRAMES {
        for place in [usize::from(sequence) % MEMBERS, (usize::from(sequence) + 1) % MEMBERS] {
            let frame = ipv4(own(place), theirs(place), sequence);
            assert!(bench.far_sockets[place].send_frame(&Rtag { sequence }.put(&frame)));
        }
        let frame = ipv4(OWN, PEER, sequence);
        expected.push(frame);
        eventually("the frame reaches the stack", || {
            bench.stack.receive(&mut batch).unwrap();
            arrived.extend(batch.frames().map(|frame| frame.bytes.to_vec()));
            arrived.len() >= expected.len()
        });
    }
    eventually("every copy is judged", || dataplane.stream(PEER).unwrap().duplicates == u64::from(FRAMES));
    bench.stack.receive(&mut batch).unwrap();
    assert_eq!(batch.frames().count(), 0, "a second copy reached the stack");
    assert_eq!(arrived, expected);
    assert_eq!(dataplane.stream(PEER).unwrap().passed, u64::from(FRAMES));
    let counters = dataplane.counters().unwrap();
    let received: u64 = counters.iter().map(|(_, counters)| counters.rx_frames).sum();
    assert_eq!((received, counters.iter().map(|(_, of)| of.rx_drops).sum::<u64>()), (2 * u64::from(FRAMES), 0));
    bench.team.stop(dataplane);
}
