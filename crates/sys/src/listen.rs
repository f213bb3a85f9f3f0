//! Packet sockets that hear a few protocols of one device, for the control side.
//!
//! They hear every frame type (`ETH_P_ALL`) through a classic BPF filter: taps
//! for one type run after tc ingress, where a team's frames have gone already.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::packet::{self, Tag};
use crate::{Context, Error, Result};

/// What a [`Listener`] hears; frames for other hosts and frames that this host
/// sends are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocols {
    /// Slow protocols, EtherType 0x8809: LACP and markers.
    pub slow: bool,
    /// EtherType 0x88b5: hellos of teams that stripe, but for probes, which a
    /// dataplane answers.
    pub hellos: bool,
    /// ARP.
    pub arp: bool,
    /// IPv6 neighbour solicitations and advertisements.
    pub neighbours: bool,
}

/// Hears some protocols of one device. It never waits.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
}

/// Bytes of the longest frame that is heard whole; of a longer one, the front.
pub const LONGEST: usize = 2048;

/// Bytes of the two addresses.
const MACS: usize = 12;
/// Bytes of a VLAN tag.
const TAG: usize = 4;
/// `01:80:c2:00:00:02`, where slow protocols are sent.
const SLOW_GROUP: [u8; 8] = [0x01, 0x80, 0xc2, 0, 0, 0x02, 0, 0];
/// Local experimental EtherType 1.
const ETH_P_HELLO: libc::c_int = 0x88b5;
/// `03:6e:69:63:00:01`, where hellos are announced.
const HELLO_GROUP: [u8; 8] = [0x03, 0x6e, 0x69, 0x63, 0x00, 0x01, 0, 0];

