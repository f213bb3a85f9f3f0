//! Frames from the stack leave by the member that the plan chooses.

use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::{Action, Choose, HashPolicy, MemberSet, Plan, PlanState, Rewrite};
use nicteam_wire::{Frame, Mac};

use crate::frames::{self, Random};
use crate::lab::{Lab, counters, eventually, member, plan};

const MEMBERS: usize = 4;
/// Frames in flight at once: no buffer on the way is that small.
const WINDOW: u32 = 64;

#[test]
fn a_hash_chooses_as_the_plan_does() {
    use HashPolicy::{DstMac, Layer2, Layer23, Layer34, SrcDstIp, SrcDstMac, SrcDstPort, SrcMac};
    let Some(lab) = Lab::new(MEMBERS) else { return };
    let mut dataplane = lab.start(&Plan::nobody());
    for policy in [Layer2, Layer23, Layer34, SrcMac, DstMac, SrcDstMac, SrcDstIp, SrcDstPort] {
        let table = [0, 1, 2, 3, 1, 0, 2].map(member).to_vec();
        let plan = plan(MEMBERS, Choose::Hash { policy, table });
        dataplane.apply(&plan).unwrap();
        compare(&lab, &plan, 1300, policy as u64);
    }
    lab.stop(dataplane);
}

#[test]
fn members_take_turns_as_in_the_plan() {
    let Some(lab) = Lab::new(MEMBERS) else { return };
    for packets_per_member in [1, 3] {
        let members = [2, 0, 3, 1].map(member).to_vec();
        let plan = plan(MEMBERS, Choose::RoundRobin { members, packets_per_member, igmp: member(3) });
        let dataplane = lab.start(&plan);
        compare(&lab, &plan, 1300, 77);
        lab.stop(dataplane);
    }
}

#[test]
fn broadcast_sends_a_copy_by_each_with_its_own_addresses() {
    let Some(lab) = Lab::new(MEMBERS) else { return };
    let mut plan = plan(MEMBERS, Choose::All([0, 1, 3].map(member).into_iter().collect()));
    plan.members[1].rewrite = Rewrite { src: Some(Mac([2, 1, 1, 1, 1, 1])), dst: None };
    plan.members[3].rewrite = Rewrite { src: None, dst: Some(Mac([2, 3, 3, 3, 3, 3])) };
    let dataplane = lab.start(&plan);
    compare(&lab, &plan, 500, 5);
    lab.stop(dataplane);
}

#[test]
fn a_frame_without_a_member_is_counted() {
    let Some(lab) = Lab::new(1) else { return };
    let mut dataplane = lab.start(&Plan::nobody());
    let stack = lab.stack();
    let frame = frames::random(&mut Random(1), 0);
    assert!(stack.send_frame(&frame));
    eventually("nobody sends", || dataplane.unsent().unwrap() == 1);
    dataplane.apply(&plan(1, Choose::One(member(5)))).unwrap();
    assert!(stack.send_frame(&frame));
    eventually("the member is not attached", || dataplane.unsent().unwrap() == 2);
    assert_eq!(counters(&*dataplane, 0).tx_frames, 0);
    lab.stop(dataplane);
}

#[test]
fn the_control_side_sends_past_the_plan_and_a_dead_member_drops() {
    let Some(lab) = Lab::new(2) else { return };
    let mut dataplane = lab.start(&Plan::nobody());
    let far = lab.far_sockets();
    let frame = frames::random(&mut Random(2), 7);
    dataplane.transmit(member(1), &frame).unwrap();
    let mut batch = Batch::new();
    eventually("the frame arrives", || {
        far[1].receive(&mut batch).unwrap();
        batch.frames().any(|received| frames::number(received.bytes) == 7)
    });
    let sent = counters(&*dataplane, 1);
    assert_eq!((sent.tx_frames, sent.tx_bytes, sent.tx_drops), (1, frame.len() as u64, 0));
    assert!(dataplane.transmit(member(9), &frame).is_err());

    lab.host.run(|| nicteam_sys::netlink::Netlink::open().unwrap().set_up(100, false).unwrap()).unwrap();
    dataplane.transmit(member(0), &frame).unwrap();
    assert_eq!(counters(&*dataplane, 0).tx_drops, 1);
    lab.stop(dataplane);
}

/// Sends frames on the team device and demands each of them where, and with the
/// addresses with which, the plan has it; and that the counters say the same.
fn compare(lab: &Lab, plan: &Plan, count: u32, seed: u64) {
    let (stack, far) = (lab.stack(), lab.far_sockets());
    let (mut random, mut state) = (Random(seed), PlanState::new(0));
    let mut expected = Vec::new();
    let mut arrived = Arrived { by_member: vec![Vec::new(); MEMBERS], batch: Batch::new() };
    let mut copies = 0;
    for number in 0..count {
        let frame = frames::random(&mut random, number);
        // The kernel takes the tag off where the frame comes out of the team device.
        let view = Frame::parse_untagged(&frame).unwrap();
        let Action::Send(members) = plan.choose(&view, &mut state) else { panic!("{number} is not sent") };
        copies += members.iter().count();
        expected.push((members, view.dst(), view.src(), frame.len() - 4 * usize::from(view.vlan().is_some())));
        assert!(stack.send_frame(&frame), "frame {number}");
        if number % WINDOW == WINDOW - 1 || number + 1 == count {
            eventually("every frame arrives", || arrived.collect(&far) == copies);
        }
    }
    for (place, frames) in arrived.by_member.iter().enumerate() {
        let rewrite = plan.members[place].rewrite;
        let sent = expected.iter().zip(0..).filter(|((members, ..), _)| members.contains(member(place)));
        let expected: Vec<_> = sent
            .map(|(&(_, dst, src, len), number)| (number, rewrite.dst.unwrap_or(dst), rewrite.src.unwrap_or(src), len))
            .collect();
        assert_eq!(*frames, expected, "member {place}");
    }
    let used: MemberSet = expected.iter().flat_map(|(members, ..)| members.iter()).collect();
    assert!(used.iter().count() > 2, "the frames reach only {used:?}");
}

/// What arrived, in its order, by member: number, destination, source, length.
struct Arrived {
    by_member: Vec<Vec<(u32, Mac, Mac, usize)>>,
    batch: Batch,
}

impl Arrived {
    /// Takes in what is there; frames so far.
    fn collect(&mut self, far: &[PacketSocket]) -> usize {
        for (socket, frames) in far.iter().zip(&mut self.by_member) {
            socket.receive(&mut self.batch).unwrap();
            for received in self.batch.frames() {
                let frame = Frame::parse(received.bytes).unwrap();
                frames.push((frames::number(received.bytes), frame.dst(), frame.src(), received.bytes.len()));
            }
        }
        self.by_member.iter().map(Vec::len).sum()
    }
}
