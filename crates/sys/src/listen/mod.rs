//! Packet sockets that hear a few protocols of one device, for the control side.
//!
//! A classic BPF filter decides in the kernel what they hear ([`Rules`]): frames of the kinds that are wanted,
//! of a legal form, and of each kind no more than a share, so that a flood costs the process little. They hear
//! every frame type (`ETH_P_ALL`): taps for one type run after tc ingress, where a team's frames have gone already.

mod filter;
mod rules;

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::packet::{self, Tag};
use crate::{Context, Error, Result};

pub use rules::{Kind, LONGEST, MOST_KNOWN, Protocols, Rule, Rules, Share, TaggedFlow};

/// Hears some protocols of one device. It never waits.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
}

/// Where in the way of a frame through the kernel a [`Listener`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tap {
    /// Ahead of tc ingress: it sees every frame of the device.
    Ahead,
    /// Behind tc ingress: it sees hellos that were let pass there, and no other frame costs anything.
    Hellos,
    /// Behind tc ingress: it sees what was let pass there of frames that say their length in place of an EtherType (IEEE 802.2),
    /// and no other frame costs anything.
    Llc,
}

/// Bytes of the two addresses.
const MACS: usize = 12;
/// Bytes of a VLAN tag.
const TAG: usize = 4;

impl Kind {
    /// What a frame is that a [`Listener`] received, by the little that tells the kinds apart.
    pub fn of(frame: &[u8]) -> Option<Kind> {
        let half = |at: usize| Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?));
        if frame.starts_with(&filter::CISCO_GROUP) {
            return Some(Kind::Pagp);
        }
        let mut at = MACS;
        while [libc::ETH_P_8021Q, libc::ETH_P_8021AD].contains(&half(at)?.into()) {
            at += TAG;
        }
        let payload = frame.get(at + 2..)?;
        match half(at)?.into() {
            libc::ETH_P_ARP => Some(Kind::Arp),
            libc::ETH_P_IPV6 => Some(Kind::Neighbour),
            libc::ETH_P_SLOW if payload.first() == Some(&2) => Some(Kind::Marker),
            libc::ETH_P_SLOW => Some(Kind::Lacp),
            other if other as u32 != filter::HELLO => None,
            _ if payload.get(1).is_some_and(|&kind| u32::from(kind) == filter::ECHO) => Some(Kind::Echo),
            _ => Some(Kind::Hello),
        }
    }
}

