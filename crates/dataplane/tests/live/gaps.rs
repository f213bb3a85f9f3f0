//! Gaps in what a TCP connection received: what both dataplanes tell a peer of them.

use std::thread;
use std::time::{Duration, Instant};

use crate::common::bench::Bench;
use crate::common::frames::Random;
use crate::common::hosts::{self, bpf, packet};
use crate::common::segments::{Segment, gap, segment};
use crate::common::striping::{MEMBERS, OWN, PEER, ipv4, own, striping, theirs};
use crate::common::{may_run_bpf, stay_on_one_cpu};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::Batch;
use nicteam_team::{Action, Choose, Plan, PlanState, Time};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::{Frame, GapReport};

/// What a classifier answers (`linux/pkt_cls.h`).
const TC_ACT_STOLEN: u32 = 4;
const TC_ACT_REDIRECT: u32 = 7;
/// Longer than any test.
const NEVER_TOLD: Duration = Duration::from_secs(3600);

fn with_delay(generation: u64, sack_delay: Duration) -> Plan {
    let mut plan = Plan { generation, ..striping([1000; MEMBERS]) };
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    stripe.sack_delay = sack_delay;
    plan
}

/// Those of a few connections whose numbers grow, and now and then anything else.
fn any_segment(random: &mut Random, newest: &mut [u32]) -> Vec<u8> {
    let connection = random.below(newest.len());
    newest[connection] = newest[connection].wrapping_add(random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 1_000_000]));
    let ack = match random.below(8) {
        0 => newest[connection].wrapping_sub(500),
        _ => newest[connection],
    };
    let mut options = if random.below(3) > 0 { vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8] } else { vec![] };
    let blocks = random.pick(&[0, 1, 1, 1, 2, 3]);
    if blocks > 0 {
        options.extend([1, 1, 5, 2 + 8 * blocks]);
    }
    let first = ack.wrapping_add(random.pick(&[500, 500, 500, 500, 500, 0, u32::MAX - 700]));
    for block in 0..u32::from(blocks) {
        // Now and then the next one begins before it.
        let left = first.wrapping_add(2000 * block).wrapping_sub(random.pick(&[0, 0, 0, 0, 2000, 2001]));
        options.extend(left.to_be_bytes());
        options.extend(left.wrapping_add(random.pick(&[1000, 1000, 3000])).to_be_bytes());
    }
    let of = Segment {
        ipv6: connection % 2 == 1,
        port: 40_000 + connection as u16,
        sequence: u32::from(random.one_in(10)),
        ack,
        flags: random.pick(&[0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x18, 0x11, 0x12, 0x50]),
        window: 500 + u16::from(random.one_in(6)),
        options,
        payload: random.pick(&[0, 0, 0, 10]),
    };
    let mut frame = segment(&of);
    match random.below(20) {
        // What has no whole IP header the kernel does not run.
        0 => frame.truncate((frame.len() - 1 - random.below(30)).max(54)),
        1 => {
            let place = 14 + random.below(frame.len() - 14);
            frame[place] = random.below(256) as u8;
        }
        _ => {}
    }
    frame
}

#[test]
fn the_program_tells_what_the_plan_does() {
    if !may_run_bpf("the_program_tells_what_the_plan_does") {
        return;
    }
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let plan = with_delay(1, NEVER_TOLD);
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let mut state = PlanState::new(0);
    state.now = Time::ZERO + Duration::from_secs(1);
    let (mut random, mut newest) = (Random(7), [0_u32.wrapping_sub(20_000); 8]);
    let (mut withheld, mut changed, mut as_they_were) = (0, 0, 0);
    for number in 0..5_000 {
        let frame = any_segment(&mut random, &mut newest);
        let seen = Frame::parse(&frame).unwrap();
        let planned = plan.choose(&seen, &mut state);
        let run = bench.team.run(|| dataplane.dry_run_behind(&frame, 1).unwrap());
        let mut expected = frame.clone();
        match planned {
            Action::Withhold => {
                withheld += 1;
                assert_eq!(run.action, TC_ACT_STOLEN, "frame {number}: {frame:02x?}");
                continue;
            }
            Action::Stripe { without: Some(report), .. } => {
                changed += 1;
                expected[14 + report.at..][..4].copy_from_slice(&report.without());
            }
            Action::Stripe { without: None, .. } => as_they_were += usize::from(GapReport::of(&seen).is_some()),
            other => panic!("{other:?}"),
        }
        assert_eq!(run.action, TC_ACT_REDIRECT, "frame {number}: {frame:02x?}");
        assert_eq!(run.frame[12..], expected[12..], "frame {number}: {frame:02x?}");
    }
    assert!(withheld > 200 && changed > 300 && as_they_were > 50, "{withheld}, {changed}, {as_they_were}");
    assert_eq!(dataplane.withheld().unwrap(), withheld);
    bench.team.stop(dataplane);
}

#[test]
fn ebpf_tells_of_a_gap_that_is_old_enough() {
    if may_run_bpf("ebpf_tells_of_a_gap_that_is_old_enough") {
        tell(bpf);
    }
}

#[test]
fn packet_sockets_tell_of_a_gap_that_is_old_enough() {
    if may_make_networks() {
        tell(packet);
    }
}

