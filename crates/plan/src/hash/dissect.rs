//! What the kernel's flow dissector finds for encap2+3 and encap3+4.
//!
//! As Linux 6.1 `net/core/flow_dissector.c` (`__skb_flow_dissect`) does with the
//! keys of `bond_main.c` (`flow_keys_bonding`) and no flags. From header to
//! header, each by the EtherType or the protocol number that the one before
//! names; at most 16 steps, then what was found counts. The walk ends *well*
//! (the frame counts as IP) or *badly* (it does not: layer2). A header that is
//! not there whole ends it badly, except for ports and ICMP, which are then 0.
//!
//! # Where it begins
//!
//! Behind the EtherType. Where a tag stands among the bytes and none beside
//! them, as a packet socket sends it, the kernel has already moved its network
//! header behind up to seven tags, and reads a tag once more there: the first
//! two bytes behind the tags are taken for a tag's number, the next two for its
//! EtherType. (It does not move where the tags are cut off or the last one's
//! EtherType is 0.) With MPLS under a tag beside the frame it is the same: that
//! tag is put back first.
//!
//! # By EtherType
//!
//! | EtherType | step |
//! |---|---|
//! | IPv4 | badly if the header length is below 5 words; *A* is from here on this header's; a fragment, the first one too, ends it well; else by protocol, in the same step |
//! | IPv6 | the same but for fragments |
//! | 802.1Q, 802.1ad | four bytes, then by the tag's EtherType. The first one, if a tag is beside the frame, takes no bytes and goes back to the frame's own EtherType |
//! | PPPoE session | badly unless version and type are 1 and code 0; the PPP protocol leads to IPv4 (0x21), IPv6 (0x57) or MPLS (0x281, 0x283), or ends it: well if its lower byte is odd and its upper one even, else (a protocol in one byte, too) badly |
//! | batman-adv | badly unless a unicast packet of version 15; by the EtherType of the frame within |
//! | HSR, PRP | six bytes, then by their EtherType |
//! | TIPC | well; *A* is its fourth word. (Of keep-alive messages the kernel takes a random number) |
//! | FCoE, PTP | well if 38 or 34 bytes are there |
//! | ARP, RARP, MPLS | well |
//! | any other | badly |
//!
//! # By protocol
//!
//! | protocol | step |
//! |---|---|
//! | 4, 41, 137 | as EtherType IPv4, IPv6, MPLS |
//! | 47 GRE | well if routed, of a version above 1, or of version 1 and not PPP with a key; over its fields; a bridged frame's 14 bytes are looked through to its EtherType, of PPP by 0x21 and 0x57 |
//! | 0, 43, 60 in IPv6 | over the extension header |
//! | 44 in IPv6 | well, without ports |
//! | any other | well; *T* as for layer3+4 |
//!
//! Later kernels (6.6 is one) differ in two points: of IPv6's first fragment they
//! take the ports, and connectivity fault management (0x8902) ends it well.

use nicteam_wire::{Frame, ethertype};

use super::headers::{IPV4_HEADER, IPV6_HEADER, Icmp, ports, protocol, tag_put_back, xor_words};

/// What a frame's flow is made of.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// *A* of the module text, in the order of the wire.
    pub addresses: [u8; 4],
    /// *T*.
    pub transport: u32,
}

/// The flow that the dissector finds; none if it gives up.
pub(super) fn flow(frame: &Frame<'_>) -> Option<Flow> {
    let (mut walk, mut header) = Walk::begin(frame);
    for _ in 0..MOST_STEPS {
        match walk.step(header)? {
            Some(next) => header = next,
            None => break,
        }
    }
    Some(walk.flow)
}

/// `MAX_FLOW_DISSECT_HDRS`, and the step before it counts.
const MOST_STEPS: usize = nicteam_machine::constants::MOST_STEPS;
/// Tags that a packet socket looks behind (`VLAN_MAX_DEPTH`, less one).
const MOST_TAGS: usize = nicteam_machine::constants::MOST_TAGS;

