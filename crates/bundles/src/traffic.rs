//! What the links of a bundle carry: flows by the headers of sampled frames, and TCP connections by what the kernel knows.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use nicteam_wire::{Arp, Frame, Lldp, Mac, ethertype};
use serde::{Deserialize, Serialize};

/// The most flows that are kept apart.
pub const MOST_FLOWS: usize = 4096;
/// TCP and UDP, as IP numbers them.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;
const ICMP: u8 = 1;
/// Destination unreachable, and its code for a packet that must not be cut (RFC 792, RFC 1191).
const UNREACHABLE: [u8; 2] = [3, 4];

/// The way of a frame, as this host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A member received it.
    In,
    /// A member sent it.
    Out,
}

/// A flow between this host and another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowKey {
    /// Protocol, as IP numbers it.
    pub protocol: u8,
    /// This end; port 0 where the protocol has none.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
}

/// What was seen of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Frames received, by member.
    pub received: BTreeMap<String, u64>,
    /// Frames sent, by member.
    pub sent: BTreeMap<String, u64>,
    /// Bytes of its packets, received and sent: those of the frames that were looked at, times the frames for which each stands.
    pub bytes: [u64; 2],
    /// The address at the other end of the frames: the host, or the gateway to it.
    pub remote_mac: Option<Mac>,
    /// The beginning of a frame that was sent.
    pub head: Vec<u8>,
}

/// Another address that answers for an address of this host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The address.
    pub address: IpAddr,
    /// Whose frames have it as their source.
    pub mac: Mac,
    /// It said so by ARP; else it sends packets from it.
    pub by_arp: bool,
    /// The member that received that.
    pub member: String,
}

/// Headers of frames of a bundle's members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Frames that were looked at.
    pub frames: u64,
    /// Each frame that is noted from now on stands for so many; 0 is 1.
    pub one_of: u32,
    /// Flows, at most [`MOST_FLOWS`].
    pub flows: BTreeMap<FlowKey, Seen>,
    /// Other hosts that have an address of this one.
    pub claims: Vec<Claim>,
    /// Routers reported that packets to this address were too large, and what passes: bytes.
    pub too_large: BTreeMap<IpAddr, u16>,
    /// The port at the other end of each member, by LLDP.
    pub ports: BTreeMap<String, Neighbour>,
}

/// A port at the other end of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    /// Name of its system.
    pub system: String,
    /// What the system is.
    pub description: String,
    /// Name of the port.
    pub port: String,
    /// The longest frame that it takes, bytes with header and check sequence.
    pub max_frame_bytes: Option<u16>,
}

/// A TCP connection over a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its ends.
    pub key: FlowKey,
    /// Payload bytes acknowledged in that time.
    pub sent_bytes: u64,
    /// Payload bytes received in that time.
    pub received_bytes: u64,
    /// Segments sent again in that time.
    pub retransmits: u64,
    /// Segments with payload sent in that time.
    pub segments: u64,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Segments that may be under way.
    pub cwnd: u32,
    /// The largest payload of a segment that it sends, bytes.
    pub mss: u32,
    /// The largest packet of the path as the kernel knows it, bytes.
    pub path_mtu: u32,
    /// How long it had something to send, microseconds of that time.
    pub busy_us: u64,
    /// How long the receiver's window held it, microseconds of that time.
    pub rwnd_limited_us: u64,
    /// How long its own send buffer held it, microseconds of that time.
    pub sndbuf_limited_us: u64,
}

/// Addresses of this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// IP addresses.
    pub addresses: Vec<IpAddr>,
    /// MAC addresses of all its devices.
    pub macs: Vec<Mac>,
}

impl Headers {
    /// Notes a frame of a member, by its beginning.
    pub fn note(&mut self, member: &str, way: Way, bytes: &[u8], own: &Own) {
        let Ok(frame) = Frame::parse(bytes) else { return };
        self.frames += 1;
        let (frame, _) = frame.without_tags();
        match frame.ethertype() {
            ethertype::ARP => self.arp(member, way, &frame, own),
            ethertype::IPV4 | ethertype::IPV6 => self.packet(member, way, &frame, bytes, own),
            nicteam_wire::LLDP if way == Way::In => {
                if let Ok(said) = Lldp::decode(&frame) {
                    self.ports.insert(member.to_owned(), neighbour(said));
                }
            }
            _ => {}
        }
    }

