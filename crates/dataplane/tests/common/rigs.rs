//! Both dataplanes, each as what becomes of a frame.

use std::collections::VecDeque;

use nicteam_dataplane::{BpfDataplane, Counters, Dataplane};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::{Action, Choose, MemberId, MemberSet, Plan, PlanState, Verdict};
use nicteam_testnet::{Host, eventually};
use nicteam_wire::{Frame, ethertype};

use super::bench::Bench;
use super::{hosts, id, plan};

/// Of each team.
pub const MEMBERS: usize = 5;
/// Frames in flight at once: no buffer on the way is that small.
const WINDOW: usize = 256;

/// What a classifier answers (`linux/pkt_cls.h`).
const TC_ACT_UNSPEC: u32 = u32::MAX;
const TC_ACT_QUEUED: u32 = 5;
const TC_ACT_SHOT: u32 = 2;
const TC_ACT_REDIRECT: u32 = 7;

/// A frame as it is where a team device sends it on behalf of a bridge: its tag beside it.
pub fn view(bytes: &[u8]) -> Frame<'_> {
    Frame::parse_untagged(bytes).unwrap()
}

/// How a frame comes to the team device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the stack: a tag among its bytes stays there.
    Stack,
    /// From a bridge's other port: a tag is beside it.
    Bridge,
}

/// The eBPF dataplane, and what it counted so far.
pub struct BpfRig {
    pub dataplane: Box<BpfDataplane>,
    pub bench: Bench,
    /// Sends through the bridge above the team.
    bridge: PacketSocket,
    _outside: Host,
    pub state: PlanState,
    counted: Vec<Counters>,
    unsent: u64,
}

impl BpfRig {
    pub fn new() -> BpfRig {
        let mut bench = Bench::new(MEMBERS);
        let (outside, bridge) = bench.team.bridge();
        let dataplane = bench.team.start(hosts::bpf, &plan(1, Choose::Nobody, MEMBERS));
        let counted = dataplane.counters().unwrap().into_iter().map(|(_, counters)| counters).collect();
        let unsent = dataplane.unsent().unwrap();
        BpfRig { dataplane, bench, bridge, _outside: outside, state: PlanState::new(0), counted, unsent }
    }

    /// In the namespace: elsewhere the indexes are other devices'.
    pub fn apply(&mut self, plan: &Plan) {
        self.bench.team.run(|| self.dataplane.apply(plan).unwrap());
    }

    /// What becomes of frames that a bridge forwards.
    pub fn actions(&mut self, plan: &Plan, frames: &[Vec<u8>]) -> Vec<Action> {
        self.apply(plan);
        let way = |bytes| if view(bytes).vlan().is_some() { Way::Bridge } else { Way::Stack };
        frames.iter().map(|bytes| self.send(bytes, way(bytes)).0).collect()
    }

    /// What became of a frame, by the counters, and its bytes afterwards; they
    /// are not known of a frame that had to be really sent.
    pub fn send(&mut self, bytes: &[u8], way: Way) -> (Action, Option<Vec<u8>>) {
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
                let dry_run = || self.dataplane.dry_run_behind(bytes, 1).unwrap();
                (Some(self.bench.team.run(dry_run)), bytes.len())
            }
        };
        let mut members = MemberSet::EMPTY;
        let mut dropped = 0;
        let mut punted = run.as_ref().is_some_and(|run| run.action == TC_ACT_QUEUED);
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
            true => (Action::Punt, TC_ACT_QUEUED, 0),
            false if members.is_empty() => (Action::Drop, TC_ACT_SHOT, 1),
            false => (Action::Send(members), TC_ACT_REDIRECT, 0),
        };
        assert!(!punted || members.is_empty(), "{bytes:02x?} was punted and sent");
        assert_eq!(dropped, drops);
        assert!(run.as_ref().is_none_or(|run| run.action == answer), "{run:?}");
        (action, run.map(|run| run.frame))
    }

    /// What became of a frame that a member received.
    pub fn receive(&mut self, place: usize, bytes: &[u8]) -> Verdict {
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
            (TC_ACT_UNSPEC, 0, 0) => Verdict::ToMember,
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
pub struct PacketRig {
    pub dataplane: Box<dyn Dataplane>,
    pub bench: Bench,
    arrived: Vec<VecDeque<(Vec<u8>, Option<u16>)>>,
    punted: VecDeque<Vec<u8>>,
    batch: Batch,
}

impl PacketRig {
    pub fn new() -> PacketRig {
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
    pub fn actions(&mut self, plan: &Plan, frames: &[Vec<u8>], state: &mut PlanState) -> Vec<Action> {
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

    pub fn stop(self) {
        self.bench.team.stop(self.dataplane);
    }
}

/// True for IP frames whose header is cut off: newer kernels do not run a
/// program on them (`BPF_PROG_TEST_RUN` of Linux 6.18 answers `EINVAL`).
pub fn is_refused(bytes: &[u8]) -> bool {
    let frame = Frame::parse(bytes).unwrap();
    let header = match frame.ethertype() {
        ethertype::IPV4 => 20,
        ethertype::IPV6 => 40,
        _ => 0,
    };
    frame.payload().len() < header
}
