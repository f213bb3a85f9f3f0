//! Members that lost their carrier, in a plan that stripes and does not know: what they were to
//! send, what was meant for them, and what the peer hears of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::bench::Bench;
use crate::common::hosts;
use crate::common::striping::{MEMBERS, OWN, PEER, choices, ipv4, own, striping, theirs, with_macs};
use crate::common::{id, may_run_bpf, shows_programs_carrier, stay_on_one_cpu};
use nicteam_dataplane::{BpfDataplane, Dataplane};
use nicteam_sys::packet::Batch;
use nicteam_team::{Choose, Plan, PlanState, Verdict};
use nicteam_testnet::eventually;
use nicteam_wire::{Frame, Hello, HelloKind, Lost, Mac};

#[test]
fn what_a_member_without_carrier_was_to_send_leaves_by_another() {
    let test = "what_a_member_without_carrier_was_to_send_leaves_by_another";
    if !may_run_bpf(test) || !shows_programs_carrier(test) {
        return;
    }
    let mut bench = Bench::new(MEMBERS);
    let mut plan = striping([1000; MEMBERS]);
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    let token = |mac: Mac| u64::from(mac.0[5]) << 56 | 0x0102;
    stripe.senders.iter_mut().for_each(|sender| sender.lost_token = token(sender.mac));
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let mut batch = Batch::new();
    let arrived = |bench: &Bench, batch: &mut Batch| {
        let (mut places, mut lost) = (BTreeMap::<usize, u32>::new(), BTreeSet::new());
        for (place, socket) in bench.far_sockets.iter().enumerate() {
            while socket.receive(batch).is_ok() && batch.frames().next().is_some() {
                for frame in batch.frames() {
                    let frame = Frame::parse(frame.bytes).unwrap();
                    if let Some(word) = Lost::of_frame(&frame) {
                        assert_eq!((frame.src(), frame.dst()), (own(place), theirs(place)));
                        assert_eq!(word.token, token(word.mac));
                        lost.insert(word.mac);
                        continue;
                    }
                    // From the member that sent it, to its like or to whom it was meant for.
                    let dst = if frame.dst() == Mac([2, 7, 7, 7, 7, 7]) { frame.dst() } else { theirs(place) };
                    assert_eq!((frame.src(), frame.dst()), (own(place), dst));
                    *places.entry(place).or_default() += 1;
                }
            }
        }
        (places, lost)
    };
    // Nobody tells the plan, and nobody waits.
    for down in [&[1][..], &[0, 1], &[3, 0, 1]] {
        down.iter().for_each(|place| bench.far.set_up(&format!("f{place}"), false));
        for number in 0..40 {
            assert!(bench.stack.send_frame(&ipv4(PEER, OWN, number)));
            assert!(bench.stack.send_frame(&ipv4(Mac([2, 7, 7, 7, 7, 7]), OWN, number)));
        }
        let (places, lost) = arrived(&bench, &mut batch);
        assert_eq!(places.values().sum::<u32>(), 80, "{down:?} without carrier: {places:?}");
        assert!(places.keys().all(|place| !down.contains(place)), "{down:?} without carrier: {places:?}");
        assert!(lost.contains(&own(down[0])), "{down:?} without carrier, and the peer hears of {lost:?}");
        assert!(lost.iter().all(|mac| down.iter().any(|&place| *mac == own(place))), "the peer hears of {lost:?}");
        assert_eq!(inherited(&bench, down), down.len() * MEMBERS, "{down:?} without carrier");
    }
    [0, 1, 3].iter().for_each(|place| bench.far.set_up(&format!("f{place}"), true));
    eventually("all are used again", || {
        (0..40).for_each(|number| assert!(bench.stack.send_frame(&ipv4(PEER, OWN, number))));
        arrived(&bench, &mut batch).0.len() == MEMBERS
    });
    bench.team.stop(dataplane);
}

/// Floods frames for members that are down to all others, as a switch does that lost their links,
/// a different one for each of the peer's members. So many reach the stack, all of them as the team's.
fn inherited(bench: &Bench, down: &[usize]) -> usize {
    let up: Vec<usize> = (0..MEMBERS).filter(|place| !down.contains(place)).collect();
    let mut batch = Batch::new();
    while bench.stack.receive(&mut batch).is_ok() && batch.frames().next().is_some() {}
    for (number, (&place, theirs)) in
        (1..).zip(down.iter().flat_map(|place| (0..MEMBERS).map(move |of| (place, theirs(of)))))
    {
        let frame = ipv4(own(place), theirs, number);
        up.iter().for_each(|&up| assert!(bench.far_sockets[up].send_frame(&frame)));
    }
    // Behind them by every member.
    let last = |up: usize| ipv4(own(up), theirs(up), 0x8000 | up as u16);
    up.iter().for_each(|&up| assert!(bench.far_sockets[up].send_frame(&last(up))));
    let mut arrived = Vec::new();
    eventually("the last frames reach the stack", || {
        bench.stack.receive(&mut batch).unwrap();
        arrived.extend(batch.frames().map(|frame| frame.bytes.to_vec()));
        up.iter().all(|&up| arrived.contains(&with_macs(&last(up), OWN, PEER)))
    });
    let lasts: Vec<_> = up.iter().map(|&up| with_macs(&last(up), OWN, PEER)).collect();
    arrived.retain(|frame| !lasts.contains(frame));
    assert!(arrived.iter().all(|bytes| Frame::parse(bytes).unwrap().dst() == OWN), "{arrived:?}");
    let count = arrived.len();
    arrived.sort();
    arrived.dedup();
    assert_eq!(arrived.len(), count, "no frame twice");
    count
}