fn tell<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(open, &with_delay(1, NEVER_TOLD));
    let mut batch = Batch::new();
    // Sent in this order; what has arrived when the last one has.
    let mut arrived_as = |frames: &[Vec<u8>]| {
        let mut arrived: Vec<Vec<u8>> = Vec::new();
        let last = ipv4(PEER, OWN, 999);
        frames.iter().chain([&last]).for_each(|frame| assert!(bench.stack.send_frame(frame)));
        eventually("the last frame arrives", || {
            for socket in &bench.far_sockets {
                socket.receive(&mut batch).unwrap();
                arrived.extend(batch.frames().map(|frame| frame.bytes[12..].to_vec()));
            }
            arrived.contains(&last[12..].to_vec())
        });
        arrived.retain(|bytes| bytes != &last[12..]);
        arrived
    };
    let without = |frame: &[u8]| {
        let report = GapReport::of(&Frame::parse(frame).unwrap()).unwrap();
        let mut frame = frame.to_vec();
        frame[14 + report.at..][..4].copy_from_slice(&report.without());
        frame[12..].to_vec()
    };

    let frame = segment(&gap(40_000, 1000));
    assert_eq!(arrived_as(std::slice::from_ref(&frame)), [without(&frame)]);
    let data = segment(&Segment { payload: 100, ..gap(40_000, 1000) });
    assert_eq!(arrived_as(&[frame.clone(), data.clone(), frame.clone()]), [without(&data)]);
    assert_eq!(dataplane.withheld().unwrap(), 2);

    // The gap is older than what the new plan says, whenever that is in force.
    bench.team.run(|| dataplane.apply(&with_delay(2, Duration::from_nanos(1))).unwrap());
    assert_eq!(arrived_as(&[frame.clone(), frame.clone()]), [&frame[12..], &frame[12..]]);

    // At once, if that is wanted; and where one path leads to the peer, nothing is overtaken.
    bench.team.run(|| dataplane.apply(&with_delay(3, Duration::ZERO)).unwrap());
    let other = segment(&gap(40_001, 1000));
    assert_eq!(arrived_as(std::slice::from_ref(&other)), [&other[12..]]);
    let mut one_path = with_delay(4, NEVER_TOLD);
    let Choose::Stripe(stripe) = &mut one_path.choose else { unreachable!() };
    stripe.peers[0].paths.truncate(1);
    bench.team.run(|| dataplane.apply(&one_path).unwrap());
    assert_eq!(arrived_as(std::slice::from_ref(&other)), [&other[12..]]);

    // Another connection's gap, told when it is old.
    bench.team.run(|| dataplane.apply(&with_delay(5, Duration::from_millis(1))).unwrap());
    assert_eq!(arrived_as(std::slice::from_ref(&other)), [without(&other)]);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(arrived_as(std::slice::from_ref(&other)), [&other[12..]]);
    bench.team.stop(dataplane);
}

#[test]
fn ebpf_tells_sooner_of_a_gap_that_was_overtaken() {
    if may_run_bpf("ebpf_tells_sooner_of_a_gap_that_was_overtaken") {
        tell_sooner(bpf);
    }
}

#[test]
fn packet_sockets_tell_sooner_of_a_gap_that_was_overtaken() {
    if may_make_networks() {
        tell_sooner(packet);
    }
}

fn tell_sooner<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    /// It is told sooner at half of this.
    const DELAY: Duration = Duration::from_secs(1);
    /// For so long a path is one of the connection's, at least.
    const TURN: Duration = Duration::from_millis(20);
    let bench = Bench::new(MEMBERS);
    let dataplane = bench.team.start(open, &with_delay(1, DELAY));
    let mut batch = Batch::new();
    let mut ports = 40_000..;
    for (last, is_told) in [(2000, true), (500, false)] {
        // A machine that is late tries again: what it does not see in time proves nothing.
        let told = (0..20).find_map(|_| {
            let port = ports.next()?;
            let report = segment(&gap(port, 1000));
            let begun = Instant::now();
            assert!(bench.stack.send_frame(&report));
            eventually("the report arrives", || {
                bench.far_sockets.iter().any(|socket| {
                    socket.receive(&mut batch).unwrap();
                    batch.frames().any(|frame| frame.bytes.len() == report.len())
                })
            });
            let came = Instant::now();
            for number in 0..2 * MEMBERS as u32 {
                let place = number as usize % MEMBERS;
                let sequence = if place == MEMBERS - 1 { last } else { 2000 + number };
                assert!(bench.far_sockets[place].send_frame(&data(place, port, sequence)));
            }
            let mut arrived = 0;
            eventually("the segments arrive", || {
                bench.stack.receive(&mut batch).unwrap();
                arrived += batch.frames().count();
                arrived == 2 * MEMBERS
            });
            let in_time = came.elapsed() < TURN;
            // Nothing is to be told because nothing was heard.
            thread::sleep(DELAY / 4);
            assert!(bench.stack.send_frame(&report));
            thread::sleep(DELAY / 4 + Duration::from_millis(50));
            let last = ipv4(PEER, OWN, port);
            assert!(bench.stack.send_frame(&report) && bench.stack.send_frame(&last));
            let (mut told, mut is_over) = (None, false);
            eventually("the last frame arrives", || {
                for socket in &bench.far_sockets {
                    socket.receive(&mut batch).unwrap();
                    for frame in batch.frames() {
                        is_over |= frame.bytes[12..] == last[12..];
                        if frame.bytes.len() == report.len() {
                            told = Some(frame.bytes[12..].to_vec());
                        }
                    }
                }
                is_over
            });
            let in_time = in_time && begun.elapsed() < DELAY;
            in_time.then(|| told.is_some_and(|told| told == report[12..]))
        });
        assert_eq!(told, Some(is_told), "the last path brought number {last}");
    }
    bench.team.stop(dataplane);
}

/// A segment of the peer's to this port, as it comes by a path.
fn data(place: usize, port: u16, sequence: u32) -> Vec<u8> {
    let mut frame = [own(place).0, theirs(place).0].concat();
    frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 0x13, 0x89]);
    frame.extend(port.to_be_bytes());
    frame.extend(sequence.to_be_bytes());
    frame.extend([0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
    frame.resize(500, 7);
    frame
}
