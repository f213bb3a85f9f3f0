//! What a raw socket hears: without a filter every ICMP message that comes to the host.

use std::io;
use std::os::fd::OwnedFd;

use super::message::{ECHO_REPLY, ECHO_REPLY_V6, TIMESTAMP_REPLY};
use crate::packet;

/// Lets answers to questions with this number through alone.
pub(super) fn hear_answers(fd: &OwnedFd, ident: u16, v4: bool) -> io::Result<()> {
    let program = if v4 { program_v4(ident) } else { program_v6(ident) };
    packet::attach(fd, &program)
}

/// Raw sockets of IPv4 see the IP header, those of IPv6 do not.
fn program_v4(ident: u16) -> Vec<libc::sock_filter> {
    vec![
        // X: length of the IP header.
        one(libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH, 0),
        one(libc::BPF_LD | libc::BPF_B | libc::BPF_IND, 0),
        jump(u32::from(ECHO_REPLY), 1, 0),
        jump(u32::from(TIMESTAMP_REPLY), 0, 3),
        one(libc::BPF_LD | libc::BPF_H | libc::BPF_IND, 4),
        jump(u32::from(ident), 0, 1),
        one(libc::BPF_RET | libc::BPF_K, u32::MAX),
        one(libc::BPF_RET | libc::BPF_K, 0),
    ]
}

fn program_v6(ident: u16) -> Vec<libc::sock_filter> {
    vec![
        one(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 0),
        jump(u32::from(ECHO_REPLY_V6), 0, 3),
        one(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 4),
        jump(u32::from(ident), 0, 1),
        one(libc::BPF_RET | libc::BPF_K, u32::MAX),
        one(libc::BPF_RET | libc::BPF_K, 0),
    ]
}

/// An instruction that does not jump.
fn one(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// Goes on so many instructions later if the number read is this one, or is another.
fn jump(k: u32, equal: u8, other: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: equal, jf: other, k }
}
