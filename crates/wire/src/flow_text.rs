//! One flow, as text and as the frame it would send.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use crate::{Mac, ethertype};

/// One flow of IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Source address.
    pub src: IpAddr,
    /// Destination address, of the same family.
    pub dst: IpAddr,
    /// What is behind the IP header.
    pub transport: Transport,
}

/// What is behind the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A protocol that begins with its ports.
    Ports {
        /// IP protocol number.
        protocol: u8,
        /// Source port.
        src: u16,
        /// Destination port.
        dst: u16,
    },
    /// An ICMP or ICMPv6 echo request.
    Echo {
        /// Its identifier, if the text names one.
        id: Option<u16>,
    },
}

/// What a flow looks like, for messages.
const EXAMPLES: &str = "`tcp 10.0.0.1:40000 -> 10.0.0.2:5001`, `udp [fd00::1]:53 -> [fd00::2]:53` (also sctp) or \
                        `icmp 10.0.0.1 -> 10.0.0.2 id 7`";

impl FromStr for Flow {
    type Err = String;

    fn from_str(text: &str) -> Result<Flow, String> {
        parse(text).map_err(|why| format!("{why}; a flow is {EXAMPLES}"))
    }
}

impl Flow {
    /// The frame of this flow between these addresses, without a payload.
    /// Checksums are left 0: no policy reads them.
    pub fn frame(&self, src: Mac, dst: Mac) -> Vec<u8> {
        let transport = self.transport_header();
        let mut frame = [dst.0, src.0].concat();
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                frame.extend(ethertype::IPV4.to_be_bytes());
                frame.extend([0x45, 0, 0, 20 + transport.len() as u8, 0, 0, 0x40, 0, 64, self.protocol(), 0, 0]);
                frame.extend(src.octets());
                frame.extend(dst.octets());
            }
            (src, dst) => {
                frame.extend(ethertype::IPV6.to_be_bytes());
                frame.extend([0x60, 0, 0, 0, 0, transport.len() as u8, self.protocol(), 64]);
                frame.extend(octets(src));
                frame.extend(octets(dst));
            }
        }
        frame.extend(transport);
        frame
    }

    fn protocol(&self) -> u8 {
        match self.transport {
            Transport::Ports { protocol, .. } => protocol,
            Transport::Echo { .. } if self.src.is_ipv4() => ICMP,
            Transport::Echo { .. } => ICMPV6,
        }
    }

    /// Twenty bytes, as long as a TCP header.
    fn transport_header(&self) -> [u8; 20] {
        let mut header = [0; 20];
        match self.transport {
            Transport::Ports { src, dst, .. } => {
                header[..2].copy_from_slice(&src.to_be_bytes());
                header[2..4].copy_from_slice(&dst.to_be_bytes());
            }
            Transport::Echo { id } => {
                header[0] = if self.src.is_ipv4() { ICMP_ECHO } else { ICMPV6_ECHO };
                header[4..6].copy_from_slice(&id.unwrap_or_default().to_be_bytes());
            }
        }
        header
    }
}

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Types of an echo request.
const ICMP_ECHO: u8 = 8;
const ICMPV6_ECHO: u8 = 128;

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn parse(text: &str) -> Result<Flow, String> {
    let (protocol, ends) = text.trim().split_once(char::is_whitespace).ok_or("no protocol, or nothing behind it")?;
    let (src, dst) = ends.split_once("->").ok_or("no `->` between source and destination")?;
    let (src, dst) = (src.trim(), dst.trim());
    let flow = match protocol.to_ascii_lowercase().as_str() {
        "tcp" => with_ports(6, src, dst)?,
        "udp" => with_ports(17, src, dst)?,
        "sctp" => with_ports(132, src, dst)?,
        "icmp" | "icmpv6" | "icmp6" => echo(src, dst)?,
        _ => return Err(format!("no protocol `{protocol}`")),
    };
    if flow.src.is_ipv4() != flow.dst.is_ipv4() {
        return Err(format!("{} and {} are not of one address family", flow.src, flow.dst));
    }
    if protocol.len() > "icmp".len() && protocol[..4].eq_ignore_ascii_case("icmp") && flow.src.is_ipv4() {
        return Err(format!("ICMPv6 does not run between {} and {}", flow.src, flow.dst));
    }
    Ok(flow)
}

