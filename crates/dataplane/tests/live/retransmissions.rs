//! Retransmissions, and acknowledgements for a loss recovery: by which path both dataplanes send them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::common::bench::Bench;
use crate::common::frames::Random;
use crate::common::hosts::{self, bpf, packet};
use crate::common::segments::{Segment, gap, segment};
use crate::common::striping::{MEMBERS, own, striping, theirs, with_macs};
use crate::common::{may_run_bpf, stay_on_one_cpu};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::Batch;
use nicteam_team::{Action, Choose, Plan, PlanState, Stripe, Time};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::Frame;

const PORT: u16 = 40_000;
const ACKNOWLEDGED: u32 = 5000;
/// So long after a gap was reported the peer retransmits (`LOSS_RECOVERY_NS` of machine/src/constants.rs).
const RETRANSMITTING: Duration = Duration::from_millis(20);

fn plan(change: impl Fn(&mut Stripe)) -> Plan {
    let mut plan = striping([1000; MEMBERS]);
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    change(stripe);
    plan
}

fn data(ipv6: bool, port: u16, sequence: u32) -> Vec<u8> {
    segment(&Segment { ipv6, port, sequence, payload: 1000, ..acknowledgement() })
}

/// Of all before this number, and of nothing else.
fn acknowledgement() -> Segment {
    Segment { options: Vec::new(), ..gap(PORT, ACKNOWLEDGED) }
}

/// A frame of the peer's comes by this path.
fn hear(bench: &Bench, place: usize) -> Vec<u8> {
    let frame = with_macs(&segment(&acknowledgement()), own(place), theirs(place));
    let mut batch = Batch::new();
    assert!(bench.far_sockets[place].send_frame(&frame));
    eventually("the team gets it", || {
        bench.stack.receive(&mut batch).unwrap();
        batch.frames().count() > 0
    });
    frame
}

#[test]
fn ebpf_mends_by_the_path_that_brought_something_last() {
    if may_run_bpf("ebpf_mends_by_the_path_that_brought_something_last") {
        mend(bpf);
    }
}

#[test]
fn packet_sockets_mend_by_the_path_that_brought_something_last() {
    if may_make_networks() {
        mend(packet);
    }
}

fn mend<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(open, &plan(|_| ()));
    let mut arrived = Batch::new();
    let mut sent_by = |frame: &[u8]| {
        let mut by = None;
        assert!(bench.stack.send_frame(frame));
        eventually("the frame arrives", || {
            by = (0..MEMBERS).find(|&place| {
                bench.far_sockets[place].receive(&mut arrived).unwrap();
                arrived.frames().any(|found| found.bytes[12..] == frame[12..])
            });
            by.is_some()
        });
        by.unwrap()
    };
    let all: BTreeSet<usize> = (0..MEMBERS).collect();
    for ipv6 in [false, true] {
        let new: BTreeSet<usize> = (0..8).map(|at| sent_by(&data(ipv6, PORT, 1000 + 1000 * at))).collect();
        assert_eq!(new, all, "it is new");
        for place in [2, 0, 3, 1] {
            hear(&bench, place);
            let again: Vec<usize> = (0..8).map(|at| sent_by(&data(ipv6, PORT, 1000 + 1000 * at))).collect();
            assert_eq!(again, [place; 8]);
        }
    }

    // A peer to which a gap was reported gets other short frames by that path as well.
    let told = plan(|stripe| stripe.sack_delay = Duration::from_nanos(1));
    bench.team.run(|| dataplane.apply(&Plan { generation: 2, ..told }).unwrap());
    hear(&bench, 3);
    let by: BTreeSet<usize> = (0..8).map(|_| sent_by(&segment(&acknowledgement()))).collect();
    assert_eq!(by, all);
    let report = segment(&gap(PORT, ACKNOWLEDGED));
    assert!(bench.stack.send_frame(&report)); // without the gap
    for place in [0, 2] {
        hear(&bench, place);
        let mut pairs = 0;
        eventually("eight pairs, each of them in time", || {
            let start = Instant::now();
            let by = [sent_by(&report), sent_by(&segment(&acknowledgement()))];
            // Later the acknowledgement is sent as if no gap had been reported.
            if start.elapsed() < RETRANSMITTING {
                assert_eq!(by, [place; 2]);
                pairs += 1;
            }
            pairs == 8
        });
    }
    bench.team.stop(dataplane);
}

#[test]
fn the_program_sees_what_is_sent_again_as_the_plan_does() {
    /// What is new does not take the path that is heard: it is a longer one.
    const LONG: usize = 2;
    if !may_run_bpf("the_program_sees_what_is_sent_again_as_the_plan_does") {
        return;
    }
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let plan = plan(|stripe| stripe.peers[0].paths[LONG].delay_us = 3000);
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let mut state = PlanState::new(0);
    state.now = Time::ZERO + Duration::from_secs(1);
    let heard = hear(&bench, LONG);
    plan.receive_once(crate::common::id(LONG), &Frame::parse(&heard).unwrap(), &mut state);
    let (mut random, mut newest) = (Random(11), [0_u32.wrapping_sub(200_000); 8]);
    let mut seen = [0; 2];
    for number in 0..5_000 {
        let connection = random.below(newest.len());
        let sequence = newest[connection].wrapping_sub(random.pick(&[0, 0, 0, 0, 1, 500, 1448, 5000]));
        let payload = random.pick(&[0, 73, 74, 500, 1448]);
        let options = if random.one_in(2) { vec![1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8] } else { Vec::new() };
        let (ipv6, port) = (connection % 2 == 1, PORT + connection as u16);
        let mut frame = segment(&Segment { ipv6, port, sequence, options, payload, ..acknowledgement() });
        if random.one_in(20) {
            let place = 14 + random.below(frame.len().min(80) - 14);
            frame[place] = random.below(256) as u8;
        } else if random.one_in(2) {
            newest[connection] = newest[connection].wrapping_add(payload as u32);
        }
        state.now = state.now + Duration::from_millis(1);
        let action = plan.choose(&Frame::parse(&frame).unwrap(), &mut state);
        let Action::Stripe { member, .. } = action else { panic!("{action:?}") };
        let run = bench.team.run(|| dataplane.dry_run_behind(&frame, 1).unwrap());
        let src = Frame::parse(&run.frame).unwrap().src();
        assert_eq!(src == own(LONG), member == crate::common::id(LONG), "frame {number}: {frame:02x?}");
        seen[usize::from(src == own(LONG))] += 1;
    }
    assert!(seen.iter().all(|&seen| seen > 500), "{seen:?}");
    bench.team.stop(dataplane);
}
