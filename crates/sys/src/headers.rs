//! Headers of a random share of the frames that a device receives and sends.
//!
//! A classic BPF filter draws the share in the kernel. Frames of ARP, LLDP, slow protocols and ICMP pass always: they are rare,
//! and each says something. The receive buffer is small, so what comes faster than it is read is lost and costs little.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::packet::set;
use crate::sniff::{Heard, Room, Sniffer};
use crate::{Context, Result};

/// Looks at frames of one device. It never waits, and changes nothing but that the device takes frames of LLDP.
#[derive(Debug)]
pub struct Headers {
    sniffer: Sniffer,
}

/// Frames that one call reads, and bytes of each.
const BATCH: usize = 16;
const LONGEST: usize = 192;
/// Bytes asked for as receive buffer: some hundred headers.
const BUFFER_BYTES: libc::c_int = 128 << 10;
/// EtherType and group of LLDP (IEEE 802.1AB, 7.1).
const LLDP: u32 = 0x88cc;
const LLDP_GROUP: [u8; 8] = [0x01, 0x80, 0xc2, 0, 0, 0x0e, 0, 0];
/// Places in a frame without a tag: EtherType, and the protocol of IPv4.
const ETHERTYPE: u32 = 12;
const PROTOCOL: u32 = 23;

impl Headers {
    /// Looks at one of so many frames of the device with this index, in the caller's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32, one_of: u32) -> Result<Headers> {
        let prepare = |fd: &OwnedFd| {
            set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &BUFFER_BYTES)?;
            let group = libc::packet_mreq {
                mr_ifindex: ifindex as i32,
                mr_type: libc::PACKET_MR_MULTICAST as u16,
                mr_alen: 6,
                mr_address: LLDP_GROUP,
            };
            set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &group)
        };
        let sniffer = Sniffer::prepared(ifindex, &program(one_of), prepare);
        Ok(Headers { sniffer: sniffer.context(|| format!("look at the headers of device {ifindex}"))? })
    }

    /// Memory for [`Headers::receive`].
    pub fn room() -> Room {
        Room::of(BATCH, LONGEST)
    }

    /// Looks at one of so many from now on.
    pub fn set_share(&self, one_of: u32) -> Result<()> {
        self.sniffer.attach(&program(one_of)).context(|| "change the share of frames that are looked at".to_owned())
    }

    /// Hands over the beginnings of the next frames; how many. A device that went down is no error.
    ///
    /// # Errors
    /// `ENODEV`, `ENXIO`: the device is gone.
    pub fn receive(&self, room: &mut Room, take: impl FnMut(Heard<'_>)) -> Result<usize> {
        self.sniffer.receive(room, take)
    }
}

impl AsFd for Headers {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.sniffer.as_fd()
    }
}

fn program(one_of: u32) -> Vec<libc::sock_filter> {
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |size: u32, at: u32| step(libc::BPF_LD | libc::BPF_ABS | size, at, 0, 0);
    let equal = |value: u32, jt: u8, jf: u8| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, jt, jf);
    let random = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;
    vec![
        load(libc::BPF_H, ETHERTYPE),
        equal(libc::ETH_P_ARP as u32, 7, 0),
        equal(LLDP, 6, 0),
        equal(libc::ETH_P_SLOW as u32, 5, 0),
        equal(libc::ETH_P_IP as u32, 0, 2),
        load(libc::BPF_B, PROTOCOL),
        equal(libc::IPPROTO_ICMP as u32, 2, 0),
        load(libc::BPF_W, random),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, u32::MAX / one_of.max(1), 1, 0),
        step(libc::BPF_RET | libc::BPF_K, LONGEST as u32, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_end_at_a_verdict() {
        let program = program(64);
        for (place, step) in program.iter().enumerate() {
            let class = u32::from(step.code) & 7;
            let furthest = place + 1 + usize::from(step.jt.max(step.jf));
            assert!(class == libc::BPF_RET || furthest < program.len(), "instruction {place}");
        }
        let taken = |place: usize, jump: u8| place + 1 + usize::from(jump);
        let always: Vec<usize> = [1, 2, 3, 6].iter().map(|place| taken(*place, program[*place].jt)).collect();
        assert_eq!(always, [9; 4], "these pass whatever is drawn");
    }
}
