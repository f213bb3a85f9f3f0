//! What the plan writes into frames, what becomes of those it does not send,
//! and the control side's. Which member a frame takes: `differential.rs`.

use nicteam_sys::packet::Batch;
use nicteam_team::{Choose, Plan, Rewrite};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::{Frame, Mac};

use crate::common::bench::Bench;
use crate::common::frames::{number, numbered};
use crate::common::{counters, hosts, id, plan};

#[test]
fn broadcast_sends_a_copy_by_each_with_its_own_addresses() {
    if !may_make_networks() {
        return;
    }
    const FRAMES: u32 = 60;
    let bench = Bench::new(4);
    let senders = [0, 1, 3];
    let mut plan = plan(1, Choose::All(senders.map(id).into_iter().collect()), 4);
    plan.members[1].rewrite = Rewrite { src: Some(Mac([2, 1, 1, 1, 1, 1])), dst: None };
    plan.members[3].rewrite = Rewrite { src: None, dst: Some(Mac([2, 3, 3, 3, 3, 3])) };
    let dataplane = bench.team.start(hosts::packet, &plan);
    (0..FRAMES).for_each(|number| assert!(bench.stack.send_frame(&numbered(number))));
    let (mut batch, original) = (Batch::new(), numbered(0));
    let original = Frame::parse(&original).unwrap();
    for place in senders {
        let mut arrived = Vec::new();
        eventually("every frame arrives", || {
            bench.far_sockets[place].receive(&mut batch).unwrap();
            let frames = batch.frames().map(|received| received.bytes);
            arrived
                .extend(frames.map(|bytes| (number(bytes), Frame::parse(bytes).unwrap().dst(), bytes[6..12].to_vec())));
            arrived.len() >= FRAMES as usize
        });
        let rewrite = plan.members[place].rewrite;
        let (dst, src) = (rewrite.dst.unwrap_or(original.dst()), rewrite.src.unwrap_or(original.src()));
        let expected: Vec<_> = (0..FRAMES).map(|number| (number, dst, src.0.to_vec())).collect();
        assert_eq!(arrived, expected, "member {place}");
    }
    assert_eq!(counters(&*dataplane, 2).tx_frames, 0);
    bench.team.stop(dataplane);
}

#[test]
fn a_frame_without_a_member_is_counted() {
    if !may_make_networks() {
        return;
    }
    let bench = Bench::new(1);
    let mut dataplane = bench.team.start(hosts::packet, &Plan::nobody());
    assert!(bench.stack.send_frame(&numbered(0)));
    eventually("nobody sends", || dataplane.unsent().unwrap() == 1);
    dataplane.apply(&plan(1, Choose::One(id(5)), 1)).unwrap();
    assert!(bench.stack.send_frame(&numbered(1)));
    eventually("the member is not attached", || dataplane.unsent().unwrap() == 2);
    assert_eq!(counters(&*dataplane, 0).tx_frames, 0);
    bench.team.stop(dataplane);
}

#[test]
fn the_control_side_sends_past_the_plan_and_a_dead_member_drops() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new(2);
    let mut dataplane = bench.team.start(hosts::packet, &Plan::nobody());
    let frame = numbered(7);
    dataplane.transmit(id(1), &frame).unwrap();
    let mut batch = Batch::new();
    eventually("the frame arrives", || {
        bench.far_sockets[1].receive(&mut batch).unwrap();
        batch.frames().any(|received| number(received.bytes) == 7)
    });
    let sent = counters(&*dataplane, 1);
    assert_eq!((sent.tx_frames, sent.tx_bytes, sent.tx_drops), (1, frame.len() as u64, 0));
    assert!(dataplane.transmit(id(9), &frame).is_err());

    bench.team.host.set_up("m0", false);
    dataplane.transmit(id(0), &frame).unwrap();
    assert_eq!(counters(&*dataplane, 0).tx_drops, 1);
    bench.team.stop(dataplane);
}