    fn arp(&mut self, member: &str, way: Way, frame: &Frame<'_>, own: &Own) {
        let Ok(arp) = Arp::decode(frame.payload()) else { return };
        // A probe has no sender address, and claims none.
        if way == Way::In && !arp.sender_ip.is_unspecified() {
            self.claim(arp.sender_ip.into(), arp.sender_mac, true, member, own);
        }
    }

    fn claim(&mut self, address: IpAddr, mac: Mac, by_arp: bool, member: &str, own: &Own) {
        let is_known = |claim: &Claim| (claim.address, claim.mac) == (address, mac);
        if own.addresses.contains(&address) && !own.macs.contains(&mac) && !self.claims.iter().any(is_known) {
            self.claims.push(Claim { address, mac, by_arp, member: member.to_owned() });
        }
    }

    fn packet(&mut self, member: &str, way: Way, frame: &Frame<'_>, bytes: &[u8], own: &Own) {
        let Some(packet) = Packet::of(frame) else { return };
        if way == Way::In && own.addresses.contains(&packet.source.ip()) {
            self.claim(packet.source.ip(), frame.src(), false, member, own);
        }
        if let Some((to, mtu)) = packet.too_large.filter(|_| way == Way::In) {
            self.too_large.insert(to, mtu);
        }
        if packet.destination.ip().is_multicast() || !matches!(packet.protocol, TCP | UDP) || frame.dst().is_multicast()
        {
            return;
        }
        let (local, remote, mac) = match way {
            Way::In => (packet.destination, packet.source, frame.src()),
            Way::Out => (packet.source, packet.destination, frame.dst()),
        };
        let key = FlowKey { protocol: packet.protocol, local, remote };
        if self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&key) {
            return;
        }
        let seen = self.flows.entry(key).or_default();
        seen.remote_mac = Some(mac);
        let (members, at) = match way {
            Way::In => (&mut seen.received, 0),
            Way::Out => (&mut seen.sent, 1),
        };
        *members.entry(member.to_owned()).or_default() += 1;
        let bytes_of_all = u64::from(packet.length).saturating_mul(self.one_of.max(1).into());
        seen.bytes[at] = seen.bytes[at].saturating_add(bytes_of_all);
        if way == Way::Out {
            bytes.clone_into(&mut seen.head);
        }
    }
}

impl Seen {
    /// The member that most of these frames have.
    pub fn main(members: &BTreeMap<String, u64>) -> Option<&str> {
        members.iter().max_by_key(|(_, frames)| **frames).map(|(member, _)| member.as_str())
    }
}

/// What is read of an IP packet.
struct Packet {
    source: SocketAddr,
    destination: SocketAddr,
    protocol: u8,
    length: u32,
    /// To where a packet was too large, and what passes.
    too_large: Option<(IpAddr, u16)>,
}

impl Packet {
    fn of(frame: &Frame<'_>) -> Option<Packet> {
        let bytes = frame.payload();
        let half = |bytes: &[u8], at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let (source, destination, protocol, length, rest): (IpAddr, IpAddr, u8, u32, &[u8]) =
            if frame.ethertype() == ethertype::IPV4 {
                let header = bytes.first_chunk::<20>()?;
                let [source, destination] = [12, 16].map(|at| Ipv4Addr::from(u32_at(header, at)));
                // Of a fragment that is not the first no ports are there.
                let is_first = half(header, 6)? & 0x1fff == 0;
                let rest = bytes.get(usize::from(header[0] & 15) * 4..).filter(|_| is_first)?;
                (source.into(), destination.into(), header[9], half(header, 2)?.into(), rest)
            } else {
                let (header, rest) = bytes.split_first_chunk::<40>()?;
                let address = |at: usize| Some(Ipv6Addr::from(*header.get(at..)?.first_chunk::<16>()?));
                (address(8)?.into(), address(24)?.into(), header[6], u32::from(half(header, 4)?) + 40, rest)
            };
        let has_ports = matches!(protocol, TCP | UDP);
        let port = |at: usize| if has_ports { half(rest, at) } else { Some(0) };
        let too_large = (protocol == ICMP && rest.starts_with(&UNREACHABLE)).then(|| {
            let inner = rest.get(8..)?.first_chunk::<20>()?;
            Some((Ipv4Addr::from(u32_at(inner, 16)).into(), half(rest, 6)?))
        });
        Some(Packet {
            source: SocketAddr::new(source, port(0)?),
            destination: SocketAddr::new(destination, port(2)?),
            protocol,
            length,
            too_large: too_large.flatten(),
        })
    }
}