impl Listener {
    /// Opens one on the device with this index, in the caller's network
    /// namespace. While it is open, the device lets the groups pass to which
    /// these protocols are sent.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32, protocols: Protocols) -> Result<Listener> {
        let what = || format!("listen on device {ifindex}");
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers. Protocol 0 receives nothing before the bind.
        let fd = packet::check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) }).context(what)?;
        // SAFETY: the descriptor is new and nobody else's.
        let listener = Listener { fd: unsafe { OwnedFd::from_raw_fd(fd) } };
        for option in [libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING] {
            packet::set(&listener.fd, libc::SOL_PACKET, option, &1).context(what)?;
        }
        attach(&listener.fd, &filter(protocols, false)).context(what)?;
        packet::bind(&listener.fd, ifindex).context(what)?;
        if protocols.slow {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, SLOW_GROUP).context(what)?;
        }
        if protocols.hellos {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, HELLO_GROUP).context(what)?;
        }
        if protocols.neighbours {
            // A solicitation goes to a group of its target's own.
            listener.join(ifindex, libc::PACKET_MR_ALLMULTI, [0; 8]).context(what)?;
        }
        Ok(listener)
    }

    /// Puts the next frame that was heard into `frame`, from the destination
    /// address on, its outermost VLAN tag among its bytes as on the wire; false
    /// if there is none. A device that went down is no error.
    pub fn receive(&self, frame: &mut Vec<u8>) -> Result<bool> {
        frame.resize(LONGEST, 0);
        let mut control = packet::Control::default();
        let mut iovec = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
        // SAFETY: all-zero bytes are valid for this C structure.
        let mut header = unsafe { mem::zeroed::<libc::msghdr>() };
        header.msg_iov = &raw mut iovec;
        header.msg_iovlen = 1;
        control.put_into(&mut header);
        // SAFETY: the header points to memory that outlives the call.
        let received = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &mut header, libc::MSG_DONTWAIT) };
        let Ok(len) = usize::try_from(received) else {
            frame.clear();
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN) => Ok(false),
                _ => Err(Error::new("receive from a listening socket", error)),
            };
        };
        frame.truncate(len);
        if let Some(tag) = packet::tag(&header) {
            put_back(frame, tag);
        }
        Ok(true)
    }

    fn join(&self, ifindex: u32, kind: libc::c_int, group: [u8; 8]) -> io::Result<()> {
        let membership =
            libc::packet_mreq { mr_ifindex: ifindex as i32, mr_type: kind as u16, mr_alen: 6, mr_address: group };
        packet::set(&self.fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Lets a packet socket hear these protocols alone, of other hosts' frames, too.
pub(crate) fn hear_only(fd: &OwnedFd, protocols: Protocols) -> io::Result<()> {
    attach(fd, &filter(protocols, true))
}

fn attach(fd: &OwnedFd, program: &[libc::sock_filter]) -> io::Result<()> {
    // The kernel only reads the program, of at most 65,535 instructions.
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    packet::set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Puts a tag behind the addresses.
fn put_back(frame: &mut Vec<u8>, tag: Tag) {
    if frame.len() >= MACS {
        let [a, b] = tag.protocol.to_be_bytes();
        let [c, d] = tag.tci.to_be_bytes();
        let bytes: [u8; TAG] = [a, b, c, d];
        frame.splice(MACS..MACS, bytes);
    }
}

/// Where the EtherType stands; a tag is beside the frame here.
const ETHERTYPE: u32 = 12;
/// From there to where an IPv6 packet says what follows its header.
const NEXT_HEADER: u32 = 2 + 6;
/// From there to where an ICMPv6 message without extension headers says what it is.
const ICMP_TYPE: u32 = 2 + 40;
/// From there to where a hello says of what kind it is, and the kind that is a probe.
const HELLO_KIND: u32 = 2 + 1;
const HELLO_PROBE: u32 = 2;
/// `SKF_AD_OFF + SKF_AD_PKTTYPE`: for whom the device took the frame.
const PACKET_TYPE: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;
/// `PACKET_OTHERHOST`.
const OTHER_HOST: u32 = 3;
/// So many tags may stand among the bytes, behind the one beside the frame.
const INNER_TAGS: u32 = 2;

/// Tests, one after the other; a jump goes forward only, as the kernel demands.
/// `others`: frames for other hosts are heard, too.
fn filter(protocols: Protocols, others: bool) -> Vec<libc::sock_filter> {
    let mut program = Vec::new();
    if !others {
        program.extend([load(libc::BPF_B, PACKET_TYPE), jump_if(OTHER_HOST, 0, 1), verdict(0)]);
    }
    for tags in 0..=INNER_TAGS {
        let ethertype = ETHERTYPE + tags * TAG as u32;
        program.push(load(libc::BPF_H, ethertype));
        program.extend(wanted(protocols, ethertype));
        if tags < INNER_TAGS {
            // A tag is next: the following tests are for what it is before.
            program.extend([
                jump_if(libc::ETH_P_8021Q as u32, 2, 0),
                jump_if(libc::ETH_P_8021AD as u32, 1, 0),
                verdict(0),
            ]);
        }
    }
    program.push(verdict(0));
    program
}

/// Tests what was loaded, the EtherType that stands at this place. What is not
/// wanted goes on behind them, the EtherType still loaded if it is not IPv6.
fn wanted(protocols: Protocols, ethertype: u32) -> Vec<libc::sock_filter> {
    let mut program = Vec::new();
    if protocols.hellos {
        program.extend([
            jump_if(ETH_P_HELLO as u32, 0, 4),
            load(libc::BPF_B, ethertype + HELLO_KIND),
            jump_if(HELLO_PROBE, 0, 1),
            verdict(0),
            verdict(LONGEST as u32),
        ]);
    }
    let types = [(protocols.slow, libc::ETH_P_SLOW), (protocols.arp, libc::ETH_P_ARP)];
    for (_, ethertype) in types.into_iter().filter(|&(wanted, _)| wanted) {
        program.extend([jump_if(ethertype as u32, 0, 1), verdict(LONGEST as u32)]);
    }
    if protocols.neighbours {
        program.extend([
            jump_if(libc::ETH_P_IPV6 as u32, 0, 7),
            load(libc::BPF_B, ethertype + NEXT_HEADER),
            jump_if(libc::IPPROTO_ICMPV6 as u32, 0, 4),
            load(libc::BPF_B, ethertype + ICMP_TYPE),
            jump_if(u32::from(NEIGHBOUR_SOLICITATION), 1, 0),
            jump_if(u32::from(NEIGHBOUR_ADVERTISEMENT), 0, 1),
            verdict(LONGEST as u32),
            verdict(0),
        ]);
    }
    program
}

/// ICMPv6 types (RFC 4861).
const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;

fn load(size: u32, offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | size | libc::BPF_ABS, offset, (0, 0))
}

/// Skips `then` instructions if what was loaded is `value`, else `otherwise`.
fn jump_if(value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, (then, otherwise))
}

/// Ends: hears so many bytes of the frame, 0 for none of it.
fn verdict(bytes: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, bytes, (0, 0))
}

fn instruction(code: u32, k: u32, (jt, jf): (u8, u8)) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_goes_behind_the_addresses() {
        let mut frame = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 6, 0xaa];
        put_back(&mut frame, Tag { protocol: 0x8100, tci: 0x6005 });
        assert_eq!(frame, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0x60, 5, 8, 6, 0xaa]);
    }

    #[test]
    fn every_jump_stays_inside_the_program() {
        for bits in 0..32 {
            let wanted = |bit: u8| bits & 1 << bit != 0;
            let protocols = Protocols { slow: wanted(0), arp: wanted(1), neighbours: wanted(2), hellos: wanted(3) };
            let program = filter(protocols, wanted(4));
            for (place, step) in program.iter().enumerate() {
                let furthest = place + 1 + usize::from(step.jt.max(step.jf));
                let ends = u32::from(step.code) & 7 == libc::BPF_RET;
                assert!(ends || furthest < program.len(), "{bits:05b}: instruction {place}");
            }
        }
    }
}
