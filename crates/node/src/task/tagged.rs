//! `tagged`: numbered datagrams in raw frames with a VLAN tag, by a packet socket on the device of the host's address.
//!
//! What sends and receives them is no VLAN device, which not every kernel has: the tag is put among the bytes, and the
//! receiver takes what comes to its address, from the right port to the right port, with that tag. The host's own stack
//! drops these frames. Nobody asks for an address by ARP: it is that of the topology, and the receiver announces its own by
//! RARP with the tag, so that switches know where it is.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nicteam_netlink::Netlink;
use nicteam_sys::listen::{Listener, TaggedFlow};
use nicteam_sys::packet::SendSocket;
use nicteam_wire::{Mac, Vlan, datagram, datagram_head_bytes, ethertype, rarp_packet, tagged};
use nix::poll::{PollFd, PollFlags, poll};

use super::datagrams::{Arrival, Carrier, Datagrams, READ_TIMEOUT};
use crate::error::Failure;
use crate::lock;
use crate::protocol::{ConnectionSpec, Role};

/// The kind.
pub(super) static TAGGED: Datagrams = Datagrams { name: "tagged", open };

/// How often a receiver announces its address: more often than switches forget one, which is after 300 s (IEEE 802.1Q 8.8.3).
const ANNOUNCED_EACH: Duration = Duration::from_secs(60);
/// Bytes of a VLAN tag.
const TAG: usize = 4;

/// One end of a connection.
#[derive(Debug)]
struct Tagged {
    macs: [Mac; 2],
    /// This end, and the other.
    ends: [SocketAddr; 2],
    tag: Vlan,
    out: SendSocket,
    /// Set at the end that receives.
    hears: Option<Listener>,
    announced: Mutex<Instant>,
}

fn open(role: Role, spec: &ConnectionSpec, pcp: u8) -> Result<Box<dyn Carrier>, Failure> {
    let vlan = spec.vlan.ok_or("a tagged connection without a VLAN")?;
    let tag = Vlan { protocol: ethertype::VLAN, tci: u16::from(pcp) << 13 | vlan };
    let [client, server] = &spec.interfaces;
    let is_client = role == Role::Client;
    let (own, other, ends) = if is_client {
        (client, server, [spec.client, spec.server])
    } else {
        (server, client, [spec.server, spec.client])
    };
    let macs: [Mac; 2] = [own.mac.parse()?, other.mac.parse()?];
    let link = Netlink::open()?.link(&own.device)?.ok_or_else(|| format!("no device {}", own.device))?;
    let flow =
        TaggedFlow { tci: tag.tci, dst: macs[0].0, ports: [ends[1].port(), ends[0].port()], ipv6: ends[0].is_ipv6() };
    let receives = spec.client_sends != is_client;
    let hears = receives.then(|| Listener::of_flow(link.index, &flow)).transpose()?;
    let out = SendSocket::open(link.index)?;
    let end = Tagged { macs, ends, tag, out, hears, announced: Mutex::new(Instant::now()) };
    if receives {
        end.announce();
    }
    Ok(Box::new(end))
}

impl Tagged {
    /// Tells switches where this end is.
    fn announce(&self) {
        // One that the device does not take is like one that is lost: frames are flooded.
        self.out.send(&rarp_packet(self.macs[0], Some(self.tag)));
    }
}

impl Carrier for Tagged {
    fn send(&self, payload: &[u8]) {
        let [own, other] = self.ends;
        if let Some(frame) = datagram(self.macs, own, other, payload) {
            self.out.send(&tagged(frame, &[self.tag]));
        }
    }

    fn receive(&self, buffer: &mut Vec<u8>) -> io::Result<Arrival> {
        let nothing = || io::Error::from(ErrorKind::WouldBlock);
        let hears = self.hears.as_ref().ok_or_else(nothing)?;
        let mut announced = lock(&self.announced);
        if announced.elapsed() >= ANNOUNCED_EACH {
            *announced = Instant::now();
            self.announce();
        }
        drop(announced);
        poll(&mut [PollFd::new(hears.as_fd(), PollFlags::POLLIN)], READ_TIMEOUT.as_millis() as u16)?;
        if !hears.receive(buffer).map_err(io::Error::other)? {
            return Err(nothing());
        }
        arrival(buffer, self.ends[0].is_ipv6()).ok_or_else(nothing)
    }
}

/// What a frame carries, of which perhaps only the front is here; none if it is cut within its headers.
fn arrival(frame: &[u8], ipv6: bool) -> Option<Arrival> {
    const UDP_HEADER: usize = 8;
    let payload = datagram_head_bytes(ipv6) + TAG;
    let length = frame.get(payload - 4..)?.first_chunk().map(|length| u16::from_be_bytes(*length))?;
    Some(Arrival::of(u64::from(length).saturating_sub(UDP_HEADER as u64), frame.get(payload..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_read_though_only_its_front_is_there() {
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let tag = Vlan { protocol: ethertype::VLAN, tci: 0xa00a };
        for (src, dst) in [("10.0.0.1:40000", "10.0.0.2:5001"), ("[fd00::1]:40000", "[fd00::2]:5001")] {
            let (src, dst): (SocketAddr, SocketAddr) = (src.parse().unwrap(), dst.parse().unwrap());
            let payload = [&7_u64.to_be_bytes()[..], &[0x5a; 92]].concat();
            let frame = tagged(datagram(macs, src, dst, &payload).unwrap(), &[tag]);
            let read = Arrival { bytes: 100, number: Some(7) };
            assert_eq!(arrival(&frame, src.is_ipv6()), Some(read));
            assert_eq!(arrival(&frame[..100], src.is_ipv6()), Some(read));
            let head = datagram_head_bytes(src.is_ipv6()) + TAG;
            assert_eq!(arrival(&frame[..head], src.is_ipv6()), Some(Arrival { number: None, ..read }));
            assert_eq!(arrival(&frame[..head - 1], src.is_ipv6()), None);
        }
    }
}
