//! A plan says what becomes of a frame; the eBPF programs and the packet
//! dataplane do it. The same frames to all three, and the same action from all.
//!
//! `NICTEAM_SOAK=1` gives the packet dataplane every hash policy and table,
//! where otherwise it gets a sample.

use std::collections::VecDeque;
use std::time::Duration;

use crate::common::bench::Bench;
use crate::common::frames::{Random, frames};
use crate::common::{choices, everybody, hosts, id, ids, may_run_bpf, plan, stay_on_one_cpu};
use nicteam_dataplane::{BpfDataplane, Counters, Dataplane};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::{Action, Balance, Choose, Loads, MemberId, MemberSet, Plan, PlanState, Receive, Rewrite, Verdict};
use nicteam_testnet::{Host, eventually, is_soak, may_make_networks};
use nicteam_wire::{Frame, Mac, ethertype};

const MEMBERS: usize = 5;
/// A sample; a soak takes five times as many.
const FRAMES: usize = 2_000;
const SOAK_FRAMES: usize = 10_000;
/// Frames where a few do.
const FEW_FRAMES: usize = 1_000;
/// Frames in flight at once: no buffer on the way is that small.
const WINDOW: usize = 256;
/// Longer than any test.
const LEASE: Duration = Duration::from_secs(3600);
/// Hash policies with a table that the packet dataplane gets.
const SAMPLE: usize = 3;

/// What a classifier answers (`linux/pkt_cls.h`).
const TC_ACT_OK: u32 = 0;
const TC_ACT_SHOT: u32 = 2;
const TC_ACT_REDIRECT: u32 = 7;

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
        state.loads = Loads::default();
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
            2 if number % 3 == 0 => frame[..6].copy_from_slice(&Mac::CISCO_GROUP.0),
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

/// A frame as it is where a team device sends it on behalf of a bridge: its tag beside it.
fn view(bytes: &[u8]) -> Frame<'_> {
    Frame::parse_untagged(bytes).unwrap()
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
    Loads { buckets, other: now.other - before.other }
}

#[track_caller]
fn assert_same(who: &str, plan: &Plan, frames: &[Vec<u8>], planned: &[Action], done: &[Action]) {
    assert_eq!(planned.len(), done.len());
    for ((bytes, planned), done) in frames.iter().zip(planned).zip(done) {
        assert_eq!(planned, done, "{who}, {:?}: {bytes:02x?}", plan.choose);
    }
}

/// How a frame comes to the team device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the stack: a tag among its bytes stays there.
    Stack,
    /// From a bridge's other port: a tag is beside it.
    Bridge,
}

/// The eBPF dataplane, and what it counted so far.
struct BpfRig {
    dataplane: Box<BpfDataplane>,
    bench: Bench,
    /// Sends through the bridge above the team.
    bridge: PacketSocket,
    _outside: Host,
    state: PlanState,
    counted: Vec<Counters>,
    unsent: u64,
}

impl BpfRig {
    fn new() -> BpfRig {
        let mut bench = Bench::new(MEMBERS);
        let (outside, bridge) = bench.team.bridge();
        let dataplane = bench.team.start(hosts::bpf, &plan(1, Choose::Nobody, MEMBERS));
        let counted = dataplane.counters().unwrap().into_iter().map(|(_, counters)| counters).collect();
        let unsent = dataplane.unsent().unwrap();
        BpfRig { dataplane, bench, bridge, _outside: outside, state: PlanState::new(0), counted, unsent }
    }

    /// In the namespace: elsewhere the indexes are other devices'.
    fn apply(&mut self, plan: &Plan) {
        self.bench.team.run(|| self.dataplane.apply(plan).unwrap());
    }

    /// What becomes of frames that a bridge forwards.
    fn actions(&mut self, plan: &Plan, frames: &[Vec<u8>]) -> Vec<Action> {
        self.apply(plan);
        let way = |bytes| if view(bytes).vlan().is_some() { Way::Bridge } else { Way::Stack };
        frames.iter().map(|bytes| self.send(bytes, way(bytes)).0).collect()
    }

