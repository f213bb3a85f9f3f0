//! Frames from members reach the team's stack where the plan says so.

use nicteam_sys::packet::Batch;
use nicteam_team::{Choose, Receive, Verdict};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::{Frame, Mac};

use crate::common::bench::Bench;
use crate::common::frames::{Random, number, numbered};
use crate::common::{counters, hosts, id, plan};

const FRAMES: u32 = 600;

#[test]
fn a_member_delivers_and_a_standby_drops() {
    if !may_make_networks() {
        return;
    }
    let Bench { team, far_sockets, stack, far: _far } = Bench::new(3);
    let mut plan = plan(1, Choose::One(id(0)), 2);
    plan.members[1].receive = Receive::Drop;
    let mut dataplane = team.start(hosts::packet, &plan);
    let mut random = Random(3);
    let (mut batch, mut arrived, mut expected) = (Batch::new(), Vec::new(), Vec::new());
    let mut verdicts: [Vec<Verdict>; 3] = Default::default();
    for sent in 0..FRAMES {
        let mut frame = numbered(sent);
        if random.below(8) == 0 {
            frame[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, random.below(16) as u8]);
        }
        let place = random.below(3);
        let verdict = plan.receive(id(place), &Frame::parse_untagged(&frame).unwrap());
        verdicts[place].push(verdict);
        if verdict == Verdict::ToTeam {
            expected.push(sent);
        }
        assert!(far_sockets[place].send_frame(&frame));
        // One at a time where it matters: members are not in order among each other.
        if verdict == Verdict::ToTeam {
            eventually("the stack gets it", || {
                stack.receive(&mut batch).unwrap();
                arrived.extend(batch.frames().map(|received| number(received.bytes)));
                arrived.len() == expected.len()
            });
        }
    }
    assert_eq!(arrived, expected);
    let how_many = |place: usize, verdict| verdicts[place].iter().filter(|of| **of == verdict).count() as u64;
    // The thread counts what it took when it has passed it on.
    let counted = |place| {
        let counters = counters(&*dataplane, place);
        (counters.rx_frames, counters.rx_drops)
    };
    let dropped = |place| (0, how_many(place, Verdict::Drop));
    eventually("a member delivers, standby and unnamed member drop", || {
        [0, 1, 2].map(counted) == [(expected.len() as u64, 0), dropped(1), dropped(2)]
    });
    assert!((0..3).all(|place| how_many(place, Verdict::ToMember) > 0), "{verdicts:?}");

    team.run(|| dataplane.detach(id(0)).unwrap());
    assert!(dataplane.counters().unwrap().iter().all(|(member, _)| *member != id(0)));
    team.stop(dataplane);
}

/// However soon the plan changes, each frame has what was due when it arrived.
#[test]
fn what_arrived_before_a_change_is_treated_as_it_was() {
    const BURST: u32 = 20;
    const CHANGES: u32 = 50;
    if !may_make_networks() {
        return;
    }
    let Bench { team, far_sockets, stack, far: _far } = Bench::new(2);
    let mut dataplane = team.start(hosts::packet, &plan(1, Choose::One(id(0)), 2));
    let (mut batch, mut arrived, mut expected) = (Batch::new(), Vec::new(), Vec::new());
    for change in 0..CHANGES {
        let (active, standby) = (change as usize % 2, 1 - change as usize % 2);
        let mut plan = plan(u64::from(change) + 2, Choose::One(id(active)), 2);
        plan.members[standby].receive = Receive::Drop;
        dataplane.apply(&plan).unwrap();
        for sent in change * BURST..(change + 1) * BURST {
            expected.push(sent);
            for place in [active, standby] {
                assert!(far_sockets[place].send_frame(&numbered(sent)));
            }
        }
    }
    eventually("the stack gets them", || {
        stack.receive(&mut batch).unwrap();
        arrived.extend(batch.frames().map(|received| number(received.bytes)));
        arrived.len() >= expected.len()
    });
    assert_eq!(arrived, expected);
    team.stop(dataplane);
}

#[test]
fn what_is_sent_to_a_members_own_address_becomes_the_teams() {
    if !may_make_networks() {
        return;
    }
    let Bench { team, far_sockets, stack, far: _far } = Bench::new(2);
    let mut plan = plan(1, Choose::One(id(0)), 2);
    let (own, all) = (Mac([2, 0, 0, 0, 8, 2]), Mac([2, 0, 0, 0, 8, 1]));
    plan.members[1].receive = Receive::Own { own, team: all };
    let dataplane = team.start(hosts::packet, &plan);
    let mut frame = numbered(7);
    for dst in [all, Mac::BROADCAST, own] {
        frame[..6].copy_from_slice(&dst.0);
        assert!(far_sockets[1].send_frame(&frame));
    }
    frame[..6].copy_from_slice(&all.0);
    let (mut batch, mut arrived) = (Batch::new(), Vec::new());
    eventually("the stack gets it", || {
        stack.receive(&mut batch).unwrap();
        arrived.extend(batch.frames().map(|received| received.bytes.to_vec()));
        !arrived.is_empty()
    });
    assert_eq!(arrived, [frame]);
    // The thread counts what it took when it has passed it on.
    eventually("what was dropped is counted", || counters(&*dataplane, 1).rx_drops == 2);
    team.stop(dataplane);
}
