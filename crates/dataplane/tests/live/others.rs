//! Programs of others on the team device and on its members: XDP, TCX links, and frames sent past the queueing discipline.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use libbpf_sys::bpf_insn;
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::Choose;
use nicteam_testnet::eventually;

use crate::common::hosts::{TeamHost, bpf, packet, pair, pair_plan};
use crate::common::{id, may_run_bpf};

/// What a program answers to every frame (linux/bpf.h, linux/pkt_cls.h).
const XDP_DROP: i32 = 1;
const XDP_PASS: i32 = 2;
const TC_ACT_SHOT: i32 = 2;
const TCX_NEXT: i32 = -1;
/// How an XDP program is attached (linux/if_link.h).
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

type Open = fn(&TeamDevice) -> Box<dyn Dataplane>;

/// Two hosts whose teams send by their first member, on each dataplane.
fn on_each(test: &str, check: impl Fn(&TeamHost, &TeamHost, &str)) {
    if !may_run_bpf(test) {
        return;
    }
    let each: [(&str, Open); 2] = [("bpf", |team| bpf(team)), ("packet", |team| packet(team))];
    for (kind, open) in each {
        let (a, b) = pair();
        let plan = pair_plan(Choose::One(id(0)));
        let dataplanes = [a.start(open, &plan), b.start(open, &plan)];
        eventually(kind, || reaches(&a.udp(), &b));
        check(&a, &b, kind);
        drop(dataplanes);
    }
}

/// True if one of a few datagrams arrives.
fn reaches(from: &UdpSocket, b: &TeamHost) -> bool {
    let to = b.udp();
    to.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let address = b.v4();
    (0..4).any(|_| from.send_to(b"x", address).is_ok() && to.recv(&mut [0; 8]).is_ok())
}

/// A program that answers this to every frame.
fn program(kind: u32, answer: i32) -> OwnedFd {
    const MOVE_CONSTANT: u8 = 0xb7; // BPF_ALU64 | BPF_MOV | BPF_K
    const EXIT: u8 = 0x95;
    let steps = [
        bpf_insn { code: MOVE_CONSTANT, imm: answer, ..bpf_insn::default() },
        bpf_insn { code: EXIT, ..bpf_insn::default() },
    ];
    let (name, licence) = (c"other".as_ptr(), c"GPL".as_ptr());
    // SAFETY: the texts end with a zero, the instructions are as many as said, no options are given.
    let fd = unsafe { libbpf_sys::bpf_prog_load(kind, name, licence, steps.as_ptr(), 2, std::ptr::null_mut()) };
    assert!(fd >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the descriptor is new and nobody else's.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Attaches an XDP program to a device, or none.
fn set_xdp(host: &TeamHost, index: u32, answer: Option<i32>, how: u32) {
    host.run(|| {
        let program = answer.map(|answer| program(libbpf_sys::BPF_PROG_TYPE_XDP, answer));
        let fd = program.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: no options are given.
        let result = unsafe { libbpf_sys::bpf_xdp_attach(index as i32, fd, how, std::ptr::null()) };
        assert_eq!(result, 0, "XDP on interface {index}, {how}");
    });
}

#[test]
fn xdp_programs_see_what_the_team_and_its_members_receive() {
    on_each("xdp_programs_see_what_the_team_and_its_members_receive", |a, b, kind| {
        let from = a.udp();
        let places = [(b.team.index, NATIVE), (b.team.index, GENERIC), (b.ports[0].index, NATIVE)];
        for (index, how) in places {
            let what = format!("{kind}, interface {index}, {how}");
            set_xdp(b, index, Some(XDP_PASS), how);
            eventually(&what, || reaches(&from, b));
            set_xdp(b, index, None, how);
            set_xdp(b, index, Some(XDP_DROP), how);
            // The kernel leaves frames that tc redirected out of generic XDP (net/core/dev.c, netif_receive_generic_xdp).
            let is_blind = kind == "bpf" && (index, how) == (b.team.index, GENERIC);
            assert_eq!(reaches(&from, b), is_blind, "{what}");
            set_xdp(b, index, None, how);
            eventually(&what, || reaches(&from, b));
        }
    });
}

#[test]
fn tcx_links_see_what_the_team_and_its_members_receive() {
    on_each("tcx_links_see_what_the_team_and_its_members_receive", |a, b, kind| {
        let from = a.udp();
        // A packet socket reads a member's frames ahead of tc.
        let members = if kind == "bpf" { &b.ports[..1] } else { &[] };
        for index in [b.team.index].into_iter().chain(members.iter().map(|port| port.index)) {
            for (answer, passes) in [(TCX_NEXT, true), (TC_ACT_SHOT, false)] {
                let program = program(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, answer);
                let link = b.run(|| {
                    let (fd, at) = (program.as_raw_fd(), libbpf_sys::BPF_TCX_INGRESS);
                    // SAFETY: no options are given.
                    let link = unsafe { libbpf_sys::bpf_link_create(fd, index as i32, at, std::ptr::null()) };
                    assert!(link >= 0, "{}", io::Error::last_os_error());
                    // SAFETY: the descriptor is new and nobody else's.
                    unsafe { OwnedFd::from_raw_fd(link) }
                });
                let what = format!("{kind}, interface {index}: {answer}");
                assert_eq!(reaches(&from, b), passes, "{what}");
                drop(link);
                eventually(&what, || reaches(&from, b));
            }
        }
    });
}

/// Sends the frame three times by a device; the socket.
type Send = fn(u32, &[u8]) -> OwnedFd;
/// How a program sends past the queueing discipline.
const WAYS: [(&str, Send); 2] = [("PACKET_QDISC_BYPASS", send_by_packet_socket), ("AF_XDP", send_by_xdp_socket)];
const TIMES: usize = 3;

#[test]
fn frames_past_the_queueing_discipline_are_sent() {
    on_each("frames_past_the_queueing_discipline_are_sent", |a, b, kind| {
        for (number, (way, send)) in WAYS.into_iter().enumerate() {
            let far = b.run(|| PacketSocket::open(b.team.index).unwrap());
            let frame = [&[0xff; 6][..], &[2, 0, 0, 0, 1, 1], &[0x88, 0xb5], &[number as u8; 46]].concat();
            let _socket = a.run(|| send(a.team.index, &frame));
            let mut arrived = 0;
            eventually(&format!("{kind}, {way}"), || {
                let mut batch = Batch::new();
                far.receive(&mut batch).unwrap();
                arrived += batch.frames().filter(|received| received.bytes == frame).count();
                arrived == TIMES
            });
        }
    });
}

fn send_by_packet_socket(device: u32, frame: &[u8]) -> OwnedFd {
    const PACKET_QDISC_BYPASS: i32 = 20;
    // SAFETY: the descriptor is new and nobody else's; the pointers are to live values of the lengths given.
    unsafe {
        let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0));
        set(&socket, libc::SOL_PACKET, PACKET_QDISC_BYPASS, &1_i32);
        let mut to: libc::sockaddr_ll = std::mem::zeroed();
        to.sll_family = libc::AF_PACKET as u16;
        to.sll_ifindex = device as i32;
        for _ in 0..TIMES {
            let (bytes, address) = (frame.as_ptr().cast(), std::ptr::from_ref(&to).cast());
            let sent = libc::sendto(socket.as_raw_fd(), bytes, frame.len(), 0, address, size_of_val(&to) as u32);
            assert_eq!(sent, frame.len() as isize, "{}", io::Error::last_os_error());
        }
        socket
    }
}