/// What stands at the place where the walk is.
#[derive(Clone, Copy)]
enum Header {
    /// What an EtherType names.
    Link(u16),
    /// What a protocol number names, in an IPv4 or an IPv6 packet.
    Ip { v6: bool, protocol: u8 },
}

/// A step: on to a header, or a good end; `None` for a bad one.
type Step = Option<Option<Header>>;

struct Walk<'a> {
    /// The bytes from here on; empty behind the end.
    rest: &'a [u8],
    /// The EtherType to which the first tag goes back: the frame's, if a tag is beside it.
    under_tag: Option<u16>,
    flow: Flow,
}

impl<'a> Walk<'a> {
    fn begin(frame: &Frame<'a>) -> (Walk<'a>, Header) {
        let (ethertype, bytes) = (frame.ethertype(), frame.payload());
        let (ethertype, rest, under_tag) = match (tag_put_back(frame), frame.vlan()) {
            (Some(tag), _) => (tag.protocol, bytes, None),
            (None, Some(_)) => (ethertype, bytes, Some(ethertype)),
            (None, None) => (ethertype, behind_tags(ethertype, bytes), None),
        };
        (Walk { rest, under_tag, flow: Flow::default() }, Header::Link(ethertype))
    }

    fn step(&mut self, header: Header) -> Step {
        match header {
            Header::Link(ethertype) => self.link(ethertype),
            Header::Ip { v6, protocol } => self.ip(v6, protocol),
        }
    }

    fn link(&mut self, ethertype: u16) -> Step {
        use ethertype::{
            ARP, BATMAN, FCOE, HSR, IPV4, IPV6, MPLS, MPLS_MULTICAST, PPPOE, PRP, PTP, QINQ, RARP, TIPC, VLAN,
        };
        match ethertype {
            IPV4 => self.ipv4(),
            IPV6 => self.ipv6(),
            VLAN | QINQ => {
                let next = match self.under_tag.take() {
                    Some(ethertype) => ethertype,
                    None => {
                        let [_, _, high, low] = self.take()?;
                        u16::from_be_bytes([high, low])
                    }
                };
                Some(Some(Header::Link(next)))
            }
            PPPOE => self.pppoe(),
            TIPC => {
                let [.., a, b, c, d] = self.take::<16>()?;
                self.flow.addresses = [a, b, c, d];
                Some(None)
            }
            BATMAN => {
                let [kind, version, .., high, low] = self.take::<24>()?;
                (kind == BATMAN_UNICAST && version == BATMAN_VERSION).then_some(link(high, low))
            }
            HSR | PRP => {
                let [.., high, low] = self.take::<6>()?;
                Some(link(high, low))
            }
            FCOE => self.take::<38>().map(|_| None),
            PTP => self.take::<34>().map(|_| None),
            ARP | RARP | MPLS | MPLS_MULTICAST => Some(None),
            _ => None,
        }
    }