#[test]
fn a_group_frame_goes_once_on_a_segment_whose_neighbour_lost_its_carrier() {
    if !may_run_bpf("a_group_frame_goes_once_on_a_segment_whose_neighbour_lost_its_carrier") {
        return;
    }
    let mut bench = Bench::new(MEMBERS);
    let mut plan = striping([1000; MEMBERS]);
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    stripe.group = [id(0), id(2)].into_iter().collect();
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let group = Mac([1, 0, 0x5e, 0, 0, 9]);
    let mut batch = Batch::new();
    for (down, places) in [(None, &[0, 2][..]), (Some("f0"), &[2])] {
        down.into_iter().for_each(|name| bench.far.set_up(name, false));
        (0..40).for_each(|number| assert!(bench.stack.send_frame(&ipv4(group, OWN, number))));
        let mut arrived = BTreeMap::<usize, u32>::new();
        for (place, socket) in bench.far_sockets.iter().enumerate() {
            while socket.receive(&mut batch).is_ok() && batch.frames().next().is_some() {
                let to_group = batch.frames().filter(|frame| Frame::parse(frame.bytes).unwrap().dst() == group);
                *arrived.entry(place).or_default() += to_group.count() as u32;
            }
        }
        arrived.retain(|_, frames| *frames > 0);
        assert_eq!(arrived, places.iter().map(|place| (*place, 40)).collect(), "without carrier: {down:?}");
    }
    bench.team.stop(dataplane);
}

#[test]
fn what_is_said_of_a_peers_lost_member_holds_for_the_plan_and_the_program() {
    if !may_run_bpf("what_is_said_of_a_peers_lost_member_holds_for_the_plan_and_the_program") {
        return;
    }
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let plan = striping([1000; MEMBERS]);
    let mut dataplane = bench.team.start(hosts::bpf, &plan);
    let mut state = PlanState::new(0);
    let stranger = Mac([2, 7, 7, 7, 7, 7]);
    let hear = |(dst, src, mac), dataplane: &BpfDataplane, state: &mut PlanState| {
        let word = Lost { mac, token: 0 }.frame(dst, src);
        assert_eq!(plan.receive_once(id(0), &Frame::parse(&word).unwrap(), state), Verdict::Drop);
        let run = bench.team.run(|| dataplane.dry_run_ingress(&bench.team.ports[0], &word, 1).unwrap());
        assert_eq!(run.action, 2, "TC_ACT_SHOT");
    };
    // Of no member, to nobody here, from nobody known, and of one that is not his who says it.
    for nothing in [
        (own(0), theirs(0), stranger),
        (own(1), theirs(0), theirs(2)),
        (own(0), stranger, theirs(2)),
        (own(0), theirs(0), own(2)),
        (own(0), theirs(0), Mac([2, 0, 0, 0, 8, 99])),
    ] {
        hear(nothing, &dataplane, &mut state);
    }
    for (who, frames) in
        ["the plan", "the program"].into_iter().zip(choices(&bench, &dataplane, &plan, &mut state, 40, 60))
    {
        assert!(frames.iter().all(|frames| *frames == 10), "{who}: {frames:?}");
    }
    hear((own(0), theirs(0), theirs(2)), &dataplane, &mut state);
    for (who, frames) in
        ["the plan", "the program"].into_iter().zip(choices(&bench, &dataplane, &plan, &mut state, 12, 60))
    {
        assert!(frames[2] == 0 && frames.iter().sum::<i32>() == 12, "{who}: {frames:?}");
    }
    // But not in the next plan, in which another may have its address.
    let next = Plan { generation: 2, ..plan.clone() };
    bench.team.run(|| dataplane.apply(&next).unwrap());
    let chosen = choices(&bench, &dataplane, &next, &mut state, 12, 60);
    for (who, frames) in ["the plan", "the program"].into_iter().zip(chosen) {
        assert!(frames[2] > 0 && frames.iter().sum::<i32>() == 12, "{who}: {frames:?}");
    }
    bench.team.stop(dataplane);
}

