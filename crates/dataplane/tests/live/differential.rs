//! A plan says what becomes of a frame; the eBPF programs and the packet
//! dataplane do it. The same frames to all three, and the same action from all.
//!
//! `NICTEAM_SOAK=1` gives the packet dataplane every hash policy and table,
//! where otherwise it gets a sample.

use std::time::Duration;

use crate::common::frames::{Random, frames};
use crate::common::rigs::{BpfRig, MEMBERS, PacketRig, Way, is_refused, view};
use crate::common::{choices, everybody, id, ids, may_run_bpf, plan, stay_on_one_cpu};
use nicteam_dataplane::Dataplane;
use nicteam_team::{Action, Balance, Choose, Loads, MemberSet, Plan, PlanState, Receive, Rewrite};
use nicteam_testnet::{is_soak, may_make_networks};
use nicteam_wire::{Frame, Mac};

/// A sample; a soak takes five times as many.
const FRAMES: usize = 2_000;
const SOAK_FRAMES: usize = 10_000;
/// Frames where a few do.
const FEW_FRAMES: usize = 1_000;
/// Longer than any test.
const LEASE: Duration = Duration::from_secs(3600);
/// Hash policies with a table that the packet dataplane gets.
const SAMPLE: usize = 3;

#[test]
fn all_three_choose_alike() {
    if !may_make_networks() {
        return;
    }
    // Before this thread is bound, so that the forwarding thread is not.
    let mut packet = PacketRig::new();
    stay_on_one_cpu();
    let frames = forwardable_frames(1, if is_soak() { SOAK_FRAMES } else { FRAMES });
    let tagged = frames.iter().filter(|bytes| view(bytes).vlan().is_some()).count();
    assert!(tagged > FRAMES / 10, "only {tagged} frames have a tag");
    let mut bpf = may_run_bpf("all_three_choose_alike, eBPF's part").then(BpfRig::new);
    let mut state = PlanState::new(0);
    for (number, (choose, sampled)) in sample().into_iter().enumerate() {
        // A lease that runs makes no difference.
        let lease = (number % 2 == 1).then_some(LEASE);
        let plan = Plan { lease, ..plan(1, choose, MEMBERS) };
        let mut before = state.clone();
        // Who sent a bucket's last frame outlives plans.
        state.loads = Loads { members: state.loads.members, ..Loads::default() };
        let planned: Vec<Action> = frames.iter().map(|bytes| plan.choose(&view(bytes), &mut state)).collect();
        if let Choose::Balance(Balance { punt: Some(_), .. }) = &plan.choose {
            assert!(planned.iter().filter(|action| **action == Action::Punt).count() > FRAMES / 1000);
        }
        if let Some(rig) = &mut bpf {
            let counted = rig.dataplane.loads().unwrap();
            let done = rig.actions(&plan, &frames);
            assert_same("eBPF", &plan, &frames, &planned, &done);
            assert_eq!(since(&rig.dataplane.loads().unwrap(), &counted), state.loads, "eBPF, {:?}", plan.choose);
        }
        if sampled {
            let counted = packet.dataplane.loads().unwrap();
            let done = packet.actions(&plan, &frames, &mut before);
            assert_same("packet", &plan, &frames, &planned, &done);
            assert_eq!(since(&packet.dataplane.loads().unwrap(), &counted), state.loads, "packet, {:?}", plan.choose);
        }
    }
    packet.stop();
}

#[test]
fn a_tag_among_the_bytes_hides_the_rest_from_the_program() {
    if !may_run_bpf("a_tag_among_the_bytes_hides_the_rest_from_the_program") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    let is_tagged = |bytes: &Vec<u8>| Frame::parse_untagged(bytes).is_ok_and(|frame| frame.vlan().is_some());
    let frames: Vec<_> = frames(5, FRAMES).into_iter().filter(is_tagged).take(FEW_FRAMES).collect();
    for choose in choices(MEMBERS) {
        let plan = plan(1, choose, MEMBERS);
        rig.apply(&plan);
        for bytes in &frames {
            let expected = plan.choose(&Frame::parse(bytes).unwrap(), &mut rig.state);
            let (action, frame) = rig.send(bytes, Way::Stack);
            assert_eq!(action, expected, "{:?} {bytes:02x?}", plan.choose);
            assert!(frame.is_none_or(|frame| frame == *bytes));
        }
    }
}

#[test]
fn every_member_gets_its_rewritten_copy() {
    if !may_run_bpf("every_member_gets_its_rewritten_copy") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    let mut plan = plan(1, Choose::All(everybody(MEMBERS)), MEMBERS);
    let own = |member: usize| Some(Mac([2, 7, 7, 7, 7, member as u8]));
    plan.members[1].rewrite = Rewrite { src: own(1), dst: None };
    plan.members[2].rewrite = Rewrite { src: None, dst: own(2) };
    plan.members[4].rewrite = Rewrite { src: own(4), dst: own(4) };
    for choose in [Choose::All(everybody(MEMBERS)), Choose::All(everybody(3)), Choose::One(id(1)), Choose::One(id(3))] {
        plan.choose = choose;
        rig.apply(&plan);
        for bytes in frames(2, FEW_FRAMES) {
            let expected = plan.choose(&Frame::parse(&bytes).unwrap(), &mut rig.state);
            let (action, frame) = rig.send(&bytes, Way::Stack);
            assert_eq!(action, expected);
            let Action::Send(members) = expected else { panic!("{expected:?}") };
            let rewritten = rewritten(&plan, members, &bytes);
            assert!(frame.is_none_or(|frame| frame == rewritten), "{:?} {bytes:02x?}", plan.choose);
        }
    }
}