    /// What became of a frame, by the counters, and its bytes afterwards; they
    /// are not known of a frame that had to be really sent.
    fn send(&mut self, bytes: &[u8], way: Way) -> (Action, Option<Vec<u8>>) {
        let (run, len) = match way {
            Way::Bridge => {
                assert!(self.bridge.send_frame(bytes));
                (None, bytes.len() - view(bytes).vlan().map_or(0, |_| 4))
            }
            Way::Stack if is_refused(bytes) => {
                // Says no where the program drops it.
                self.bench.stack.send_frame(bytes);
                (None, bytes.len())
            }
            Way::Stack => {
                let dry_run = || self.dataplane.dry_run_egress(bytes, 1).unwrap();
                (Some(self.bench.team.run(dry_run)), bytes.len())
            }
        };
        let mut members = MemberSet::EMPTY;
        let mut dropped = 0;
        let mut punted = run.as_ref().is_some_and(|run| run.action == TC_ACT_OK);
        eventually(&format!("{bytes:02x?} comes out of the bridge"), || {
            for (member, before, now) in self.counted_since() {
                match (now.tx_frames - before.tx_frames, now.tx_bytes - before.tx_bytes) {
                    (0, 0) => {}
                    (1, bytes) if bytes == len as u64 => members.insert(member),
                    other => panic!("{member} counted {other:?} for {len} bytes"),
                }
                assert_eq!(now.tx_drops, before.tx_drops);
            }
            let unsent = self.dataplane.unsent().unwrap();
            dropped += unsent - std::mem::replace(&mut self.unsent, unsent);
            let taken = self.dataplane.take_punted().unwrap();
            taken.iter().for_each(|taken| assert_eq!(taken, bytes, "another frame was punted"));
            punted |= !taken.is_empty();
            punted || dropped > 0 || !members.is_empty()
        });
        let (action, answer, drops) = match punted {
            true => (Action::Punt, TC_ACT_OK, 0),
            false if members.is_empty() => (Action::Drop, TC_ACT_SHOT, 1),
            false => (Action::Send(members), TC_ACT_REDIRECT, 0),
        };
        assert!(!punted || members.is_empty(), "{bytes:02x?} was punted and sent");
        assert_eq!(dropped, drops);
        assert!(run.as_ref().is_none_or(|run| run.action == answer), "{run:?}");
        (action, run.map(|run| run.frame))
    }

    /// What became of a frame that a member received.
    fn receive(&mut self, place: usize, bytes: &[u8]) -> Verdict {
        let port = &self.bench.team.ports[place];
        let run = self.bench.team.run(|| self.dataplane.dry_run_ingress(port, bytes, 1).unwrap());
        let (_, before, now) = self.counted_since()[place];
        let frames = now.rx_frames - before.rx_frames;
        assert_eq!(now.rx_bytes - before.rx_bytes, frames * bytes.len() as u64);
        match (run.action, frames, now.rx_drops - before.rx_drops) {
            (TC_ACT_REDIRECT, 1, 0) if run.frame[..6] != bytes[..6] => {
                assert_eq!(run.frame[6..], bytes[6..]);
                let frame = Frame::parse(&run.frame).unwrap();
                Verdict::ToTeamAs { src: frame.src(), dst: frame.dst() }
            }
            (TC_ACT_REDIRECT, 1, 0) => Verdict::ToTeam,
            (TC_ACT_SHOT, 0, 1) => Verdict::Drop,
            (TC_ACT_OK, 0, 0) => Verdict::ToMember,
            other => panic!("action, frames, drops: {other:?}"),
        }
    }

    /// Each member's counters the last time and now.
    fn counted_since(&mut self) -> Vec<(MemberId, Counters, Counters)> {
        let now = self.dataplane.counters().unwrap();
        let counters = now.iter().map(|(_, counters)| *counters).collect();
        let before = std::mem::replace(&mut self.counted, counters);
        now.into_iter().zip(before).map(|((member, now), before)| (member, before, now)).collect()
    }
}