/// By the copying mode, which every device has (Linux net/xdp/xsk.c, `__xsk_generic_xmit`).
fn send_by_xdp_socket(device: u32, frame: &[u8]) -> OwnedFd {
    const CHUNK: usize = 4096;
    const ENTRIES: usize = 4;
    // SAFETY: the descriptor and the mappings are new and nobody else's; the pointers are to live values of the lengths
    // given; what is written stays within the mappings, whose lengths follow from the kernel's offsets.
    unsafe {
        let socket = OwnedFd::from_raw_fd(libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0));
        let frames = map(None, ENTRIES * CHUNK, 0);
        let mut memory: libc::xdp_umem_reg = std::mem::zeroed();
        (memory.addr, memory.len, memory.chunk_size) = (frames as u64, (ENTRIES * CHUNK) as u64, CHUNK as u32);
        set(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &memory);
        for ring in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_TX_RING] {
            set(&socket, libc::SOL_XDP, ring, &(ENTRIES as u32));
        }
        let mut offsets: libc::xdp_mmap_offsets = std::mem::zeroed();
        let mut length = size_of_val(&offsets) as u32;
        let into = std::ptr::from_mut(&mut offsets).cast();
        assert_eq!(
            libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, libc::XDP_MMAP_OFFSETS, into, &raw mut length),
            0
        );
        let ring_length = offsets.tx.desc as usize + ENTRIES * size_of::<libc::xdp_desc>();
        let ring = map(Some(&socket), ring_length, libc::XDP_PGOFF_TX_RING);
        let mut to: libc::sockaddr_xdp = std::mem::zeroed();
        (to.sxdp_family, to.sxdp_flags, to.sxdp_ifindex) = (libc::AF_XDP as u16, libc::XDP_COPY, device);
        let address = std::ptr::from_ref(&to).cast();
        let bound = libc::bind(socket.as_raw_fd(), address, size_of_val(&to) as u32);
        assert_eq!(bound, 0, "{}", io::Error::last_os_error());
        for number in 0..TIMES {
            let chunk = number * CHUNK;
            std::ptr::copy_nonoverlapping(frame.as_ptr(), frames.add(chunk), frame.len());
            let entry = libc::xdp_desc { addr: chunk as u64, len: frame.len() as u32, options: 0 };
            ring.add(offsets.tx.desc as usize).cast::<libc::xdp_desc>().add(number).write(entry);
        }
        let producer = ring.add(offsets.tx.producer as usize).cast::<u32>();
        AtomicU32::from_ptr(producer).store(TIMES as u32, Ordering::Release);
        let sent = libc::sendto(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0);
        assert_eq!(sent, 0, "{}", io::Error::last_os_error());
        socket
    }
}

fn set<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) {
    let (bytes, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as u32);
    // SAFETY: the pointer is to a live value of the length given.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, bytes, length) };
    assert_eq!(set, 0, "option {option}: {}", io::Error::last_os_error());
}

/// Memory of a socket's, or fresh memory, until the process ends.
fn map(socket: Option<&OwnedFd>, length: usize, offset: libc::off_t) -> *mut u8 {
    let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
    let (flags, descriptor) = socket.map_or((shared | libc::MAP_ANONYMOUS, -1), |socket| (shared, socket.as_raw_fd()));
    // SAFETY: a new mapping, at an address of the kernel's choice.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, descriptor, offset) };
    assert!(memory != libc::MAP_FAILED, "{}", io::Error::last_os_error());
    memory.cast()
}