#[test]
fn at_random_takes_everybody_and_igmp_its_own() {
    if !may_run_bpf("at_random_takes_everybody_and_igmp_its_own") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    let choose = Choose::RoundRobin { members: ids(MEMBERS - 1), packets_per_member: 0, igmp: id(MEMBERS - 1) };
    rig.apply(&plan(1, choose, MEMBERS));
    let mut seen = MemberSet::EMPTY;
    for bytes in frames(3, FEW_FRAMES) {
        let (action, _) = rig.send(&bytes, Way::Stack);
        let Action::Send(members) = action else { panic!("{action:?}") };
        let igmp = nicteam_team::hash::is_igmp(&Frame::parse(&bytes).unwrap());
        assert_eq!(members.contains(id(MEMBERS - 1)), igmp, "{bytes:02x?}");
        members.iter().for_each(|member| seen.insert(member));
    }
    assert_eq!(seen, everybody(MEMBERS));
}

#[test]
fn receiving_is_the_plans() {
    if !may_run_bpf("receiving_is_the_plans") {
        return;
    }
    stay_on_one_cpu();
    let mut rig = BpfRig::new();
    let mut plan = plan(1, Choose::One(id(0)), MEMBERS);
    plan.members[1].receive = Receive::Drop;
    let (own, team) = (Mac([2, 0, 0, 0, 8, 2]), Mac([2, 0, 0, 0, 8, 1]));
    plan.members[2].receive = Receive::Own { own, team };
    plan.members[4].receive = Receive::DeliverAnd { own, team };
    plan.members.remove(3);
    rig.apply(&plan);
    let mut frames = frames(4, 2 * FRAMES);
    for (number, frame) in frames.iter_mut().enumerate() {
        match number % 5 {
            0 => frame[..6].copy_from_slice(&own.0),
            1 => frame[..6].copy_from_slice(&team.0),
            _ => {}
        }
    }
    let whole: Vec<_> = frames.iter().filter(|frame| !is_refused(frame)).take(FRAMES).collect();
    assert_eq!(whole.len(), FRAMES);
    for (place, bytes) in whole.into_iter().enumerate().map(|(n, bytes)| (n % MEMBERS, bytes)) {
        let expected = plan.receive(id(place), &Frame::parse(bytes).unwrap());
        assert_eq!(rig.receive(place, bytes), expected, "member {place} {bytes:02x?}");
    }
}

/// Frames that a bridge forwards. Of a tagged one the kernel wants two bytes
/// behind the EtherType (`skb_vlan_untag`), and six if there is a second tag.
fn forwardable_frames(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let passes = |bytes: &Vec<u8>| {
        Frame::parse_untagged(bytes)
            .is_ok_and(|frame| frame.vlan().is_none() || frame.payload().len() >= 6 && !frame.dst().is_link_local())
    };
    let frames: Vec<_> = frames(seed, 2 * count).into_iter().filter(passes).take(count).collect();
    assert_eq!(frames.len(), count);
    frames
}

/// What to compare, and whether the packet dataplane takes part.
fn sample() -> Vec<(Choose, bool)> {
    let choices: Vec<Choose> =
        choices(MEMBERS).into_iter().chain([Choose::All(everybody(MEMBERS)), Choose::All(everybody(2))]).collect();
    let whole = is_soak();
    let hashes = choices.iter().filter(|choose| matches!(choose, Choose::Hash { .. })).count();
    let (mut random, mut chosen) = (Random(3), Vec::new());
    while chosen.len() < SAMPLE {
        let place = random.below(hashes);
        if !chosen.contains(&place) {
            chosen.push(place);
        }
    }
    let mut number = 0;
    let sampled = |choose: Choose| {
        let is_hash = matches!(choose, Choose::Hash { .. });
        number += usize::from(is_hash);
        (choose, !is_hash || whole || chosen.contains(&(number - 1)))
    };
    choices.into_iter().map(sampled).collect()
}

/// What was counted between two readings.
fn since(now: &Loads, before: &Loads) -> Loads {
    let buckets = std::array::from_fn(|bucket| now.buckets[bucket] - before.buckets[bucket]);
    Loads { buckets, members: now.members, other: now.other - before.other }
}

#[track_caller]
fn assert_same(who: &str, plan: &Plan, frames: &[Vec<u8>], planned: &[Action], done: &[Action]) {
    assert_eq!(planned.len(), done.len());
    for ((bytes, planned), done) in frames.iter().zip(planned).zip(done) {
        assert_eq!(planned, done, "{who}, {:?}: {bytes:02x?}", plan.choose);
    }
}

/// The frame as the last of these members sends it.
fn rewritten(plan: &Plan, members: MemberSet, bytes: &[u8]) -> Vec<u8> {
    let last = members.iter().last().unwrap();
    let rewrite = plan.member(last).unwrap().rewrite;
    let mut frame = bytes.to_vec();
    if let Some(dst) = rewrite.dst {
        frame[..6].copy_from_slice(&dst.0);
    }
    if let Some(src) = rewrite.src {
        frame[6..12].copy_from_slice(&src.0);
    }
    frame
}
