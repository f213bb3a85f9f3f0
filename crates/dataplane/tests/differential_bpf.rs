//! The eBPF programs do what the plan says, frame by frame.

mod common;

use common::frames::frames;
use common::{Bench, choices, everybody, id, ids, in_netns, may_run_bpf, plan, silence_ipv6, stay_on_one_cpu};
use nicteam_dataplane::{BpfDataplane, Counters, Dataplane};
use nicteam_sys::packet::PacketSocket;
use nicteam_team::{Action, Choose, MemberId, MemberSet, Plan, PlanState, Receive, Rewrite, Verdict};
use nicteam_wire::{Frame, Mac, ethertype};

const MEMBERS: usize = 5;
const FRAMES: usize = 10_000;
/// Frames where every one is really sent, five times.
const FEW_FRAMES: usize = 1_000;

/// What a classifier answers (`linux/pkt_cls.h`).
const TC_ACT_OK: u32 = 0;
const TC_ACT_SHOT: u32 = 2;
const TC_ACT_REDIRECT: u32 = 7;

#[test]
fn choosing_is_the_plans() {
    if !may_run_bpf("choosing_is_the_plans") {
        return;
    }
    in_netns(|| {
        let mut rig = Rig::new();
        let frames = frames(1, FRAMES);
        for choose in choices(MEMBERS) {
            let plan = rig.apply(choose);
            let mut state = rig.state.clone();
            for bytes in &frames {
                let expected = plan.choose(&Frame::parse(bytes).unwrap(), &mut state);
                let (action, frame) = rig.send(bytes);
                assert_eq!(action, expected, "{:?} {bytes:02x?}", plan.choose);
                assert!(frame.is_none_or(|frame| frame == *bytes));
            }
            rig.state = state;
        }
    });
}

#[test]
fn every_member_gets_its_rewritten_copy() {
    if !may_run_bpf("every_member_gets_its_rewritten_copy") {
        return;
    }
    in_netns(|| {
        let mut rig = Rig::new();
        let mut plan = plan(rig.generation(), Choose::All(everybody(MEMBERS)), MEMBERS);
        let own = |member: usize| Some(Mac([2, 7, 7, 7, 7, member as u8]));
        plan.members[1].rewrite = Rewrite { src: own(1), dst: None };
        plan.members[2].rewrite = Rewrite { src: None, dst: own(2) };
        plan.members[4].rewrite = Rewrite { src: own(4), dst: own(4) };
        for choose in
            [Choose::All(everybody(MEMBERS)), Choose::All(everybody(3)), Choose::One(id(1)), Choose::One(id(3))]
        {
            plan.choose = choose;
            rig.dataplane.apply(&plan).unwrap();
            for bytes in frames(2, FEW_FRAMES) {
                let expected = plan.choose(&Frame::parse(&bytes).unwrap(), &mut rig.state);
                let (action, frame) = rig.send(&bytes);
                assert_eq!(action, expected);
                let Action::Send(members) = expected else { panic!("{expected:?}") };
                let rewritten = rewritten(&plan, members, &bytes);
                assert!(frame.is_none_or(|frame| frame == rewritten), "{:?} {bytes:02x?}", plan.choose);
            }
        }
    });
}

#[test]
fn at_random_takes_everybody_and_igmp_its_own() {
    if !may_run_bpf("at_random_takes_everybody_and_igmp_its_own") {
        return;
    }
    in_netns(|| {
        let mut rig = Rig::new();
        let plan =
            rig.apply(Choose::RoundRobin { members: ids(MEMBERS - 1), packets_per_member: 0, igmp: id(MEMBERS - 1) });
        let mut seen = MemberSet::EMPTY;
        for bytes in frames(3, FEW_FRAMES) {
            let (action, _) = rig.send(&bytes);
            let Action::Send(members) = action else { panic!("{action:?}") };
            let igmp = nicteam_team::hash::is_igmp(&Frame::parse(&bytes).unwrap());
            assert_eq!(members.contains(id(MEMBERS - 1)), igmp, "{bytes:02x?}");
            members.iter().for_each(|member| seen.insert(member));
        }
        assert_eq!(seen, everybody(MEMBERS), "{plan:?}");
    });
}