fn with_ports(protocol: u8, src: &str, dst: &str) -> Result<Flow, String> {
    let end = |text: &str| {
        text.parse::<SocketAddr>()
            .map_err(|_| format!("`{text}` is no address with a port (10.0.0.1:80, or [fd00::1]:80 for IPv6)"))
    };
    let (src, dst) = (end(src)?, end(dst)?);
    let transport = Transport::Ports { protocol, src: src.port(), dst: dst.port() };
    Ok(Flow { src: src.ip(), dst: dst.ip(), transport })
}

fn echo(src: &str, dst: &str) -> Result<Flow, String> {
    let mut words = dst.split_whitespace();
    let dst = words.next().unwrap_or_default();
    let id = match (words.next(), words.next(), words.next()) {
        (None, ..) => None,
        (Some("id"), Some(id), None) => {
            Some(id.parse().map_err(|_| format!("`{id}` is no ICMP identifier (0 to 65535)"))?)
        }
        _ => return Err(format!("behind `{dst}` there may be `id NUMBER` alone")),
    };
    Ok(Flow { src: address(src)?, dst: address(dst)?, transport: Transport::Echo { id } })
}

/// An address, in brackets or not.
fn address(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().map_err(|_| format!("`{text}` is no IP address (ICMP has no ports)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_parse() {
        let flow: Flow = "tcp 10.0.0.1:40000 -> 10.0.0.2:5001".parse().unwrap();
        assert_eq!(flow.transport, Transport::Ports { protocol: 6, src: 40000, dst: 5001 });
        assert_eq!(flow, "  TCP\t10.0.0.1:40000->10.0.0.2:5001 ".parse().unwrap());
        let flow: Flow = "udp [fd00::1]:53 -> [fd00::2]:54".parse().unwrap();
        assert_eq!(flow.src, "fd00::1".parse::<IpAddr>().unwrap());
        let flow: Flow = "icmp 10.0.0.1 -> 10.0.0.2 id 7".parse().unwrap();
        assert_eq!(flow.transport, Transport::Echo { id: Some(7) });
        let flow: Flow = "icmp [fd00::1] -> fd00::2".parse().unwrap();
        assert_eq!((flow.transport, flow.protocol()), (Transport::Echo { id: None }, ICMPV6));
    }

    #[test]
    fn what_is_no_flow_is_refused_with_an_example() {
        for (text, why) in [
            ("", "no protocol"),
            ("tcp", "no protocol"),
            ("tcp 10.0.0.1:1", "`->`"),
            ("gre 10.0.0.1 -> 10.0.0.2", "`gre`"),
            ("tcp 10.0.0.1 -> 10.0.0.2:1", "`10.0.0.1` is no address with a port"),
            ("tcp 10.0.0.1:70000 -> 10.0.0.2:1", "70000"),
            ("tcp fd00::1:1 -> [fd00::2]:1", "[fd00::1]:80"),
            ("tcp 10.0.0.1:1 -> [fd00::2]:1", "family"),
            ("icmp 10.0.0.1:1 -> 10.0.0.2", "no ports"),
            ("icmp 10.0.0.1 -> 10.0.0.2 id x", "`x`"),
            ("icmp 10.0.0.1 -> 10.0.0.2 ttl 3", "`id NUMBER`"),
            ("icmp 10.0.0.1 ->", "`` is no IP address"),
            ("icmpv6 10.0.0.1 -> 10.0.0.2", "ICMPv6"),
        ] {
            let error = text.parse::<Flow>().unwrap_err();
            assert!(error.contains(why) && error.contains("tcp 10.0.0.1:40000"), "{text}: {error}");
        }
    }

    #[test]
    fn frames_carry_the_flow() {
        let flow: Flow = "udp 10.0.0.1:258 -> 10.0.0.2:772".parse().unwrap();
        let frame = flow.frame(Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
        assert_eq!((frame[14], frame[23], &frame[26..38]), (0x45, 17, &[10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4][..]));
        let flow: Flow = "icmp fd00::1 -> fd00::2 id 772".parse().unwrap();
        let frame = flow.frame(Mac::default(), Mac::default());
        assert_eq!((frame[14], frame[20], frame[37], frame[53]), (0x60, 58, 1, 2));
        assert_eq!(frame[54..60], [128, 0, 0, 0, 3, 4]);
    }
}