fn u32_at(header: &[u8; 20], at: usize) -> u32 {
    header.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn neighbour(said: Lldp) -> Neighbour {
    Neighbour {
        system: said.system_name.unwrap_or(said.chassis),
        description: said.system_description.unwrap_or_default(),
        port: said.port,
        max_frame_bytes: said.max_frame_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_wire::head_of_flow;

    const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const GATEWAY: Mac = Mac([2, 0, 0, 0, 0, 9]);

    fn own() -> Own {
        Own { addresses: vec!["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()], macs: vec![OWN] }
    }

    #[test]
    fn both_ways_of_a_flow_are_one() {
        for ends in [["10.0.0.1:40000", "10.0.0.2:80"], ["[fd00::1]:40000", "[fd00::2]:80"]] {
            let [local, remote] = ends.map(|end| end.parse().unwrap());
            let mut headers = Headers::default();
            let out = head_of_flow([OWN, GATEWAY], TCP, local, remote).unwrap();
            let back = head_of_flow([GATEWAY, OWN], TCP, remote, local).unwrap();
            headers.note("eth0", Way::Out, &out, &own());
            headers.note("eth1", Way::In, &back, &own());
            headers.note("eth1", Way::In, &back, &own());
            let [(key, seen)] = &headers.flows.iter().collect::<Vec<_>>()[..] else { panic!("{headers:?}") };
            assert_eq!(**key, FlowKey { protocol: TCP, local, remote });
            assert_eq!((Seen::main(&seen.received), Seen::main(&seen.sent)), (Some("eth1"), Some("eth0")));
            assert_eq!((seen.remote_mac, seen.received["eth1"], headers.frames), (Some(GATEWAY), 2, 3));
            assert_eq!(seen.head, out);
            assert_eq!(headers.claims, []);
        }
    }

    #[test]
    fn another_address_that_has_ours_is_noted_once() {
        let mut headers = Headers::default();
        let arp = |mac: Mac, ip: &str| Arp::gratuitous(mac, ip.parse().unwrap()).frame(Mac::BROADCAST, mac, None);
        let thief = Mac([2, 0, 0, 0, 0, 7]);
        headers.note("eth0", Way::In, &arp(OWN, "10.0.0.1"), &own());
        headers.note("eth0", Way::In, &arp(thief, "10.0.0.3"), &own());
        headers.note("eth0", Way::Out, &arp(thief, "10.0.0.1"), &own());
        assert_eq!(headers.claims, [], "our own, another's, and what we send");
        headers.note("eth0", Way::In, &arp(thief, "10.0.0.1"), &own());
        headers.note("eth1", Way::In, &arp(thief, "10.0.0.1"), &own());
        assert_eq!(headers.claims.len(), 1);
        assert!(headers.claims[0].by_arp && headers.claims[0].mac == thief);
    }

    #[test]
    fn a_router_that_cannot_send_a_packet_on_is_heard() {
        let mut bytes =
            head_of_flow([GATEWAY, OWN], ICMP, "10.0.0.9:0".parse().unwrap(), "10.0.0.1:0".parse().unwrap()).unwrap();
        bytes.truncate(34);
        bytes.extend([3, 4, 0, 0, 0, 0, 0x05, 0x14]);
        let inner =
            head_of_flow([OWN, GATEWAY], TCP, "10.0.0.1:1".parse().unwrap(), "10.9.0.5:2".parse().unwrap()).unwrap();
        bytes.extend(&inner[14..]);
        let mut headers = Headers::default();
        headers.note("eth0", Way::In, &bytes, &own());
        assert_eq!(headers.too_large, BTreeMap::from([("10.9.0.5".parse().unwrap(), 1300)]));
        for end in 0..bytes.len() {
            Headers::default().note("eth0", Way::In, &bytes[..end], &own());
        }
    }
}