    fn ipv4(&mut self) -> Step {
        let header = self.rest.first_chunk::<IPV4_HEADER>()?;
        let words = usize::from(header[0] & 0xf);
        if words < 5 {
            return None;
        }
        self.flow.addresses = xor_words(&header[12..]);
        self.skip(words * 4);
        if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
            return Some(None);
        }
        self.ip(false, header[9])
    }

    fn ipv6(&mut self) -> Step {
        let header = self.take::<IPV6_HEADER>()?;
        self.flow.addresses = xor_words(&header[8..]);
        self.ip(true, header[6])
    }

    /// `__skb_flow_dissect`'s second half. The kernel takes ports after each
    /// header, of the protocol that comes next.
    fn ip(&mut self, v6: bool, protocol: u8) -> Step {
        self.flow.transport = 0;
        match protocol {
            protocol::GRE => self.gre(),
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION if v6 => {
                let &[protocol, units] = self.rest.first_chunk()?;
                self.skip((usize::from(units) + 1) * 8);
                self.flow.transport = ports(protocol, self.rest);
                Some(Some(Header::Ip { v6, protocol }))
            }
            protocol::FRAGMENT if v6 => self.take::<8>().map(|_| None),
            protocol::IPIP => Some(Some(Header::Link(ethertype::IPV4))),
            protocol::IPV6 => Some(Some(Header::Link(ethertype::IPV6))),
            protocol::MPLS => Some(Some(Header::Link(ethertype::MPLS))),
            _ => {
                self.flow.transport = match Icmp::of(protocol, self.rest) {
                    Some(icmp) => icmp.word(),
                    None => ports(protocol, self.rest),
                };
                Some(None)
            }
        }
    }

    /// `__skb_flow_dissect_gre` (RFC 2784, 2890; version 1: RFC 2637).
    fn gre(&mut self) -> Step {
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const ACKNOWLEDGEMENT: u16 = 0x0080;
        const VERSION: u16 = 0x0007;

        let [flags_high, flags_low, high, low] = self.take()?;
        let flags = u16::from_be_bytes([flags_high, flags_low]);
        let (carried, version) = (u16::from_be_bytes([high, low]), flags & VERSION);
        let is_pptp = carried == ethertype::PPP && flags & KEY != 0;
        if flags & ROUTING != 0 || version > 1 || version == 1 && !is_pptp {
            return Some(None);
        }
        if flags & CHECKSUM != 0 {
            self.skip(4);
        }
        if flags & KEY != 0 {
            self.take::<4>()?;
        }
        if flags & SEQUENCE != 0 {
            self.skip(4);
        }
        if version == 1 {
            if flags & ACKNOWLEDGEMENT != 0 {
                self.skip(4);
            }
            let [_, _, high, low] = self.take()?;
            return Some(Some(Header::Link(ppp_ip(u16::from_be_bytes([high, low])).unwrap_or(carried))));
        }
        if carried != ethertype::BRIDGED {
            return Some(Some(Header::Link(carried)));
        }
        let [.., high, low] = self.take::<14>()?;
        Some(link(high, low))
    }

    /// RFC 2516 and 1661.
    fn pppoe(&mut self) -> Step {
        let [version_and_type, code, _, _, _, _, high, low] = self.take()?;
        if version_and_type != 0x11 || code != 0 {
            return None;
        }
        let protocol = u16::from_be_bytes([high, low]);
        match protocol {
            0x0281 | 0x0283 => Some(Some(Header::Link(ethertype::MPLS))),
            _ => match ppp_ip(protocol) {
                Some(ethertype) => Some(Some(Header::Link(ethertype))),
                None => (protocol & 0x0101 == 1).then_some(None),
            },
        }
    }

    /// The next bytes; none if the frame ends before.
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }
}

/// `BATADV_UNICAST`, `BATADV_COMPAT_VERSION`.
const BATMAN_UNICAST: u8 = 0x40;
const BATMAN_VERSION: u8 = 15;

fn link(high: u8, low: u8) -> Option<Header> {
    Some(Header::Link(u16::from_be_bytes([high, low])))
}

/// The EtherType of what this PPP protocol carries, if it is IP.
fn ppp_ip(protocol: u16) -> Option<u16> {
    match protocol {
        0x21 => Some(ethertype::IPV4),
        0x57 => Some(ethertype::IPV6),
        _ => None,
    }
}

/// The bytes behind the tags among them, if all of those are there
/// (`packet_parse_headers`, `__vlan_get_protocol`).
fn behind_tags(mut ethertype: u16, bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    for _ in 0..=MOST_TAGS {
        match ethertype {
            ethertype::VLAN | ethertype::QINQ => {}
            0 => return bytes,
            _ => return rest,
        }
        let Some((&[_, _, high, low], behind)) = rest.split_first_chunk() else { return bytes };
        (ethertype, rest) = (u16::from_be_bytes([high, low]), behind);
    }
    bytes
}
