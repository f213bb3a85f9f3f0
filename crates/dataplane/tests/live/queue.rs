//! A frame that is marked for a queue leaves by the member of that queue: what
//! the plan says, eBPF does.
//!
//! The mark is made as a user makes it, by a filter before the team's own; here
//! by a program of five instructions, where a user has `tc ... skbedit queue_mapping`.

use std::ffi::c_char;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::common::bench::Bench;
use crate::common::frames::frames;
use crate::common::rigs::view;
use crate::common::{hosts, id, ids, may_run_bpf, plan, stay_on_one_cpu};
use libbpf_sys::{bpf_insn, bpf_tc_hook, bpf_tc_opts};
use nicteam_dataplane::{BpfDataplane, Counters, Dataplane};
use nicteam_team::{Action, Choose, MAX_QUEUE_ID, MemberId, MemberSet, PlanState};
use nicteam_testnet::eventually;

const MEMBERS: usize = 4;
const FRAMES: usize = 1_000;
/// The byte of a frame that the filter takes for its queue: the last of its destination.
const MARKED_BY: usize = 5;
/// Nobody's queue, two members' and nobody's, some of them beyond all tables.
const MARKS: [u8; 8] = [0, 1, 2, MAX_QUEUE_ID as u8, 17, 32, 33, 255];

#[test]
fn a_marked_frame_leaves_by_the_member_of_its_queue() {
    if !may_run_bpf("a_marked_frame_leaves_by_the_member_of_its_queue") {
        return;
    }
    // The round robin counts for each CPU apart.
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(hosts::bpf, &plan(1, Choose::Nobody, MEMBERS));
    let in_turn = Choose::RoundRobin { members: ids(MEMBERS), packets_per_member: 1, igmp: id(0) };
    let mut state = PlanState::new(0);
    for (generation, choose) in [Choose::One(id(0)), in_turn, Choose::Nobody].into_iter().enumerate() {
        let mut plan = plan(generation as u64 + 2, choose, MEMBERS);
        plan.members[1].queue_id = 1;
        plan.members[3].queue_id = MAX_QUEUE_ID;
        bench.team.run(|| dataplane.apply(&plan).unwrap());
        if generation == 0 {
            // The clsact came with the first plan that has queues.
            bench.team.run(|| mark_frames(bench.team.team.index).unwrap());
        }
        for mut bytes in frames(11, FRAMES).into_iter().filter(|bytes| !ends_in_tag(bytes)) {
            bytes[MARKED_BY] = MARKS[usize::from(bytes[MARKED_BY]) % MARKS.len()];
            let queue = bytes[MARKED_BY].into();
            let expected = plan.choose_queued(queue, &view(&bytes), &mut state);
            let before = counted(&dataplane);
            assert!(bench.stack.send_frame(&bytes));
            eventually(&format!("queue {queue}: {bytes:02x?} at the end behind the team device"), || {
                counted(&dataplane) != before
            });
            let done = action(&before, &counted(&dataplane));
            assert_eq!(done, expected, "queue {queue}, {:?}: {bytes:02x?}", plan.choose);
        }
    }
}

/// True if a frame ends within two bytes of its tag: the kernel drops it at the end behind (Linux net/core/skbuff.c, skb_vlan_untag).
fn ends_in_tag(bytes: &[u8]) -> bool {
    bytes.len() < 20 && matches!(bytes[12..14], [0x81, 0x00] | [0x88, 0xa8])
}

/// What was counted of each member, and of the frames that nobody sent.
fn counted(dataplane: &BpfDataplane) -> (Vec<(MemberId, Counters)>, u64) {
    (dataplane.counters().unwrap(), dataplane.unsent().unwrap())
}

/// What became of the one frame between two readings.
fn action(before: &(Vec<(MemberId, Counters)>, u64), after: &(Vec<(MemberId, Counters)>, u64)) -> Action {
    let sent = |((id, before), (_, after)): (&(MemberId, Counters), &(MemberId, Counters))| {
        (after.tx_frames > before.tx_frames).then_some(*id)
    };
    let members: MemberSet = before.0.iter().zip(&after.0).filter_map(sent).collect();
    match (members.is_empty(), after.1 - before.1) {
        (true, 1) => Action::Drop,
        (false, 0) => Action::Send(members),
        other => panic!("sent by nobody, not sent: {other:?}"),
    }
}

/// Puts a filter before all others of a device that marks each frame for the
/// queue that its byte [`MARKED_BY`] names, and leaves the rest to them.
fn mark_frames(index: u32) -> io::Result<()> {
    const R0: u8 = 0;
    const R1: u8 = 1;
    const R6: u8 = 6;
    const LOAD_BYTE: u8 = 0x30; // BPF_LD | BPF_ABS | BPF_B, of the frame, into r0; r6 is the context
    const STORE_WORD: u8 = 0x63; // BPF_STX | BPF_MEM | BPF_W
    const MOVE: u8 = 0xbf; // BPF_ALU64 | BPF_MOV | BPF_X
    const MOVE_CONSTANT: u8 = 0xb7; // BPF_ALU64 | BPF_MOV | BPF_K
    const EXIT: u8 = 0x95;
    const QUEUE_MAPPING: i16 = 12; // where it is in struct __sk_buff (linux/bpf.h)
    const GO_ON: i32 = -1; // TC_ACT_UNSPEC
    let step = |code, dst, src, off, imm| {
        let mut step = bpf_insn { code, off, imm, ..bpf_insn::default() };
        step.set_dst_reg(dst);
        step.set_src_reg(src);
        step
    };
    attach_first(
        index,
        &[
            step(MOVE, R6, R1, 0, 0),
            step(LOAD_BYTE, 0, 0, 0, MARKED_BY as i32),
            step(STORE_WORD, R6, R0, QUEUE_MAPPING, 0),
            step(MOVE_CONSTANT, R0, 0, 0, GO_ON),
            step(EXIT, 0, 0, 0, 0),
        ],
    )
}

/// Loads a program and makes it the first filter of what a device sends.
fn attach_first(index: u32, program: &[bpf_insn]) -> io::Result<()> {
    let name: *const c_char = c"mark".as_ptr();
    let (kind, licence) = (libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, c"GPL".as_ptr());
    // SAFETY: the texts end with a zero, the instructions are as many as said, no options are given.
    let fd = unsafe {
        libbpf_sys::bpf_prog_load(kind, name, licence, program.as_ptr(), program.len() as _, std::ptr::null_mut())
    };
    // SAFETY: the descriptor is new and nobody else's.
    let program = if fd < 0 { return Err(io::Error::last_os_error()) } else { unsafe { OwnedFd::from_raw_fd(fd) } };
    let hook = bpf_tc_hook {
        sz: size_of::<bpf_tc_hook>() as _,
        ifindex: index as i32,
        attach_point: libbpf_sys::BPF_TC_EGRESS,
        ..bpf_tc_hook::default()
    };
    let mut opts = bpf_tc_opts {
        sz: size_of::<bpf_tc_opts>() as _,
        prog_fd: program.as_raw_fd(),
        handle: 1,
        priority: 1,
        ..bpf_tc_opts::default()
    };
    // SAFETY: both structures are complete and say so in `sz`.
    match unsafe { libbpf_sys::bpf_tc_attach(&hook, &mut opts) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}