impl Listener {
    /// Opens one on the device with this index, in the caller's network
    /// namespace. While it is open, the device lets the groups pass to which
    /// these kinds are sent.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32, tap: Tap, rules: &Rules) -> Result<Listener> {
        let what = || format!("listen on device {ifindex}");
        let listener = Listener::unbound(&filter::program(rules)).context(what)?;
        match tap {
            Tap::Ahead => packet::bind(&listener.fd, ifindex).context(what)?,
            Tap::Hellos => packet::bind_to(&listener.fd, ifindex, filter::HELLO as u16).context(what)?,
            Tap::Llc => packet::bind_to(&listener.fd, ifindex, libc::ETH_P_802_2 as u16).context(what)?,
        }
        let group = |[a, b, c, d, e, f]: [u8; 6]| [a, b, c, d, e, f, 0, 0];
        if rules.hear(Kind::Lacp) || rules.hear(Kind::Marker) {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, group(filter::SLOW_GROUP)).context(what)?;
        }
        if rules.hear(Kind::Hello) {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, group(filter::HELLO_GROUP)).context(what)?;
        }
        if rules.hear(Kind::Pagp) {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, group(filter::CISCO_GROUP)).context(what)?;
        }
        if rules.hear(Kind::Neighbour) {
            // A solicitation goes to a group of its target's own.
            listener.join(ifindex, libc::PACKET_MR_ALLMULTI, [0; 8]).context(what)?;
        }
        Ok(listener)
    }

    /// Opens one that hears a flow of datagrams alone, before tc ingress, with as large a buffer as other packet sockets have.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn of_flow(ifindex: u32, flow: &TaggedFlow) -> Result<Listener> {
        let what = || format!("listen to tagged datagrams on device {ifindex}");
        let listener = Listener::unbound(&filter::tagged(flow)).context(what)?;
        packet::enlarge(&listener.fd, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF).context(what)?;
        packet::bind(&listener.fd, ifindex).context(what)?;
        Ok(listener)
    }

    /// Opens one that hears what the port at the other end of a link says of itself, LLDP and LACP alone.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn of_port(ifindex: u32) -> Result<Listener> {
        let what = || format!("listen to the port at the other end of device {ifindex}");
        let listener = Listener::unbound(&filter::of_port()).context(what)?;
        packet::bind(&listener.fd, ifindex).context(what)?;
        for [a, b, c, d, e, f] in filter::LLDP_GROUPS.into_iter().chain([filter::SLOW_GROUP]) {
            listener.join(ifindex, libc::PACKET_MR_MULTICAST, [a, b, c, d, e, f, 0, 0]).context(what)?;
        }
        Ok(listener)
    }

    /// One that receives nothing before it is bound, and then by this program.
    fn unbound(program: &[libc::sock_filter]) -> io::Result<Listener> {
        let listener = Listener { fd: packet::unbound()? };
        for option in [libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING] {
            packet::set(&listener.fd, libc::SOL_PACKET, option, &1)?;
        }
        packet::attach(&listener.fd, program)?;
        Ok(listener)
    }

    /// Hears by other rules from now on, of the same kinds. What was heard already stays.
    pub fn set_rules(&self, rules: &Rules) -> Result<()> {
        packet::attach(&self.fd, &filter::program(rules)).context(|| "filter what a listening socket hears".to_owned())
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

    /// Frames that passed the filter and found the receive buffer full, since the last call.
    pub fn take_lost(&self) -> Result<u64> {
        packet::take_lost(&self.fd)
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

/// Puts a tag behind the addresses.
fn put_back(frame: &mut Vec<u8>, tag: Tag) {
    if frame.len() >= MACS {
        let [a, b] = tag.protocol.to_be_bytes();
        let [c, d] = tag.tci.to_be_bytes();
        let bytes: [u8; TAG] = [a, b, c, d];
        frame.splice(MACS..MACS, bytes);
    }
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
    fn frames_are_told_apart_and_none_is_too_short_to_be_looked_at() {
        let frame = |ethertype: &[u8], payload: &[u8]| [&[2; MACS][..], ethertype, payload].concat();
        let cases = [
            (frame(&[0x88, 0xb5], &[1, 1]), Some(Kind::Hello)),
            (frame(&[0x88, 0xb5], &[1, 3]), Some(Kind::Echo)),
            (frame(&[0x88, 0x09], &[1]), Some(Kind::Lacp)),
            (frame(&[0x88, 0x09], &[2]), Some(Kind::Marker)),
            (frame(&[0x08, 0x06], &[]), Some(Kind::Arp)),
            (frame(&[0x81, 0, 0, 5, 0x88, 0xa8, 0, 6, 0x08, 0x06], &[]), Some(Kind::Arp)),
            (frame(&[0x86, 0xdd], &[]), Some(Kind::Neighbour)),
            (frame(&[0x08, 0x00], &[]), None),
            ([&filter::CISCO_GROUP[..], &[2; 6], &[0, 60]].concat(), Some(Kind::Pagp)),
        ];
        for (frame, kind) in cases {
            assert_eq!(Kind::of(&frame), kind, "{frame:02x?}");
            let cut: Vec<_> = (0..frame.len()).map(|end| Kind::of(&frame[..end])).collect();
            assert!(cut.iter().all(|of| of.is_none() || kind.is_some()), "{frame:02x?}: {cut:?}");
        }
    }
}