/// A probe of ours to the peer's member in this place, by our like one.
fn probe(place: usize, stamp: u64) -> Vec<u8> {
    let hello = Hello {
        kind: HelloKind::Probe,
        system: 7,
        sequence: 0,
        team: OWN,
        place: place as u8,
        stamp,
        next_ms: 0,
        takes_rtags: true,
        rivals: 0,
        members: Vec::new(),
    };
    hello.frame(theirs(place), own(place))
}

#[test]
fn a_report_ends_with_the_first_probe_that_left_after_it_for_the_plan_and_the_program() {
    let test = "a_report_ends_with_the_first_probe_that_left_after_it_for_the_plan_and_the_program";
    if !may_run_bpf(test) || !shows_programs_carrier(test) {
        return;
    }
    stay_on_one_cpu();
    let mut bench = Bench::new(MEMBERS);
    let plan = striping([1000; MEMBERS]);
    let dataplane = bench.team.start(hosts::bpf, &plan);
    let (mut state, mut batch) = (PlanState::new(0), Batch::new());
    let member = bench.team.host.packet_socket(&hosts::member(2));
    let receive = |place: usize, frame: &[u8], state: &mut PlanState| {
        plan.receive_once(id(place), &Frame::parse(frame).unwrap(), state);
        bench.team.run(|| dataplane.dry_run_ingress(&bench.team.ports[place], frame, 1).unwrap());
    };
    let mut leave = |stamp: u64, state: &mut PlanState| {
        let mut frame = probe(2, stamp);
        plan.note_transmitted(&Frame::parse(&frame).unwrap(), state);
        assert!(member.send_frame(&frame));
        eventually("the probe leaves", || {
            bench.far_sockets[2].receive(&mut batch).unwrap();
            batch.frames().any(|arrived| arrived.bytes[30..38] == stamp.to_be_bytes())
        });
        assert!(Hello::reflect(&mut frame));
        frame
    };
    let leaves_lost = |state: &mut PlanState| {
        let chosen = choices(&bench, &dataplane, &plan, state, 12, 60).map(|frames| frames[2] == 0);
        assert_eq!(chosen[0], chosen[1], "the plan, and the program");
        chosen[0]
    };
    let report = Lost { mac: theirs(2), token: 0 }.frame(own(0), theirs(0));
    // What takes longer than a report counts, on a busy machine, says nothing.
    eventually("a round within 50 ms", || {
        state = PlanState::new(0);
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let began = std::time::Instant::now();
        let early = leave(1, &mut state);
        receive(0, &report, &mut state);
        receive(2, &early, &mut state);
        let before = leaves_lost(&mut state);
        let echo = leave(2, &mut state);
        receive(2, &echo, &mut state);
        let after = leaves_lost(&mut state);
        receive(0, &report, &mut state);
        let distrusted = leaves_lost(&mut state);
        let timely = began.elapsed() < std::time::Duration::from_millis(50);
        assert!(!timely || (before && !after && !distrusted), "{before} {after} {distrusted}");
        timely
    });
    bench.team.stop(dataplane);
}

#[test]
fn a_token_is_asked_for_and_counts_once_for_the_plan_and_the_program() {
    if !may_run_bpf("a_token_is_asked_for_and_counts_once_for_the_plan_and_the_program") {
        return;
    }
    stay_on_one_cpu();
    const TOKEN: u64 = 0x0102_0304_0506_0708;
    let bench = Bench::new(MEMBERS);
    let mut plan = striping([1000; MEMBERS]);
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    stripe.peers[0].receivers[2].lost_token = TOKEN;
    let mut dataplane = bench.team.start(hosts::bpf, &plan);
    let mut state = PlanState::new(0);
    let report = |token, plan: &Plan, dataplane: &BpfDataplane, state: &mut PlanState| {
        let word = Lost { mac: theirs(2), token }.frame(own(0), theirs(0));
        plan.receive_once(id(0), &Frame::parse(&word).unwrap(), state);
        bench.team.run(|| dataplane.dry_run_ingress(&bench.team.ports[0], &word, 1).unwrap());
        let chosen = choices(&bench, dataplane, plan, state, 12, 60).map(|frames| frames[2] == 0);
        assert_eq!(chosen[0], chosen[1], "the plan, and the program");
        chosen[0]
    };
    for (token, counts) in [(0, false), (TOKEN + 1, false), (TOKEN, true)] {
        assert_eq!(report(token, &plan, &dataplane, &mut state), counts, "{token:#x}");
    }
    // Somebody who received the report sends it again after the next plan.
    plan.generation += 1;
    bench.team.run(|| dataplane.apply(&plan).unwrap());
    assert!(!report(TOKEN, &plan, &dataplane, &mut state));
    plan.generation += 1;
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    stripe.peers[0].receivers[2].lost_token = TOKEN + 1;
    bench.team.run(|| dataplane.apply(&plan).unwrap());
    assert!(report(TOKEN + 1, &plan, &dataplane, &mut state));
    bench.team.stop(dataplane);
}