#[test]
fn receiving_is_the_plans() {
    if !may_run_bpf("receiving_is_the_plans") {
        return;
    }
    in_netns(|| {
        let mut rig = Rig::new();
        let mut plan = plan(rig.generation(), Choose::One(id(0)), MEMBERS);
        plan.members[1].receive = Receive::Drop;
        plan.members.remove(3);
        rig.dataplane.apply(&plan).unwrap();
        let frames = frames(4, 2 * FRAMES);
        let whole: Vec<_> = frames.iter().filter(|frame| !is_refused(frame)).take(FRAMES).collect();
        assert_eq!(whole.len(), FRAMES);
        for (place, bytes) in whole.into_iter().enumerate().map(|(n, bytes)| (n % MEMBERS, bytes)) {
            let expected = plan.receive(id(place), &Frame::parse(bytes).unwrap());
            assert_eq!(rig.receive(place, bytes), expected, "member {place} {bytes:02x?}");
        }
    });
}

/// The dataplane, and what it counted so far.
struct Rig {
    bench: Bench,
    dataplane: BpfDataplane,
    /// Sends by the team device, as the stack does.
    socket: PacketSocket,
    state: PlanState,
    counted: Vec<Counters>,
    unsent: u64,
    generations: u64,
}

impl Rig {
    fn new() -> Rig {
        stay_on_one_cpu();
        silence_ipv6();
        let bench = Bench::new(MEMBERS);
        let mut dataplane = BpfDataplane::open(&bench.team).unwrap();
        bench.ports.iter().for_each(|port| dataplane.attach(port).unwrap());
        // What the devices sent when they came up.
        let counted = dataplane.counters().unwrap().into_iter().map(|(_, counters)| counters).collect();
        let unsent = dataplane.unsent().unwrap();
        let socket = PacketSocket::open(bench.team.index).unwrap();
        Rig { bench, dataplane, socket, state: PlanState::new(0), counted, unsent, generations: 0 }
    }

    fn generation(&mut self) -> u64 {
        self.generations += 1;
        self.generations
    }

    fn apply(&mut self, choose: Choose) -> Plan {
        let plan = plan(self.generation(), choose, MEMBERS);
        self.dataplane.apply(&plan).unwrap();
        plan
    }

    /// What became of a frame from the stack, by the counters, and its bytes
    /// afterwards; they are not known of a frame that had to be really sent.
    fn send(&mut self, bytes: &[u8]) -> (Action, Option<Vec<u8>>) {
        let run = if is_refused(bytes) {
            self.socket.send_frame(bytes);
            None
        } else {
            Some(self.dataplane.dry_run_egress(bytes, 1).unwrap())
        };
        let len = bytes.len() as u64;
        let mut members = MemberSet::EMPTY;
        for (member, before, now) in self.counted_since() {
            match (now.tx_frames - before.tx_frames, now.tx_bytes - before.tx_bytes) {
                (0, 0) => {}
                (1, bytes) if bytes == len => members.insert(member),
                other => panic!("{member} counted {other:?} for {len} bytes"),
            }
            assert_eq!(now.tx_drops, before.tx_drops);
        }
        let unsent = self.dataplane.unsent().unwrap();
        let dropped = unsent - std::mem::replace(&mut self.unsent, unsent);
        let action = if members.is_empty() { Action::Drop } else { Action::Send(members) };
        let (answer, drops) = if action == Action::Drop { (TC_ACT_SHOT, 1) } else { (TC_ACT_REDIRECT, 0) };
        assert_eq!(dropped, drops);
        assert!(run.as_ref().is_none_or(|run| run.action == answer), "{run:?}");
        (action, run.map(|run| run.frame))
    }

    /// What became of a frame that a member received.
    fn receive(&mut self, place: usize, bytes: &[u8]) -> Verdict {
        let run = self.dataplane.dry_run_ingress(&self.bench.ports[place], bytes, 1).unwrap();
        let (_, before, now) = self.counted_since()[place];
        let frames = now.rx_frames - before.rx_frames;
        assert_eq!(now.rx_bytes - before.rx_bytes, frames * bytes.len() as u64);
        match (run.action, frames, now.rx_drops - before.rx_drops) {
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