/// The packet dataplane, and what arrived at the far ends and is not yet accounted for.
struct PacketRig {
    dataplane: Box<dyn Dataplane>,
    bench: Bench,
    arrived: Vec<VecDeque<(Vec<u8>, Option<u16>)>>,
    punted: VecDeque<Vec<u8>>,
    batch: Batch,
}

impl PacketRig {
    fn new() -> PacketRig {
        let bench = Bench::new(MEMBERS);
        let dataplane = bench.team.start(hosts::packet, &plan(1, Choose::Nobody, MEMBERS));
        PacketRig {
            dataplane,
            bench,
            arrived: vec![VecDeque::new(); MEMBERS],
            punted: VecDeque::new(),
            batch: Batch::new(),
        }
    }

    /// What becomes of frames from the stack, by what arrives where. The kernel
    /// takes a tag off where the frame comes out of the team device. The plan
    /// says only how many copies to wait for.
    fn actions(&mut self, plan: &Plan, frames: &[Vec<u8>], state: &mut PlanState) -> Vec<Action> {
        self.dataplane.apply(plan).unwrap();
        let mut actions = Vec::new();
        for window in frames.chunks(WINDOW) {
            let unsent = self.dataplane.unsent().unwrap();
            let copies = |action| if let Action::Send(members) = action { members.iter().count() } else { 0 };
            let actions_of: Vec<Action> = window.iter().map(|bytes| plan.choose(&view(bytes), state)).collect();
            let planned: usize = actions_of.iter().map(|action| copies(*action)).sum();
            let drops = actions_of.iter().filter(|action| **action == Action::Drop).count() as u64;
            let punts = actions_of.iter().filter(|action| **action == Action::Punt).count();
            window.iter().for_each(|bytes| assert!(self.bench.stack.send_frame(bytes)));
            eventually("every frame arrives", || {
                let arrived = self.collect();
                self.punted.extend(self.dataplane.take_punted().unwrap());
                arrived == planned && self.punted.len() == punts && self.dataplane.unsent().unwrap() == unsent + drops
            });
            actions.extend(window.iter().map(|bytes| self.account(bytes)));
            assert!(self.arrived.iter().all(VecDeque::is_empty), "not sent: {:02x?}", self.arrived);
        }
        actions
    }

    /// Takes in what is there; copies that wait.
    fn collect(&mut self) -> usize {
        for (socket, arrived) in self.bench.far_sockets.iter().zip(&mut self.arrived) {
            loop {
                socket.receive(&mut self.batch).unwrap();
                let before = arrived.len();
                arrived.extend(self.batch.frames().map(|frame| (frame.bytes.to_vec(), frame.tag.map(|tag| tag.tci))));
                if arrived.len() == before {
                    break;
                }
            }
        }
        self.arrived.iter().map(VecDeque::len).sum()
    }

    /// The members by which this frame, the next one, arrived.
    fn account(&mut self, bytes: &[u8]) -> Action {
        let tag = view(bytes).vlan().map(|vlan| vlan.tci);
        let mut untagged = bytes.to_vec();
        if tag.is_some() {
            untagged.drain(12..16);
        }
        let mut members = MemberSet::EMPTY;
        for (place, arrived) in self.arrived.iter_mut().enumerate() {
            if arrived.front().is_some_and(|(bytes, its_tag)| (bytes, *its_tag) == (&untagged, tag)) {
                arrived.pop_front();
                members.insert(id(place));
            }
        }
        if self.punted.front().is_some_and(|punted| punted == bytes) {
            assert!(members.is_empty());
            self.punted.pop_front();
            return Action::Punt;
        }
        if members.is_empty() { Action::Drop } else { Action::Send(members) }
    }

    fn stop(self) {
        self.bench.team.stop(self.dataplane);
    }
}

/// True for IP frames whose header is cut off: newer kernels do not run a
/// program on them (`BPF_PROG_TEST_RUN` of Linux 6.18 answers `EINVAL`).
fn is_refused(bytes: &[u8]) -> bool {
    let frame = Frame::parse(bytes).unwrap();
    let header = match frame.ethertype() {
        ethertype::IPV4 => 20,
        ethertype::IPV6 => 40,
        _ => 0,
    };
    frame.payload().len() < header
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
